"""What each thread last saw of each file: the digest the host cites where a caller does not."""

from collections import OrderedDict
from collections.abc import Sequence

from toolcrib.terms.facts import Place

KEPT = 10_000
"""Readings remembered, over all threads; the oldest go first."""


class Readings:
    """Digest of the last read or write, by (thread, canonical path)."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], str] = OrderedDict()

    def note(self, thread: str, path: str, digest: str) -> None:
        """Remember that `thread` saw `path` with this digest."""
        self._seen[thread, path] = digest
        self._seen.move_to_end((thread, path))
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)

    def cited(self, thread: str, places: Sequence[Place]) -> dict[str, str]:
        """Return what `thread` last saw of each place, by canonical path."""
        return {place.path: seen for place in places if (seen := self._seen.get((thread, place.path)))}
