"""From what the operating system reported to the refusal a caller reads."""

import errno
import os
import stat
from typing import Literal

from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Happened, Refusal

Doing = Literal["read", "write", "remove", "move"]

_FULL = {errno.ENOSPC, errno.EDQUOT}
_LOST = {errno.ENOENT, errno.ESTALE}


def kind_of(mode: int) -> PathKind:
    """Return the kind of an existing inode by its mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISFIFO(mode):
        return "fifo"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def shown(path: str) -> str:
    """Return `path` quoted for a message: escapes written out, clipped at 200 characters."""
    return repr(path if len(path) <= 200 else path[:200] + "...")


def fault(error: OSError, path: str, doing: Doing, happened: Happened = "no") -> Refusal:
    """Return the refusal that says what `error` means for `path`."""
    number = error.errno or 0
    name = shown(path)
    why = os.strerror(number) if number else type(error).__name__
    if number in _FULL:
        return Refusal(
            "disk.full",
            f"could not {doing} {name}: {why}",
            hint="Free some space and repeat the call; nothing was changed."
            if happened == "no"
            else "Free some space.",
            happened=happened,
        )
    if number == errno.EXDEV:
        return outside(path)
    if number == errno.EROFS:
        return Refusal("file.read_only", f"could not {doing} {name}: {why}", happened=happened)
    if number in {errno.EACCES, errno.EPERM}:
        return Refusal(
            "file.denied",
            f"could not {doing} {name}: the operating system does not permit it",
            hint="Another path may do, or a person has to change the permissions.",
            happened=happened,
        )
    return _of_name(number, path) or Refusal(
        "call.fault", f"could not {doing} {name}: {why}", hint="Try once more, or tell the person.", happened=happened
    )


def _of_name(number: int, path: str) -> Refusal | None:
    name = shown(path)
    if number == errno.ELOOP:
        return Refusal("file.missing", f"the links of {name} never reach a file: a loop, or more than 40 of them")
    if number == errno.ENOTDIR:
        return Refusal("file.not_directory", f"expected a directory within {name}, found a file in its place")
    if number == errno.ENAMETOOLONG:
        return Refusal("args.invalid", f"path: {name} is longer than the system takes", hint="Use a shorter path.")
    if number in _LOST:
        return Refusal("file.missing", f"{name} does not exist")
    if number == errno.EAGAIN:
        return Refusal(
            "file.outside",
            f"{name} could not be resolved safely: directories kept moving under it",
            hint="Repeat the call.",
        )
    return None


def outside(path: str) -> Refusal:
    """Return the refusal of a path that does not stay beneath the root."""
    return Refusal(
        "file.outside",
        f"{shown(path)} leads outside the workspace",
        hint="Name a path beneath the workspace root; links with absolute text are not followed.",
    )


def not_regular(path: str, kind: PathKind) -> Refusal:
    """Return the refusal of something that is not a regular file."""
    words = {"fifo": "a FIFO", "socket": "a socket", "device": "a device", "symlink": "a symbolic link"}
    found = words.get(kind, f"a {kind}")
    hint = "List it with list_dir." if kind == "directory" else "Only regular files can be read or written."
    return Refusal("file.not_regular", f"expected a regular file at {shown(path)}, found {found}", hint=hint)


def gone() -> Refusal:
    """Return the refusal of a workspace whose root was removed."""
    return Refusal(
        "workspace.gone",
        "the workspace directory no longer exists",
        hint="Start again in a directory that exists.",
    )
