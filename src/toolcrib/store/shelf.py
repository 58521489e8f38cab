"""Blobs as files named by their digest: written aside, flushed, renamed into place, the directory flushed.

A name on the shelf is therefore whole, whatever ended the process that put it there.
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
"""Subdirectory of files that are being written; each name starts with its owner's id."""

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

    def put(self, data: bytes) -> str:
        """Store `data` durably and return its digest.

        Raises:
            Refusal: `disk.full`, `store.unavailable`; nothing is left behind then.
        """
        digest = of_bytes(data)
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

    def sweep(self, is_dead: Callable[[str], bool]) -> int:
        """Remove what dead owners left half written, and return how many files that were."""
        names = [entry.name for entry in os.scandir(self._aside)]
        left = [name for name in names if is_dead(name.partition("-")[0])]
        for name in left:
            _unlink(name, self._aside)
        return len(left)

    def close(self) -> None:
        """Close the directories."""
        for folder in (self._aside, self._folder):
            if folder >= 0:
                os.close(folder)
        self._aside = self._folder = -1

    def _place(self, digest: str, data: bytes) -> None:
        folder = self._subfolder(digest[:2])
        try:
            name = digest[2:]
            if _size(name, folder) != len(data):
                aside = f"{self._owner}-{secrets.token_hex(8)}"
                try:
                    _write(aside, self._aside, data)
                    os.rename(aside, name, src_dir_fd=self._aside, dst_dir_fd=folder)
                except BaseException:
                    _unlink(aside, self._aside)
                    raise
            # Also where it stood there already: whoever put it may not have come to this line.
            os.fsync(folder)
        finally:
            os.close(folder)

    def _subfolder(self, name: str) -> int:
        try:
            return os.open(name, _DIRECTORY, dir_fd=self._folder)
        except FileNotFoundError:
            _make(name, self._folder)
            os.fsync(self._folder)
            return os.open(name, _DIRECTORY, dir_fd=self._folder)


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


def _write(name: str, folder: int, data: bytes) -> None:
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
