"""The store directory: opened once by each process, checked before it is trusted, never silently replaced."""

import os
import secrets
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from anyio import to_thread

from toolcrib.ports.clock import Clock
from toolcrib.store import sealed
from toolcrib.store.approvals import Approvals
from toolcrib.store.artifacts import Artifacts
from toolcrib.store.blobs import Blobs
from toolcrib.store.database import PAGE, RESTORE, Fault, Link, Mode, damage
from toolcrib.store.grants import Grants
from toolcrib.store.jobs import Jobs
from toolcrib.store.lanes import Lane, Reader, reading
from toolcrib.store.leases import Leases
from toolcrib.store.ledger import Ledger
from toolcrib.store.mark import Mark
from toolcrib.store.migrations import MIGRATIONS, blank, inspect, migrate
from toolcrib.store.owners import Owners
from toolcrib.store.shelf import Shelf, write_new
from toolcrib.store.tape import Tape
from toolcrib.store.writer import Writer
from toolcrib.terms.errors import StoreError
from toolcrib.terms.refusals import Refusal

DATABASE = "store.db"
"""The database file in the store directory."""

HALF = f"{DATABASE}.new-"
"""Start of the name of a database file that is being made."""

READERS = 2
"""Threads that read."""

SMALL = 4 << 20
"""Database size, bytes, up to which every opening checks it; a larger one is checked after an unclean stop."""


class Store:
    """Everything durable, behind the ports. Close it, or the next opening takes this process for one that crashed.

    What is not `async` here waits for the disk: call it from a thread.
    """

    def __init__(self, base: "_Base", clock: Clock) -> None:
        self._base = base
        self.read_only = base.mode != "write"
        """Whether the file system does not let the store be written: reads work, appends are refused."""
        self._writer = None if base.link is None else Writer(Ledger(base.link, clock), base.mark)
        self._reader: Reader = Lane("reader", READERS, reading(base.reader))
        self.tape = Tape(self._writer, self._reader, base.reader, base.mark.read)
        self.jobs = Jobs(self._reader)
        leases = Leases(self._writer, self._reader, base.owners, clock)
        self.approvals = Approvals(self._writer, self._reader, leases, clock)
        self.grants = Grants(self._writer, self._reader, clock)
        self.blobs = Blobs(self._writer, self._reader, base.shelf)
        self.artifacts = Artifacts(self._writer, self._reader, self.blobs, base.shelf)

    @classmethod
    def open(cls, directory: str, *, clock: Clock) -> Self:
        """Open the store in `directory`, which is made if it is missing.

        Raises:
            StoreError: it is damaged, foreign, newer than this version, or cannot be opened; nothing was changed.
        """
        base = _Base(os.path.realpath(directory))
        try:
            base.open()
            return cls(base, clock)
        except (Fault, OSError) as fault:
            base.close()
            raise damage(fault) from fault
        except StoreError:
            base.close()
            raise

    @property
    def owner(self) -> str:
        """This process's id in the store, empty for a store that was opened read-only."""
        return self._base.owners.me

    @property
    def trouble(self) -> str:
        """Why the last write failed, empty once one succeeds."""
        return self._writer.trouble if self._writer else ""

    def dead_owners(self) -> tuple[str, ...]:
        """Return the owners whose process ended without closing the store."""
        return self._base.owners.dead()

    def forget_owner(self, owner: str) -> bool:
        """Forget a dead owner once its jobs are closed; False when it lives or is not known."""
        return self._base.owners.forget(owner)

    async def check(self) -> tuple[str, ...]:
        """Return everything that a full check finds wrong: the database file, the chain, the seals."""

        def task() -> tuple[str, ...]:
            link = self._base.reader()
            try:
                found = [link.check(full=True), sealed.broken(link)]
            except Fault as fault:
                return (damage(fault).message,)
            finally:
                link.close()
            return tuple(each for each in found if each)

        try:
            verdict = await self.tape.verify()
        except Refusal as refusal:
            return (refusal.message,)
        chain = (f"entry {verdict.broken} of the tape: {verdict.why}",) if verdict.broken is not None else ()
        return (*chain, *await to_thread.run_sync(task))

    def close(self) -> None:
        """Commit what waits and let go of everything; closing again does nothing."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()
        self._base.close()


class _Base:
    """The handles of one open store, each checked before the next is opened."""

    folder: int
    link: Link | None
    mark: Mark
    owners: Owners
    shelf: Shelf

    def __init__(self, path: str) -> None:
        self.database = f"{path}/{DATABASE}"
        self.mode: Mode = "write"
        self._path = path
        self._handles = ExitStack()

    def open(self) -> None:
        """Open and check everything, in the order in which it may be trusted."""
        Path(self._path).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._handles.callback(os.close, self.folder)
        names = {entry.name for entry in os.scandir(self.folder)}
        writable = not os.fstatvfs(self.folder).f_flag & os.ST_RDONLY and os.access(self._path, os.W_OK)
        self._claim(names, writable=writable)
        # Read before the database: another process may be appending meanwhile.
        self.mark = Mark(self.folder)
        self._handles.callback(self.mark.close)
        known = self.mark.read()
        link = self._connect(writable=writable)
        self._check(link, known, writable=writable)
        self.link = link if writable else None
        if writable:
            self.mark = Mark(self.folder, create=True)
            self._handles.callback(self.mark.close)
        else:
            link.close()
        self.owners = Owners.open(self.folder, writable=writable)
        self._handles.callback(self.owners.close)
        self.shelf = Shelf(self.folder, self.owners.me, writable=writable)
        self._handles.callback(self.shelf.close)
        if writable:
            self.shelf.settle(self.owners.is_dead)

    def reader(self) -> Link:
        """Return a new connection that only reads."""
        return Link.open(self.database, "read" if self.mode == "write" else self.mode)

    def close(self) -> None:
        """Close every handle that was opened, the last one first."""
        self._handles.close()

    def _check(self, link: Link, known: int, *, writable: bool) -> None:
        version = inspect(link)
        size = os.stat(DATABASE, dir_fd=self.folder).st_size
        _demand("it ends within a page" if size % PAGE else "")
        if size <= SMALL or self._was_unclean():
            _demand(link.check() or (sealed.broken(link) if version == len(MIGRATIONS) else ""))
        if writable:
            link.use_wal()
            migrate(link)
        elif version < len(MIGRATIONS):
            raise StoreError(
                f"the store has the old version {version} and is on a read-only file system",
                hint="Start once with it mounted writable, so that it can be upgraded.",
            )
        head = link.number("SELECT max(seq) FROM entries")
        _demand("" if head >= known else f"its tape ends at entry {head}, and {known} were acknowledged")

    def _claim(self, names: set[str], *, writable: bool) -> None:
        held = os.fstat(self.folder)
        if held.st_uid != os.geteuid():
            raise StoreError(
                "the store directory belongs to another user", hint="Point the state directory at one of your own."
            )
        halves = {name for name in names if name.startswith(HALF)}
        if DATABASE not in names and not self._has_database():
            if names - halves:
                raise StoreError(
                    f"the store directory holds other things and no database ({DATABASE!r} is missing)",
                    hint="Point the state directory at an empty place, or restore it from a backup.",
                )
            _create(self.folder)
        elif writable:
            for name in halves:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=self.folder)
        if writable and stat.S_IMODE(held.st_mode) & 0o077:
            os.fchmod(self.folder, 0o700)

    def _has_database(self) -> bool:
        """Look again: a directory is not listed at one instant, and another process may have made it meanwhile."""
        try:
            os.lstat(DATABASE, dir_fd=self.folder)
        except FileNotFoundError:
            return False
        return True

    def _connect(self, *, writable: bool) -> Link:
        if writable:
            link = Link.open(self.database, "write")
            self._handles.callback(link.close)
            return link
        self.mode = "read"
        try:
            link = Link.open(self.database, "read")
            link.number("PRAGMA user_version")
        except Fault:
            # No log and no place to make one: on a read-only mount nothing can change under us.
            self.mode = "frozen"
            return Link.open(self.database, "frozen")
        return link

    def _was_unclean(self) -> bool:
        before = Owners.open(self.folder, writable=False)
        try:
            return bool(before.dead())
        finally:
            before.close()


def _create(folder: int) -> None:
    """Put the file of an empty store in place, whole; one that another process puts there meanwhile stays."""
    half = HALF + secrets.token_hex(8)
    try:
        write_new(half, folder, blank())
        # The name is gone if the other process has swept it, its own file being there.
        with suppress(FileExistsError, FileNotFoundError):
            os.link(half, DATABASE, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(half, dir_fd=folder)
    os.fsync(folder)


def _demand(problem: str) -> None:
    if problem:
        raise StoreError(
            f"the store's database is damaged: {problem}",
            hint=RESTORE,
        )
