"""The modes as presets: a table of mode by column, and the columns that calls fall in."""

from collections.abc import Mapping, Sequence
from typing import Literal

from toolcrib.policy.rules import Verdict
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.settings import Mode

Column = Literal["read", "reversible", "irreversible", "shell", "open"]
"""Reading inside the workspace; a reversible write; an irreversible one; a sandboxed, offline program; all else."""

Preset = Verdict | Literal["checkpointed"]
"""What a mode says of a column; `checkpointed` is allow where the pre-image is safe, else ask."""

MODES: Mapping[Mode, Mapping[Column, Preset]] = {
    "locked": {"read": "ask", "reversible": "ask", "irreversible": "ask", "shell": "ask", "open": "ask"},
    "ask": {"read": "allow", "reversible": "ask", "irreversible": "ask", "shell": "ask", "open": "ask"},
    "work": {
        "read": "allow",
        "reversible": "checkpointed",
        "irreversible": "checkpointed",
        "shell": "allow",
        "open": "ask",
    },
    "read-only": {"read": "allow", "reversible": "deny", "irreversible": "deny", "shell": "deny", "open": "deny"},
}
"""The table. A deny of a mode hides the tool."""

TIGHTER: Mapping[Mode, frozenset[Mode]] = {
    "work": frozenset({"work", "ask", "locked", "read-only"}),
    "ask": frozenset({"ask", "locked", "read-only"}),
    "locked": frozenset({"locked"}),
    "read-only": frozenset({"read-only"}),
}
"""Mode to the modes that are at least as tight in every column: `locked` and `read-only` are not comparable."""

COLUMN_TEXT: Mapping[Column, str] = {
    "read": "reading inside the workspace",
    "reversible": "a reversible write",
    "irreversible": "an irreversible write",
    "shell": "a sandboxed program without network",
    "open": "what acts beyond the workspace and the sandbox",
}
"""Each column in words."""

_ALWAYS_ASKED = frozenset({"apply_change", "snapshot_restore"})
_PROGRAMS = frozenset({"shell", "processes"})
_OPEN_POWERS = frozenset({"Net", "Rails", "Remote"})
_STRICTNESS: Mapping[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def columns(descriptor: Descriptor, footprint: Footprint, *, sandboxed: bool = False) -> tuple[Column, ...]:
    """Return every column that some part of the call falls in; what is not declared falls in a strict one.

    `sandboxed` says that the program would run in a proven sandbox without network.
    """
    program: Column = "shell" if sandboxed else "open"
    found: list[Column] = [_declared(descriptor, program)]
    if footprint.writes and found[0] == "read":
        found.append("irreversible")
    if footprint.argv:
        found.append(program)
    if footprint.hosts or _OPEN_POWERS.intersection(descriptor.powers):
        found.append("open")
    return tuple(dict.fromkeys(found))


def _declared(descriptor: Descriptor, program: Column) -> Column:
    if descriptor.origin.kind in {"mcp", "pack"}:
        return "open"
    if descriptor.kind == "effect":
        is_program = descriptor.origin.kind == "builtin" and descriptor.family in _PROGRAMS
        return program if is_program else "open"
    if descriptor.kind == "write":
        return "reversible" if descriptor.effect in {"reversible", "idempotent-write"} else "irreversible"
    if descriptor.effect == "read":
        return "read"
    return "reversible" if descriptor.kind == "meta" and descriptor.effect == "idempotent-write" else "irreversible"


def preset(
    mode: Mode, fallen: Sequence[Column], descriptor: Descriptor, *, checkpointed: bool
) -> tuple[Verdict, Column]:
    """Return the strictest thing that `mode` says of the columns a call falls in, and the column it says it of."""
    said: list[tuple[Verdict, Column]] = [
        (_said(mode, where, descriptor, checkpointed=checkpointed), where) for where in fallen
    ]
    return max(said, key=lambda each: _STRICTNESS[each[0]])


def _said(mode: Mode, where: Column, descriptor: Descriptor, *, checkpointed: bool) -> Verdict:
    said = MODES[mode][where]
    if said == "deny":
        return "deny"
    if descriptor.origin.kind == "builtin" and descriptor.raw_name in _ALWAYS_ASKED:
        return "ask"
    if said == "checkpointed":
        return "allow" if checkpointed else "ask"
    return said
