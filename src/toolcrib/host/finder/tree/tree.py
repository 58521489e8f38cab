"""One resident table of a root: grown in the background, kept by events, and exact at the moment it is asked.

Asking sets a barrier into the kernel's queue: every change made before the question is read, and what it may have
touched is looked at, before the answer. Where that cannot be had, there is no table, and searches walk the disk.
"""

import errno
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeVar

from toolcrib.host.finder.tree.keeper import Keeper, RestlessError
from toolcrib.host.finder.tree.nodes import UnfitError
from toolcrib.host.finder.tree.shelves import Snapshot

T = TypeVar("T")

Stage = Literal["idle", "growing", "ready", "off", "closed"]

PACE = 0.02
"""Seconds between two readings of the queue that nobody asked for: a burst is read in few pieces."""

PENT = 500
"""Names to be looked at from which on that is done before anybody asks."""

AGAIN = 1.0
"""Seconds before a table that was lost is grown again; twice as many after each further time, up to `LONGEST`."""

LONGEST = 60.0

PATIENCE = 2.0
"""Seconds to wait for the table while somebody else has it."""

STABLE = 60.0
"""Seconds that a table has to last to be taken for sound."""

_FAREWELL = 2.0
_DELAY = 0.05
"""Seconds before growing begins: a command that searches once ends sooner."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the table stands: the reason where it is `off`, else how many files and directories it has."""

    stage: Stage
    reason: str = ""
    files: int = 0
    directories: int = 0


class Tree:
    """The table of one root, whose handle it copies. Its methods block briefly: call them from a thread."""

    def __init__(self, root: int, *, excludes: str | None, most_file: int) -> None:
        self._given = root
        self._root = self._wake = self._waker = -1
        self._excludes = excludes
        self._most_file = most_file
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._stage: Stage = "idle"
        self._reason = ""
        self._keeper: Keeper | None = None
        self._fallen: list[Keeper] = []
        self._version = 0

    def start(self) -> None:
        """Begin to grow the table in the background; once is enough. Waits for nobody."""
        if self._stage != "idle":
            return  # the lock is held as long as the table is brought up to date
        with self._lock:
            if self._stage == "idle":
                self._stage = "growing"
                self._root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._given)
                self._wake, self._waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
                self._thread = threading.Thread(target=self._live, name="toolcrib-tree", daemon=True)
                self._thread.start()

    def current(self) -> Snapshot | None:
        """Return the table with every change made before this call; None where there is none to rely on."""
        return self._asked(_settled)

    def changed_since(self, version: int) -> frozenset[str] | None:
        """Return the files made, changed or removed since the table's `version`; None where nobody knows.

        Waits for nobody, as `version` and `growing`: the event loop asks.
        """
        keeper = self._keeper
        return None if keeper is None else keeper.changed_since(version)

    def verified(self) -> frozenset[str] | None:
        """Return the files that changed without an event, found by asking every file; None where there is no table.

        A write through a mapping gives none (inotify(7)). What is found is taken over into the table.
        """
        return self._asked(Keeper.verify)

    def _asked(self, work: Callable[[Keeper], T]) -> T | None:
        """Do `work` with the table; None where there is none, or it cannot be had in time, or is lost by the work."""
        if not self._lock.acquire(timeout=PATIENCE):
            return None
        try:
            return None if self._keeper is None else work(self._keeper)
        except RestlessError:
            return None
        except (OSError, UnfitError) as error:
            self._lose(error)
            return None
        finally:
            self._lock.release()

    @property
    def version(self) -> int:
        """Grows with every change that became known."""
        keeper = self._keeper
        return self._version if keeper is None else keeper.version

    @property
    def growing(self) -> bool:
        """Whether there is no table yet."""
        return self._stage in {"idle", "growing"}

    def standing(self) -> Standing:
        """Tell how the table stands."""
        with self._lock:
            size = (0, 0) if self._keeper is None else self._keeper.size()
            return Standing(self._stage, self._reason, *size)

    def close(self) -> None:
        """End the background's work and give everything back. More than once is fine."""
        self._stop.set()
        with self._lock:
            self._end("closed")
            thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join(_FAREWELL)
        if not thread.is_alive():
            self._bury()
            for handle in (self._root, self._wake, self._waker):
                os.close(handle)
            self._root = self._wake = self._waker = -1

    # In the background -----------------------------------------------------------------------------------------------

    def _live(self) -> None:
        wait, asked = AGAIN, _DELAY
        while not self._stop.wait(asked):
            began = time.monotonic()
            try:
                if self._grown():
                    self._watch()
            except (OSError, UnfitError) as error:
                with self._lock:
                    self._lose(error)
            self._bury()
            wait = AGAIN if time.monotonic() - began > STABLE else min(wait * 2, LONGEST)
            asked = wait

    def _grown(self) -> bool:
        keeper = Keeper(self._root, excludes=self._excludes, most_file=self._most_file, version=self._version)
        try:
            whole = keeper.plant(self._stop.is_set)
        except BaseException:
            keeper.close()
            raise
        with self._lock:
            if not whole or self._stage == "closed":
                keeper.close()
                return False
            self._keeper, self._stage, self._reason = keeper, "ready", ""
        return True

    def _watch(self) -> None:
        """Read the queue whenever something is in it, until the table is given up or closed."""
        keeper = self._keeper
        if keeper is None:
            return
        ready = select.poll()
        ready.register(self._wake, select.POLLIN)
        ready.register(keeper.queue.handle, select.POLLIN)
        while self._keeper is keeper:
            ready.poll()
            if self._stop.wait(PACE):
                return
            with self._lock:
                if self._keeper is keeper:
                    keeper.pull()
                    if keeper.pending > PENT:
                        with suppress(RestlessError):
                            keeper.settle()

    def _lose(self, error: Exception) -> None:
        """Give the table up, with the lock held; the background grows another."""
        self._reason = _reason(error)
        self._end("closed" if self._stage == "closed" else "off")

    def _end(self, stage: Stage) -> None:
        """Take the table out of use, with the lock held; who watches it is woken and closes it."""
        self._stage = stage
        if self._keeper is not None:
            self._version = self._keeper.version + 1
            self._fallen.append(self._keeper)
            self._keeper = None
        if self._waker >= 0:
            with suppress(BlockingIOError):
                os.write(self._waker, b"\0")

    def _bury(self) -> None:
        """Close the tables that nobody watches any more."""
        while self._fallen:
            self._fallen.pop().close()
        with suppress(BlockingIOError):
            os.read(self._wake, 4096)


def _settled(keeper: Keeper) -> Snapshot:
    keeper.settle()
    return keeper.snapshot()


def _reason(error: Exception) -> str:
    """Say why there is no table."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOSPC:
        return "no watches are left (fs.inotify.max_user_watches)"
    if number in {errno.EMFILE, errno.ENFILE}:
        return "no inotify instance or file handle is left (fs.inotify.max_user_instances)"
    if isinstance(error, TimeoutError):
        return "changes came faster than they could be read"
    return str(error)
