"""Which processes live: each holds a locked file, and the kernel lets go of the lock when the process ends.

A process id can be used again and so proves nothing; a lock that can be taken does. The lock is on the open file, so a
process started without closing it (by a bare fork) would keep it: nothing here forks.
"""

import errno
import fcntl
import os
from contextlib import suppress
from typing import Self

from toolcrib.terms.names import mint_id

FOLDER = "owners"
"""Directory of the lock files."""

_SUFFIX = ".lock"
_NEW = ".new"
_TRIES = 20


class Owners:
    """The lock files of one store; `me` is this process's own id, empty for a store opened read-only."""

    def __init__(self, folder: int, me: str, lock: int | None) -> None:
        self._folder = folder
        self._lock = lock
        self.me = me

    @classmethod
    def open(cls, directory: int, *, writable: bool) -> Self:
        """Take a new id and lock its file beneath the store directory."""
        if not writable:
            return cls(_folder(directory), "", None)
        with suppress(FileExistsError):
            os.mkdir(FOLDER, 0o700, dir_fd=directory)
        folder = _folder(directory)
        for name in _names(folder):
            if name.endswith(_NEW):
                _remove(name, folder)
        for _ in range(_TRIES):
            me = mint_id()
            if (lock := _take(me, folder)) is not None:
                return cls(folder, me, lock)
        os.close(folder)
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def dead(self) -> tuple[str, ...]:
        """Return the ids whose process has ended without closing the store, oldest first."""
        return tuple(each for each in self._known() if each != self.me and self.is_dead(each))

    def is_dead(self, owner: str) -> bool:
        """Tell whether no process holds the lock of `owner`; one that never was is dead too."""
        if owner == self.me:
            return False
        probe = self._probe(owner)
        if probe is None:
            return True
        try:
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(probe)
        return True

    def forget(self, owner: str) -> bool:
        """Remove the file of a dead owner; False when it lives, or is not known."""
        if owner == self.me or owner not in self._known():
            return False
        return _remove(owner + _SUFFIX, self._folder)

    def close(self) -> None:
        """Remove this process's own file: it ended well."""
        if self._lock is not None:
            with suppress(FileNotFoundError):
                os.unlink(self.me + _SUFFIX, dir_fd=self._folder)
            os.close(self._lock)
            self._lock = None
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _known(self) -> list[str]:
        if self._folder < 0:
            return []
        names = _names(self._folder)
        return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))

    def _probe(self, owner: str) -> int | None:
        if self._folder < 0 or "/" in owner or not owner:
            return None
        try:
            return os.open(owner + _SUFFIX, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._folder)
        except FileNotFoundError:
            return None


def _folder(directory: int) -> int:
    try:
        return os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        return -1


def _names(folder: int) -> list[str]:
    return [entry.name for entry in os.scandir(folder)]


def _take(me: str, folder: int) -> int | None:
    """Make and lock the file of `me`; None when it was swept away before it was locked."""
    # Locked under another name first: no one ever sees the file unlocked while its owner lives.
    lock = os.open(me + _NEW, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, b"%d\n" % os.getpid())
        os.rename(me + _NEW, me + _SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        os.close(lock)
        return None
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove(name: str, folder: int) -> bool:
    """Remove the file `name` if nobody holds its lock."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name, dir_fd=folder)
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(file)
    return True
