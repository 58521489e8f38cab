"""A number beside the database that only grows: how far the tape is known to be durable.

It is written after each commit and never flushed, so it lags and never leads. A database that ends before it has lost
acknowledged entries, which SQLite alone cannot tell from entries that were never there.
"""

import os
from hashlib import sha256

NAME = "mark"
"""Its file in the store directory."""

_DIGITS = 16


class Mark:
    """The open file of the mark."""

    def __init__(self, directory: int, *, create: bool = False) -> None:
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
        self._file: int | None
        try:
            self._file = os.open(NAME, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory)
        except FileNotFoundError:
            self._file = None

    def read(self) -> int:
        """Return the number, 0 where there is none that can be trusted."""
        if self._file is None:
            return 0
        text = os.pread(self._file, 2 * _DIGITS, 0)
        digits = text[:_DIGITS]
        return int(digits) if digits.isdigit() and _line(int(digits)) == text else 0

    def move(self, seq: int) -> None:
        """Note that the tape is durable up to `seq`. Best effort: a mark that lags is still true."""
        if self._file is None:
            return
        try:
            os.pwrite(self._file, _line(seq), 0)
        except OSError:
            return

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _line(seq: int) -> bytes:
    digits = b"%016d" % seq
    return digits + sha256(digits).hexdigest()[:_DIGITS].encode("ascii")
