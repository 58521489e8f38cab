"""Moving a file or a link to another file system: a durable copy under the new name, then the old name goes."""

import os
import stat

from toolcrib.host.workspace.aim import Aim
from toolcrib.host.workspace.displaced import digest_of, put_back
from toolcrib.host.workspace.dress import alike
from toolcrib.host.workspace.faults import fault, shown
from toolcrib.host.workspace.temp import Staged, discard, stage, temp_name
from toolcrib.host.workspace.write import stale
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites, of_bytes
from toolcrib.terms.refusals import Refusal

LARGEST = 64 << 20
"""Largest file that is copied, bytes: what a checkpoint holds."""


def across(scope: Scope, source: Aim, target: Aim, over: str | None) -> str | None:
    """Copy the source to the target's directory, give the copy its name, remove the source; return what was displaced.

    Raises:
        Refusal: `args.invalid` for a directory; `file.stale` when the source or the displaced file changed meanwhile;
            `file.too_large`; `disk.full`.
    """
    mode = 0 if source.status is None else source.status.st_mode
    if stat.S_ISDIR(mode):
        raise Refusal(
            "args.invalid",
            f"{shown(source.asked)} is a directory and {shown(target.asked)} lies on another file system",
            hint="Move the files in it one by one; each is copied and then removed.",
        )
    copy, digest = _linked(scope, source, target) if stat.S_ISLNK(mode) else _copied(scope, source, target)
    displaced = _named(target, copy, over)
    calls = source.base.calls
    try:
        calls.sync(target.directory)
        if digest_of(calls, source.directory, source.leaf, source.status) == digest:
            calls.unlink(source.directory, source.leaf)
            return displaced
    except OSError as error:
        raise fault(error, source.asked, "move", "maybe") from None
    refusal = stale(source.asked, f"it changed while it was copied; the copy stands at {shown(target.path)}")
    refusal.happened = "yes"
    raise refusal


def _copied(scope: Scope, source: Aim, target: Aim) -> tuple[Staged, str]:
    calls = source.base.calls
    status = os.fstat(source.old)
    if status.st_size > LARGEST:
        raise Refusal(
            "file.too_large",
            f"{shown(source.asked)} has {status.st_size:,} bytes; across file systems at most {LARGEST:,} are moved",
        )
    try:
        handle = calls.again(source.old, os.O_RDONLY)
        try:
            data = b"".join(iter(lambda: os.read(handle, 1 << 20), b""))
        finally:
            calls.release(handle)
        return stage(calls, target.directory, scope.call_id, data, alike(calls, source.old, status)), of_bytes(data)
    except OSError as error:
        raise fault(error, source.asked, "move") from None


def _linked(scope: Scope, source: Aim, target: Aim) -> tuple[Staged, str]:
    calls = source.base.calls
    name = temp_name(scope.call_id, os.urandom(4).hex(), None)
    try:
        calls.link(target.directory, os.readlink(b"", dir_fd=source.old), name)
        return Staged(name, calls.stat(target.directory, name)), digest_of(calls, target.directory, name, None) or ""
    except OSError as error:
        discard(calls, target.directory, name)
        raise fault(error, source.asked, "move") from None


def _named(target: Aim, copy: Staged, over: str | None) -> str | None:
    calls = target.base.calls
    try:
        if over is None:
            calls.settle(target.directory, copy.name, target.leaf)
            return None
        calls.exchange(target.directory, copy.name, target.leaf)
    except OSError as error:
        discard(calls, target.directory, copy.name)
        if isinstance(error, FileExistsError | FileNotFoundError):
            raise stale(target.asked, "it came or went while the copy was made") from None
        raise fault(error, target.asked, "move") from None
    failed: OSError | None = None
    try:
        found = digest_of(calls, target.directory, copy.name, target.status)
        if found is not None and cites(over, found):
            calls.unlink(target.directory, copy.name)
            return found
    except OSError as error:
        failed = error
    kept = put_back(calls, target.directory, copy, target.leaf)
    if failed is not None:
        raise fault(failed, target.asked, "move", "no" if kept is None else "maybe") from None
    raise stale(target.asked, "its content changed while it was being replaced", kept)
