"""Replacing and creating files: atomic, durable, and proven by what was displaced."""

import os
import stat
import threading
from contextlib import suppress
from dataclasses import dataclass

from toolcrib.host.workspace.aim import Aim, aim
from toolcrib.host.workspace.base import Base, placed
from toolcrib.host.workspace.displaced import digest_of, put_back
from toolcrib.host.workspace.dress import dresser
from toolcrib.host.workspace.faults import fault, shown
from toolcrib.host.workspace.read import hashed
from toolcrib.host.workspace.temp import Staged, discard, stage
from toolcrib.ports.files import Written
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites, of_bytes
from toolcrib.terms.refusals import Refusal

BESIDE = 128 << 10
"""Bytes from which on starting a thread costs less than the digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One write. `forced` goes over a file without write permission: putting back what was there before."""

    path: str
    data: bytes
    expect: str | None
    mode: int | None = None
    forced: bool = False


def write(base: Base, scope: Scope, put: Put) -> Written:
    """Put the bytes at the path, proven and durable.

    A failure before the names change leaves everything as it was; after it, the displaced file is put back. Only when
    the directory cannot be made durable at the very end does the new content stay, and the refusal says `maybe`.

    Raises:
        Refusal: see `ports.files.Files.write`.
    """
    with aim(base, scope, put.path, "write") as target:
        _check(target, put)
        digest = Digesting(put.data)
        try:
            staged = stage(base.calls, target.directory, scope.call_id, put.data, dresser(target, put.mode))
        except OSError as error:
            raise fault(error, put.path, "write") from None
        finally:
            after = digest.end()
        before = _commit(target, staged, put.expect)
        base.known.wrote(staged.status, after)
        try:
            base.calls.sync(target.directory)
        except OSError as error:
            raise fault(error, put.path, "write", "maybe") from None
        return Written(
            place=placed(put.path, target.path, staged.status, after),
            before=before,
            after=after,
            created_parents=tuple(path for _, _, path in target.made),
        )


class Digesting:
    """The digest of bytes that are being written: of many, taken by a thread while the disk is waited for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._value = ""
        self._thread = threading.Thread(target=self._take, daemon=True) if len(data) > BESIDE else None
        if self._thread is not None:
            self._thread.start()

    def end(self) -> str:
        """Return the digest, once it is there."""
        if self._thread is None:
            self._take()
        else:
            self._thread.join()
        return self._value

    def _take(self) -> None:
        self._value = of_bytes(self._data)


def stale(asked: str, why: str, kept: str | None = None) -> Refusal:
    """Return the refusal of a file that is not what the call expects; `kept` names bytes that had to be set aside."""
    aside = "" if kept is None else f" Bytes of another program were kept as {shown(kept)}."
    return Refusal(
        "file.stale",
        f"{shown(asked)} is not what this call expects: {why}.{aside}",
        hint="Read it again and repeat the change on what stands there now.",
    )


def _check(target: Aim, put: Put) -> None:
    """Refuse what need not be tried."""
    old = target.status
    if old is None:
        if put.expect is not None:
            raise stale(put.path, "it was removed since it was read")
        return
    if put.expect is None:
        raise Refusal(
            "file.exists",
            f"expected nothing at {shown(put.path)}, found a file of {old.st_size:,} bytes",
            hint="Read it first and cite its digest, or choose another name.",
        )
    if old.st_nlink > 1:
        raise Refusal(
            "file.linked",
            f"{shown(put.path)} has {old.st_nlink} hard links; replacing it would part it from the others",
            hint="A person can break the link by copying the file over itself.",
        )
    refuse_read_only(put.path, old, forced=put.forced)
    if not stands(target, put.path, put.expect):
        raise stale(put.path, "its content changed since it was read")


def refuse_read_only(asked: str, status: os.stat_result, *, forced: bool) -> None:
    """Refuse `file.read_only` for a file that its owner may not write; the bits decide, also for root."""
    if not forced and not status.st_mode & stat.S_IWUSR:
        raise Refusal(
            "file.read_only",
            f"{shown(asked)} is read-only (mode {stat.S_IMODE(status.st_mode):04o})",
            hint="A person can make it writable with chmod u+w.",
        )


def stands(target: Aim, asked: str, expect: str) -> bool:
    """Tell whether the target is what is expected: a first look, the proof is what the exchange displaces.

    Raises:
        Refusal: as reading a file.
    """
    status = os.fstat(target.old)
    known = target.base.known.find(status)
    if known is not None:
        return cites(expect, known)
    if cites(expect, target.base.known.lately(status) or ""):
        return True
    try:
        handle = target.base.calls.again(target.old, os.O_RDONLY)
        try:
            return cites(expect, hashed(handle))
        finally:
            target.base.calls.release(handle)
    except OSError as error:
        raise fault(error, asked, "read") from None


def _commit(target: Aim, staged: Staged, expect: str | None) -> str | None:
    """Give the staged file its name; return the digest of what it displaced. On any failure the temp is removed."""
    calls = target.base.calls
    try:
        target.permit()
        if not target.settled():
            raise stale(target.asked, "it changed while its new content was prepared")
        if expect is None:
            calls.settle(target.directory, staged.name, target.leaf)
            return None
        calls.exchange(target.directory, staged.name, target.leaf)
    except OSError as error:
        discard(calls, target.directory, staged.name)
        raise _missed(error, target.asked) from None
    except Refusal:
        discard(calls, target.directory, staged.name)
        raise
    return _prove(target, staged, expect)


def _missed(error: OSError, asked: str) -> Refusal:
    if isinstance(error, FileExistsError):
        return Refusal(
            "file.exists",
            f"expected nothing at {shown(asked)}, found that it was just created",
            hint="Read it first and cite its digest.",
        )
    if isinstance(error, FileNotFoundError):
        return stale(asked, "it was removed while it was being replaced")
    return fault(error, asked, "write")


def _prove(target: Aim, staged: Staged, expect: str) -> str:
    """Hash what was displaced and remove it; if it is not what was expected, or anything fails, put it back."""
    calls = target.base.calls
    try:
        found = digest_of(calls, target.directory, staged.name, target.status)
        if found is not None and cites(expect, found):
            calls.unlink(target.directory, staged.name)
            return found
    except OSError as error:
        kept = put_back(calls, target.directory, staged, target.leaf)
        refusal = fault(error, target.asked, "write", "no" if kept is None else "maybe")
        if kept is not None:
            refusal.message += f"; the earlier content was kept as {shown(kept)}"
        raise refusal from None
    kept = put_back(calls, target.directory, staged, target.leaf)
    with suppress(OSError):
        calls.sync(target.directory)
    raise stale(target.asked, "its content changed while it was being replaced", kept)
