"""The one door to SQLite: connections with the pragmas that durability and distrust ask for, and what its faults mean.

Nothing else in the process may open or close the database file: closing it by other means would drop SQLite's locks.
"""

import errno
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol, Self, cast

import apsw

from toolcrib.terms.errors import StoreError
from toolcrib.terms.refusals import Refusal

Fault = apsw.Error
"""What SQLite raises."""

Value = None | int | float | str | bytes
"""What a column holds."""

Row = tuple[Value, ...]
"""One row of an answer."""

BUSY_SECONDS = 10.0
"""How long a statement waits for another process to finish its transaction."""

WAL_BYTES = 4 << 20
"""Size that the write-ahead log is filled to at first and cut back to: writing over it is cheaper than growing it."""

PAGE = 4096
"""Size of a page of the database file, bytes: SQLite's default, set so that it stays so."""

VERSION = apsw.sqlite_lib_version()
"""The SQLite in use."""

Mode = Literal["write", "read", "frozen"]
"""`frozen` reads a file that nothing can change, on a read-only mount."""

RESTORE = "Restore the store directory from a backup, or move it away to start an empty one."
"""What to do about damage."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FLAGS: dict[Mode, int] = {
    "write": apsw.SQLITE_OPEN_READWRITE,
    "read": apsw.SQLITE_OPEN_READONLY,
    "frozen": apsw.SQLITE_OPEN_READONLY,
}
_LAYOUT = (f"PRAGMA page_size = {PAGE}", "PRAGMA auto_vacuum = NONE")
_DISTRUST = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA synchronous = FULL",
    f"PRAGMA journal_size_limit = {WAL_BYTES}",
)


class _Cursor(Protocol):
    """The part of a cursor that is used. The driver's own annotations name types that Python 3.11 lacks."""

    def fetchone(self) -> Row | None: ...

    def fetchall(self) -> list[Row]: ...

    def __iter__(self) -> Iterator[Row]: ...


class _Driver(Protocol):
    """The part of a connection whose annotations are incomplete."""

    def execute(self, sql: str, values: Sequence[Value] = (), /) -> _Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]], /) -> _Cursor: ...


class Link:
    """One connection. It belongs to the thread that uses it; closing may be done by another once that has ended."""

    __slots__ = ("_connection", "_execute", "_executemany", "pages")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        driver = cast("_Driver", connection)
        self._execute = driver.execute
        self._executemany = driver.executemany
        self.pages = 0
        """Pages in the write-ahead log after the last commit of this connection."""
        connection.set_wal_hook(self._count)

    @classmethod
    def memory(cls) -> Self:
        """Return an empty database in memory, laid out as a file would be."""
        link = cls(apsw.Connection(":memory:"))
        for pragma in _LAYOUT:
            link.run(pragma)
        return link

    def image(self) -> bytes:
        """Return the database as the bytes of a file that uses a write-ahead log.

        Bytes 18 and 19 of the header say so (https://sqlite.org/fileformat2.html#the_database_header).
        """
        data = bytearray(self._connection.serialize("main"))
        data[18:20] = b"\x02\x02"
        return bytes(data)

    @classmethod
    def open(cls, path: str, mode: Mode) -> Self:
        """Open the existing file `path`; no part of it may be a symbolic link. Nothing in it is run or read yet."""
        name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        target = f"file:{name}?immutable=1" if mode == "frozen" else f"file:{name}"
        flags = _FLAGS[mode] | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_NOMUTEX
        connection = apsw.Connection(target, flags=flags, statementcachesize=64)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        connection.set_busy_handler(Patience())
        link = cls(connection)
        for pragma in _DISTRUST:
            link.run(pragma)
        return link

    def run(self, sql: str, values: Sequence[Value] = ()) -> None:
        """Run one statement for its effect."""
        self._execute(sql, values)

    def many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement once for each row of values."""
        self._executemany(sql, rows)

    def one(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """Return the first row of an answer."""
        try:
            return self._execute(sql, values).fetchone()
        except UnicodeDecodeError as error:
            raise _garbled() from error

    def all(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Return every row of an answer."""
        try:
            return self._execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise _garbled() from error

    def each(self, sql: str, values: Sequence[Value] = ()) -> Iterable[Row]:
        """Return the rows of an answer one by one, in bounded memory."""
        try:
            yield from self._execute(sql, values)
        except UnicodeDecodeError as error:
            raise _garbled() from error

    def number(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Return the single whole number that a statement answers with, 0 where it answers nothing."""
        row = self.one(sql, values)
        return row[0] if row is not None and isinstance(row[0], int) else 0

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._connection.changes()

    def rollback(self) -> None:
        """Undo the transaction that is open, if one is."""
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def use_wal(self) -> None:
        """Switch the file to write-ahead logging, where it stays."""
        row = self.one("PRAGMA journal_mode = WAL")
        if row != ("wal",):
            raise StoreError(
                f"the store's file system does not carry a write-ahead log (journal mode {row!r})",
                hint="Put the state directory on a local file system.",
            )

    def check(self, *, full: bool = False) -> str:
        """Return what SQLite's quick check finds wrong, or with `full` its whole one, empty for nothing."""
        found = [str(row[0]) for row in self.all("PRAGMA integrity_check(5)" if full else "PRAGMA quick_check(5)")]
        return "" if found == ["ok"] else "; ".join(" ".join(found).split("\n"))[:300]

    def _count(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self.pages = pages
        return apsw.SQLITE_OK

    def checkpoint(self) -> None:
        """Copy what can be copied from the write-ahead log into the database file, waiting for nobody."""
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def widen(self) -> None:
        """Fill the write-ahead log up to `WAL_BYTES` with zeros, which SQLite reads as its end.

        A commit that writes over existing blocks needs no new ones, and so half the time. The write lock is held
        meanwhile, so that nobody appends to the log.
        """
        self.run("BEGIN IMMEDIATE")
        try:
            log = os.open(self._connection.filename_wal, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _fill(log, WAL_BYTES)
            finally:
                os.close(log)
        finally:
            self.rollback()

    def errno(self) -> int:
        """Return the operating system's reason for the last failed file operation."""
        return self._connection.system_errno

    def close(self) -> None:
        """Close; the last connection of the last process also empties the write-ahead log."""
        self._connection.close()


class Patience:
    """Waits for a lock in small steps, up to `BUSY_SECONDS` in all: fairer to short transactions than SQLite's own."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = 0.0

    def __call__(self, tries: int) -> bool:
        """Sleep a little and say whether to try again; `tries` counts from 0 for each lock."""
        now = time.monotonic()
        if tries == 0:
            self._until = now + BUSY_SECONDS
        if now >= self._until:
            return False
        time.sleep(min(0.0003 * (tries + 1), 0.01))
        return True


def meaning(fault: Fault, reason: int = 0) -> Refusal:
    """Return what `fault` is for a caller; `reason` is the operating system's errno."""
    if isinstance(fault, apsw.FullError) or reason in _FULL:
        return Refusal(
            "disk.full",
            "the disk that holds the store is full: nothing was recorded, so nothing was done",
            hint="Free some space and repeat the call; no restart is needed.",
        )
    if isinstance(fault, apsw.BusyError | apsw.LockedError):
        return Refusal(
            "store.unavailable",
            f"another process held the store for more than {BUSY_SECONDS:g} s",
            hint="Repeat the call; `toolcrib doctor` names who holds the store.",
        )
    if isinstance(fault, apsw.ReadOnlyError):
        return Refusal(
            "store.unavailable",
            "the store cannot be written: its file system is read-only",
            hint="Mount it writable, or point the state directory elsewhere.",
        )
    words = os.strerror(reason) if reason else type(fault).__name__.removesuffix("Error").lower()
    return Refusal(
        "store.unavailable",
        f"the store failed ({words}): nothing was recorded, so nothing was done",
        hint="Check the disk and run `toolcrib doctor`; the store is used again after a restart.",
    )


def is_full(fault: BaseException) -> bool:
    """Tell whether `fault` says that the disk is full, so that something smaller may still fit."""
    return isinstance(fault, apsw.FullError)


def is_lasting(fault: Fault, reason: int = 0) -> bool:
    """Tell whether nothing may be written after `fault` in this process: damage, or a write whose fate is unknown.

    A write or a flush that failed for any reason but a full disk may have lost what was written before it
    (`fsync` reports it once only), so it is never tried again.
    """
    if isinstance(fault, apsw.CorruptError | apsw.NotADBError):
        return True
    return isinstance(fault, apsw.IOError) and reason not in _FULL


def damage(fault: Fault | OSError) -> StoreError:
    """Return `fault` as the reason why a store does not open."""
    said = " ".join(str(fault).split())[:200]
    if isinstance(fault, apsw.NotADBError | apsw.CorruptError):
        return StoreError(f"the store's database is damaged ({said})", hint=RESTORE)
    if isinstance(fault, apsw.FullError) or (isinstance(fault, OSError) and fault.errno in _FULL):
        return StoreError("the disk that holds the store is full", hint="Free some space and start again.")
    why = os.strerror(fault.errno or errno.EIO) if isinstance(fault, OSError) else said
    return StoreError(
        f"the store cannot be opened ({why})",
        hint="Check that the state directory is a local directory of yours with some space left; nothing was changed.",
    )


def _garbled() -> Fault:
    return apsw.CorruptError("a text in it is not UTF-8")


def _fill(log: int, size: int) -> None:
    before = os.fstat(log).st_size
    try:
        for offset in range(before, size, 1 << 20):
            os.pwrite(log, bytes(min(1 << 20, size - offset)), offset)
        os.fdatasync(log)
    except OSError:
        os.ftruncate(log, before)
