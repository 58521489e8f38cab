"""The table as searches see it: all paths in order, by ending and by name, and what changed since they were put so."""

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

END = "\U0010ffff"
"""Sorts behind every name."""

MOST_CHANGES = 1_000
"""Changes beside the shelves; with more they are put in order anew."""

_SINGLE = 64
"""Changes that are taken over one by one."""


class Shelf:
    """Paths in order, with the ways to few of them. Never changed once made."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    @cached_property
    def by_ending(self) -> dict[str, list[str]]:
        """Return the paths by the last ending of their name, its dot included; those without one under the empty."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            found.setdefault(ending(path), []).append(path)
        return found

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Return the paths by name."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def holds(self, path: str) -> bool:
        """Tell whether the path is here."""
        at = bisect.bisect_left(self.paths, path)
        return at < len(self.paths) and self.paths[at] == path


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One state of the table. `changes` says what of `visible` and `ignored` holds no more: see `Forest.said`.

    `version` grows with every change. `tops` tells of each ignored path on its shelf the topmost ignored entry.
    """

    version: int
    visible: Shelf
    ignored: Shelf
    tops: Mapping[str, str]
    changes: Mapping[str, str | None]
    large: frozenset[str]
    linked: frozenset[str]
    unreadable: tuple[str, ...]
    bare: frozenset[str]

    def top(self, path: str) -> str:
        """Return the topmost ignored entry that an ignored path is or lies in."""
        return self.changes.get(path) or self.tops[path]

    def mended(self, found: list[str], fits: Callable[[list[str]], list[str]], *, ignored: bool = False) -> list[str]:
        """Return what was selected from a shelf as it is now, in order; `fits` selects among the paths that are new."""
        if not self.changes:
            return found
        new = fits([path for path, said in self.changes.items() if said is not None and bool(said) == ignored])
        if len(self.changes) > _SINGLE:
            return sorted([*(path for path in found if path not in self.changes), *new])
        found = found.copy()
        for path in self.changes:
            at = bisect.bisect_left(found, path)
            if at < len(found) and found[at] == path:
                del found[at]
        for path in new:
            bisect.insort(found, path)
        return found


class Shelves:
    """Keeps the shelves, and puts them in order anew once much has changed. Not safe for threads."""

    def __init__(self) -> None:
        self._visible = Shelf([])
        self._ignored = Shelf([])
        self._tops: dict[str, str] = {}
        self._changes: dict[str, str | None] = {}

    def take(self, said: Mapping[str, str | None]) -> None:
        """Take over what is said of files."""
        changes = dict(self._changes)
        for path, top in said.items():
            if self._stands(path) == top:
                changes.pop(path, None)
            else:
                changes[path] = top
        self._changes = changes
        if len(changes) > MOST_CHANGES:
            self._arrange()

    def snapshot(self, version: int, **rest: Any) -> Snapshot:
        """Return the state now."""
        return Snapshot(
            version=version,
            visible=self._visible,
            ignored=self._ignored,
            tops=self._tops,
            changes=self._changes,
            **rest,
        )

    def size(self) -> int:
        """Return how many files there are."""
        fresh = sum(said is not None and self._stands(path) is None for path, said in self._changes.items())
        return len(self._visible.paths) + len(self._tops) + fresh - sum(top is None for top in self._changes.values())

    def _stands(self, path: str) -> str | None:
        if self._visible.holds(path):
            return ""
        return self._tops.get(path)

    def _arrange(self) -> None:
        visible, tops = dict.fromkeys(self._visible.paths), dict(self._tops)
        for path, top in self._changes.items():
            visible.pop(path, None)
            tops.pop(path, None)
            if top == "":
                visible[path] = None
            elif top is not None:
                tops[path] = top
        self._visible, self._ignored = Shelf(sorted(visible)), Shelf(sorted(tops))
        self._tops, self._changes = tops, {}


def ending(path: str) -> str:
    """Return the last ending of a path's name with its dot; empty where it has none."""
    at = path.rfind(".")
    return path[at:] if at > path.rfind("/") else ""


def beneath(paths: Sequence[str], base: str) -> tuple[int, int]:
    """Return which slice of sorted paths lies beneath a directory, empty for the root, else with a slash at the end."""
    if not base:
        return 0, len(paths)
    return bisect.bisect_left(paths, base), bisect.bisect_left(paths, base + END)
