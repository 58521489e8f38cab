"""Digests already taken, by what tells whether a file changed since: inode, size and both times.

Only to save hashing where an answer is advice: the facts of a call, a first look before a write. What a write
displaces is always hashed.
"""

import os

_MOST = 512
_TICK = 20_000_000  # nanoseconds: twice the coarsest clock of file times (HZ=100), which lags by up to one tick

Print = tuple[int, int, int, int, int]


class Known:
    """The last few hundred digests of one workspace. Safe to use from several threads."""

    def __init__(self) -> None:
        self._digests: dict[Print, str] = {}

    def find(self, status: os.stat_result) -> str | None:
        """Return the digest of the file whose status is `status` now, if it is known."""
        return self._digests.get(_print(status))

    def note(self, status: os.stat_result, digest: str, *, began: int) -> None:
        """Remember the digest of a file whose reading began at `began`, wall time in nanoseconds.

        Not if it had changed just before: a further change in the same tick of the clock would not show.
        """
        if began - max(status.st_ctime_ns, status.st_mtime_ns) <= _TICK:
            return
        while len(self._digests) >= _MOST:
            self._digests.pop(next(iter(self._digests)), None)
        self._digests[_print(status)] = digest


def _print(status: os.stat_result) -> Print:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
