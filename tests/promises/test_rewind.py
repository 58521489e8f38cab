"""Taking calls back, seen from outside."""

from typing import Any

import anyio
import pytest

from calling import edit, ok, opened
from conftest import Workspace
from shelved import child
from toolcrib import Crib, Ok, Refusal, Refused, open_crib

pytestmark = pytest.mark.anyio

LARGE = "".join(f"line {number} of a file that is too large to be kept in a row\n" for number in range(9000))


async def undo(crib: Crib, to: str | None = None) -> Ok:
    plan, _ = await crib.rewind_plan(to)
    outcome = await crib.rewind(plan)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


DIES = """
import os, sys
import anyio
from probing import Said, Word
from toolcrib import Answer, open_crib, tool
from toolcrib.ports.files import Files
from toolcrib.terms.tool import paths

class Two(Word):
    path: str
    other: str

@tool(kind="write", effect="reversible", name="two", description="Writes two.", writes=paths("path", "other"))
async def two(args: Two, files: Files) -> Answer[Said]:
    place = await files.load(args.path, most=1 << 20)
    await files.write(args.path, b"changed\\n", expect=place.digest)
    os.kill(os.getpid(), 9)

async def main(ws):
    async with open_crib(ws, mode="work", tools=[two]) as crib:
        await crib.call("two", path="large.txt", other="run.sh", call_id="died")

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.timeout(60)
@pytest.mark.promise("P-rewind-preimage")
def test_what_a_call_was_about_to_displace_is_safe_although_the_process_dies_in_it(workspace: Workspace) -> None:
    workspace.write("large.txt", LARGE).chmod(0o640)
    workspace.write("run.sh", "#!/bin/sh\n").chmod(0o751)
    with child(DIES, str(workspace.ws)) as process:
        said, _ = process.communicate(timeout=50)
        assert process.returncode == -9, said
    assert workspace.read("large.txt") == b"changed\n"

    async def look() -> None:
        async with opened(workspace.ws) as crib:
            (started,) = [entry for entry in await crib.tape(call_id="died") if entry.stage == "started"]
            held = {each["path"]: each for each in started.data["checkpoint"]["held"]}
            assert {path: each["mode"] & 0o777 for path, each in held.items()} == {"large.txt": 0o640, "run.sh": 0o751}
            assert held["large.txt"]["size"] == len(LARGE)
            await undo(crib, "died")

    anyio.run(look)
    assert workspace.read("large.txt").decode() == LARGE
    assert (workspace.ws / "large.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.promise("P-rewind-conflict")
async def test_what_changed_since_is_reported_and_stays(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    workspace.write("b.txt", "one\n")
    async with opened(workspace.ws) as crib:
        first = await edit(crib, "a.txt", ("one", "two"))
        assert isinstance(first, Ok)
        assert isinstance(await edit(crib, "b.txt", ("one", "two")), Ok)
        await ok(crib, "write_file", path="new.txt", content="new\n")
        plan, _ = await crib.rewind_plan(first.call_id)
        for path in ("a.txt", "new.txt"):
            mine = workspace.read(path)
            workspace.write(path, "a person's\n")
            before = workspace.tree(workspace.ws)
            with pytest.raises(Refusal) as caught:
                await crib.rewind_plan(first.call_id)
            assert caught.value.name == "snapshot.conflict"
            assert path in caught.value.message
            late = await crib.rewind(plan)
            assert isinstance(late, Refused)
            assert late.name in {"snapshot.conflict", "approval.stale"}
            assert late.happened == "no"
            assert workspace.tree(workspace.ws) == before
            workspace.write(path, mine)
        await undo(crib, first.call_id)
    assert workspace.tree(workspace.ws) == {"a.txt": b"one\n", "b.txt": b"one\n"}


@pytest.mark.promise("P-rewind-created")
async def test_undoing_a_creation_removes_it_and_undoing_a_replacement_restores_bytes_and_mode(
    workspace: Workspace,
) -> None:
    odd = b"\xef\xbb\xbfone\r\ncaf\xe9\r\n"
    workspace.write("run.sh", odd).chmod(0o751)
    workspace.write("mine/kept.txt", "kept\n")
    async with opened(workspace.ws) as crib:

        async def undone(after: dict[str, Any]) -> None:
            done = await undo(crib)
            assert set(done.payload["paths"]) == set(after)
            assert {path: workspace.read(path) if after[path] else None for path in after} == after
            assert (workspace.ws / "run.sh").stat().st_mode & 0o777 == 0o751

        await ok(crib, "write_file", path="deep/er/new.txt", content="new\n")
        await ok(crib, "write_file", path="mine/new.txt", content="new\n")
        assert isinstance(await edit(crib, "run.sh", ("one", "two")), Ok)
        (workspace.ws / "run.sh").chmod(0o751)
        await undone({"run.sh": odd})
        await undone({"mine/new.txt": None})
        await undo(crib)
    assert workspace.tree(workspace.ws) == {"mine": None, "mine/kept.txt": b"kept\n", "run.sh": odd}


@pytest.mark.promise("P-rewind-preimage")
async def test_a_call_whose_pre_image_cannot_be_kept_changes_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("a.txt", "one\n")

    async def full(_blobs: object, _data: bytes, *, digest: str | None = None) -> str:
        raise Refusal("disk.full", "the disk of the store is full")

    async with open_crib(workspace.ws, mode="work") as crib:
        monkeypatch.setattr("toolcrib.store.blobs.Blobs.put", full)
        outcome = await edit(crib, "a.txt", ("one", "two"))
        assert isinstance(outcome, Refused)
        assert (outcome.name, outcome.happened) == ("disk.full", "no")
        assert "started" not in [entry.stage for entry in await crib.tape(call_id=outcome.call_id)]
    assert workspace.read("a.txt") == b"one\n"
