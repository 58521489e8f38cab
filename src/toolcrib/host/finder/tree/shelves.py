"""The table as searches see it: all paths in order, by ending and by name, and what changed since they were put so."""

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

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

    @cached_property
    def by_place(self) -> dict[str, list[str]]:
        """Return the paths by directory, which ends in a slash, empty for the root."""
        found: dict[str, list[str]] = {}
        for path in self.paths:
            found.setdefault(path[: path.rfind("/") + 1], []).append(path)
        return found

    @cached_property
    def folded(self) -> list[str]:
        """Return the paths with letter case folded."""
        return [path.casefold() for path in self.paths]


class Whole:
    """All files that are not ignored, in the forms that a content search needs; the same object while none changes."""

    def __init__(self, visible: Shelf, changes: Mapping[str, str | None]) -> None:
        self._visible = visible
        self._changes = changes

    @cached_property
    def files(self) -> list[str]:
        """Return the files in order."""
        return mended(self._visible.paths, self._changes, lambda new: new, ignored=False)

    @cached_property
    def set(self) -> frozenset[str]:
        """Return the files as a set."""
        return frozenset(self.files)

    @cached_property
    def places(self) -> list[str]:
        """Return the directories that hold them, and some that did."""
        new = {path[: path.rfind("/") + 1]: None for path, said in self._changes.items() if said == ""}
        return [place[:-1] for place in {**self._visible.by_place, **new}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One state of the table. `changes` says what of `visible` and `ignored` holds no more: see `Forest.said`.

    `tops` tells of each ignored path on its shelf the topmost ignored entry.
    """

    visible: Shelf
    ignored: Shelf
    tops: Mapping[str, str]
    changes: Mapping[str, str | None]
    large: frozenset[str]
    unreadable: tuple[str, ...]
    bare: frozenset[str]
    whole: Whole

    def top(self, path: str) -> str:
        """Return the topmost ignored entry that an ignored path is or lies in."""
        return self.changes.get(path) or self.tops[path]

    def select(self, choose: "Choice", base: str, *, ignored: bool = False) -> list[str]:
        """Return the paths beneath `base` that `choose` takes, in order."""
        shelf = self.ignored if ignored else self.visible
        return mended(choose.among(shelf, base), self.changes, partial(choose.of, base=base), ignored=ignored)


class Choice(Protocol):
    """Chooses paths."""

    def among(self, shelf: Shelf, base: str) -> list[str]:
        """Return the chosen paths of a shelf that lie beneath `base`, in order."""
        ...

    def of(self, paths: list[str], *, base: str) -> list[str]:
        """Return the chosen ones of some paths, in any order."""
        ...


class Everything:
    """Chooses every path."""

    def among(self, shelf: Shelf, base: str) -> list[str]:
        """Return the paths of a shelf beneath `base`."""
        low, high = beneath(shelf.paths, base)
        return shelf.paths[low:high]

    def of(self, paths: list[str], *, base: str) -> list[str]:
        """Return the paths beneath `base`."""
        return [path for path in paths if path.startswith(base)]


def mended(
    found: list[str],
    changes: Mapping[str, str | None],
    choose: Callable[[list[str]], list[str]],
    *,
    ignored: bool,
) -> list[str]:
    """Return what was selected from a shelf as it is now, in order; `choose` selects among the paths that are new."""
    if not changes:
        return found
    new = choose([path for path, said in changes.items() if said is not None and bool(said) == ignored])
    if len(changes) > _SINGLE:
        return sorted([*(path for path in found if path not in changes), *new])
    found = found.copy()
    for path in changes:
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
        self._whole = Whole(self._visible, {})

    def take(self, said: Mapping[str, str | None]) -> None:
        """Take over what is said of files."""
        changes = dict(self._changes)
        for path, top in said.items():
            if self._stands(path) == top:
                changes.pop(path, None)
            else:
                changes[path] = top
        if changes != self._changes:
            self._changes = changes
            if len(changes) > MOST_CHANGES:
                self._arrange()
            self._whole = Whole(self._visible, self._changes)

    def snapshot(self, **rest: Any) -> Snapshot:
        """Return the state now."""
        return Snapshot(
            visible=self._visible,
            ignored=self._ignored,
            tops=self._tops,
            changes=self._changes,
            whole=self._whole,
            **rest,
        )

    def size(self) -> int:
        """Return how many files there are."""
        fresh = sum(said is not None and self._stands(path) is None for path, said in self._changes.items())
        return len(self._visible.paths) + len(self._tops) + fresh - sum(top is None for top in self._changes.values())

    def _stands(self, path: str) -> str | None:
        if holds(self._visible.paths, path):
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


def holds(paths: Sequence[str], path: str) -> bool:
    """Tell whether a path is among sorted ones."""
    at = bisect.bisect_left(paths, path)
    return at < len(paths) and paths[at] == path


def beneath(paths: Sequence[str], base: str) -> tuple[int, int]:
    """Return which slice of sorted paths lies beneath a directory, empty for the root, else with a slash at the end."""
    if not base:
        return 0, len(paths)
    behind = f"{base[:-1]}0"  # the character behind the slash: any name may begin with the last of all
    return bisect.bisect_left(paths, base), bisect.bisect_left(paths, behind)
