"""Mending the table where something may have changed: what stands at a name is asked of the disk, by handles."""

import bisect
import errno
import os
from array import array
from collections.abc import Collection

from toolcrib.host.finder.ignore import FILES, Rules
from toolcrib.host.finder.tree.forest import Forest
from toolcrib.host.finder.tree.inotify import Inotify
from toolcrib.host.finder.tree.nodes import MARK, Directory, changed, demand_entry, kind_of, mark_of, read_level
from toolcrib.host.finder.walk import DIRECTORY, beneath, entered
from toolcrib.host.workspace.calls import RESOLVE_NO_SYMLINKS, Calls
from toolcrib.terms.names import TEMP_NAME

_FEW = 64
"""Names of one directory that are looked at one by one; for more the directory is read."""

_MOST_PATH = 4000
_OLD = {errno.ENOSYS, errno.ENAMETOOLONG}
"""A kernel without openat2(2), or a name of many bytes."""


class Tended(Forest):
    """A forest that can be mended."""

    def __init__(self, root: int, queue: Inotify, *, excludes: Rules, most_file: int) -> None:
        super().__init__(root, queue, excludes=excludes, most_file=most_file)
        self._calls = Calls()
        self.later: list[tuple[Directory, Collection[str]]] = []
        """Names that could not be looked at, because their directory was elsewhere just then."""

    def mend(self, node: Directory, names: Collection[str]) -> None:
        """Ask the disk for `names` of a directory; the empty name is the directory itself."""
        handle = self._held(node)
        if handle is None:
            self._astray(node, names)
            return
        try:
            if "" in names:
                demand_entry(handle)
            if len(names) > max(_FEW, len(node.files) // 4):
                self._again(node, handle, ruled=False)
            elif ".git" in names or any(name in names for name in FILES):
                self._again(node, handle, ruled=True)
            else:
                for name in names:
                    if name:
                        self._look(node, handle, name)
        finally:
            os.close(handle)

    def verify(self, node: Directory) -> None:
        """Look at the files of one directory that are not as the table has them."""
        handle = self._held(node) if node.files else None
        if handle is None:
            return
        try:
            marks, at = node.marks, 0
            differing: list[str] = []
            for name in node.files:
                try:
                    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                except OSError:
                    differing.append(name)
                    continue
                finally:
                    at += MARK
                if status.st_mtime_ns != marks[at - 3] or status.st_ctime_ns != marks[at - 2]:
                    differing.append(name)
            for name in differing:
                self._look(node, handle, name)
        finally:
            os.close(handle)

    def _held(self, node: Directory) -> int | None:
        """Open a directory of the table; None where its path leads to another one, or to none."""
        if not node.readable:
            return None
        try:
            handle = self._open(node.path)
        except PermissionError:
            if node.parent is None:
                self._shut(node)
            return None  # it, or one above it: the nearest that may still be entered is asked which
        except OSError:
            if node.parent is None:
                raise
            return None
        if _identity(os.fstat(handle)) == node.identity:
            return handle
        os.close(handle)
        return None

    def _open(self, path: str) -> int:
        if not path:
            return os.open(".", DIRECTORY, dir_fd=self._root)  # a duplicate would share its place in the list of names
        if len(path) < _MOST_PATH:
            try:
                return self._calls.beneath(self._root, os.fsencode(path), DIRECTORY, RESOLVE_NO_SYMLINKS)
            except OSError as error:
                if error.errno not in _OLD:
                    raise
        return beneath(self._root, path)

    def _astray(self, node: Directory, names: Collection[str]) -> None:
        """Look at the place of a directory that is not there as it was."""
        if node.parent is None:
            if not node.readable:
                self._replant(node)
                return
            raise OSError(errno.ESTALE, "the root is another directory now")
        self.mend(node.parent, {node.name})
        if self.at(node.watch) is node and node.readable:
            self.later.append((node, names))

    def _replant(self, root: Directory) -> None:
        handle = self._open("")
        try:
            self.plant(root, handle)
        finally:
            os.close(handle)

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
            self._repository(node, there=repository, handle=handle)
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
            self._enter(node, handle, name, child)
        elif kind == "other" and name not in node.others:
            node.others.append(name)
            self._verdict(node, name, directory=False)

    def _enter(self, node: Directory, handle: int, name: str, child: Directory | None) -> None:
        """Take over a directory: as it is known, unless it is new, was not readable, or was met elsewhere meanwhile."""
        if child is not None and child.readable and child.watch >= 0:
            try:
                os.close(os.open(name, DIRECTORY, dir_fd=handle))
            except PermissionError:
                self._shut(child)
            except OSError:
                return  # gone again: an event tells of it
            return
        if child is not None:
            self.fell(child)
        self._verdict(node, name, directory=True)
        node.below[name] = self._child(node, name)
        self._count(node)
        self.plant(node.below[name], handle)

    def _verdict(self, node: Directory, name: str, *, directory: bool) -> None:
        one = [name]
        found = self._ignored(node, one if directory else [], [] if directory else one)
        node.ignored = (node.ignored - {name}) | found if name in node.ignored or found else node.ignored

    def _remove(self, node: Directory, name: str) -> None:
        index = bisect.bisect_left(node.files, name)
        if index < len(node.files) and node.files[index] == name:
            del node.files[index]
            del node.marks[index * MARK : index * MARK + MARK]
            self._count(node)
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
            self._count(node)
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
                self._found(node)
                continue
            stack.extend(node.below.values())

    def _found(self, node: Directory) -> None:
        """Read a directory that was left alone while it was ignored."""
        above = None if node.parent is None else self._held(node.parent)
        if above is None:
            if node.parent is not None:
                self.later.append((node.parent, FILES))
            return
        try:
            self.bare.discard(node.path)
            self.plant(node, above)
        finally:
            os.close(above)

    def _rule(self, node: Directory) -> None:
        node.rules = self._above(node)
        if node.repository or any(name in FILES for name in node.files):
            handle = self._held(node)
            if handle is None:
                self.later.append((node, FILES))
                return
            try:
                names = [".git"] if node.repository else []
                self._repository(node, there=node.repository, handle=handle)
                node.rules = entered(node.rules, node.path, handle, node.files, names)
            finally:
                os.close(handle)
        if node.parent is not None:
            ignored = node.name in node.parent.ignored
            before, node.within = node.within, node.parent.within or (node.path if ignored else None)
        else:
            before = None
        self._count(node)
        was = node.ignored
        node.ignored = self._ignored(node, list(node.below), node.files + node.others)
        if was != node.ignored or before != node.within:
            for index, name in enumerate(node.files):
                self._say(node, name, node.marks[index * MARK])


def _identity(status: os.stat_result | None) -> tuple[int, int] | None:
    return None if status is None else (status.st_dev, status.st_ino)
