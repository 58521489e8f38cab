"""The sealed result of a call: `Ok` or `Refused`, with bounds and evidence. Nothing else reaches a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from toolcrib.terms.answers import Media, Told, message
from toolcrib.terms.providers import Provider

Fields = dict[str, Any]
"""A JSON object in its Python form."""


@dataclass(frozen=True, slots=True, repr=False)
class Bounds:
    """What was cut or skipped, always named. An answer whose bounds are empty is complete: that is a promise."""

    truncated: bool = False
    """The answer stops before the end; `next_cursor` continues it where the tool has cursors."""
    next_cursor: str | None = None
    scan_capped: str | None = None
    """Which budget ended a scan early, in words."""
    skipped_binary: int = 0
    skipped_large: int = 0
    skipped_denied: int = 0
    """Paths left out because a rule does not allow reading them."""
    skipped_ignored: int = 0
    skipped_unreadable: tuple[str, ...] = ()
    """Paths the operating system would not let us read (the first 20)."""
    clipped_lines: int = 0
    spilled: str | None = None
    """The artifact that holds the whole output."""

    def to_json(self) -> Fields:
        """Return only the bounds that were hit."""
        return _set_fields(self)

    def __bool__(self) -> bool:
        return bool(_set_fields(self))

    def __repr__(self) -> str:
        return _told(self)


@dataclass(frozen=True, slots=True)
class Change:
    """One path that a call changed: digests before and after, None where nothing stood.

    The digest of a file is that of its content; a link and a directory have digests that no file has.
    """

    path: str
    before: str | None
    after: str | None

    def to_json(self) -> Fields:
        """Return the change as a JSON object."""
        return {"path": self.path, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True, repr=False)
class Evidence:
    """What proves an outcome: a closed set."""

    digest: str | None = None
    """Content digest of the file read, or of the file after the call."""
    diff: str | None = None
    changed: tuple[Change, ...] = ()
    checkpoint: str | None = None
    exit: int | None = None
    process_id: str | None = None
    sources: tuple[str, ...] = ()
    redactions: int = 0
    diagnostics: tuple[Fields, ...] = ()
    egress: tuple[str, ...] = ()
    sandbox: Mapping[str, str] | None = None

    def to_json(self) -> Fields:
        """Return only the evidence that there is."""
        found = _set_fields(self)
        if self.changed:
            found["changed"] = [change.to_json() for change in self.changed]
        return found

    def __repr__(self) -> str:
        return _told(self)


def spelled(bounds: Bounds, spelling: Mapping[str, str]) -> Fields:
    """Return the bounds that were hit, by the names that a dialect gives them."""
    return {spelling.get(name, name): value for name, value in bounds.to_json().items()}


def _told(value: Bounds | Evidence) -> str:
    """Return a representation of what is set; most calls set little."""
    names = _set_fields(value)
    return f"{type(value).__name__}({', '.join(f'{name}={getattr(value, name)!r}' for name in names)})"


def _set_fields(value: "Bounds | Evidence") -> Fields:
    found: Fields = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if held is None or held is False or held == 0 or held == ():
            continue
        found[each.name] = list(held) if isinstance(held, tuple) else held  # pyright: ignore[reportUnknownArgumentType]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ok:
    """The call ran and its effect, if any, took place."""

    tool: str
    call_id: str
    payload: Fields
    bounds: Bounds = field(default_factory=Bounds)
    evidence: Evidence = field(default_factory=Evidence)
    text: str = ""
    """What a model reads; the same as `str(outcome)`."""
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of bounds that the caller's dialect spells differently."""
    kind: Literal["ok"] = "ok"

    def to_json(self, *, canonical: bool = False) -> Fields:
        """Return the wire form; `canonical` leaves out the dialect's spelling, as the tape does."""
        return {
            "kind": self.kind,
            "tool": self.tool,
            "call_id": self.call_id,
            "payload": self.payload,
            "bounds": self.bounds.to_json() if canonical else spelled(self.bounds, self.spelling),
            "evidence": self.evidence.to_json(),
        }

    def render(self, provider: Provider, *, call_id: str | None = None, media: Sequence[Media] = ()) -> Fields:
        """Return the tool-result message of `provider`, to which `call_id` is the id that it gave the call.

        `media` are the pictures that go with the outcome: `await crib.media(outcome)`.

        Raises:
            RenderError: the provider takes no such call id.
        """
        told = Told(tool=self.tool, call_id=self.call_id, text=self.text, whole=self.to_json(), refused=False)
        return message(told, provider, call_id=call_id, media=media)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The call did not run, or ran and ended with a reading that is not success."""

    tool: str
    call_id: str
    name: str
    message: str
    hint: str = ""
    happened: Literal["no", "maybe", "yes"] = "no"
    payload: Fields | None = None
    bounds: Bounds = field(default_factory=Bounds)
    evidence: Evidence = field(default_factory=Evidence)
    text: str = ""
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: Literal["refused"] = "refused"

    def to_json(self, *, canonical: bool = False) -> Fields:
        """Return the wire form; `canonical` leaves out the dialect's spelling, as the tape does."""
        return {
            "kind": self.kind,
            "tool": self.tool,
            "call_id": self.call_id,
            "name": self.name,
            "message": self.message,
            "hint": self.hint,
            "happened": self.happened,
            "payload": self.payload,
            "bounds": self.bounds.to_json() if canonical else spelled(self.bounds, self.spelling),
            "evidence": self.evidence.to_json(),
        }

    def render(self, provider: Provider, *, call_id: str | None = None, media: Sequence[Media] = ()) -> Fields:
        """Return the tool-result message of `provider`, to which `call_id` is the id that it gave the call.

        `media` are the pictures that go with the outcome: `await crib.media(outcome)`.

        Raises:
            RenderError: the provider takes no such call id.
        """
        told = Told(tool=self.tool, call_id=self.call_id, text=self.text, whole=self.to_json(), refused=True)
        return message(told, provider, call_id=call_id, media=media)

    def __str__(self) -> str:
        return self.text


Outcome = Ok | Refused
"""What every call ends with."""
