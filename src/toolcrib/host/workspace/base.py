"""The root handle, and what a path beneath it leads to right now."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from toolcrib.host.workspace.calls import (
    O_PATH,
    RESOLVE_BENEATH,
    RESOLVE_NO_MAGICLINKS,
    RESOLVE_NO_SYMLINKS,
    Calls,
)
from toolcrib.host.workspace.faults import fault, gone, kind_of, outside, shown
from toolcrib.host.workspace.guard import Guard
from toolcrib.host.workspace.hands import Hands
from toolcrib.host.workspace.known import Known
from toolcrib.host.workspace.walk import walk
from toolcrib.terms.facts import Place
from toolcrib.terms.names import TEMP_PREFIX
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings

MAX_PATH = 4095
"""Longest path in bytes, PATH_MAX without its NUL (limits.h)."""
MAX_NAME = 255
"""Longest name in bytes on the file systems of Linux."""
_RETRIES = 64  # openat2(2): EAGAIN while a path component moves
_AGAIN = 8
_MAX_LINKS = 40


@dataclass(frozen=True, kw_only=True)
class Base:
    """An open root. `root` is its path when it was opened, links resolved; `given` is how the person spelled it."""

    fd: int
    root: bytes
    given: bytes
    calls: Calls
    settings: FileSettings
    guard: Guard
    umask: int
    known: Known
    hands: Hands
    kernel: bool
    """openat2 works here; without it every path is walked by component."""

    def reach(self, path: bytes, flags: int, *, links: bool = True) -> int:
        """Open `path` beneath the root and return the handle; with `links` False no link is followed anywhere.

        Raises:
            OSError: as openat2(2).
        """
        resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (0 if links else RESOLVE_NO_SYMLINKS)
        if not self.kernel:
            return walk(self.calls, self.fd, path, flags, resolve)
        for _ in range(_RETRIES):
            try:
                return self.calls.beneath(self.fd, path, flags, resolve)
            except BlockingIOError:
                continue
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def canonical(self, handle: int) -> str:
        """Return the path of an open handle at this moment, relative to the root; `.` for the root itself.

        Raises:
            FileNotFoundError: the inode has no name any more.
            Refusal: `file.outside`, `workspace.gone`.
        """
        here = os.readlink(b"/proc/self/fd/%d" % handle)
        root = os.readlink(b"/proc/self/fd/%d" % self.fd)
        if here.endswith(b" (deleted)") and os.fstat(handle).st_nlink == 0:
            self.alive()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if here == root:
            return "."
        prefix = root if root.endswith(b"/") else root + b"/"
        if not here.startswith(prefix):
            raise outside(os.fsdecode(here.rpartition(b"/")[2]))
        return os.fsdecode(here[len(prefix) :])

    def alive(self) -> None:
        """Refuse `workspace.gone` when the root was removed."""
        if os.fstat(self.fd).st_nlink == 0:
            raise gone()


@dataclass(frozen=True, slots=True)
class Spot:
    """What a path leads to. `handle` is an `O_PATH` handle of it, or of the deepest directory that does exist."""

    handle: int
    asked: str
    path: str
    status: os.stat_result | None
    missing: tuple[bytes, ...] = ()
    """Names beneath `handle` that do not exist."""
    dangling: bool = False
    """`asked` is a link; `path` is where it leads, and nothing is there."""

    def place(self, digest: str | None = None) -> Place:
        """Return the spot as the facts of a call."""
        if self.status is None:
            return Place(asked=self.asked, path=self.path, kind="missing")
        return placed(self.asked, self.path, self.status, digest)


def placed(asked: str, path: str, status: os.stat_result, digest: str | None) -> Place:
    """Return the place of an existing inode."""
    return Place(
        asked=asked,
        path=path,
        kind=kind_of(status.st_mode),
        size=status.st_size,
        mode=stat.S_IMODE(status.st_mode),
        links=status.st_nlink,
        digest=digest,
    )


def relative(base: Base, path: str) -> bytes:
    """Return `path` as bytes relative to the root; an absolute path must be the root or beneath it, by component.

    Nothing is expanded: `~`, `$HOME`, `%2e`, `file://` and backslashes are names like any other.

    Raises:
        Refusal: `args.invalid` for what cannot be a path, `file.outside` for an absolute path elsewhere.
    """
    if not path:
        raise Refusal("args.invalid", "path: expected a path, found ''", hint="Use '.' for the workspace root.")
    if "\0" in path:
        raise Refusal("args.invalid", f"path: a path cannot hold a NUL character, found {shown(path)}")
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise Refusal("args.invalid", f"path: {shown(path)} holds half a character and cannot be a name") from None
    if raw.startswith(b"/"):
        raw = _beneath(base, path, raw)
    if len(raw) > MAX_PATH or any(len(part) > MAX_NAME for part in raw.split(b"/")):
        raise fault(OSError(errno.ENAMETOOLONG, ""), path, "read")
    return raw


def _beneath(base: Base, path: str, raw: bytes) -> bytes:
    parts = [part for part in raw.split(b"/") if part not in {b"", b"."}]
    for root in (base.root, base.given):
        head = [part for part in root.split(b"/") if part]
        if parts[: len(head)] == head:
            tail = b"/".join(parts[len(head) :]) or b"."
            return tail + b"/" if raw.endswith((b"/", b"/.")) else tail
    raise outside(path)


@contextmanager
def resolve(base: Base, path: str, *, follow: bool = True) -> Generator[Spot]:
    """Yield what `path` leads to; the handle is closed at the end.

    Links are followed; without `follow` one at the end is not, unless a slash after it asks for a directory.

    Raises:
        Refusal: `file.outside`, `file.missing` for a path that can never exist, `file.not_directory`, `file.denied`,
            `args.invalid`, `workspace.gone`.
    """
    raw = relative(base, path)
    spot = _resolve(base, path, raw, follow=follow or raw.endswith((b"/", b"/.")))
    try:
        yield spot
    finally:
        base.calls.release(spot.handle)


def _resolve(base: Base, path: str, raw: bytes, links: int = 0, *, follow: bool = True) -> Spot:
    if links > _MAX_LINKS:
        raise fault(OSError(errno.ELOOP, ""), path, "read")
    for _ in range(_AGAIN):
        handle = -1
        try:
            handle = base.reach(raw, O_PATH if follow else O_PATH | os.O_NOFOLLOW)
            found = base.canonical(handle)
            if _is_displaced(found, raw):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            return Spot(handle, path, found, os.fstat(handle))
        except FileNotFoundError:
            if handle >= 0:
                base.calls.release(handle)
                continue
            spot = _absent(base, path, raw, links, follow=follow)
            if spot is not None:
                return spot
        except BaseException as error:
            if handle >= 0:
                base.calls.release(handle)
            if isinstance(error, OSError):
                raise fault(error, path, "read") from None
            raise
    raise fault(OSError(errno.EAGAIN, ""), path, "read")


def _is_displaced(path: str, raw: bytes) -> bool:
    """Tell whether the file that was reached has just been replaced by a write of ours, and is about to go."""
    name = path.rpartition("/")[2]
    return name.startswith(TEMP_PREFIX) and not raw.endswith(os.fsencode(name))


def _absent(base: Base, path: str, raw: bytes, links: int, *, follow: bool) -> Spot | None:
    """Find the deepest directory that exists; None when the path came to exist meanwhile."""
    base.alive()
    parts = [part for part in raw.split(b"/") if part not in {b"", b"."}]
    if _climbs(parts):
        raise outside(path)
    for count in range(len(parts) - 1, -1, -1):
        try:
            handle = base.reach(b"/".join(parts[:count]) or b".", O_PATH | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise fault(error, path, "read") from None
        spot: Spot | None = None
        try:
            spot = _beside(base, path, handle, tuple(parts[count:]), links, follow=follow)
        except OSError:
            continue
        finally:
            if spot is None or spot.handle != handle:
                base.calls.release(handle)
        return spot
    return None


def _beside(base: Base, path: str, handle: int, rest: tuple[bytes, ...], links: int, *, follow: bool) -> Spot | None:
    """Return the spot of the names `rest`, the first of which is not in the directory `handle`, or leads nowhere."""
    here, name = base.canonical(handle), rest[0]
    inside = "" if here == "." else f"{here}/"
    try:
        found = base.calls.stat(handle, name)
    except FileNotFoundError:
        if b".." in rest:
            raise _no_way(path) from None
        return Spot(handle, path, inside + os.fsdecode(b"/".join(rest)), None, rest)
    if not stat.S_ISLNK(found.st_mode) or (len(rest) == 1 and not follow):
        return None
    if len(rest) > 1:
        raise _no_way(path)
    target = os.readlink(name, dir_fd=handle)
    if target.startswith(b"/"):
        raise outside(path)
    return replace(_resolve(base, path, os.fsencode(inside) + target, links + 1), dangling=True)


def _no_way(path: str) -> Refusal:
    return Refusal("file.missing", f"{shown(path)} does not exist", hint="A directory on the way is missing.")


def _climbs(parts: list[bytes]) -> bool:
    depth = 0
    for part in parts:
        depth += -1 if part == b".." else 1
        if depth < 0:
            return True
    return False
