"""What was too large to answer with: stored whole, read in slices by id."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A stored output: id, size in bytes, media type."""

    id: str
    size: int
    media: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Bytes `offset` to `offset + len(data)` of an artifact; cut on UTF-8 boundaries for text."""

    artifact: Artifact
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line of an artifact that holds the pattern: 1-based line, byte offset of its start, clipped text."""

    line: int
    offset: int
    text: str


class Artifacts(Protocol):
    """Stored outputs.

    Raises:
        Refusal: `artifact.missing`, `disk.full`, `store.unavailable`.
    """

    async def put(self, data: bytes, *, media: str) -> Artifact:
        """Store `data` durably."""
        ...

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> Slice:
        """Return up to `limit` bytes from `offset`."""
        ...

    async def search(self, artifact_id: str, pattern: str, *, limit: int) -> tuple[Sequence[Hit], int]:
        """Return the first `limit` lines that hold `pattern` as plain text, and how many lines do."""
        ...
