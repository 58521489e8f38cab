"""Blobs as files named by their digest: written aside under that digest, flushed, and only then renamed into place.

A name on the shelf is therefore whole and durable. The rename itself is not flushed: should the power fail before it
reaches the disk, the flushed file still stands aside, and the next opening puts it in its place. That saves the second
of two flushes, which each wait for the journal of the file system.
"""

import errno
import os
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal

FOLDER = "blobs"
"""Directory of the files, in subdirectories named by the first two characters of the digest."""

ASIDE = "aside"
"""Subdirectory of files that are being written; a name is `<owner's id>-<digest>-<random>`."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REMEMBERED = 4096


class Shelf:
    """The files of one store. Its methods block: call them from a thread."""

    def __init__(self, directory: int, owner: str, *, writable: bool) -> None:
        if writable:
            _make(FOLDER, directory)
        self._owner = owner
        self._folder = _directory(FOLDER, directory)
        if writable:
            _make(ASIDE, self._folder)
        self._aside = _directory(ASIDE, self._folder)
        self._durable: dict[str, None] = {}

    def put(self, data: bytes, digest: str | None = None) -> str:
        """Store `data` durably and return its digest, taken here unless it is given.

        Raises:
            Refusal: `disk.full`, `store.unavailable`; nothing is left behind then.
        """
        digest = digest or of_bytes(data)
        if digest in self._durable:
            return digest
        try:
            self._place(digest, data)
        except OSError as error:
            raise _refusal(error) from error
        if len(self._durable) >= _REMEMBERED:
            self._durable.clear()
        self._durable[digest] = None
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes kept under `digest`, not yet checked against it.

        Raises:
            Refusal: `snapshot.missing`, `snapshot.damaged` when they cannot be read, `store.unavailable`.
        """
        with self.opened(digest) as file:
            size = os.fstat(file).st_size
            return read_exactly(file, 0, size)

    @contextmanager
    def opened(self, digest: str) -> Generator[int]:
        """Open the file kept under `digest`.

        Raises:
            Refusal: `snapshot.missing`, `snapshot.damaged` when it cannot be read.
        """
        if self._folder < 0 or not is_digest(digest):
            raise _missing(digest)
        try:
            file = os.open(f"{digest[:2]}/{digest[2:]}", _READ, dir_fd=self._folder)
            try:
                yield file
            finally:
                os.close(file)
        except FileNotFoundError:
            raise _missing(digest) from None
        except OSError as error:
            raise Refusal(
                "snapshot.damaged",
                f"the stored bytes {digest[:12]} cannot be read ({os.strerror(error.errno or errno.EIO)})",
                hint="Check the disk; restore the store from a backup.",
            ) from error

    def settle(self, is_dead: Callable[[str], bool]) -> int:
        """Put what dead owners left aside in its place where it is whole, remove the rest; return how many it was."""
        names = [entry.name for entry in os.scandir(self._aside)]
        left = [name for name in names if is_dead(name.partition("-")[0])]
        for name in left:
            digest = name.split("-")[1] if name.count("-") == 2 else ""
            if is_digest(digest) and self._is_whole(name, digest):
                self._move(name, digest)
            else:
                _unlink(name, self._aside)
        return len(left)

    def close(self) -> None:
        """Close the directories."""
        for folder in (self._aside, self._folder):
            if folder >= 0:
                os.close(folder)
        self._aside = self._folder = -1

    def _place(self, digest: str, data: bytes) -> None:
        if _size(f"{digest[:2]}/{digest[2:]}", self._folder) == len(data):
            return
        aside = f"{self._owner}-{digest}-{secrets.token_hex(4)}"
        try:
            write_new(aside, self._aside, data)
            # The flush of the file has brought its name to the disk with it, so this one waits for nothing.
            os.fsync(self._aside)
            self._move(aside, digest)
        except BaseException:
            _unlink(aside, self._aside)
            raise

    def _move(self, aside: str, digest: str) -> None:
        """Give the flushed file `aside` its place."""
        try:
            os.rename(aside, f"{digest[:2]}/{digest[2:]}", src_dir_fd=self._aside, dst_dir_fd=self._folder)
        except FileNotFoundError:
            _make(digest[:2], self._folder)
            os.rename(aside, f"{digest[:2]}/{digest[2:]}", src_dir_fd=self._aside, dst_dir_fd=self._folder)

    def _is_whole(self, name: str, digest: str) -> bool:
        try:
            file = os.open(name, _READ, dir_fd=self._aside)
        except OSError:
            return False
        try:
            return of_bytes(read_exactly(file, 0, os.fstat(file).st_size)) == digest
        except OSError:
            return False
        finally:
            os.close(file)


def is_digest(text: str) -> bool:
    """Tell whether `text` is 64 lower-case hex characters."""
    return len(text) == 64 and not text.strip("0123456789abcdef")


def read_exactly(file: int, offset: int, size: int) -> bytes:
    """Return `size` bytes from `offset`, fewer only at the end of the file."""
    parts: list[bytes] = []
    while size > 0:
        part = os.pread(file, min(size, 1 << 30), offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _directory(name: str, folder: int) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=folder) if folder >= 0 else -1
    except FileNotFoundError:
        return -1


def write_new(name: str, folder: int, data: bytes) -> None:
    """Write a new private file and flush it; `name` must not exist in the directory."""
    file = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    finally:
        os.close(file)


def _size(name: str, folder: int) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
    except FileNotFoundError:
        return -1


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _missing(digest: str) -> Refusal:
    return Refusal(
        "snapshot.missing",
        f"the store holds no bytes under {digest[:64]!r}",
        hint="They were never stored, or were removed with their session.",
    )


def _refusal(error: OSError) -> Refusal:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Refusal(
            "disk.full",
            "the disk that holds the store is full: nothing was stored",
            hint="Free some space and repeat the call; no restart is needed.",
        )
    return Refusal(
        "store.unavailable",
        f"the store could not keep the bytes ({os.strerror(error.errno or errno.EIO)})",
        hint="Check the disk and the state directory.",
    )
