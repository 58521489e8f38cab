"""Opening beneath the root without openat2: one component at a time, links read by hand. Same answers, same errors."""

import errno
import os
import stat
from collections import deque

from toolcrib.host.workspace.calls import O_PATH, RESOLVE_NO_SYMLINKS, Calls

_MAX_LINKS = 40  # path_resolution(7): the kernel's own limit


def walk(calls: Calls, root: int, path: bytes, flags: int, resolve: int) -> int:
    """Open `path` beneath `root` as openat2(2) does with RESOLVE_BENEATH.

    Every step opens one name without following it, so nothing is checked by name and used later. A step up pops the
    handle that was walked through, so a directory that was moved away meanwhile cannot lead out.

    Raises:
        OSError: EXDEV for a path or a link text that leaves the root; ELOOP, ENOENT, ENOTDIR, EACCES as openat2.
    """
    handles = [calls.step(root, b".", O_PATH | os.O_DIRECTORY)]
    try:
        return _walk(calls, handles, path, flags, resolve)
    finally:
        for handle in handles:
            calls.release(handle)


def _walk(calls: Calls, handles: list[int], path: bytes, flags: int, resolve: int) -> int:
    todo = deque(_parts(path))
    links = 0
    while todo:
        name = todo.popleft()
        if name in {b"", b"."}:
            continue
        if name == b"..":
            if len(handles) == 1:
                raise _error(errno.EXDEV)
            calls.release(handles.pop())
            continue
        last = not todo
        handle = calls.step(handles[-1], name, O_PATH)
        handles.append(handle)
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            if last and flags & os.O_NOFOLLOW:
                break
            links += 1
            if links > _MAX_LINKS or resolve & RESOLVE_NO_SYMLINKS:
                raise _error(errno.ELOOP)
            target = os.readlink(b"", dir_fd=handle)
            calls.release(handles.pop())
            if target.startswith(b"/"):
                raise _error(errno.EXDEV)
            todo.extendleft(reversed(_parts(target)))
        elif not last and not stat.S_ISDIR(mode):
            raise _error(errno.ENOTDIR)
    return _open(calls, handles, flags)


def _open(calls: Calls, handles: list[int], flags: int) -> int:
    if flags & os.O_DIRECTORY and not stat.S_ISDIR(os.fstat(handles[-1]).st_mode):
        raise _error(errno.ENOTDIR)
    if flags & O_PATH:
        return handles.pop() if len(handles) > 1 else calls.step(handles[0], b".", flags)
    return calls.again(handles[-1], flags & ~os.O_NOFOLLOW)


def _parts(path: bytes) -> list[bytes]:
    """Split, keeping one "." for a slash at the end, so that what stands before it must be a directory."""
    parts = [part for part in path.split(b"/") if part]
    return [*parts, b"."] if path.endswith(b"/") else parts


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
