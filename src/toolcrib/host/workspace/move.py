"""Giving what stands at one name another: one rename, proven by what it displaced, or a copy across file systems."""

import errno
import os
import stat
from contextlib import suppress

from toolcrib.host.workspace.aim import Aim, aim
from toolcrib.host.workspace.base import Base, placed, resolve
from toolcrib.host.workspace.copy import across
from toolcrib.host.workspace.displaced import digest_of
from toolcrib.host.workspace.faults import fault, shown
from toolcrib.host.workspace.temp import same_inode
from toolcrib.host.workspace.tree import beneath, movable
from toolcrib.host.workspace.write import refuse_read_only, stale
from toolcrib.ports.files import Moved
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites
from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Refusal

ANY: frozenset[PathKind] = frozenset({"file", "symlink", "directory"})
"""What can be moved."""
_EVERY: frozenset[PathKind] = frozenset({"file", "symlink", "directory", "fifo", "socket", "device"})


def move(base: Base, scope: Scope, old: str, new: str, *, over: str | None) -> Moved:
    """Give what stands at `old` the name `new`.

    A failure before the names change leaves everything as it was. When a directory cannot be made durable at the end,
    the move stays and the refusal says `maybe`.

    Raises:
        Refusal: see `ports.files.Files.move`.
    """
    with aim(base, scope, old, "remove", kinds=ANY, follow=False) as source:
        _refuse_inside(base, source, new)
        if _is_directory(source):
            _permit_tree(base, scope, source, source.path, new)
        # any kind is let through here: what it is said to be in the way of a move is said below
        with aim(base, scope, new, "write", kinds=_EVERY, follow=False) as target:
            _check(source, target, over)
            if _is_directory(source):
                _permit_tree(base, scope, source, target.path, new)
            displaced = _carry(scope, source, target, over)
            try:
                base.calls.sync(target.directory)
                base.calls.sync(source.directory)
            except OSError as error:
                raise fault(error, new, "move", "maybe") from None
            status = base.calls.stat(target.directory, target.leaf)
            made = tuple(path for _, _, path in target.made)
            place = placed(new, target.path, status, None)
            return Moved(old=source.path, place=place, displaced=displaced, created_parents=made)


def _is_directory(found: Aim) -> bool:
    return found.status is not None and stat.S_ISDIR(found.status.st_mode)


def _refuse_inside(base: Base, source: Aim, new: str) -> None:
    """Refuse one name twice and a directory into itself, before any parent is made."""
    with resolve(base, new, follow=False) as spot:
        path = spot.path
    if path == source.path:
        raise Refusal(
            "file.unchanged",
            f"{shown(source.asked)} and {shown(new)} are the same name",
            hint="Nothing was moved; name another path.",
        )
    if path.startswith(f"{source.path}/"):
        raise Refusal(
            "args.invalid", f"{shown(new)} lies within {shown(source.asked)}; nothing can be moved into itself"
        )


def _permit_tree(base: Base, scope: Scope, source: Aim, to: str, new: str) -> None:
    """Refuse unless the call may write everything beneath the directory, as it would be called beneath `to`."""
    found = beneath(base, source.path, asked=source.asked)
    movable(found)
    for each in found:
        path = to + each.path[len(source.path) :]
        asked = source.asked if to == source.path else new
        if base.guard.names_protected(path):
            raise Refusal(
                "file.protected",
                f"{shown(path)}, which would be moved with {shown(source.asked)}, is protected and is never written",
                hint=f"Move what else lies in {shown(asked)} one by one.",
            )
        if path not in scope.writes:
            raise stale(source.asked, f"{shown(path)} came into it")


def _check(source: Aim, target: Aim, over: str | None) -> None:
    """Refuse what need not be tried."""
    old = target.status
    if old is None:
        if over is not None:
            raise stale(target.asked, "it was removed since it was read")
        if target.asked.endswith(("/", "/.")) and not _is_directory(source):
            raise Refusal(
                "file.not_directory",
                f"expected the new name, found {shown(target.asked)}, which asks for a directory",
                hint="Name the new path whole.",
            )
        return
    what = "a directory" if stat.S_ISDIR(old.st_mode) else "a file" if stat.S_ISREG(old.st_mode) else "something else"
    if over is None or not stat.S_ISREG(old.st_mode) or _is_directory(source):
        hint = "Choose another name."
        if stat.S_ISDIR(old.st_mode):
            hint = f"Name the new path whole, such as {shown(f'{target.path}/{os.fsdecode(source.leaf)}')}."
        raise Refusal("file.exists", f"expected nothing at {shown(target.asked)}, found {what}", hint=hint)
    if source.status is not None and same_inode(source.status, old):
        raise Refusal(
            "file.linked",
            f"{shown(source.asked)} and {shown(target.asked)} are two names of one file",
            hint="Delete one of them instead.",
        )
    if old.st_nlink > 1:
        raise Refusal(
            "file.linked",
            f"{shown(target.asked)} has {old.st_nlink} hard links; replacing it would part it from the others",
            hint="Choose another name.",
        )
    refuse_read_only(target.asked, old, forced=False)


def _carry(scope: Scope, source: Aim, target: Aim, over: str | None) -> str | None:
    """Change the names; return the digest of what was displaced."""
    calls = source.base.calls
    try:
        for each in (source, target):
            each.permit()
        _take_turns(source, target)
        if not source.unchanged() or not target.unchanged():
            raise stale(source.asked if not source.unchanged() else target.asked, "it changed meanwhile")
        if over is not None:
            calls.swap(source.directory, source.leaf, target.directory, target.leaf)
        else:
            calls.carry(source.directory, source.leaf, target.directory, target.leaf)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return across(scope, source, target, over)
        raise _missed(error, source, target) from None
    if over is not None:
        return _prove(source, target, over)
    if _is_directory(source):
        _prove_tree(scope, source, target)
    return None


def _take_turns(source: Aim, target: Aim) -> None:
    """Take the turns of both directories, in the order of their inodes so that no two calls wait for each other."""
    pair = {(one.st_dev, one.st_ino): each for each in (source, target) for one in (os.fstat(each.directory),)}
    for _, each in sorted(pair.items()):
        each.take_turn()


def _missed(error: OSError, source: Aim, target: Aim) -> Refusal:
    if isinstance(error, FileExistsError):
        return Refusal(
            "file.exists",
            f"expected nothing at {shown(target.asked)}, found that it was just created",
            hint="Look at it, or choose another name.",
        )
    if isinstance(error, FileNotFoundError):
        return stale(source.asked, "it was removed while it was being moved")
    return fault(error, source.asked, "move")


def _prove(source: Aim, target: Aim, over: str) -> str:
    """Hash what was displaced, which now has the old name, and remove it; if it is not what was expected, swap back."""
    calls = source.base.calls
    failed: OSError | None = None
    try:
        found = digest_of(calls, source.directory, source.leaf, target.status)
        if found is not None and cites(over, found):
            calls.unlink(source.directory, source.leaf)
            return found
    except OSError as error:
        failed = error
    try:
        calls.swap(source.directory, source.leaf, target.directory, target.leaf)
    except OSError as error:
        raise fault(error, source.asked, "move", "yes") from None
    for each in (source, target):
        with suppress(OSError):
            calls.sync(each.directory)
    if failed is not None:
        raise fault(failed, source.asked, "move") from None
    raise stale(target.asked, "its content changed while it was being replaced")


def _prove_tree(scope: Scope, source: Aim, target: Aim) -> None:
    """Look at what was moved; if something came into it that the call may not write, move it back."""
    base = source.base
    try:
        found = beneath(base, target.path, asked=target.asked)
        movable(found)
        if all(each.path in scope.writes and not base.guard.names_protected(each.path) for each in found):
            return
        refusal = stale(source.asked, "something came into it while it was being moved")
    except Refusal as caught:
        refusal = caught
    try:
        base.calls.carry(target.directory, target.leaf, source.directory, source.leaf)
    except OSError:
        refusal.happened = "yes"
    raise refusal
