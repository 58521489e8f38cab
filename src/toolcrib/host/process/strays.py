"""Finding what a program left behind: processes that changed their session or lost their parent are found by a mark.

The mark is a soft limit on the processor time of real-time scheduling: decades, and different for every tree. A child
inherits limits through fork and exec, whatever it does to its session, parent, signals, descriptors, environment or
directory, and `/proc/<pid>/limits` shows them (getrlimit(2), proc(5)). Nothing started here is scheduled in real time.
"""

import os
import re
import resource
import secrets
import signal
from collections.abc import Iterable
from contextlib import suppress

Mark = int
"""Microseconds of `RLIMIT_RTTIME` that stand in every process of one tree, and together in no other."""

_LEAST = 1 << 60
_LIMIT = re.compile(rb"^Max realtime timeout +(\d+) ", re.MULTILINE)
_DEAD = {b"Z", b"X"}


def mark(root: int) -> Mark:
    """Mark the process `root`, just started, and any child it may have by now; return the mark."""
    chosen = _LEAST + secrets.randbits(59)
    todo = [root]
    while todo:
        pid = todo.pop()
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RTTIME, (chosen, resource.RLIM_INFINITY))
        todo += _children(pid)
    return chosen


def kill_marked(root: int, chosen: Mark) -> int:
    """Kill every process that wears the mark, `root` apart, and return how many there were.

    The mark is looked at again through a handle of the process, so that an id that was given away is not killed.
    """
    killed = 0
    for pid in _pids(root):
        if not _wears(pid, chosen):
            continue
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if _wears(pid, chosen):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    killed += 1
            finally:
                os.close(handle)
    return killed


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(8192)
    except OSError:
        return b""


def _children(pid: int) -> list[int]:
    return [int(child) for child in _read(f"/proc/{pid}/task/{pid}/children").split()]


def _wears(pid: int, chosen: Mark) -> bool:
    found = _LIMIT.search(_read(f"/proc/{pid}/limits"))
    if found is None or int(found[1]) != chosen:
        return False
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2][:1] not in _DEAD


def _pids(root: int) -> Iterable[int]:
    """Return the processes that may descend from `root`: later ids, or all where the ids began anew since."""
    try:
        everyone = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
        last = int(_read("/proc/loadavg").split()[4])
    except (OSError, IndexError):
        return ()
    return [pid for pid in everyone if pid > root] if last >= root else [pid for pid in everyone if pid != root]
