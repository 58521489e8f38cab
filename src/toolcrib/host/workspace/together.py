"""Several changes made together: all new content is staged, then the names change, and any failure takes them back."""

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from toolcrib.host.workspace import journal
from toolcrib.host.workspace.aim import FILE, NAMED, Aim, aim
from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.displaced import digest_of, keep, put_back
from toolcrib.host.workspace.dress import alike, dresser
from toolcrib.host.workspace.faults import fault, shown
from toolcrib.host.workspace.temp import Staged, aside_name, discard, stage
from toolcrib.host.workspace.write import refuse_read_only, stale, stands
from toolcrib.ports.files import Alteration
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites, of_bytes
from toolcrib.terms.names import mint_id
from toolcrib.terms.refusals import Refusal


@dataclass
class _Work:
    """One change on its way: where it goes, and the temp name that holds its content, then what it displaced."""

    change: Alteration
    target: Aim
    staged: Staged | None = None
    aside: bytes = b""
    done: bool = False

    @property
    def creates(self) -> bool:
        return self.change.expect is None


def alter(base: Base, scope: Scope, changes: Sequence[Alteration]) -> tuple[str, ...]:
    """Make all of the changes or none; return the directories that were created.

    Raises:
        Refusal: see `ports.files.Files.alter`.
    """
    call_id = scope.call_id or mint_id()
    with ExitStack() as stack:
        works = [_prepared(stack, base, scope, each, call_id) for each in changes]
        _refuse_twice(works)
        try:
            journal.begin(base, call_id, {work.target.path: _digest(work.change.data) for work in works})
        except OSError as error:
            raise fault(error, changes[0].path, "write") from None
        stack.callback(journal.end, base, call_id)
        try:
            _commit(works, call_id)
            for work in works:
                base.calls.sync(work.target.directory)
        except OSError as error:
            raise _undone(works, fault(error, changes[0].path, "write")) from None
        except Refusal as refusal:
            raise _undone(works, refusal) from None
        _clear(works)
        return tuple(path for work in works for _, _, path in work.target.made)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else of_bytes(data)


def _prepared(stack: ExitStack, base: Base, scope: Scope, change: Alteration, call_id: str) -> _Work:
    """Check one change and stage its content; what is staged goes when the stack is left."""
    doing, kinds = ("remove", NAMED) if change.data is None else ("write", FILE)
    target = stack.enter_context(aim(base, scope, change.path, doing, kinds=kinds, follow=False))
    work = _Work(change, target)
    _check(work)
    if change.data is not None:
        try:
            dress = dresser(target, change.mode)
            if change.like is not None and target.status is None:
                with aim(base, scope, change.like, "remove", follow=False) as like:
                    status = os.fstat(like.old)
                    dress = alike(base.calls, like.old, status, change.mode)
                    work.staged = stage(base.calls, target.directory, call_id, change.data, dress)
            else:
                work.staged = stage(base.calls, target.directory, call_id, change.data, dress)
        except OSError as error:
            raise fault(error, change.path, "write") from None
        stack.callback(_discard, work)
    return work


def _discard(work: _Work) -> None:
    """Remove content that never got its name; what was displaced is not touched."""
    calls, directory, staged = work.target.base.calls, work.target.directory, work.staged
    if staged is None:
        return
    with suppress(OSError):
        if staged.is_at(calls, directory, staged.name):
            discard(calls, directory, staged.name)


def _check(work: _Work) -> None:
    change, old = work.change, work.target.status
    if old is None:
        if change.expect is not None:
            raise stale(change.path, "it was removed since it was read")
        return
    if change.expect is None:
        raise Refusal("file.exists", f"expected nothing at {shown(change.path)}, found that something stands there")
    if not stat.S_ISREG(old.st_mode):
        if digest_of(work.target.base.calls, work.target.directory, work.target.leaf, None) != change.expect:
            raise stale(change.path, "it is another link than the one that was cited")
        return
    if change.data is not None and old.st_nlink > 1:
        raise Refusal(
            "file.linked",
            f"{shown(change.path)} has {old.st_nlink} hard links; replacing it would part it from the others",
            hint="A person can break the link by copying the file over itself.",
        )
    refuse_read_only(change.path, old, forced=False)
    if not stands(work.target, change.path, change.expect):
        raise stale(change.path, "its content changed since it was read")


def _refuse_twice(works: Sequence[_Work]) -> None:
    seen: set[str] = set()
    for work in works:
        if work.target.path in seen:
            raise Refusal("args.invalid", f"{shown(work.change.path)} is named twice, maybe by two spellings")
        seen.add(work.target.path)


def _commit(works: Sequence[_Work], call_id: str) -> None:
    """Change the names, one after another, each proven by what it displaced."""
    for work in works:
        work.target.permit()
    turns = {(one.st_dev, one.st_ino): work for work in works for one in (os.fstat(work.target.directory),)}
    for _, work in sorted(turns.items(), key=lambda turn: turn[0]):
        work.target.take_turn()
    for work in works:
        if not work.target.unchanged():
            raise stale(work.change.path, "it changed while the new content was prepared")
    for work in works:
        if work.staged is None:
            _set_aside(work, call_id)
        elif work.creates:
            _create(work, work.staged)
        else:
            _replace(work, work.staged)


def _create(work: _Work, staged: Staged) -> None:
    try:
        work.target.base.calls.settle(work.target.directory, staged.name, work.target.leaf)
    except FileExistsError:
        raise Refusal(
            "file.exists", f"expected nothing at {shown(work.change.path)}, found that it was just created"
        ) from None
    work.done = True


def _replace(work: _Work, staged: Staged) -> None:
    target = work.target
    try:
        target.base.calls.exchange(target.directory, staged.name, target.leaf)
    except FileNotFoundError:
        raise stale(work.change.path, "it was removed while it was being replaced") from None
    work.done = True
    found = digest_of(target.base.calls, target.directory, staged.name, target.status)
    if found is None or not cites(work.change.expect or "", found):
        raise stale(work.change.path, "its content changed while it was being replaced")


def _set_aside(work: _Work, call_id: str) -> None:
    target = work.target
    name = aside_name(call_id, 0 if target.status is None else target.status.st_ino)
    try:
        target.base.calls.settle(target.directory, target.leaf, name)
    except FileNotFoundError:
        raise stale(work.change.path, "it was removed meanwhile") from None
    work.aside, work.done = name, True
    found = digest_of(target.base.calls, target.directory, name, None)
    if found is None or not cites(work.change.expect or "", found):
        raise stale(work.change.path, "its content changed since it was read")


def _undone(works: Sequence[_Work], refusal: Refusal) -> Refusal:
    """Take back what was changed, last first, and return the refusal; it says so when something could not be."""
    kept: list[str] = []
    for work in reversed(works):
        if not work.done:
            continue
        name = _take_back(work)
        if name is not None:
            kept.append(name)
        with suppress(OSError):
            work.target.base.calls.sync(work.target.directory)
    if kept:
        refusal.happened = "maybe"
        refusal.message += f"; kept beside its name: {', '.join(map(shown, kept))}"
    return refusal


def _take_back(work: _Work) -> str | None:
    """Give one name back what it had; return the name of bytes that could not be put there."""
    calls, directory, leaf = work.target.base.calls, work.target.directory, work.target.leaf
    if work.staged is None:
        for _ in range(2):
            try:
                calls.settle(directory, work.aside, leaf)
            except FileExistsError:
                break
            except OSError:
                continue
            return None
        return keep(calls, directory, work.aside, leaf)
    if not work.creates:
        return put_back(calls, directory, work.staged, leaf)
    with suppress(OSError):
        if work.staged.is_at(calls, directory, leaf):
            calls.settle(directory, leaf, work.staged.name)
            return None
    return os.fsdecode(leaf)


def _clear(works: Sequence[_Work]) -> None:
    """Remove what was displaced; what cannot be removed is swept when its owner is gone."""
    for work in works:
        calls, directory = work.target.base.calls, work.target.directory
        if work.staged is None:
            discard(calls, directory, work.aside)
        elif not work.creates:
            discard(calls, directory, work.staged.name)
