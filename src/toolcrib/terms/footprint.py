"""What one call would touch. Policy matches on it, locks are taken on it, previews show it."""

from dataclasses import dataclass
from typing import Any

NAMED = 20
"""Paths that the one line about a call names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """Workspace-relative paths read and written, argv and hosts. Paths are canonical once the engine resolved them."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The one line a person sees: what the call is about."""
        paths = (*self.writes, *(path for path in self.reads if path not in self.writes))
        more = (f"and {len(paths) - NAMED:,} more paths",) if len(paths) > NAMED else ()
        return " ".join((*paths[:NAMED], *more, *self.argv, *self.hosts))

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are not empty."""
        parts = {"reads": self.reads, "writes": self.writes, "argv": self.argv, "hosts": self.hosts}
        return {name: list(part) for name, part in parts.items() if part}
