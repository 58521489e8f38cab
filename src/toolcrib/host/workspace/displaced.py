"""What an exchange displaced: proving it, putting it back, or keeping it aside where a person can see it."""

import os
import stat

from toolcrib.host.workspace.calls import O_PATH, Calls
from toolcrib.host.workspace.read import hashed
from toolcrib.host.workspace.temp import Staged, discard, salted
from toolcrib.terms.digest import of_link

_LONGEST = 200
_TRIES = 4


def digest_of(calls: Calls, directory: int, name: bytes, known: os.stat_result | None) -> str | None:
    """Return the digest of the regular file or the link `name`; None for anything else.

    None too when it is being written, or its owner or mode is not that of `known`: it is not what was expected then.
    """
    handle = calls.step(directory, name, O_PATH)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            return of_link(os.fsdecode(os.readlink(b"", dir_fd=handle)))
        if not stat.S_ISREG(mode):
            return None
        reading = calls.again(handle, os.O_RDONLY)
    finally:
        calls.release(handle)
    try:
        before = os.fstat(reading)
        if known is not None and _dress(before) != _dress(known):
            return None
        value = hashed(reading)
        after = os.fstat(reading)
        return value if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) else None
    finally:
        calls.release(reading)


def put_back(calls: Calls, directory: int, staged: Staged, leaf: bytes) -> str | None:
    """Undo an exchange while `leaf` still holds our inode; else keep both files. Return the name kept aside, if any."""
    for _ in range(_TRIES):
        try:
            if staged.is_at(calls, directory, leaf):
                calls.exchange(directory, staged.name, leaf)
                if staged.is_at(calls, directory, staged.name):
                    discard(calls, directory, staged.name)
                    return None
                # something arrived between the look and the exchange: the newer of the two belongs at the name
                calls.exchange(directory, staged.name, leaf)
            else:
                calls.settle(directory, staged.name, leaf)
                return None
        except FileExistsError:
            break
        except OSError:
            continue
    return keep(calls, directory, staged.name, leaf)


def keep(calls: Calls, directory: int, name: bytes, leaf: bytes) -> str:
    """Give a displaced file a name that a person sees, beside `leaf`, and return it."""
    for _ in range(_TRIES):
        visible = leaf[:_LONGEST] + f".kept-{salted()}".encode()
        try:
            calls.settle(directory, name, visible)
        except OSError:
            continue
        return os.fsdecode(visible)
    return os.fsdecode(name)


def _dress(status: os.stat_result) -> tuple[int, int, int]:
    return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
