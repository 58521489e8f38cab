"""What was read and changed lately, by the tape: a fuzzy search puts such files first."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from toolcrib.ports.tape import Tape
from toolcrib.terms.records import Taped

MOST = 1_000
"""Calls that are looked back to."""

_LOOK = 2_000
"""Entries of the tape for the first look back."""

_HALF = 100
"""Calls after which a use counts half."""

_READ, _WRITTEN = 1.0, 2.0
_USUAL = 2.0
"""The weight that lifts a file halfway to what it can be lifted."""


class Usage:
    """The uses of files that the tape tells of. Not safe for threads but for `of`, which only reads."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._seq: int | None = None
        self._calls: deque[tuple[int, tuple[str, ...], tuple[str, ...]]] = deque(maxlen=MOST)

    async def refresh(self) -> None:
        """Read what was taped since the last time."""
        if self._seq is None:
            self._take(await self._tape.latest(limit=_LOOK))
            self._seq = self._seq or 0
        while entries := await self._tape.page(since=self._seq, limit=_LOOK):
            self._take(entries)

    def of(self, upto: int | None) -> tuple[int, dict[str, float]]:
        """Return the last entry that counts and, by path, how much each file is used, above 0 and below 1.

        With `upto` as it was when that entry was the last.
        """
        last = (self._seq or 0) if upto is None else upto
        found: dict[str, float] = {}
        age = 0
        for seq, reads, writes in reversed(self._calls):
            if seq > last:
                continue
            fade = 0.5 ** (age / _HALF)
            for paths, weight in ((reads, _READ), (writes, _WRITTEN)):
                for path in paths:
                    found[path] = found.get(path, 0.0) + weight * fade
            age += 1
        return last, {path: weight / (weight + _USUAL) for path, weight in found.items()}

    def _take(self, entries: Iterable[Taped]) -> None:
        for entry in entries:
            self._seq = entry.seq
            if entry.stage == "judged":
                footprint = cast("Mapping[str, Sequence[str]]", entry.data.get("footprint") or {})
                self._calls.append((entry.seq, tuple(footprint.get("reads", ())), tuple(footprint.get("writes", ()))))
