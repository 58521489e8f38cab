"""Where a write goes: the parent's handle and the leaf, checked against the rules at the moment of writing."""

import errno
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from toolcrib.host.workspace.base import Base, Spot, resolve
from toolcrib.host.workspace.faults import Doing, fault, kind_of, not_regular, shown
from toolcrib.host.workspace.near import missing
from toolcrib.host.workspace.temp import same_inode
from toolcrib.ports.scope import Scope
from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Refusal

_TRIES = 8
_TURN = 0.5  # seconds; a turn of ours lasts as long as hashing one file
FILE: frozenset[PathKind] = frozenset({"file"})
"""What a write may stand on."""
NAMED: frozenset[PathKind] = frozenset({"file", "symlink"})
"""What is removed or carried by its name, no link followed."""


@dataclass
class Aim:
    """An open parent directory and the name in it. `status` is what stood there, None for nothing."""

    base: Base
    scope: Scope
    asked: str
    path: str
    directory: int
    leaf: bytes
    status: os.stat_result | None
    old: int = -1
    """`O_PATH` handle of what stood there, -1 for nothing."""
    made: list[tuple[int, bytes, str]] = field(default_factory=list[tuple[int, bytes, str]])
    """Each parent that had to be created: handle of its own parent, name, canonical path."""

    def permit(self) -> None:
        """Refuse unless the real path of the parent handle, now, with the leaf is one that the call may write.

        Raises:
            Refusal: `file.protected`, `file.denied`.
        """
        here = self.base.canonical(self.directory)
        name = os.fsdecode(self.leaf)
        permit(self.base, self.scope, self.asked, name if here == "." else f"{here}/{name}")
        if self.base.guard.holds(self.base.calls, self.base.fd, self.directory, self.status):
            raise protected(self.asked)

    def settled(self) -> bool:
        """Take the turn of this directory, then tell whether the file is still the one that was checked."""
        self.take_turn()
        return self.unchanged()

    def take_turn(self) -> None:
        """Take the turn of this directory; it is given back when the handle is closed.

        Turns are among processes of this program only: without them, one session could read what another is about to
        take back. A lock that someone else keeps is not waited for long, since the proof holds without it.
        """
        until = time.monotonic() + _TURN
        while not self.base.calls.lock(self.directory) and time.monotonic() < until:
            time.sleep(0.001)

    def unchanged(self) -> bool:
        """Tell whether what stands there is still what was checked."""
        if self.status is None:
            return True
        try:
            now = self.base.calls.stat(self.directory, self.leaf)
        except FileNotFoundError:
            return False
        return _identity(now) == _identity(self.status)

    def unmake(self) -> None:
        """Remove the parents that were created, as far as they are still empty."""
        _unmake(self.base, self.made)


@contextmanager
def aim(
    base: Base, scope: Scope, path: str, doing: Doing, *, kinds: frozenset[PathKind] = FILE, follow: bool = True
) -> Generator[Aim]:
    """Yield where `path` leads for changing; missing parents are made for `write`, and unmade if the body raises.

    What stands there is one of `kinds`. Without `follow` a link at the end is itself what stands there.

    Raises:
        Refusal: as `resolve`; `file.not_regular`, `file.protected`, `file.denied`, `file.missing`.
    """
    found = _aim(base, scope, path, doing, kinds=kinds, follow=follow)
    try:
        yield found
    except BaseException:
        found.unmake()
        raise
    finally:
        _close(found)


def permit(base: Base, scope: Scope, asked: str, path: str) -> None:
    """Refuse unless `path` (canonical) may be written by this call.

    Raises:
        Refusal: `file.protected`, `file.denied`.
    """
    if base.guard.names_protected(path):
        raise protected(asked)
    if path not in scope.writes:
        raise Refusal(
            "file.denied",
            f"{shown(asked)} is not among the paths that this call may write",
            hint="Repeat the call; if a link or directory on the way was changed, name the file itself.",
        )


def protected(asked: str) -> Refusal:
    """Return the refusal of a protected path."""
    return Refusal(
        "file.protected",
        f"{shown(asked)} is protected and is never written",
        hint="Protected are .git, .toolcrib and the paths named in the configuration.",
    )


def _aim(base: Base, scope: Scope, path: str, doing: Doing, *, kinds: frozenset[PathKind], follow: bool) -> Aim:
    made: list[tuple[int, bytes, str]] = []
    try:
        for _ in range(_TRIES):
            with resolve(base, path, follow=follow) as spot:
                _check(base, scope, spot, doing, kinds)
                found = _existing(base, scope, spot) if spot.status else _new(base, scope, spot, made)
            if found is not None:
                return found
        raise fault(OSError(errno.EAGAIN, ""), path, doing)
    except BaseException:
        _unmake(base, made)
        for handle, _, _ in made:
            base.calls.release(handle)
        raise


def _check(base: Base, scope: Scope, spot: Spot, doing: Doing, kinds: frozenset[PathKind]) -> None:
    if spot.path == "." and "directory" in kinds:
        raise Refusal("file.protected", "the workspace root itself is never moved", hint="Name something beneath it.")
    if spot.status is not None and (kind := kind_of(spot.status.st_mode)) not in kinds:
        raise not_regular(spot.asked, kind)
    permit(base, scope, spot.asked, spot.path)
    if spot.status is None:
        if doing == "remove":
            raise missing(base, scope, spot)
        if "directory" not in kinds and spot.asked.endswith(("/", "/.")):
            raise Refusal(
                "file.not_directory",
                f"expected a file name, found {shown(spot.asked)}, which asks for a directory",
                hint="Leave the slash at the end away.",
            )


def _existing(base: Base, scope: Scope, spot: Spot) -> Aim | None:
    parent, _, leaf = os.fsencode(spot.path).rpartition(b"/")
    try:
        directory = base.reach(parent or b".", os.O_RDONLY | os.O_DIRECTORY, links=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise fault(error, spot.asked, "write") from None
    found = Aim(base, scope, spot.asked, spot.path, directory, leaf, spot.status, os.dup(spot.handle))
    try:
        if spot.status is not None and same_inode(base.calls.stat(directory, leaf), spot.status):
            return found
    except FileNotFoundError:
        pass
    _close(found)
    return None


def _new(base: Base, scope: Scope, spot: Spot, made: list[tuple[int, bytes, str]]) -> Aim | None:
    """Return the aim at a file to be created; each parent made on the way is added to `made`."""
    try:
        directory = base.calls.again(spot.handle, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise fault(error, spot.asked, "write") from None
    found = Aim(base, scope, spot.asked, spot.path, directory, spot.missing[-1], None)
    try:
        if base.guard.holds(base.calls, base.fd, directory, None):
            raise protected(spot.asked)
        if all(_descend(found, name, made) for name in spot.missing[:-1]):
            return replace(found, made=made)
    except BaseException as error:
        base.calls.release(found.directory)
        if isinstance(error, OSError):
            raise fault(error, spot.asked, "write") from None
        raise
    base.calls.release(found.directory)
    return None


def _descend(found: Aim, name: bytes, made: list[tuple[int, bytes, str]]) -> bool:
    """Make the directory `name` durable in the parent and go into it; False when someone else got there first."""
    calls = found.base.calls
    here = found.base.canonical(found.directory)
    path = os.fsdecode(name) if here == "." else f"{here}/{os.fsdecode(name)}"
    try:
        calls.make(found.directory, name)
    except FileExistsError:
        return False
    made.append((os.dup(found.directory), name, path))
    calls.sync(found.directory)
    try:
        child = calls.step(found.directory, name, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    calls.release(found.directory)
    found.directory = child
    return True


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_mode,
        status.st_uid,
        status.st_gid,
    )


def _unmake(base: Base, made: list[tuple[int, bytes, str]]) -> None:
    for directory, name, _ in reversed(made):
        with suppress(OSError):
            base.calls.unmake(directory, name)


def _close(found: Aim) -> None:
    for handle in (found.directory, found.old, *(handle for handle, _, _ in found.made)):
        if handle >= 0:
            found.base.calls.release(handle)
