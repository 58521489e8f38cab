"""Examining this installation and one workspace: each check says what it found and, where it fails, what to do."""

import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from anyio import to_thread

from toolcrib._version import __version__
from toolcrib.host.finder.tree.mounts import kinds
from toolcrib.host.workspace.calls import RESOLVE_BENEATH, Calls
from toolcrib.store.store import Store
from toolcrib.terms.errors import ToolcribError
from toolcrib.terms.refusals import Refusal
from toolcrib.wiring.checks import Check
from toolcrib.wiring.clock import SystemClock
from toolcrib.wiring.doctor_search import accelerator, installed, ripgrep, table
from toolcrib.wiring.load import Places, check_file, load, places, workspace_root
from toolcrib.wiring.trust import trusted_digest

T = TypeVar("T")

ROOM = 100 << 20
"""Free space below which the state directory is worth a note, bytes."""

FAR = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "fuse.sshfs"})
"""File systems on which locks and durable writes cannot be relied on."""


async def examine(directory: str, *, wide: bool = False) -> tuple[Check, ...]:
    """Return every check, in order. Nothing is repaired; opening the store afterwards does what recovery there is."""
    checks = list(await to_thread.run_sync(lambda: [*_installation(), *_person()]))
    where, root = await to_thread.run_sync(
        lambda: (_quiet(places), _quiet(lambda: workspace_root(directory, confirmed=wide)))
    )
    if root is None:
        return (*checks, _tried("workspace", lambda: workspace_root(directory, confirmed=wide)))
    checks += await to_thread.run_sync(lambda: list(_workspace(root)))
    if where is not None:
        checks += await to_thread.run_sync(lambda: [accelerator(where, root), table(where, root)])
        checks += await to_thread.run_sync(lambda: list(_configuration(where, root)))
        checks += await _stored(where, root)
    return tuple(checks)


def _installation() -> Iterator[Check]:
    yield Check(name="toolcrib", state="ok", found=__version__)
    fits = sys.version_info >= (3, 11)
    yield Check(
        name="python",
        state="ok" if fits else "fail",
        found=f"{platform.python_version()} at {sys.executable}",
        next="" if fits else "install Python 3.11 or newer",
    )
    linux = sys.platform == "linux"
    yield Check(
        name="platform",
        state="ok" if linux else "note",
        found=f"{platform.system()} {platform.release()} {platform.machine()}",
        next="" if linux else "only Linux is tested",
    )
    yield _kernel()
    yield _sdk()


def _kernel() -> Check:
    calls, missing = Calls(), list[str]()
    with TemporaryDirectory(prefix="toolcrib-doctor-") as name:
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                os.close(calls.beneath(handle, b".", os.O_PATH, RESOLVE_BENEATH))
            except OSError:
                missing.append("openat2")
            for each in (b"one", b"other"):
                calls.close(calls.create(handle, each))
            try:
                calls.exchange(handle, b"one", b"other")
            except OSError:
                missing.append("renameat2")
        finally:
            os.close(handle)
    if not missing:
        return Check(name="kernel", state="ok", found="openat2 and renameat2 work")
    return Check(
        name="kernel",
        state="note" if missing == ["openat2"] else "fail",
        found=f"{' and '.join(missing)} missing",
        next="paths are walked part by part instead"
        if missing == ["openat2"]
        else "files cannot be replaced safely here",
    )


def _sdk() -> Check:
    found = installed("mcp")
    if found == "none":
        return Check(name="mcp sdk", state="fail", found="not installed", next="install the package mcp, 2.3 or newer")
    return Check(name="mcp sdk", state="ok", found=found)


def _person() -> Iterator[Check]:
    try:
        where = places()
    except ToolcribError as error:
        yield Check(name="state", state="fail", found=error.message, next=error.hint)
        return
    yield ripgrep(where)
    yield _state(where.state)


def _state(state: Path) -> Check:
    if not state.exists():
        return Check(name="state", state="ok", found=f"{state} (made when first needed)")
    status = state.stat()
    mode, free = stat.S_IMODE(status.st_mode), shutil.disk_usage(state).free
    if status.st_uid != os.getuid():
        return Check(
            name="state", state="fail", found=f"{state} belongs to another user", next="make it yours, or move it"
        )
    if mode & 0o077:
        return Check(name="state", state="fail", found=f"{state} has mode {mode:04o}", next=f"chmod 0700 {state}")
    if free < ROOM:
        return Check(name="state", state="note", found=f"{state}: {free >> 20} MiB free", next="make room on that disk")
    return Check(name="state", state="ok", found=f"{state}, mode {mode:04o}, {free >> 20:,} MiB free")


def _workspace(root: str) -> Iterator[Check]:
    kind = _file_system(root)
    writable = os.access(root, os.W_OK | os.X_OK)
    far = kind in FAR
    yield Check(
        name="workspace",
        state="ok" if writable and not far else "note",
        found=f"{root} ({kind}{'' if writable else ', read-only'})",
        next="" if not far else "a network file system may lose a write that was acknowledged",
    )


def _file_system(path: str) -> str:
    """Return the kind of file system that holds `path`, from proc(5), mountinfo."""
    return kinds().get(Path(path).stat().st_dev, "unknown file system")


def _configuration(where: Places, root: str) -> Iterator[Check]:
    own = where.user_config
    yours = Check(name="your config", state="ok", found=f"none at {own}")
    if own.exists():
        yours = _tried("your config", lambda: f"{own}: {_rules(len(check_file(own)[1].rules))}")
    yield yours
    if yours.state == "fail":
        yield Check(name="project config", state="note", found="not looked at, since yours does not load")
    else:
        yield _tried("project config", lambda: _trust(where, root))


def _rules(count: int) -> str:
    return f"{count} rule{'s' if count != 1 else ''}"


def _trust(where: Places, root: str) -> str:
    loaded = load(where, root, trusted_digest=trusted_digest(where.state, root), mode=None)
    if loaded.project_digest is None:
        return "none"
    if loaded.trusted:
        return "trusted"
    vain = f"; in vain: {', '.join(loaded.dropped)}" if loaded.dropped else ""
    return f"not trusted, so it only tightens{vain} (toolcrib trust)"


async def _stored(where: Places, root: str) -> tuple[Check, ...]:
    path = where.store_of(root)
    if not await to_thread.run_sync(path.exists):
        return (Check(name="store", state="ok", found=f"{path} (made when first needed)"),)
    try:
        store = await to_thread.run_sync(lambda: Store.open(str(path), clock=SystemClock()))
    except ToolcribError as error:
        return (Check(name="store", state="fail", found=error.message, next=error.hint),)
    try:
        dead = await to_thread.run_sync(store.dead_owners)
        left = len(await store.jobs.unfinished(dead=dead)) if dead else 0
        return (_store(store, path), await _tape(store), _left(len(dead), left))
    finally:
        await to_thread.run_sync(store.close)


def _store(store: Store, path: Path) -> Check:
    if store.read_only:
        return Check(
            name="store", state="fail", found=f"{path} is read-only", next="make it writable: calls need the tape"
        )
    return Check(name="store", state="ok", found=f"{path} opens and passes its check")


async def _tape(store: Store) -> Check:
    try:
        verdict = await store.tape.verify()
    except Refusal as refusal:
        return Check(name="tape", state="fail", found=refusal.message, next=refusal.hint)
    if verdict.broken is None:
        return Check(name="tape", state="ok", found=f"{verdict.entries} entries, head {verdict.head[:12]}")
    return Check(
        name="tape",
        state="fail",
        found=f"broken at entry {verdict.broken}: {verdict.why}",
        next="copy the state directory away before anything else; what stands before that entry is whole",
    )


def _left(owners: int, calls: int) -> Check:
    if not owners:
        return Check(name="left open", state="ok", found="no program ended without closing its calls")
    found = f"{owners} programs ended without closing; {calls} calls were open"
    return Check(name="left open", state="note", found=found, next="the next command closes them as interrupted")


def _tried(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, state="ok", found=look())
    except ToolcribError as error:
        return Check(name=name, state="fail", found=error.message, next=error.hint)


def _quiet(look: Callable[[], T]) -> T | None:
    try:
        return look()
    except ToolcribError:
        return None
