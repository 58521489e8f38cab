"""The one walker: every directory beneath a start, by handles, iteratively, never through a link.

A directory is opened by name from its parent's handle without following links, so nothing that is swapped for a link
meanwhile leads out. `.git` is never entered. What the caller may not see is neither shown nor opened.
"""

import bisect
import os
import stat
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.ignore import FILES, MOST_BYTES, NOTHING, Rules
from toolcrib.terms.names import TEMP_NAME, TEMP_PREFIX

MOST_IGNORED = 50_000
"""Entries of ignored directories that are looked at to count what was left out."""

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""How a directory is opened: never through a link."""
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""How a file is opened: never through a link, and never waiting for the other end of a FIFO."""

_MOST_HANDLES = 128
_NOTED = 20
_REPOSITORY = ".git"


@dataclass(slots=True)
class Level:
    """One directory while its handle is open. `path` is empty for the root, else it ends in a slash; names sorted."""

    path: str
    handle: int
    depth: int
    directories: list[str]
    files: list[str]
    others: list[str]
    """Links and whatever is neither a regular file nor a directory."""
    ignored: frozenset[str]
    """Names of this directory that ignore rules leave out; empty where `within` says so of all."""
    within: str | None
    """The topmost ignored directory that this one is or lies in."""
    denied: int
    """How many entries the caller may not see; they are in none of the lists."""


@dataclass(slots=True)
class Notes:
    """What a walk could not or was not to look at."""

    unreadable: list[str] = field(default_factory=list[str])
    large: set[str] = field(default_factory=set[str])
    """Files above the size that the plan names."""
    denied: int = 0
    vanished: bool = False

    def unread(self, path: str) -> None:
        """Remember a path that the operating system would not let us read; the first 20."""
        if len(self.unreadable) < _NOTED:
            self.unreadable.append(path)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to walk. `named` are paths the caller wrote: in and above them nothing counts as merely ignored."""

    shows: Callable[[str], bool] | None
    budget: Budget
    most_depth: int | None = None
    most_size: int | None = None
    """Size in bytes above which files are noted as large; None to ask for no sizes."""
    named: tuple[str, ...] = ()


@dataclass(slots=True)
class _Child:
    name: str
    rules: Rules
    within: str | None


@dataclass(slots=True)
class _Frame:
    """A directory with children still to be entered. Its handle may have been given back; then it is opened anew."""

    path: str
    depth: int
    handle: int
    pending: list[_Child]


class Walk:
    """A walk under way. Iterate `levels` once; `notes` grows meanwhile."""

    def __init__(self, root: int, plan: Plan) -> None:
        self.notes = Notes()
        self._root = root
        self._plan = plan
        self._ignored_seen = 0
        self._stack: list[_Frame] = []

    def levels(self, start: int, path: str, rules: Rules, within: str | None = None) -> Generator[Level]:
        """Yield the directory of the handle `start`, which stays the caller's, and all beneath it, in order of names.

        `path` is its canonical path, empty for the root, else with a slash at the end; `within` the topmost ignored
        directory that it is or lies in.
        """
        try:
            level, children = self._read(_Frame(path, 0, start, []), rules, within)
            yield level
            self._stack.append(_Frame(path, 0, os.dup(start), children))
            while self._stack and not self._plan.budget.spent():
                frame = self._stack[-1]
                if not frame.pending:
                    self._give_back(self._stack.pop())
                    continue
                yield from self._enter(frame, frame.pending.pop())
        finally:
            while self._stack:
                self._give_back(self._stack.pop())

    def _enter(self, parent: _Frame, child: _Child) -> Generator[Level]:
        path = f"{parent.path}{child.name}/"
        if child.within and self._ignored_seen > MOST_IGNORED and not self._is_named(path):
            return
        handle = self._opened(parent, child.name, path)
        if handle is None:
            return
        if not parent.pending:
            # Nothing is left to enter from the parent, so its handle goes: a chain of directories holds one handle.
            self._stack.pop()
            self._give_back(parent)
        frame = _Frame(path, parent.depth + 1, handle, [])
        self._stack.append(frame)
        self._spare_handles()
        level, frame.pending = self._read(frame, child.rules, child.within)
        if child.within and not self._is_named(path):
            self._ignored_seen += len(level.files) + len(level.directories)
        yield level

    def _is_named(self, path: str) -> bool:
        return any(name.startswith(path) or path.startswith(name) for name in self._plan.named)

    def _opened(self, parent: _Frame, name: str, path: str) -> int | None:
        try:
            if parent.handle < 0:
                parent.handle = beneath(self._root, parent.path)
            return os.open(name, DIRECTORY, dir_fd=parent.handle)
        except PermissionError:
            self.notes.unread(path[:-1])
        except OSError:
            # Removed, renamed, or swapped for a link or a file since it was listed.
            self.notes.vanished = True
        return None

    def _spare_handles(self) -> None:
        held = [frame for frame in self._stack if frame.handle >= 0]
        if len(held) > _MOST_HANDLES:
            for frame in held[: _MOST_HANDLES // 2]:
                self._give_back(frame)

    @staticmethod
    def _give_back(frame: _Frame) -> None:
        if frame.handle >= 0:
            os.close(frame.handle)
            frame.handle = -1

    def _read(self, frame: _Frame, rules: Rules, within: str | None) -> tuple[Level, list[_Child]]:
        denied = self.notes.denied
        directories, files, others = self._names(frame)
        denied = self.notes.denied - denied
        rules = entered(rules, frame.path, frame.handle, files, directories)
        ignored = rules.ignored(frame.path, directories, files + others) if within is None else NOTHING
        level = Level(frame.path, frame.handle, frame.depth, directories, files, others, ignored, within, denied)
        if self._plan.most_depth is not None and frame.depth + 1 >= self._plan.most_depth:
            return level, []
        children = [
            _Child(name, rules, within or (f"{frame.path}{name}/" if name in ignored else None))
            for name in reversed(directories)
            if name != _REPOSITORY
        ]
        return level, children

    def _names(self, frame: _Frame) -> tuple[list[str], list[str], list[str]]:
        directories: list[str] = []
        files: list[str] = []
        others: list[str] = []
        budget, most = self._plan.budget, self._plan.most_size
        count = 0
        try:
            with os.scandir(frame.handle) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
                        if most is not None and _size(entry) > most:
                            self.notes.large.add(frame.path + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        directories.append(entry.name)
                    else:
                        others.append(entry.name)
                    count += 1
                    if not count % 1000 and budget.spent(1000):
                        break
        except PermissionError:
            self.notes.unread(frame.path[:-1] or ".")
        except OSError:
            self.notes.vanished = True
        budget.spent(count % 1000)
        return self._shown(frame.path, directories), self._shown(frame.path, files), self._shown(frame.path, others)

    def _shown(self, path: str, names: list[str]) -> list[str]:
        if not names:
            return names
        names.sort()
        first = bisect.bisect_left(names, TEMP_PREFIX)
        if first < len(names) and names[first].startswith(TEMP_PREFIX):
            names = [name for name in names if not TEMP_NAME.match(name)]
        shows = self._plan.shows
        if shows is None:
            return names
        allowed = [name for name in names if shows(path + name)]
        self.notes.denied += len(names) - len(allowed)
        return allowed


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0  # whoever opens it will see


def entered(rules: Rules, path: str, handle: int, files: list[str], directories: list[str]) -> Rules:
    """Return the rules that hold in a directory, with its own ignore files."""
    if _REPOSITORY in directories:
        info = read_small(handle, (_REPOSITORY, "info", "exclude"))
        rules = rules.with_info(path, info) if info else rules
    for name in FILES:
        if name in files:
            data = read_small(handle, (name,))
            rules = rules.with_file(path, name, data) if data else rules
    return rules


def own_file(path: str) -> bytes:
    """Return the first 4 MiB of a file that is the person's own, outside the tree; nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except (OSError, ValueError):
        return b""


def read_small(directory: int, parts: tuple[str, ...]) -> bytes:
    """Return the first 4 MiB of a regular file beneath `directory`; nothing where there is none that can be read."""
    handle = os.dup(directory)
    try:
        for part in parts[:-1]:
            below = os.open(part, DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = below
        file = os.open(parts[-1], FILE, dir_fd=handle)
    except OSError:
        return b""
    finally:
        os.close(handle)
    with open(file, "rb") as opened:
        return opened.read(MOST_BYTES) if stat.S_ISREG(os.fstat(file).st_mode) else b""


def beneath(root: int, path: str, *, file: bool = False) -> int:
    """Open a directory (or, with `file`, a file at the end) beneath `root` without following any link.

    By single steps, so that a path longer than the system's 4,096 bytes is no obstacle.

    Raises:
        OSError: as open(2); ELOOP or ENOTDIR where a link stands in the path.
    """
    handle = os.dup(root)
    try:
        parts = [part for part in path.split("/") if part]
        for place, part in enumerate(parts, 1):
            below = os.open(part, FILE if file and place == len(parts) else DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = below
    except OSError:
        os.close(handle)
        raise
    return handle
