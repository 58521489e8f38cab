"""Finding the library of the accelerator `fff` on disk: only where the person or the system put it.

It is native code that runs with the person's rights, so a workspace is never a place for it, whatever links say, and
neither is a file that others may write to.
"""

import os
import platform
import stat
from collections.abc import Callable, Iterable

PACKAGE = os.path.join("@ff-labs", "fff-bin-linux-x64-gnu")
"""The npm package, of version 0.11."""
FILE = "libfff_c.so"
_MACHINE = "x86_64"


def find_fff(explicit: str | None, prefixes: Iterable[str], *, workspace: str) -> str | None:
    """Return the real path of the library; None where there is none that may be loaded.

    `explicit` is a file that the person named; then no other is looked for. `prefixes` are directories that npm
    installs into: `<prefix>/lib/node_modules` for all of a machine, `<prefix>/node_modules` otherwise.
    """
    if platform.machine() != _MACHINE:
        return None
    if explicit is not None:
        places = [explicit]
    else:
        ways = (os.path.join("lib", "node_modules"), "node_modules")
        places = [os.path.join(prefix, way, PACKAGE, FILE) for prefix in prefixes for way in ways]
    inside = os.path.realpath(workspace)
    return next((path for place in places if (path := _checked(place, inside)) is not None), None)


def _checked(place: str, workspace: str) -> str | None:
    if not os.path.isabs(place):
        return None
    path = os.path.realpath(place)
    if os.path.commonpath((path, workspace)) == workspace or not _is_safe(path, stat.S_ISREG):
        return None
    return path if _is_safe(os.path.dirname(path), stat.S_ISDIR) else None


def _is_safe(path: str, kind: Callable[[int], bool]) -> bool:
    """Tell whether only the person and the system can change what is there."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return kind(status.st_mode) and status.st_uid in {0, os.geteuid()} and not status.st_mode & stat.S_IWOTH
