"""A call and who makes it. Every face builds the same value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Face = Literal["cli", "python", "mcp", "http", "agent", "mixer"]
"""The way in."""

Decision = Literal["once", "always", "deny"]
"""A person's answer to an Ask. `always` makes a grant and then runs, at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who makes a call. `thread` is the conversation it belongs to; `attended` says that a person can be asked."""

    id: str
    face: Face
    thread: str
    attended: bool = False
    child: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to run one tool. `id` is the caller's or minted; a repeated id returns the first outcome."""

    id: str
    tool: str
    args: Mapping[str, Any]
    principal: Principal
    dialect: str = "toolcrib"
    without: frozenset[str] = field(default_factory=frozenset[str])
    """Names this call's turn may not use (the profile)."""
    given: Decision | None = None
    """An answer given beforehand by a flag: `--yes` is `once`, `--deny` is `deny`. Never over a deny rule."""
    takes_media: bool = False
    fresh: bool = False
    """The id was minted for this call, so no earlier outcome can bear it."""
