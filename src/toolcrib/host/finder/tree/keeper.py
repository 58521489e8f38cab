"""Keeps the table: the queue of events, what they made doubtful, and mending it before an answer.

Not safe for threads, but for `changed_since`. Any OSError or `UnfitError` from here means that this table is of no use
any more.
"""

import os
import select
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.host.finder.ignore import Rules
from toolcrib.host.finder.tree.inotify import IGNORED, OVERFLOW, UNMOUNT, Event, Inotify
from toolcrib.host.finder.tree.nodes import State, UnfitError, state_of, state_of_info, surely
from toolcrib.host.finder.tree.shelves import Shelves, Snapshot
from toolcrib.host.finder.tree.tending import Tended
from toolcrib.host.finder.walk import own_file

BARRIER = 0.25
"""Seconds that reading the queue up to the barrier may take."""

MOST_KEPT = 100_000
"""Changed paths that are remembered for `changed_since`."""

_ROUNDS = 4
"""Times that new directories lead to one more barrier."""

_REPOSITORIES = 64
"""Repositories whose own excludes are asked for before each answer; a tree with more is not kept."""


class RestlessError(Exception):
    """The table could not be brought up to date this time."""


@dataclass(frozen=True, slots=True)
class Own:
    """The person's own excludes, and the path of their file, None for none."""

    path: str | None

    def state(self) -> State:
        """Return the state of the file."""
        return None if self.path is None else state_of(self.path, None)

    def rules(self) -> Rules:
        """Return the rules with what the file says."""
        return Rules() if self.path is None else Rules().with_excludes(own_file(self.path))


class Keeper:
    """One table and its queue. Close it at the end."""

    def __init__(self, root: int, *, excludes: str | None, most_file: int, version: int = 0) -> None:
        self._root = root
        self._own = Own(excludes)
        self._own_state = surely(self._own.state())
        self._names: dict[int, set[str]] = {}
        self._pending = 0
        self._log: deque[tuple[int, str]] = deque()
        self._since = version
        self._linked: frozenset[str] = frozenset()
        self._telling = threading.Lock()
        self.version = version
        self.shelves = Shelves()
        self._mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._mounted = select.poll()
        self._mounted.register(self._mounts, select.POLLPRI)
        try:
            self.queue = Inotify()
        except OSError:
            os.close(self._mounts)
            raise
        self.forest = Tended(root, self.queue, excludes=self._own.rules(), most_file=most_file)

    @property
    def pending(self) -> int:
        """How many names are to be looked at."""
        return self._pending

    def size(self) -> tuple[int, int]:
        """Return how many files and directories the table holds."""
        return self.shelves.size(), self.forest.watched

    def plant(self, stop: Callable[[], bool]) -> bool:
        """Grow the table; False when `stop` said to end."""
        for _ in self.forest.grow(self.forest.top, self._root):
            if not self.forest.grown % 64:
                self.pull()
            if stop():
                return False
        self._remember()
        return True

    def pull(self) -> None:
        """Take over the events that are queued."""
        while events := self.queue.read():
            self._note(events)

    def settle(self) -> None:
        """Take over every change that was made before this call.

        Raises:
            RestlessError: directories are moved faster than they can be looked at; the table stays of use.
            TimeoutError: more changes come than can be read.
        """
        if self._mounted.poll(0):
            raise UnfitError("a file system was mounted or unmounted")
        self._ask_excludes()
        for _ in range(_ROUNDS):
            grown = self.forest.grown
            self._note(self.queue.barrier(BARRIER))
            self._mend()
            if self.forest.grown == grown and not self._names:
                break
        else:
            raise RestlessError
        self._remember()

    def verify(self) -> frozenset[str]:
        """Ask every file whether it is as the table has it, take over those that are not, and return them."""
        version = self.version
        for node in list(self.forest.top.all()):
            self.forest.verify(node)
        self._remember()
        changed = self.changed_since(version)
        return frozenset() if changed is None else changed

    def snapshot(self) -> Snapshot:
        """Return the table as it was last settled."""
        forest = self.forest
        return self.shelves.snapshot(
            large=frozenset(forest.large),
            unreadable=tuple(sorted(forest.unreadable)),
            bare=frozenset(forest.bare),
        )

    def changed_since(self, version: int) -> frozenset[str] | None:
        """Return the files made, changed or removed since `version`; None where that is not known any more.

        Those with several hard links are always among them: another name may change them without an event here.
        """
        with self._telling:
            if version < self._since:
                return None
            found = set(self._linked)
            for number, path in reversed(self._log):
                if number <= version:
                    break
                found.add(path)
        return frozenset(found)

    def close(self) -> None:
        """Close the queue."""
        self.queue.close()
        os.close(self._mounts)

    def _note(self, events: list[Event]) -> None:
        for event in events:
            if event.mask & OVERFLOW:
                raise UnfitError("more changes were queued than the kernel keeps")
            if event.mask & UNMOUNT:
                raise UnfitError("a file system was unmounted")
            if event.mask & IGNORED:
                self.forest.unwatch(event.watch)
                continue
            names = self._names.setdefault(event.watch, set())
            before = len(names)
            names.add(event.name)
            self._pending += len(names) - before

    def _mend(self) -> None:
        names, self._names, self._pending = self._names, {}, 0
        found = [(node, names[watch]) for watch in names if (node := self.forest.at(watch)) is not None]
        found.sort(key=lambda each: each[0].path)
        for node, wanted in found:
            if self.forest.at(node.watch) is node:
                self.forest.mend(node, wanted)
        later, self.forest.later = self.forest.later, []
        for node, wanted in later:
            if self.forest.at(node.watch) is node:
                self._names.setdefault(node.watch, set()).update(wanted)

    def _ask_excludes(self) -> None:
        forest = self.forest
        state = self._own.state()
        if state != self._own_state:
            self._own_state = surely(state)
            forest.judge(forest.top, self._own.rules())
        if len(forest.repositories) > _REPOSITORIES:
            raise UnfitError(f"more than {_REPOSITORIES} repositories within each other")
        for path, known in list(forest.repositories.items()):
            if state_of_info(self._root, path) != known and (node := forest.find(path)) is not None:
                forest.judge(node)

    def _remember(self) -> None:
        forest = self.forest
        if not forest.touched and not forest.said:
            return
        self.shelves.take(forest.said)
        with self._telling:
            self.version += 1
            self._linked = frozenset(forest.linked)
            self._log.extend((self.version, path) for path in forest.touched)
            while len(self._log) > MOST_KEPT:
                self._since = self._log.popleft()[0]
        forest.said, forest.touched = {}, set()
