"""Digests already taken, by what tells whether a file changed since: inode, size and both times.

Only to save hashing where an answer is advice: the facts of a call, a first look before a write. What a write
displaces is always hashed.
"""

import os

_MOST = 512
_TICK = 20_000_000  # nanoseconds: twice the coarsest clock of file times (HZ=100), which lags by up to one tick

BIG, HUGE = 64 << 10, 8 << 20
"""Sizes of files, bytes, between which it pays to keep one for the second reading of a call."""

Print = tuple[int, int, int, int, int]


class Known:
    """The last few hundred digests of one workspace. Safe to use from several threads."""

    def __init__(self) -> None:
        self._digests: dict[Print, str] = {}
        self._held: tuple[str, Print, bytes, str] | None = None
        self._lately: dict[Print, str] = {}
        self._written: dict[Print, str] = {}

    def find(self, status: os.stat_result) -> str | None:
        """Return the digest of the file whose status is `status` now, if it is known."""
        return self._digests.get(_print(status))

    def note(self, status: os.stat_result, digest: str, *, began: int) -> None:
        """Remember the digest of a file whose reading began at `began`, wall time in nanoseconds.

        Not if it had changed just before: a further change in the same tick of the clock would not show.
        """
        _keep(self._lately, _print(status), digest)
        if began - max(status.st_ctime_ns, status.st_mtime_ns) <= _TICK:
            return
        _keep(self._digests, _print(status), digest)

    def lately(self, status: os.stat_result) -> str | None:
        """Return the digest last taken of the file, though a change in the same tick of the clock would not show.

        Enough to go on with a write, which proves what it displaced; never enough to refuse one.
        """
        return self._lately.get(_print(status))

    def hold(self, call_id: str, status: os.stat_result, data: bytes, digest: str) -> None:
        """Keep the bytes of a file for the reading of it that the same call makes; only the last are kept."""
        self._held = (call_id, _print(status), data, digest) if BIG <= len(data) <= HUGE else None

    def held(self, call_id: str, status: os.stat_result) -> tuple[bytes, str] | None:
        """Return the bytes kept for the call, once. As with `lately`, a write made of them proves what it displaces."""
        held = self._held
        if held is None or held[:2] != (call_id, _print(status)):
            return None
        self._held = None
        return held[2:]

    def wrote(self, status: os.stat_result, digest: str) -> None:
        """Remember the digest of a file that was just written, whose status was `status` before it got its name."""
        _keep(self._written, _shape(status), digest)

    def written(self, status: os.stat_result) -> str | None:
        """Return the digest of a file just written, once: it says what a call made, not what is there for good.

        Should another program have rewritten it in place within the same tick of the clock and to the same size, this
        is still what the call made; the difference shows as one of that program's when the call is taken back.
        """
        return self._written.pop(_shape(status), None)


def _keep(digests: dict[Print, str], key: Print, digest: str) -> None:
    while len(digests) >= _MOST:
        digests.pop(next(iter(digests)), None)
    digests[key] = digest


def _shape(status: os.stat_result) -> Print:
    # Not the time of the last change of the inode: getting its name changes that.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, 0


def _print(status: os.stat_result) -> Print:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
