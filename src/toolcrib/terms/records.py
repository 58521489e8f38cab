"""What the store keeps: tape entries, approvals, grants and checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.terms.call import Decision
from toolcrib.terms.digest import DIRECTORY, of_link
from toolcrib.terms.facts import PathKind
from toolcrib.terms.names import mint_id

Stage = Literal["received", "judged", "asked", "answered", "started", "closed", "catalog", "config", "opened"]
"""The transitions that the tape records; the last three belong to no call."""

JobKind = Literal["tool_call", "system_tool", "file_mutate", "programmatic", "agent_call"]
"""ToolCallJob, SystemToolJob, FileMutateJob, ProgrammaticJob and AgentCallJob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One transition, not yet on the tape. `call_id` is empty for facts that belong to no call."""

    stage: Stage
    call_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Taped:
    """One entry as it stands on the tape: gapless `seq`, wall time in seconds, and the chain."""

    seq: int
    at: float
    stage: Stage
    call_id: str
    data: Mapping[str, Any]
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A persisted call as the tape leaves it. `outcome` is the wire form once closed; `text` what the model read."""

    call_id: str
    kind: JobKind
    tool: str
    principal: str
    thread: str
    stage: Stage
    owner: str
    started: bool
    seq: int
    outcome: Mapping[str, Any] | None = None
    text: str = ""


ApprovalState = Literal["pending", "granted", "denied", "consumed", "expired"]
"""Where an approval stands. Only `granted` can be consumed, once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A stored Ask. `effect` is the digest of the exact effect it would allow; times are wall seconds."""

    id: str
    call_id: str
    tool: str
    tool_digest: str
    text_digest: str
    effect: str
    principal: str
    root: str
    subject: str
    headline: str
    diff: str
    args: Mapping[str, Any]
    reason: str
    created: float
    expires: float
    grantable: bool = True
    """Whether `always` can make a grant of it; some calls ask each time, whatever was granted."""
    pattern: str = ""
    """The pattern of the grant that `always` would make."""
    state: ApprovalState = "pending"
    decision: Decision | None = None
    words: str = ""
    by: str = ""

    @property
    def settled(self) -> str:
        """Say what settled the question and who did, empty while it waits."""
        if self.state == "pending":
            return ""
        if self.decision is None:
            return "it expired before it was answered"
        said = {"once": "yes, once", "always": "yes, always", "deny": "no"}[self.decision]
        used = {"consumed": ", and the yes was used", "expired": ", and that has expired"}.get(self.state, "")
        return f"{said}, by {self.by or 'somebody'}{used}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A person's standing yes. `pattern` is a glob over the subject; `uses` None means without count."""

    id: str
    tool: str
    tool_digest: str
    text_digest: str
    pattern: str
    root: str
    by: str
    approval: str
    created: float
    expires: float | None = None
    uses: int | None = None


def grant_of(approval: Approval, *, at: float) -> Grant | None:
    """Return the grant that taking this yes makes, at wall seconds `at`: None unless it is an `always`."""
    if approval.decision != "always" or not approval.grantable:
        return None
    return Grant(
        id=mint_id(),
        tool=approval.tool,
        tool_digest=approval.tool_digest,
        text_digest=approval.text_digest,
        pattern=approval.pattern,
        root=approval.root,
        by=approval.by,
        approval=approval.id,
        created=at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The pre-image of one path: what stood there before the call. `digest` names bytes that are safe in the store."""

    path: str
    kind: PathKind
    mode: int = 0
    size: int = 0
    digest: str | None = None
    target: str | None = None
    """The text of a symbolic link."""
    implied: bool = False
    """A missing directory above a path of the footprint, not of the footprint itself."""

    @property
    def mark(self) -> str | None:
        """What proves that the same stands there again: a digest for a file, a link or a directory, None for nothing.

        None too for what is none of these; `kind` tells.
        """
        if self.kind == "symlink" and self.target is not None:
            return of_link(self.target)
        return DIRECTORY if self.kind == "directory" else self.digest

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        found: dict[str, Any] = {
            "path": self.path,
            "kind": self.kind,
            "mode": self.mode,
            "size": self.size,
            "digest": self.digest,
            "target": self.target,
        }
        return {**found, "implied": True} if self.implied else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The pre-images of one call's write footprint, durable before the call ran."""

    id: str
    held: tuple[Held, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the wire form, as the `started` entry carries it."""
        return {"id": self.id, "held": [each.to_json() for each in self.held]}
