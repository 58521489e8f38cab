"""The port `Files` on the real membrane: several changes at once, all of them or none, whatever fails or dies."""

import asyncio
import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from anyio import to_thread

from beneath import Faulty, Killed, files, leftovers, opened, refusing, scope
from conftest import Workspace
from toolcrib.host.snapshots.snapshots import WorkspaceSnapshots
from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.ports.files import Alteration
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes, of_link
from toolcrib.terms.names import mint_id
from toolcrib.terms.records import Checkpoint
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

BEFORE: dict[str, tuple[bytes, int]] = {"a": (b"one", 0o640), "d/b": (b"two", 0o755), "gone": (b"bye", 0o600)}
CHANGES = (
    Alteration(path="a", data=b"ONE", expect=of_bytes(b"one")),
    Alteration(path="n/m/b", data=b"TWO", expect=None, like="d/b"),
    Alteration(path="d/b", data=None, expect=of_bytes(b"two")),
    Alteration(path="gone", data=None, expect=of_bytes(b"bye")),
    Alteration(path="n/made", data=b"made", expect=None, mode=0o751),
)
PATHS = [change.path for change in CHANGES]
AFTER = {"a": b"ONE", "d": None, "n": None, "n/m": None, "n/m/b": b"TWO", "n/made": b"made"}


def lay(workspace: Workspace) -> dict[str, bytes | str | None]:
    """Make the tree that everything starts from, and return it."""
    for path in sorted(workspace.tree(workspace.ws), reverse=True):
        target = workspace.ws / path
        target.rmdir() if target.is_dir() and not target.is_symlink() else target.unlink()
    for path, (data, mode) in BEFORE.items():
        workspace.write(path, data).chmod(mode)
    return workspace.tree(workspace.ws)


def modes(workspace: Workspace, *paths: str) -> list[int]:
    return [stat.S_IMODE(os.stat(workspace.ws / path).st_mode) for path in paths]


async def test_all_changes_are_made_with_modes_and_directories(workspace: Workspace) -> None:
    lay(workspace)
    async with opened(workspace.ws) as crib:
        made = await files(crib, *PATHS).alter(CHANGES)
    assert made == ("n", "n/m")
    assert workspace.tree(workspace.ws) == AFTER
    assert modes(workspace, "a", "n/m/b", "n/made") == [0o640, 0o755, 0o751]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (Alteration(path="gone2", data=None, expect="0" * 64), "file.missing"),
        (Alteration(path="x", data=b"", expect="0" * 64), "file.stale"),
        (Alteration(path="x/", data=b"", expect=None), "file.not_directory"),
        (Alteration(path="../x", data=b"", expect=None), "file.outside"),
        (Alteration(path="e/x", data=b"", expect=None), "file.outside"),
        (Alteration(path=".git/hooks/x", data=b"", expect=None), "file.protected"),
        (Alteration(path="other", data=b"", expect=None), "file.denied"),
        (Alteration(path="l", data=b"x", expect=of_link("a")), "file.not_regular"),
        (Alteration(path="./a", data=None, expect=of_bytes(b"one")), "args.invalid"),
        (Alteration(path="twice", data=b"x", expect=of_bytes(b"t")), "file.linked"),
        (Alteration(path="locked", data=None, expect=of_bytes(b"k")), "file.read_only"),
        (Alteration(path="locked", data=b"x", expect=None), "file.exists"),
        (Alteration(path="twice", data=None, expect=of_bytes(b"other")), "file.stale"),
    ],
    ids=lambda value: getattr(value, "path", value),
)
@pytest.mark.case("B034", "files")
async def test_one_change_that_cannot_be_made_leaves_all_files_as_they_were(
    workspace: Workspace, wrong: Alteration, name: str
) -> None:
    lay(workspace)
    os.symlink("a", workspace.ws / "l")
    os.symlink("../out", workspace.ws / "e")
    workspace.write("twice", "t")
    os.link(workspace.ws / "twice", workspace.ws / "thrice")
    workspace.write("locked", "k").chmod(0o444)
    before, outside = workspace.tree(workspace.ws), workspace.tree()
    async with opened(workspace.ws) as crib:
        for place in range(len(CHANGES) + 1):
            changes = [*CHANGES[:place], wrong, *CHANGES[place:]]
            bound = files(crib, *PATHS, "gone2", "x", "l", "twice", "locked")
            with refusing(name) as answer:
                await bound.alter(changes)
            assert answer.refusal.happened == "no"
            assert (workspace.tree(workspace.ws), workspace.tree()) == (before, outside)


async def test_a_fault_at_any_site_leaves_everything_as_it_was(workspace: Workspace) -> None:
    before = lay(workspace)
    dry = Faulty()
    async with opened(workspace.ws, calls=dry) as crib:
        await files(crib, *PATHS).alter(CHANGES)
    assert {"create", "write", "permit", "sync", "settle", "exchange", "make"} <= set(dry.seen)
    for fault in (errno.EIO, errno.ENOSPC):
        for site in range(1, len(dry.seen) + 1):
            lay(workspace)
            async with opened(workspace.ws, calls=Faulty(site, fault)) as crib:
                try:
                    await files(crib, *PATHS).alter(CHANGES)
                except Refusal as refusal:
                    assert refusal.name in {"call.fault", "disk.full"}, refusal
                    assert workspace.tree(workspace.ws) == before, (site, dry.seen[site - 1])
                    assert modes(workspace, "a", "d/b", "gone") == [0o640, 0o755, 0o600]
                else:
                    # a fault after the last name changed: what is left over is swept
                    found = {
                        path: what for path, what in workspace.tree(workspace.ws).items() if ".toolcrib" not in path
                    }
                    assert found == AFTER, (site, dry.seen[site - 1])


class Kept:
    """The store, as the line has it beside the workspace."""

    def __init__(self, directory: Path) -> None:
        self.store = Store.open(str(directory), clock=Clock())

    def snapshots(self, crib: Membrane) -> WorkspaceSnapshots:
        return WorkspaceSnapshots(crib, blobs=self.store.blobs, jobs=self.store.jobs, tape=self.store.tape)


class Clock:
    """The system's clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


async def died(workspace: Workspace, calls: Faulty, call_id: str) -> bool:
    """Make the changes as a call that may die; tell whether it did."""
    async with opened(workspace.ws, calls=calls) as crib:
        try:
            await crib.within(scope(*PATHS, call_id=call_id)).alter(CHANGES)
        except Killed:
            return True
    return False


async def recovered(workspace: Workspace, kept: Kept, call_id: str, held: Checkpoint) -> Sequence[str] | None:
    """Clear up after a dead call as the next start does."""
    async with opened(workspace.ws) as crib:
        paths = {each.path: each.mark for each in held.held}
        await to_thread.run_sync(crib.sweep, call_id, list(paths), paths)
        made = await to_thread.run_sync(crib.journal, call_id)
        others = None if made is None else await kept.snapshots(crib).undo(held, made)
        await to_thread.run_sync(crib.end_journal, call_id)
        return others


@pytest.mark.parametrize("call_id", ["", "an id / of the caller's own"])
async def test_a_death_at_any_site_is_put_back_as_a_whole_or_was_done(
    workspace: Workspace, tmp_path: Path, call_id: str
) -> None:
    before = lay(workspace)
    kept = await to_thread.run_sync(Kept, tmp_path / "store")
    dry = Faulty()
    async with opened(workspace.ws, calls=dry) as crib:
        held = await kept.snapshots(crib).hold(call_id or mint_id(), PATHS)
        await files(crib, *PATHS).alter(CHANGES)
    outcomes: set[bool] = set()
    for site in range(1, len(dry.seen) + 1):
        lay(workspace)
        call = call_id or mint_id()
        assert await died(workspace, Faulty(site, "kill"), call)
        others = await recovered(workspace, kept, call, held)
        assert not others
        found = workspace.tree(workspace.ws)
        assert leftovers(workspace.ws) == [], (site, dry.seen[site - 1])
        assert found in (before, AFTER), (site, dry.seen[site - 1], found)
        outcomes.add(found == AFTER)
        if found == before:
            assert modes(workspace, "a", "d/b", "gone") == [0o640, 0o755, 0o600]
        assert await recovered(workspace, kept, call, held) is None
    assert outcomes == {True, False}
    await to_thread.run_sync(kept.store.close)


async def test_what_a_person_changed_after_the_death_stays(workspace: Workspace, tmp_path: Path) -> None:
    kept = await to_thread.run_sync(Kept, tmp_path / "store")
    lay(workspace)
    dry = Faulty()
    async with opened(workspace.ws, calls=dry) as crib:
        held = await kept.snapshots(crib).hold(mint_id(), PATHS)
        await files(crib, *PATHS).alter(CHANGES)
    last = max(index for index, name in enumerate(dry.seen, 1) if name == "settle")
    lay(workspace)
    call = mint_id()
    assert await died(workspace, Faulty(last + 1, "kill"), call)
    assert workspace.read("a") == b"ONE"
    workspace.write("a", "a person's")
    assert await recovered(workspace, kept, call, held) == ("a",)
    found = workspace.tree(workspace.ws)
    assert found == {"a": b"a person's", "d": None, "d/b": b"two", "gone": b"bye"}
    await to_thread.run_sync(kept.store.close)


class Busy(Calls):
    """Another program acts just before the last name changes."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def exchange(self, directory: int, one: bytes, other: bytes) -> None:
        if other == b"z":
            self.act()
        super().exchange(directory, one, other)


async def test_a_concurrent_writer_makes_the_whole_stale_and_keeps_what_it_wrote(workspace: Workspace) -> None:
    lay(workspace)
    workspace.write("z", "last")
    changes = [*CHANGES, Alteration(path="z", data=b"mine", expect=of_bytes(b"last"))]
    async with opened(workspace.ws, calls=Busy(lambda: workspace.write("z", "theirs"))) as crib:
        with refusing("file.stale") as answer:
            await files(crib, *PATHS, "z").alter(changes)
    assert answer.refusal.happened == "no"
    assert workspace.tree(workspace.ws) == {"a": b"one", "d": None, "d/b": b"two", "gone": b"bye", "z": b"theirs"}


class Slow(Calls):
    """A disk that takes its time over each name."""

    def exchange(self, directory: int, one: bytes, other: bytes) -> None:
        time.sleep(0.02)
        super().exchange(directory, one, other)


@pytest.mark.parametrize("ticks", [1, 3, 10, 40])
async def test_a_cancellation_comes_after_all_or_nothing(workspace: Workspace, ticks: int) -> None:
    before = lay(workspace)
    async with opened(workspace.ws, calls=Slow()) as crib:
        task = asyncio.ensure_future(files(crib, *PATHS).alter(CHANGES))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        found = workspace.tree(workspace.ws)
        assert found in (before, AFTER)
        assert leftovers(workspace.ws) == []
