"""Globs at work: which of many paths they select, by the shortest way that a pattern allows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from toolcrib.host.finder.patterns import Alternative, joined, matching
from toolcrib.host.finder.tree.shelves import Shelf, beneath, ending

_BATCH = 4000
"""Paths matched by one call of the library, so that a search can be ended between two."""


def _within(paths: Sequence[str], one: str, other: str) -> tuple[int, int]:
    """Return which slice of sorted paths lies beneath two directories at once: none where they lie side by side."""
    outer, inner = sorted((one, other), key=len)
    return beneath(paths, inner) if inner.startswith(outer) else (0, 0)


class _Common:
    """The commonest globs, such as `src/**/*.py`, matched without the library: a call for each match costs more."""

    def __init__(self, alternative: Alternative) -> None:
        *leading, last = alternative.segments
        self.deep = last.deep or bool(leading and leading[-1].deep)
        names = [each.literal for each in (leading[:-1] if leading and leading[-1].deep else leading)]
        self.fits = None not in names and (last.deep or last.literal is not None or last.ends is not None)
        self.lead = "".join(f"{name}/" for name in names)
        self.name = last.literal
        self.head, self.tail = last.ends or ("", "")

    def select(self, paths: Sequence[str]) -> list[str]:
        """Return those of `paths` that match, in order."""
        lead, tail, start = self.lead, self.tail, len(self.lead)
        found = [path for path in paths if path.startswith(lead) and path.endswith(tail) and len(path) > start]
        if not self.deep:
            found = [path for path in found if path.find("/", start) < 0]
        if self.name is not None:
            return [path for path in found if path.rpartition("/")[2] == self.name]
        if not self.head:
            return found
        least = len(self.head) + len(tail)
        names = ((path, path.rpartition("/")[2]) for path in found)
        return [path for path, name in names if name.startswith(self.head) and len(name) >= least]

    def among(self, shelf: Shelf, base: str) -> list[str]:
        """Return the paths of a shelf beneath `base` that match, in order."""
        if not self.deep:
            return self.select([path for path in shelf.by_place.get(self.lead, ()) if path.startswith(base)])
        whole = not self.head
        if self.name is not None:
            paths = shelf.by_name.get(self.name, [])
        elif last := ending(self.tail):
            paths = shelf.by_ending.get(last, [])
            whole = whole and last == self.tail
        else:
            paths = shelf.paths
            whole = whole and not self.tail
        low, high = _within(paths, self.lead, base)
        paths = paths[low:high]
        if whole:
            return paths
        if self.head:
            mark = f"/{self.head}"
            paths = [path for path in paths if mark in path or path.startswith(self.head)]
        return self.select(paths)


class Globs:
    """Some alternatives compiled. A path is selected when one of them matches and none that takes away does."""

    def __init__(self, alternatives: Sequence[Alternative]) -> None:
        self.positive = tuple(each for each in alternatives if not each.takes_away)
        self._keep = joined(self.positive)
        common = [_Common(each) for each in self.positive]
        self._common = common if all(each.fits for each in common) else None
        away = [each for each in alternatives if each.takes_away]
        self._drop = joined(away) if away else None

    def select(self, paths: Sequence[str]) -> Iterator[list[str]]:
        """Yield the selected of `paths`, in order, one list a batch."""
        for at in range(0, len(paths), _BATCH):
            yield self._kept(paths[at : at + _BATCH])

    def among(self, shelf: Shelf, base: str) -> list[str]:
        """Return the selected paths of a shelf beneath `base`, in order."""
        if self._common is None:
            low, high = _within(shelf.paths, self._lead(), base)
            return [path for batch in self.select(shelf.paths[low:high]) for path in batch]
        found = [each.among(shelf, base) for each in self._common]
        kept = found[0] if len(found) == 1 else list(dict.fromkeys(sorted(chain.from_iterable(found))))
        return self._rest(kept)

    def of(self, paths: list[str], *, base: str) -> list[str]:
        """Return the selected of some paths beneath `base`."""
        return [path for batch in self.select(paths) for path in batch if path.startswith(base)]

    def selects(self, path: str, alternatives: Iterable[Alternative]) -> bool:
        """Tell whether one of these alternatives matches `path` and none that takes away does."""
        if not any(list(matching(joined((each,)), [path])) for each in alternatives):
            return False
        return self._drop is None or not list(matching(self._drop, [path]))

    def _kept(self, paths: Sequence[str]) -> list[str]:
        common = self._common
        kept = common[0].select(paths) if common and len(common) == 1 else list(matching(self._keep, paths))
        return self._rest(kept)

    def _rest(self, kept: list[str]) -> list[str]:
        if self._drop is None or not kept:
            return kept
        dropped = set(matching(self._drop, kept))
        return [path for path in kept if path not in dropped]

    def _lead(self) -> str:
        """Return the directory that everything selected lies beneath."""
        leads = {each.prefix for each in self.positive if len(each.literals) < len(each.segments)}
        return f"{leads.pop()}/" if len(leads) == 1 and len(self.positive) == 1 and "" not in leads else ""
