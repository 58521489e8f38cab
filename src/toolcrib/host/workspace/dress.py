"""Owner, permission bits and extended attributes of a file that replaces another."""

import errno
import os
import stat
from collections.abc import Callable

from toolcrib.host.workspace.aim import Aim
from toolcrib.host.workspace.calls import Calls

_NEW = 0o666
_POWERS = ("security.capability", "security.ima", "security.evm")
"""Attributes that belong to the old bytes: a write in place would void them too."""


def dresser(target: Aim, mode: int | None) -> Callable[[int], None]:
    """Return what gives a temp file the metadata of what it replaces, or of a new file.

    Setuid is never kept. Setgid is kept only on a file that is ours, so a write never makes a program that runs with
    someone else's group.
    """
    old = target.status
    calls = target.base.calls
    if old is None:
        wanted = _NEW & ~target.base.umask if mode is None else _safe(mode, ours=True)
        return lambda handle: calls.permit(handle, wanted)
    wanted = _safe(stat.S_IMODE(old.st_mode) if mode is None else mode, ours=old.st_uid == os.geteuid())
    return _dressed(calls, target.old, old, wanted)


def alike(calls: Calls, handle: int, status: os.stat_result, mode: int | None = None) -> Callable[[int], None]:
    """Return what gives a temp file the metadata of the file that is open (`O_PATH` is enough) as `handle`."""
    wanted = _safe(stat.S_IMODE(status.st_mode) if mode is None else mode, ours=status.st_uid == os.geteuid())
    return _dressed(calls, handle, status, wanted)


def _dressed(calls: Calls, like: int, old: os.stat_result, wanted: int) -> Callable[[int], None]:
    source = b"/proc/self/fd/%d" % like

    def dress(handle: int) -> None:
        now = os.fstat(handle)
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            calls.own(handle, old.st_uid, old.st_gid)
        _copy_attributes(calls, source, handle)
        calls.permit(handle, wanted)  # last: a change of owner or of an access list alters the bits

    return dress


def _safe(mode: int, *, ours: bool) -> int:
    return mode & (0o3777 if ours else 0o1777)


def _copy_attributes(calls: Calls, source: bytes, handle: int) -> None:
    try:
        wanted = {name: os.getxattr(source, name) for name in os.listxattr(source) if name not in _POWERS}
    except OSError as error:
        if error.errno in {errno.ENOTSUP, errno.ENODATA}:
            return
        raise
    given = {name: os.getxattr(handle, name) for name in os.listxattr(handle)}
    for name in given.keys() - wanted.keys():
        _quietly(name, lambda name=name: os.removexattr(handle, name))
    for name, value in wanted.items():
        if given.get(name) != value:
            _quietly(name, lambda name=name, value=value: calls.attribute(handle, name, value))


def _quietly(name: str, act: Callable[[], None]) -> None:
    """Let a failure pass for the attributes that only the system may set; they belong to its own labelling."""
    try:
        act()
    except OSError as error:
        if name.startswith(("user.", "system.")) or error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EACCES}:
            raise
