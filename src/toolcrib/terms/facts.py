"""Host facts about the files a call names, taken at admit. Never model arguments."""

from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.terms.settings import FileSettings

PathKind = Literal["file", "directory", "symlink", "fifo", "socket", "device", "missing"]
"""What stands at a path. `symlink` only for a link that was not followed: dangling, or asked for as itself."""

PRIOR_CAP = 1 << 20
"""Largest prior content kept on a job, bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One path resolved beneath the workspace root, links followed. `path` is workspace-relative and canonical."""

    asked: str
    path: str
    kind: PathKind
    size: int = 0
    mode: int = 0
    links: int = 1
    digest: str | None = None
    """Content digest; set only where it was asked for and the file is small enough to hash. Also that of a link."""

    @property
    def exists(self) -> bool:
        """Whether something stands there."""
        return self.kind != "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the host knew when the call was admitted: the places it names and the digest the caller last saw of each."""

    places: tuple[Place, ...] = ()
    cited: dict[str, str] = field(default_factory=dict[str, str])
    """Canonical path to the digest of the caller's last read or write of it in this thread."""
    rebase: bool = True
    """Whether an edit may move to a newer file whose edited regions are unchanged."""
    limits: FileSettings = field(default_factory=FileSettings)
    """What the file tools hold to."""

    def place(self, asked: str) -> Place | None:
        """Return the place that the call named as `asked`."""
        return next((place for place in self.places if place.asked == asked), None)

    def pins(self) -> list[list[Any]]:
        """Return what an approval binds of the places: path, kind and content digest."""
        return [[place.path, place.kind, place.digest] for place in self.places]
