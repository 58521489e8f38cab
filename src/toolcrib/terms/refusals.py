"""The closed list of refusal names, and the exception that carries one up to the line."""

from typing import Literal, get_args

from toolcrib.terms.outcome import Bounds, Evidence
from toolcrib.terms.payload import Payload

RefusalName = Literal[
    "tool.unknown",
    "tool.disabled",
    "tool.unavailable",
    "tool.not_in_profile",
    "args.invalid",
    "policy.denied",
    "approval.child_unattended",
    "approval.denied",
    "approval.expired",
    "approval.stale",
    "approval.unattended",
    "checkpoint.failed",
    "call.cancelled",
    "call.interrupted",
    "call.timeout",
    "call.fault",
    "call.limit",
    "file.stale",
    "file.missing",
    "file.exists",
    "file.ambiguous",
    "file.no_match",
    "file.unchanged",
    "file.outside",
    "file.protected",
    "file.not_regular",
    "file.too_large",
    "file.binary",
    "file.undecodable",
    "file.read_only",
    "file.linked",
    "file.denied",
    "file.not_directory",
    "dir.not_empty",
    "find.invalid",
    "grep.invalid",
    "cursor.invalid",
    "cursor.stale",
    "bash.exit",
    "bash.timeout",
    "bash.signal",
    "bash.sandbox",
    "bash.syntax",
    "process.missing",
    "process.limit",
    "process.ended",
    "snapshot.missing",
    "snapshot.conflict",
    "snapshot.damaged",
    "tree.conflict",
    "tree.dirty",
    "task.objective",
    "task.depth",
    "task.budget",
    "skill.missing",
    "skill.invalid",
    "skill.untrusted",
    "memory.full",
    "artifact.missing",
    "lsp.unavailable",
    "lsp.not_ready",
    "mcp.unavailable",
    "mcp.error",
    "mcp.schema",
    "rail.unavailable",
    "rail.refused",
    "rail.timeout",
    "net.denied",
    "net.failed",
    "mixer.syntax",
    "mixer.unbound",
    "mixer.fuel",
    "mixer.depth",
    "mixer.memory",
    "mixer.type",
    "mixer.arity",
    "mixer.raised",
    "mixer.no_done",
    "mixer.period",
    "mixer.stale",
    "agent.recipe",
    "agent.void_illegal",
    "agent.unanswered",
    "patch.invalid",
    "workspace.gone",
    "disk.full",
    "ask.unanswered",
    "git.error",
    "store.unavailable",
]
"""Every name a refusal may carry. Nothing else reaches a model."""

REFUSALS: tuple[RefusalName, ...] = get_args(RefusalName)
"""The same list as a tuple, in the order of the file."""

Happened = Literal["no", "maybe", "yes"]
"""Whether the effect of a refused call took place."""


class Refusal(Exception):  # noqa: N818 - a refusal is a reading, not an error
    """A call that ends with a typed refusal.

    `message` says what was expected and what was found; `hint` says what to do next. `payload` carries what was read
    all the same (the three-way view of `file.stale`). A message never holds a secret, or a path outside the workspace
    that the caller did not name.
    """

    def __init__(
        self,
        name: RefusalName,
        message: str,
        *,
        hint: str = "",
        happened: Happened = "no",
        payload: Payload | None = None,
        bounds: Bounds | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        super().__init__(f"{name}: {message}")
        self.name: RefusalName = name
        self.message = message
        self.hint = hint
        self.happened: Happened = happened
        self.payload = payload
        self.bounds = bounds or Bounds()
        self.evidence = evidence or Evidence()
