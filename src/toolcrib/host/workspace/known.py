"""Digests already taken, by what tells whether a file changed since: inode, size and both times.

Only to save hashing where an answer is advice (the facts of a call, a first look before a write). What a write displaces
is always hashed.
"""

import os
import time

_MOST = 512
_TICK = 10_000_000  # nanoseconds: the coarsest clock of file times (HZ=100); a change within it may not show

Print = tuple[int, int, int, int, int]


class Known:
    """The last few hundred digests of one workspace. Safe to use from several threads."""

    def __init__(self) -> None:
        self._digests: dict[Print, str] = {}

    def find(self, status: os.stat_result) -> str | None:
        """Return the digest of the file whose status is `status` now, if it is known."""
        return self._digests.get(_print(status))

    def note(self, status: os.stat_result, digest: str) -> None:
        """Remember the digest of a file just hashed, unless it changed so lately that a further change might not show."""
        if time.time_ns() - max(status.st_ctime_ns, status.st_mtime_ns) <= _TICK:
            return
        while len(self._digests) >= _MOST:
            self._digests.pop(next(iter(self._digests)), None)
        self._digests[_print(status)] = digest


def _print(status: os.stat_result) -> Print:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
