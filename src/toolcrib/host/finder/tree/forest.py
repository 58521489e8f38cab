"""The table itself: every directory beneath a root, grown from the disk and mended where something changed.

A directory is watched before it is read, so whatever changes afterwards gives an event. Events are hints only: what
stands at a name is always asked of the disk, by handles, never through a link.
"""

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.host.finder.ignore import NOTHING, Rules
from toolcrib.host.finder.tree.inotify import Inotify
from toolcrib.host.finder.tree.mounts import deaf, kinds
from toolcrib.host.finder.tree.nodes import (
    MARK,
    Directory,
    Level,
    State,
    UnfitError,
    demand_entry,
    read_level,
    state_of_info,
    surely,
)
from toolcrib.host.finder.walk import DIRECTORY, MOST_IGNORED, beneath, entered

MOST_DEPTH = 256
"""Directories in each other; each is opened from the root, which for more would take too long."""


@dataclass(frozen=True, slots=True)
class _Open:
    """An open directory, and what is still to be read of those right beneath it."""

    handle: int
    pending: list[Directory]
    owned: bool = True

    def close(self) -> None:
        if self.owned:
            os.close(self.handle)


class Forest:
    """The directories beneath the handle `root`, which stays the caller's. `excludes` are the person's own rules.

    Not safe for threads. Raises OSError where the kernel's queue or the root fails; it is of no use any more then.
    """

    def __init__(self, root: int, queue: Inotify, *, excludes: Rules, most_file: int) -> None:
        self._root = root
        self._queue = queue
        self._most_file = most_file
        self._excludes = excludes
        self._by_watch: dict[int, Directory] = {}
        self._devices: dict[int, str | None] = {}
        self._in_ignored = 0
        self.top = Directory("", None, excludes)
        self.large: set[str] = set()
        self.linked: set[str] = set()
        self.unreadable: set[str] = set()
        self.repositories: dict[str, State] = {}
        """Directories that hold a `.git`, and the state of their info/exclude when it was read: it is watched by nobody
        and has to be asked for."""
        self.bare: set[str] = set()
        """Ignored directories that were not read, because much is ignored already."""
        self.said: dict[str, str | None] = {}
        """What changed of files since it was last taken: None where none is any more, empty where one is to be found,
        the topmost ignored entry where it is ignored."""
        self.touched: set[str] = set()
        """Files that were made, changed or removed since it was last taken."""
        self.grown = 0
        """How many directories were read."""

    @property
    def in_ignored(self) -> int:
        """How many entries of ignored directories are held."""
        return self._in_ignored

    @property
    def watched(self) -> int:
        """How many directories are watched."""
        return len(self._by_watch)

    # Growing ---------------------------------------------------------------------------------------------------------

    def grow(self, start: Directory, above: int) -> Iterator[Directory]:
        """Read `start`, which has no files yet, and all beneath it; yield each directory once it is read.

        `above` is a handle of the directory that `start` lies in, of the root itself for the root. Each directory is
        opened from the handle of the one above it: by its path it might meanwhile be another one.
        """
        stack = [_Open(above, [start], owned=False)]
        try:
            while stack:
                if not stack[-1].pending:
                    stack.pop().close()
                    continue
                node = stack[-1].pending.pop()
                if node.within is not None and node is not start and self._in_ignored > MOST_IGNORED:
                    self.bare.add(node.path)
                    continue
                handle = self._enterable(node, stack[-1].handle)
                if handle is not None:
                    stack.append(_Open(handle, []))
                    if self._read(node, handle):
                        stack[-1].pending.extend(node.below.values())
                yield node
        finally:
            while stack:
                stack.pop().close()

    def plant(self, start: Directory, above: int) -> None:
        """Grow at once."""
        for _ in self.grow(start, above):
            continue

    def _stands(self, node: Directory) -> bool:
        """Tell whether a directory is at its place."""
        try:
            handle = beneath(self._root, node.path)
        except OSError:
            return False
        try:
            status = os.fstat(handle)
        finally:
            os.close(handle)
        return (status.st_dev, status.st_ino) == node.identity

    def _enterable(self, node: Directory, above: int) -> int | None:
        """Open a directory from the one above; None when it is not there any more, or not readable."""
        if node.path.count("/") > MOST_DEPTH:
            raise UnfitError(f"directories more than {MOST_DEPTH} deep")
        try:
            return os.open(node.name or ".", DIRECTORY, dir_fd=above)
        except PermissionError:
            demand_entry(above)
            self._shut(node)
        except OSError:
            if node.parent is None:
                raise
            node.parent.below.pop(node.name, None)
            self._count(node.parent)
        return None

    def _read(self, node: Directory, handle: int) -> bool:
        """Watch and read one directory; False when it is not readable."""
        try:
            self._watch(node, handle)
            level = read_level(handle)
            self._repository(node, there=".git" in level.directories, handle=handle)
            node.rules = entered(self._above(node), node.path, handle, level.files, level.directories)
        except PermissionError:
            self._shut(node)
            return False
        self._take(node, level)
        self.grown += 1
        return True

    def _take(self, node: Directory, level: Level) -> None:
        node.files, node.marks, node.others = level.files, level.marks, level.others
        names = [name for name in level.directories if name != ".git"]
        node.ignored = self._ignored(node, names, level.files + level.others)
        node.readable = True
        self.unreadable.discard(node.path[:-1] or ".")
        for name in names:
            node.below[name] = self._child(node, name)
        self._count(node)
        self.linked.update(node.path + name for name in level.linked)
        for index, name in enumerate(level.files):
            self._say(node, name, node.marks[index * MARK])

    def _child(self, node: Directory, name: str) -> Directory:
        path = f"{node.path}{name}/"
        within = node.within or (path if name in node.ignored else None)
        return Directory(path, node, node.rules, within)

    def _watch(self, node: Directory, handle: int) -> None:
        status = os.fstat(handle)
        node.identity = (status.st_dev, status.st_ino)
        if status.st_dev not in self._devices:
            kind = self._devices[status.st_dev] = kinds().get(status.st_dev)
            if deaf(kind):
                raise UnfitError(f"a file system of kind {kind} does not tell of every change")
        node.watch = self._queue.watch(handle)
        former = self._by_watch.get(node.watch)
        if former is not None and former is not node:
            # The same directory at another place: it was moved, and the event of its old place is still to come.
            former.watch = -1
            if self._stands(former):
                raise UnfitError(f"{former.path!r} and {node.path!r} are the same directory")
        self._by_watch[node.watch] = node

    def _shut(self, node: Directory) -> None:
        """Empty a directory that may not be read any more."""
        for child in list(node.below.values()):
            self.fell(child)
        for name in node.files:
            self._gone(node.path + name)
        node.files, node.marks, node.others = [], array("Q"), []
        self._count(node)
        node.readable = False
        self._repository(node, there=False)
        self.unreadable.add(node.path[:-1] or ".")

    def _above(self, node: Directory) -> Rules:
        return self._excludes if node.parent is None else node.parent.rules

    def _ignored(self, node: Directory, directories: list[str], others: list[str]) -> frozenset[str]:
        return NOTHING if node.within is not None else node.rules.ignored(node.path, directories, others)

    def _repository(self, node: Directory, *, there: bool, handle: int = -1) -> None:
        """Note whether a directory holds a `.git`; with one this is called before its info/exclude is read."""
        node.repository = there
        if there:
            self.repositories[node.path] = surely(state_of_info(handle, ""))
        else:
            self.repositories.pop(node.path, None)

    # Felling ---------------------------------------------------------------------------------------------------------

    def fell(self, start: Directory) -> None:
        """Forget a directory and all beneath it, and take it from its parent."""
        for node in start.all():
            if node.watch >= 0 and self._by_watch.get(node.watch) is node:
                del self._by_watch[node.watch]
                self._queue.forget(node.watch)
            node.watch = -1
            self._in_ignored -= node.counted
            node.counted = 0
            self._repository(node, there=False)
            self.unreadable.discard(node.path[:-1])
            self.bare.discard(node.path)
            for name in node.files:
                self._gone(node.path + name)
        if start.parent is not None:
            start.parent.below.pop(start.name, None)
            self._count(start.parent)

    def _count(self, node: Directory) -> None:
        """Count the entries of a directory as they are now, if it is ignored."""
        count = 0 if node.within is None else len(node.files) + len(node.below)
        self._in_ignored += count - node.counted
        node.counted = count

    def _gone(self, path: str) -> None:
        self.said[path] = None
        self.touched.add(path)
        self.large.discard(path)
        self.linked.discard(path)

    def _say(self, node: Directory, name: str, size: int) -> None:
        path = node.path + name
        self.said[path] = node.top(name) or ""
        self.touched.add(path)
        (self.large.add if size > self._most_file else self.large.discard)(path)

    # Asking ----------------------------------------------------------------------------------------------------------

    def unwatch(self, watch: int) -> None:
        """Note that the kernel took a watch away: the directory was removed or its file system unmounted."""
        node = self._by_watch.pop(watch, None)
        if node is not None:
            node.watch = -1

    def at(self, watch: int) -> Directory | None:
        """Return the directory of a watch."""
        return self._by_watch.get(watch)

    def find(self, path: str) -> Directory | None:
        """Return the directory of a path, empty for the root, else with a slash at the end."""
        node: Directory | None = self.top
        for name in path.split("/")[:-1]:
            node = None if node is None else node.below.get(name)
        return node
