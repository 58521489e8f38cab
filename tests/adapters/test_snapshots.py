"""The port `Snapshots` over the real membrane and the real store: what is held, and what comes back."""

import os
import stat
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from beneath import files, leftovers, opened, refusing, scope
from conftest import Workspace
from toolcrib.host.snapshots.difference import Page, difference
from toolcrib.host.snapshots.snapshots import WorkspaceSnapshots
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Change, Evidence, Ok
from toolcrib.terms.records import Checkpoint, Entry
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio


class Clock:
    """The system's clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass
class Rig:
    """A workspace, its store, and calls that leave on the tape what the line would leave."""

    place: Workspace
    membrane: Membrane
    store: Store
    snapshots: WorkspaceSnapshots

    async def call(
        self, tool: str, paths: Sequence[str], act: Callable[[str], Awaitable[dict[str, Any] | None]]
    ) -> str:
        """Run `act` as a call with a checkpoint of `paths`; what it returns is the payload."""
        call_id = mint_id()
        held = await self.snapshots.hold(call_id, paths)
        await self.store.tape.append(
            [
                Entry(stage="received", call_id=call_id, data={"tool": tool, "kind": "file_mutate", "owner": "me"}),
                Entry(stage="started", call_id=call_id, data={"checkpoint": held.to_json()}),
            ]
        )
        payload = await act(call_id)
        changed = await self.snapshots.changes(held)
        outcome = Ok(tool=tool, call_id=call_id, payload=payload or {}, evidence=Evidence(changed=changed))
        await self.store.tape.append(
            [Entry(stage="closed", call_id=call_id, data={"outcome": outcome.to_json(), "text": ""})]
        )
        return call_id

    async def write(self, path: str, text: str) -> str:
        """Write a file as a call and return its id."""
        old = self.place.ws / path
        expect = of_bytes(old.read_bytes()) if old.exists() else None

        async def act(call_id: str) -> None:
            bound = self.membrane.within(scope(path, call_id=call_id))
            await bound.write(path, text.encode(), expect=expect)

        return await self.call("write_file", [path], act)

    async def remove(self, path: str) -> str:
        """Remove a file as a call and return its id."""
        expect = of_bytes(self.place.read(path))

        async def act(_call_id: str) -> None:
            await files(self.membrane, path).remove(path, expect=expect)

        return await self.call("delete_file", [path], act)

    async def rewind(self, to: str | None = None, *, only: bool = False) -> str:
        """Rewind as a call and return its id."""
        plan = await self.snapshots.plan(to, only=only)
        paths = [step.held.path for step in plan.steps]

        async def act(call_id: str) -> dict[str, Any]:
            await self.snapshots.within(scope(*paths, call_id=call_id)).restore(plan)
            return {"to": plan.to, "calls": list(plan.calls)}

        return await self.call("rewind", paths, act)

    def tree(self) -> dict[str, bytes | str | None]:
        """Return everything in the workspace."""
        return self.place.tree(self.place.ws)


@pytest.fixture
async def rig(workspace: Workspace, tmp_path: Path) -> AsyncGenerator[Rig]:
    store = await to_thread.run_sync(lambda: Store.open(str(tmp_path / "store"), clock=Clock()))
    async with opened(workspace.ws) as found:
        snapshots = WorkspaceSnapshots(found, blobs=store.blobs, jobs=store.jobs, tape=store.tape)
        yield Rig(workspace, found, store, snapshots)
    await to_thread.run_sync(store.close)


async def test_what_is_held_can_be_read_back_and_names_the_missing_directories(rig: Rig) -> None:
    rig.place.write("a", "one").chmod(0o640)
    rig.place.write("big", b"x" * 100_000)
    os.mkfifo(rig.place.ws / "p")
    held = await rig.snapshots.hold(mint_id(), ["a", "big", "new/deep/f", "p", "."])
    found = {each.path: (each.kind, each.mode, each.digest) for each in held.held}
    assert found["a"] == ("file", 0o640, of_bytes(b"one"))
    assert await rig.store.blobs.get(of_bytes(b"x" * 100_000)) == b"x" * 100_000
    assert {path: kind for path, (kind, _, _) in found.items() if kind != "file"} == {
        "new": "missing",
        "new/deep": "missing",
        "new/deep/f": "missing",
        "p": "fifo",
        ".": "directory",
    }


async def test_changes_are_bytes_modes_creation_and_removal_and_nothing_else(rig: Rig) -> None:
    for name in ("same", "bytes", "mode", "gone"):
        rig.place.write(name, name)
    held = await rig.snapshots.hold(mint_id(), ["same", "bytes", "mode", "gone", "n/made", "n/never"])
    assert await rig.snapshots.changes(held) == ()
    rig.place.write("bytes", "other")
    (rig.place.ws / "mode").chmod(0o600)
    (rig.place.ws / "gone").unlink()
    rig.place.write("n/made", "made")
    assert set(await rig.snapshots.changes(held)) == {
        Change("bytes", of_bytes(b"bytes"), of_bytes(b"other")),
        Change("mode", of_bytes(b"mode"), of_bytes(b"mode")),
        Change("gone", of_bytes(b"gone"), None),
        Change("n/made", None, of_bytes(b"made")),
    }


async def test_a_checkpoint_that_cannot_be_made_is_refused(rig: Rig) -> None:
    path = rig.place.write("big")
    os.truncate(path, (64 << 20) + 1)
    with refusing("checkpoint.failed") as answer:
        await rig.snapshots.hold(mint_id(), ["big"])
    assert "67,108,864" in answer.text
    with refusing("checkpoint.failed"):
        await rig.snapshots.hold(mint_id(), ["../x"])


async def test_undo_walks_back_one_call_at_a_time(rig: Rig) -> None:
    rig.place.write("a", "0")
    states = [rig.tree()]
    for path, text in (("a", "1"), ("b/c", "2"), ("a", "3")):
        await rig.write(path, text)
        states.append(rig.tree())
    for state in reversed(states[:-1]):
        await rig.rewind()
        assert rig.tree() == state
    with refusing("snapshot.missing"):
        await rig.snapshots.plan(None)


async def test_going_back_to_a_call_takes_back_the_later_ones_too(rig: Rig) -> None:
    rig.place.write("a", "0")
    first = await rig.write("a", "1")
    before = rig.tree()
    second = await rig.write("b/c/d", "2")
    third = await rig.write("a", "3")
    last = await rig.write("b/c/e", "4")
    plan = await rig.snapshots.plan(second[:20] if second[:20] != third[:20] else second)
    assert plan.calls == (last, third, second)
    assert [step.held.path for step in plan.steps] == ["a", "b/c/d", "b/c/e"]
    await rig.rewind(second)
    assert rig.tree() == before
    await rig.rewind(first)
    assert rig.tree() == {"a": b"0"}


async def test_rewinding_a_rewind_is_a_redo_and_undo_goes_on_from_there(rig: Rig) -> None:
    rig.place.write("a", "0")
    await rig.write("a", "1")
    second = await rig.write("b", "2")
    after = rig.tree()
    undo = await rig.rewind()
    redo = await rig.rewind(undo)
    assert rig.tree() == after
    assert (await rig.snapshots.plan(None)).to == second
    await rig.rewind(redo)
    assert rig.tree() == {"a": b"1"}
    await rig.rewind()
    assert rig.tree() == {"a": b"0"}


async def test_one_call_alone_can_be_taken_back(rig: Rig) -> None:
    rig.place.write("a", "0")
    first = await rig.write("a", "1")
    await rig.write("b", "2")
    await rig.rewind(first, only=True)
    assert rig.tree() == {"a": b"0", "b": b"2"}


async def test_an_earlier_call_under_a_later_one_is_a_conflict_alone(rig: Rig) -> None:
    rig.place.write("a", "0")
    first = await rig.write("a", "1")
    await rig.write("a", "2")
    with refusing("snapshot.conflict"):
        await rig.snapshots.plan(first, only=True)


@pytest.mark.case("B182", "files")
async def test_what_something_else_changed_since_is_a_conflict_and_stays(rig: Rig) -> None:
    rig.place.write("a", "one\ntwo\n")
    rig.place.write("b", "theirs")
    call = await rig.write("a", "ONE\ntwo\n")
    rig.place.write("b", "the person's")
    rig.place.write("a", "ONE\nTWO by the person\n")
    with refusing("snapshot.conflict") as answer:
        await rig.snapshots.plan(call)
    assert "'a'" in answer.text
    assert "'b'" not in answer.text
    assert rig.tree() == {"a": b"ONE\nTWO by the person\n", "b": b"the person's"}


async def test_a_change_between_plan_and_restore_is_a_conflict_before_anything_moves(rig: Rig) -> None:
    for name in ("a", "b"):
        rig.place.write(name, "0")
    first = await rig.write("a", "1")
    await rig.write("b", "1")
    plan = await rig.snapshots.plan(first)
    rig.place.write("b", "theirs")
    with refusing("snapshot.conflict") as answer:
        await rig.snapshots.restore(plan)
    assert answer.refusal.happened == "no"
    assert rig.tree() == {"a": b"1", "b": b"theirs"}


async def test_modes_and_read_only_files_come_back(rig: Rig) -> None:
    rig.place.write("run.sh", "0").chmod(0o755)
    rig.place.write("key", "0").chmod(0o600)
    first = await rig.write("run.sh", "1")
    await rig.write("key", "1")
    (rig.place.ws / "run.sh").chmod(0o444)
    (rig.place.ws / "key").chmod(0o666)
    await rig.rewind(first)
    modes = {name: stat.S_IMODE(os.stat(rig.place.ws / name).st_mode) for name in ("run.sh", "key")}
    assert modes == {"run.sh": 0o755, "key": 0o600}
    assert rig.tree() == {"run.sh": b"0", "key": b"0"}


async def test_a_created_file_goes_with_its_directories_but_not_with_a_persons_file(rig: Rig) -> None:
    first = await rig.write("new/deep/f", "1")
    await rig.write("new/g", "2")
    rig.place.write("new/notes.txt", "mine")
    await rig.rewind(first)
    assert rig.tree() == {"new": None, "new/notes.txt": b"mine"}


async def test_a_removed_file_comes_back_with_its_directory_gone_meanwhile(rig: Rig) -> None:
    rig.place.write("d/f", "text").chmod(0o751)
    call = await rig.remove("d/f")
    (rig.place.ws / "d").rmdir()
    await rig.rewind(call)
    assert rig.tree() == {"d": None, "d/f": b"text"}
    assert stat.S_IMODE(os.stat(rig.place.ws / "d" / "f").st_mode) == 0o751


@pytest.mark.attack("A166", "files")
async def test_a_pre_image_that_was_damaged_is_not_put_back(rig: Rig, tmp_path: Path) -> None:
    rig.place.write("a", b"x" * 50_000)
    rig.place.write("b", "0")
    first = await rig.write("a", "1")
    await rig.write("b", "1")
    blob = next(path for path in (tmp_path / "store").rglob("*") if path.is_file() and path.stat().st_size == 50_000)
    assert blob.read_bytes() == b"x" * 50_000  # the control: this file is what would be put back
    blob.chmod(0o600)
    blob.write_bytes(b"x" * 49_999 + b"y")
    plan = await rig.snapshots.plan(first)
    with refusing("snapshot.damaged", "snapshot.missing") as answer:
        await rig.snapshots.restore(plan)
    assert answer.refusal.happened == "no"
    assert rig.tree() == {"a": b"1", "b": b"1"}


async def test_calls_that_do_not_exist_or_kept_nothing_are_named(rig: Rig) -> None:
    for call in ("nope", ""):
        with refusing("snapshot.missing"):
            await rig.snapshots.plan(call)


async def test_a_restore_stays_in_its_scope(rig: Rig) -> None:
    call = await rig.write("a", "1")
    plan = await rig.snapshots.plan(call)
    with refusing("file.denied"):
        await rig.snapshots.within(scope("other")).restore(plan)
    assert rig.tree() == {"a": b"1"}


async def test_the_diff_shows_what_the_plan_would_do(rig: Rig) -> None:
    rig.place.write("a", "one\ntwo\nthree\n")
    rig.place.write("bin", b"\0\1")
    first = await rig.write("a", "one\nTWO\nthree")
    await rig.write("bin", "text\n")
    await rig.write("esc\x1bape", "\x1b[31m\n")
    diff = await rig.snapshots.diff(await rig.snapshots.plan(first))
    assert diff.splitlines() == [
        *("--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", " one", "-TWO", "-three", "\\ No newline at end of file"),
        *("+two", "+three", "--- a/bin", "+++ b/bin", "Binary files differ: 5 bytes become 2 bytes"),
        *("--- a/esc\\x1bape", "+++ /dev/null", "@@ -1 +0,0 @@", "-\\x1b[31m"),
    ]


@pytest.mark.attack("A184")
def test_the_diff_of_two_large_files_that_differ_everywhere_is_bounded() -> None:
    old = b"".join(b"old line %d\n" % number for number in range(1_000_000))
    new = old.replace(b"old", b"new")
    page = Page()
    began = time.monotonic()
    difference(page, "f", old, new)
    assert time.monotonic() - began < 5
    text = page.text()
    assert len(text) < 210_000
    assert "more lines of this diff not shown" in text


async def test_an_interrupted_rewind_leaves_a_tree_that_can_be_rewound(rig: Rig) -> None:
    """A rewind that stopped after its first file is a call like any other: its part can be taken back."""
    for name in ("a", "b"):
        rig.place.write(name, "0")
    first = await rig.write("a", "1")
    await rig.write("b", "1")
    plan = await rig.snapshots.plan(first)
    (rig.place.ws / "b").chmod(0o644)

    async def partly(call_id: str) -> None:
        done = type(plan)(to=plan.to, calls=plan.calls, steps=plan.steps[:1])
        await rig.snapshots.within(scope("a", "b", call_id=call_id)).restore(done)

    interrupted = await rig.call("rewind", ["a", "b"], partly)
    assert rig.tree() == {"a": b"0", "b": b"1"}
    await rig.rewind(interrupted)
    assert rig.tree() == {"a": b"1", "b": b"1"}
    await rig.rewind(first)
    assert rig.tree() == {"a": b"0", "b": b"0"}


@pytest.mark.case("B012", "files")
async def test_names_that_a_shell_would_run_are_only_names(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(rig.place.base)
    names = ["$(touch pwned1).txt", "`touch pwned2`.txt", "a;touch pwned3.txt", os.fsdecode(b"caf\xe9")]
    for name in names:
        (rig.place.ws / name).write_bytes(b"0")
    calls = [await rig.write(name, "1") for name in names]
    await rig.rewind(calls[0])
    assert rig.tree() == dict.fromkeys(names, b"0")
    assert [path.name for path in rig.place.base.rglob("pwned*")] == []


@pytest.mark.case("B126", "files")
@pytest.mark.parametrize("removed", [False, True])
async def test_links_planted_since_lead_a_write_and_a_rewind_nowhere_outside(rig: Rig, removed: bool) -> None:
    rig.place.write("d/f", "0")
    (rig.place.out / "f").write_text("1")
    call = await (rig.remove("d/f") if removed else rig.write("d/f", "1"))
    plan = await rig.snapshots.plan(call)
    os.rename(rig.place.ws / "d", rig.place.ws / "moved")
    os.symlink("../out", rig.place.ws / "d")
    before = rig.place.tree()
    for path in ("d/f", "d/new"):
        with refusing("file.outside"):
            await files(rig.membrane, path).write(path, b"x", expect=None)
    with refusing("snapshot.conflict", "file.outside"):
        await rig.snapshots.restore(plan)
    with refusing("checkpoint.failed"):
        await rig.snapshots.hold(mint_id(), ["d/f"])
    assert rig.place.tree() == before
    assert (rig.place.ws / "d").is_symlink()


async def test_what_changed_is_said_when_a_directory_became_a_file(rig: Rig) -> None:
    rig.place.write("d/f", "0")
    rig.place.write("e", "0")
    held = await rig.snapshots.hold(mint_id(), ["d/f", "e"])
    (rig.place.ws / "d" / "f").unlink()
    (rig.place.ws / "d").rmdir()
    rig.place.write("d", "a file")
    rig.place.write("e", "1")
    changed = await rig.snapshots.changes(held)
    assert [(each.path, each.after) for each in changed] == [("d/f", None), ("e", of_bytes(b"1"))]


async def test_checkpoints_of_a_name_that_is_not_text_survive_the_tape(rig: Rig) -> None:
    name = os.fsdecode(b"caf\xe9")
    call = await rig.write(name, "1")
    entries = await rig.store.tape.page(call_id=call)
    wire = next(each.data["checkpoint"] for each in entries if each.stage == "started")
    assert wire["held"][0]["path"] == name
    assert Checkpoint(id=wire["id"], held=()).id == wire["id"]
    assert leftovers(rig.place.ws) == []


async def test_a_full_store_is_said_as_such(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(_data: bytes, *, digest: str | None = None) -> str:
        raise Refusal("disk.full", "no space")

    rig.place.write("a", "0")
    monkeypatch.setattr(rig.store.blobs, "put", full)
    with refusing("disk.full"):
        await rig.snapshots.hold(mint_id(), ["a"])
