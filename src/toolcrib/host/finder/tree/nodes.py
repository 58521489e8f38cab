"""Directories as the table holds them, and reading one level of them from the disk."""

import os
import stat
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.host.finder.ignore import NOTHING, Rules
from toolcrib.host.finder.walk import beneath
from toolcrib.terms.names import TEMP_NAME, TEMP_PREFIX

MARK = 4
"""Numbers that one file's signature takes: size, modification and change in ns, inode."""

Mark = tuple[int, int, int, int]

State = tuple[int, int, int] | None
"""What tells one state of a file of rules from another: size, change in ns, inode; None for no file."""

_UNSURE = (-1, -1, -1)
_TICK = 50_000_000
"""Nanoseconds within which two changes may bear the same time."""


class UnfitError(Exception):
    """No table can be kept of this tree, and why."""


@dataclass(slots=True, eq=False)
class Directory:
    """One directory. `path` is empty for the root, else it ends in a slash; `files` is sorted.

    `marks` holds the signatures of `files`, four numbers each. `within` is the topmost ignored directory that this one
    is or lies in. A `watch` below zero: none.
    """

    path: str
    parent: "Directory | None"
    rules: Rules
    within: str | None = None
    watch: int = -1
    identity: tuple[int, int] = (0, 0)
    files: list[str] = field(default_factory=list[str])
    marks: "array[int]" = field(default_factory=lambda: array("Q"))
    others: list[str] = field(default_factory=list[str])
    ignored: frozenset[str] = NOTHING
    below: dict[str, "Directory"] = field(init=False)
    repository: bool = False
    readable: bool = True
    counted: int = 0
    """How many entries were counted as ignored."""

    def __post_init__(self) -> None:
        self.below = {}

    @property
    def name(self) -> str:
        """The last part of the path, empty for the root."""
        return self.path[:-1].rpartition("/")[2]

    def top(self, name: str) -> str | None:
        """Return the topmost ignored entry that the file `name` is or lies in, None where it is not ignored."""
        if self.within is not None:
            return self.within
        return self.path + name if name in self.ignored else None

    def mark(self, index: int) -> Mark:
        """Return the signature of the file at `index`."""
        size, modified, changed, inode = self.marks[index * MARK : index * MARK + MARK]
        return size, modified, changed, inode

    def all(self) -> "Iterator[Directory]":
        """Yield this directory and all beneath it, parents first."""
        stack: list[Directory] = [self]
        while stack:
            each = stack.pop()
            yield each
            stack.extend(each.below.values())


@dataclass(slots=True)
class Level:
    """What one reading of a directory found. `directories` has `.git` in it where there is one."""

    files: list[str] = field(default_factory=list[str])
    marks: "array[int]" = field(default_factory=lambda: array("Q"))
    directories: list[str] = field(default_factory=list[str])
    others: list[str] = field(default_factory=list[str])
    linked: list[str] = field(default_factory=list[str])
    """Files with several hard links: another of their names may change them without an event here."""


def mark_of(status: os.stat_result) -> Mark:
    """Return the signature of a file."""
    return status.st_size, _unsigned(status.st_mtime_ns), _unsigned(status.st_ctime_ns), status.st_ino


def state_of(name: str, directory: int | None) -> State:
    """Return the state of a file. Unlike the time of a modification that of a change cannot be set."""
    try:
        status = os.stat(name, dir_fd=directory)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_ctime_ns, status.st_ino


def state_of_info(root: int, path: str) -> State:
    """Return the state of the info/exclude of the repository at `path` beneath the handle `root`."""
    try:
        handle = beneath(root, f"{path}.git/info")
    except OSError:
        return None
    try:
        return state_of("exclude", handle)
    finally:
        os.close(handle)


def surely(state: State) -> State:
    """Return a state to be remembered: one that never holds where the file may change once more in the same moment."""
    return _UNSURE if state is not None and abs(time.time_ns() - state[1]) < _TICK else state


def read_level(handle: int) -> Level:
    """Read an open directory. A file that goes away meanwhile is left out: an event tells of it.

    Raises:
        OSError: as scandir(3).
        UnfitError: the names may be listed, and nothing else asked of them.
    """
    level = Level()
    found: list[tuple[str, Mark]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(TEMP_PREFIX) and TEMP_NAME.match(name):
                continue
            if entry.is_file(follow_symlinks=False):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                except PermissionError:
                    raise UnfitError(f"the directory of {name!r} may be listed, and nothing in it looked at") from None
                found.append((name, mark_of(status)))
                if status.st_nlink > 1:
                    level.linked.append(name)
            elif entry.is_dir(follow_symlinks=False):
                level.directories.append(name)
            else:
                level.others.append(name)
    found.sort()
    level.files = [name for name, _ in found]
    level.marks = array("Q", [number for _, mark in found for number in mark])
    level.directories.sort()
    level.others.sort()
    return level


def demand_entry(handle: int) -> None:
    """Demand that what lies in an open directory may be asked for.

    Raises:
        UnfitError: it may be listed, and not entered.
    """
    try:
        os.stat(".", dir_fd=handle)
    except PermissionError:
        raise UnfitError("a directory may be listed, and nothing in it looked at") from None


def kind_of(status: os.stat_result) -> str:
    """Return `file`, `directory` or `other`."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    return "directory" if stat.S_ISDIR(status.st_mode) else "other"


def changed(old: Directory, level: Level) -> Iterator[str]:
    """Yield the names of files that differ between the table and a fresh reading: made, removed or modified."""
    before = {name: old.mark(index) for index, name in enumerate(old.files)}
    for index, name in enumerate(level.files):
        if before.pop(name, None) != tuple(level.marks[index * MARK : index * MARK + MARK]):
            yield name
    yield from before


def _unsigned(nanoseconds: int) -> int:
    return nanoseconds & (1 << 64) - 1
