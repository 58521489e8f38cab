"""Temporary files beside a target, named so that a later look can tell whose bytes each one holds.

A name is `TEMP_PREFIX`, the call id, 8 random hex digits and 8 hex digits of proof. The proof is made from the inode
number of the file we wrote, so after a crash a temp whose inode fits its name is ours, and any other is what an
exchange displaced. A file that is just being created has the proof 00000000: nothing was exchanged with it yet.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.host.workspace.calls import Calls
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.names import TEMP_PREFIX, mint_id

FRESH = "00000000"
_MINTED = re.compile(r"[0-9a-z]{26}")
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Staged:
    """A finished temp file: its name and the inode that is ours."""

    name: bytes
    status: os.stat_result

    def is_at(self, calls: Calls, directory: int, name: bytes) -> bool:
        """Tell whether `name` is our inode now."""
        try:
            return same_inode(calls.stat(directory, name), self.status)
        except FileNotFoundError:
            return False


def same_inode(one: os.stat_result, other: os.stat_result) -> bool:
    """Tell whether two statuses are of one inode."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def temp_name(call_id: str, salt: str, inode: int | None) -> bytes:
    """Return a temp name; without `inode` the one of a file that is not written yet."""
    return f"{TEMP_PREFIX}{tag(call_id or mint_id())}-{salt}{FRESH if inode is None else proof(salt, inode)}".encode()


def tag(call_id: str) -> str:
    """Return what stands for a call in a temp name: its id, or for one that a caller chose 26 digits made from it."""
    return call_id if _MINTED.fullmatch(call_id) else of_bytes(call_id.encode("utf-8", "surrogateescape"))[:26]


def aside_name(call_id: str, inode: int) -> bytes:
    """Return a temp name under which the file `inode` is not taken for ours."""
    while True:
        name = temp_name(call_id, salted(), 0)
        if not is_ours(name.decode(), inode):
            return name


def proof(salt: str, inode: int) -> str:
    """Return the 8 hex digits that tie a temp name to the inode we wrote."""
    value = hashlib.sha256(f"{salt}:{inode}".encode()).hexdigest()[:8]
    return value if value != FRESH else "00000001"


def is_ours(name: str, inode: int) -> bool:
    """Tell whether the temp file `name` holds what we wrote, not what an exchange displaced."""
    salt, given = name[-16:-8], name[-8:]
    return given in {FRESH, proof(salt, inode)}


def salted() -> str:
    """Return 8 random hex digits."""
    return secrets.token_hex(4)


def stage(calls: Calls, directory: int, call_id: str, data: bytes, dress: Callable[[int], None]) -> Staged:
    """Write `data` to a new temp file in `directory`, give it its metadata by `dress`, make it durable.

    Nothing is left behind when this raises.

    Raises:
        OSError: from any of the calls; a failed sync is never tried again.
    """
    call = call_id or mint_id()
    salt, name, handle = _create(calls, directory, call)
    try:
        status = os.fstat(handle)
        try:
            final = temp_name(call, salt, status.st_ino)
            calls.settle(directory, name, final)
            name = final
            _write_all(calls, handle, data)
            dress(handle)
            calls.sync(handle)
            status = os.fstat(handle)
        finally:
            calls.close(handle)
    except BaseException:
        discard(calls, directory, name)
        raise
    return Staged(name, status)


def discard(calls: Calls, directory: int, name: bytes) -> bool:
    """Remove a temp file, once more if that fails; False when it is still there."""
    for _ in range(2):
        try:
            calls.unlink(directory, name)
        except FileNotFoundError:
            return True
        except OSError:
            continue
        return True
    return False


def _create(calls: Calls, directory: int, call: str) -> tuple[str, bytes, int]:
    for _ in range(_TRIES - 1):
        salt = salted()
        name = temp_name(call, salt, None)
        try:
            return salt, name, calls.create(directory, name)
        except FileExistsError:
            continue
    salt = salted()
    name = temp_name(call, salt, None)
    return salt, name, calls.create(directory, name)


def _write_all(calls: Calls, handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        done = calls.write(handle, rest)
        if done <= 0:
            raise OSError(5, "nothing was written")
        rest = rest[done:]
