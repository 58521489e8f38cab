"""The table itself: every directory beneath a root, grown from the disk and mended where something changed.

A directory is watched before it is read, so whatever changes afterwards gives an event. Events are hints only: what
stands at a name is always asked of the disk, by handles, never through a link.
"""

import bisect
import errno
import os
from array import array
from collections.abc import Collection, Iterable

from toolcrib.host.finder.ignore import FILES, NOTHING, Rules
from toolcrib.host.finder.tree.inotify import Inotify
from toolcrib.host.finder.tree.mounts import deaf, kinds
from toolcrib.host.finder.tree.nodes import MARK, Directory, Level, UnfitError, changed, kind_of, mark_of, read_level
from toolcrib.host.finder.walk import DIRECTORY, MOST_IGNORED, beneath, entered
from toolcrib.host.workspace.calls import RESOLVE_NO_SYMLINKS, Calls
from toolcrib.terms.names import TEMP_NAME

_FEW = 64
"""Names of one directory that are looked at one by one; for more the directory is read."""


MOST_DEPTH = 256
"""Directories in each other; each is opened from the root, which for more would take too long."""

_MOST_PATH = 4000
_OLD = {errno.ENOSYS, errno.ENAMETOOLONG}
"""A kernel without openat2(2), or a name of many bytes."""


class Forest:
    """The directories beneath `root`, a handle that stays the caller's. `excludes` are the person's own rules.

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
        self.repositories: set[str] = set()
        """Directories that hold a `.git`: their info/exclude is watched by nobody and has to be asked for."""
        self.bare: set[str] = set()
        """Ignored directories that were not read, because much is ignored already."""
        self.said: dict[str, str | None] = {}
        """What changed of files since it was last taken: None where none is any more, empty where one is to be found,
        the topmost ignored entry where it is ignored."""
        self.touched: set[str] = set()
        """Files that were made, changed or removed since it was last taken."""
        self.grown = 0
        """How many directories were read."""
        self._calls = Calls()

    @property
    def watched(self) -> int:
        """How many directories are watched."""
        return len(self._by_watch)

    # Growing ---------------------------------------------------------------------------------------------------------

    def grow(self, start: Directory) -> Iterable[Directory]:
        """Read `start`, which has no files yet, and all beneath it; yield each directory once it is read."""
        stack = [start]
        while stack:
            node = stack.pop()
            if node.within is not None and node is not start and self._in_ignored > MOST_IGNORED:
                self.bare.add(node.path)
                continue
            if self._read(node):
                self.grown += 1
                stack.extend(node.below.values())
            yield node

    def plant(self, start: Directory) -> None:
        """Grow at once."""
        for _ in self.grow(start):
            continue

    def _read(self, node: Directory) -> bool:
        """Watch and read one directory; False when it is not one any more, or not readable."""
        try:
            handle = self._open(node.path)
        except PermissionError:
            self._shut(node)
            return False
        except OSError:
            if node.parent is None:
                raise
            node.parent.below.pop(node.name, None)
            return False
        try:
            self._watch(node, handle)
            level = read_level(handle)
            node.rules = entered(self._above(node), node.path, handle, level.files, level.directories)
        except PermissionError:
            self._shut(node)
            return False
        finally:
            os.close(handle)
        self._take(node, level)
        return True

    def _take(self, node: Directory, level: Level) -> None:
        node.files, node.marks, node.others = level.files, level.marks, level.others
        names = [name for name in level.directories if name != ".git"]
        self._repository(node, there=".git" in level.directories)
        node.ignored = self._ignored(node, names, level.files + level.others)
        node.readable = True
        self.unreadable.discard(node.path[:-1] or ".")
        for name in names:
            node.below[name] = self._child(node, name)
        if node.within is not None:
            self._in_ignored += len(level.files) + len(names)
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
            # The same directory under another name: it was moved, and the event of its old place is still to come.
            former.watch = -1
        self._by_watch[node.watch] = node

    def _shut(self, node: Directory) -> None:
        """Empty a directory that may not be read any more."""
        for child in list(node.below.values()):
            self.fell(child)
        for name in node.files:
            self._gone(node.path + name)
        node.files, node.marks, node.others = [], array("Q"), []
        node.readable = False
        self.unreadable.add(node.path[:-1] or ".")

    def _open(self, path: str) -> int:
        if not path:
            return os.open(".", DIRECTORY, dir_fd=self._root)  # a duplicate would share its place in the list of names
        if path.count("/") > MOST_DEPTH:
            raise UnfitError(f"directories more than {MOST_DEPTH} deep")
        if len(path) < _MOST_PATH:
            try:
                return self._calls.beneath(self._root, os.fsencode(path), DIRECTORY, RESOLVE_NO_SYMLINKS)
            except OSError as error:
                if error.errno not in _OLD:
                    raise
        return beneath(self._root, path)

    def _above(self, node: Directory) -> Rules:
        return self._excludes if node.parent is None else node.parent.rules

    def _ignored(self, node: Directory, directories: list[str], others: list[str]) -> frozenset[str]:
        return NOTHING if node.within is not None else node.rules.ignored(node.path, directories, others)

    def _repository(self, node: Directory, *, there: bool) -> None:
        node.repository = there
        (self.repositories.add if there else self.repositories.discard)(node.path)

    # Felling ---------------------------------------------------------------------------------------------------------

    def fell(self, start: Directory) -> None:
        """Forget a directory and all beneath it, and take it from its parent."""
        for node in start.all():
            if node.watch >= 0 and self._by_watch.get(node.watch) is node:
                del self._by_watch[node.watch]
                self._queue.forget(node.watch)
            node.watch = -1
            if node.within is not None:
                self._in_ignored -= len(node.files) + len(node.below)
            self._repository(node, there=False)
            self.unreadable.discard(node.path[:-1])
            self.bare.discard(node.path)
            for name in node.files:
                self._gone(node.path + name)
        if start.parent is not None:
            start.parent.below.pop(start.name, None)

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

    # Mending ---------------------------------------------------------------------------------------------------------

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

    def mend(self, node: Directory, names: Collection[str]) -> None:
        """Ask the disk for `names` of a directory; the empty name is the directory itself."""
        try:
            handle = self._open(node.path)
        except PermissionError:
            self._shut(node)
            return
        except OSError:
            if node.parent is None:
                raise
            self._astray(node)
            return
        try:
            if not node.readable:
                self.plant(node)
                return
            if _identity(os.fstat(handle)) != node.identity:
                self._astray(node)
            elif len(names) > max(_FEW, len(node.files) // 4):
                self._again(node, handle, ruled=False)
            elif ".git" in names or any(name in names for name in FILES):
                self._again(node, handle, ruled=True)
            else:
                for name in names:
                    if name:
                        self._look(node, handle, name)
        finally:
            os.close(handle)

    def _astray(self, node: Directory) -> None:
        """Look at the place of a directory that is not there as it was."""
        if node.parent is None:
            raise OSError(errno.ESTALE, "the root is another directory now")
        self.mend(node.parent, {node.name})

    def _again(self, node: Directory, handle: int, *, ruled: bool) -> None:
        """Read a directory once more and take over what differs; with `ruled` its ignore files may have changed."""
        try:
            level = read_level(handle)
        except PermissionError:
            self._shut(node)
            return
        differing = list(changed(node, level))
        directories = set(level.directories) - {".git"}
        repository = ".git" in level.directories
        ruled = ruled or node.repository != repository or any(name in FILES for name in differing)
        for name in differing:
            self._look(node, handle, name)
        for name in [name for name in node.below if name not in directories]:
            self.fell(node.below[name])
        for name in sorted(directories):
            self._look(node, handle, name)
        node.others = level.others
        self.linked.update(node.path + name for name in level.linked)
        if ruled:
            self._repository(node, there=repository)
            self.judge(node)

    def _look(self, node: Directory, handle: int, name: str) -> None:
        if TEMP_NAME.match(name):
            return
        try:
            status: os.stat_result | None = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            status = None
        kind = None if status is None else kind_of(status)
        child = node.below.get(name)
        # One that cannot be read was never opened, so that nobody knows which directory it is.
        if child is not None and (child.readable or kind != "directory") and _identity(status) != child.identity:
            self.fell(child)
            child = None
        if status is None or kind != "file":
            self._remove(node, name)
        if kind == "file" and status is not None:
            self._put(node, name, status)
        elif kind == "directory" and name != ".git":
            self._enter(node, name, child)
        elif kind == "other" and name not in node.others:
            node.others.append(name)
            self._verdict(node, name, directory=False)

    def _enter(self, node: Directory, name: str, child: Directory | None) -> None:
        if child is None:
            self._verdict(node, name, directory=True)
            child = node.below[name] = self._child(node, name)
            self.plant(child)
        elif not child.readable:
            self.mend(child, ())
        else:
            try:
                os.close(self._open(child.path))
            except PermissionError:
                self._shut(child)
            except OSError:
                return  # gone again: an event tells of it

    def _verdict(self, node: Directory, name: str, *, directory: bool) -> None:
        one = [name]
        found = self._ignored(node, one if directory else [], [] if directory else one)
        node.ignored = (node.ignored - {name}) | found if name in node.ignored or found else node.ignored

    def _remove(self, node: Directory, name: str) -> None:
        index = bisect.bisect_left(node.files, name)
        if index < len(node.files) and node.files[index] == name:
            del node.files[index]
            del node.marks[index * MARK : index * MARK + MARK]
            self._gone(node.path + name)
        if name in node.others:
            node.others.remove(name)

    def _put(self, node: Directory, name: str, status: os.stat_result) -> None:
        mark = array("Q", mark_of(status))
        index = bisect.bisect_left(node.files, name)
        if index < len(node.files) and node.files[index] == name:
            node.marks[index * MARK : index * MARK + MARK] = mark
        else:
            if name in node.others:
                node.others.remove(name)
            node.files.insert(index, name)
            node.marks[index * MARK : index * MARK] = mark
            self._verdict(node, name, directory=False)
        if status.st_nlink > 1:
            self.linked.add(node.path + name)
        self._say(node, name, status.st_size)

    # Judging ---------------------------------------------------------------------------------------------------------

    def judge(self, start: Directory, excludes: Rules | None = None) -> None:
        """Apply the ignore files from `start` downwards anew, after one of them changed."""
        self._excludes = self._excludes if excludes is None else excludes
        stack = [start]
        while stack:
            node = stack.pop()
            self._rule(node)
            if node.path in self.bare and node.within is None:
                self.bare.discard(node.path)
                self.plant(node)
                continue
            stack.extend(node.below.values())

    def _rule(self, node: Directory) -> None:
        node.rules = self._above(node)
        if node.repository or any(name in FILES for name in node.files):
            try:
                handle = self._open(node.path)
            except OSError:
                return
            try:
                names = [".git"] if node.repository else []
                node.rules = entered(node.rules, node.path, handle, node.files, names)
            finally:
                os.close(handle)
        if node.parent is not None:
            ignored = node.name in node.parent.ignored
            before, node.within = node.within, node.parent.within or (node.path if ignored else None)
        else:
            before = None
        self._in_ignored += (len(node.files) + len(node.below)) * ((node.within is not None) - (before is not None))
        was = node.ignored
        node.ignored = self._ignored(node, list(node.below), node.files + node.others)
        if was != node.ignored or before != node.within:
            for index, name in enumerate(node.files):
                self._say(node, name, node.marks[index * MARK])


def _identity(status: os.stat_result | None) -> tuple[int, int] | None:
    return None if status is None else (status.st_dev, status.st_ino)
