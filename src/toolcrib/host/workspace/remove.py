"""Removing a file or a link, proven: moved aside, hashed, and only then unlinked."""

import os
import stat

from toolcrib.host.workspace.aim import NAMED, Aim, aim
from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.displaced import digest_of, keep
from toolcrib.host.workspace.faults import fault
from toolcrib.host.workspace.temp import aside_name
from toolcrib.host.workspace.write import refuse_read_only, stale
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites


def remove(
    base: Base, scope: Scope, path: str, *, expect: str | None, prune: tuple[str, ...] = (), forced: bool = False
) -> None:
    """Remove the file or the link at `path` if its digest is `expect`, then each directory of `prune` that is empty.

    Raises:
        Refusal: see `ports.files.Files.remove`.
    """
    with aim(base, scope, path, "remove", kinds=NAMED, follow=False) as target:
        if expect is None:
            raise stale(path, "nothing should stand there")
        if target.status is not None and stat.S_ISREG(target.status.st_mode):
            refuse_read_only(path, target.status, forced=forced)
        _remove(target, scope.call_id, expect)
        try:
            base.calls.sync(target.directory)
        except OSError as error:
            raise fault(error, path, "remove", "maybe") from None
        canonical = target.path
    for each in sorted(prune, key=len, reverse=True):
        if canonical.startswith(f"{each}/"):
            unmake(base, each)


def unmake(base: Base, path: str) -> bool:
    """Remove the directory at the canonical `path` if it is empty; tell whether it was."""
    parent, _, leaf = os.fsencode(path).rpartition(b"/")
    try:
        directory = base.reach(parent or b".", os.O_RDONLY | os.O_DIRECTORY, links=False)
    except OSError:
        return False
    try:
        base.calls.unmake(directory, leaf)
        base.calls.sync(directory)
    except OSError:
        return False
    finally:
        base.calls.release(directory)
    return True


def _remove(target: Aim, call_id: str, expect: str) -> None:
    calls = target.base.calls
    inode = 0 if target.status is None else target.status.st_ino
    name = aside_name(call_id, inode)
    try:
        target.permit()
        if not target.settled():
            raise stale(target.asked, "it changed meanwhile")
        calls.settle(target.directory, target.leaf, name)
    except FileNotFoundError:
        raise stale(target.asked, "it was removed meanwhile") from None
    except OSError as error:
        raise fault(error, target.asked, "remove") from None
    kept: str | None
    try:
        found = digest_of(calls, target.directory, name, None)
        if found is not None and cites(expect, found):
            calls.unlink(target.directory, name)
            return
    except OSError as error:
        kept = _return(target, name)
        raise fault(error, target.asked, "remove", "no" if kept is None else "maybe") from None
    kept = _return(target, name)
    raise stale(target.asked, "its content changed since it was read", kept)


def _return(target: Aim, name: bytes) -> str | None:
    calls = target.base.calls
    for _ in range(2):
        try:
            calls.settle(target.directory, name, target.leaf)
        except FileExistsError:
            break
        except OSError:
            continue
        return None
    return keep(calls, target.directory, name, target.leaf)
