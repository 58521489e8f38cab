"""The tape as a record that can be relied on: ahead of every effect and answer, and never silently replaced."""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from calling import edit, ok, opened
from conftest import Workspace
from probing import Said, Word, person, probe, stages
from toolcrib import Answer, Ok, Refused, StoreError, open_crib, tool
from toolcrib.ports.files import Files
from toolcrib.terms.tool import paths

pytestmark = pytest.mark.anyio


class Target(Word):
    """A file."""

    path: str = "a.txt"


@pytest.mark.promise("P-tape-before")
async def test_a_change_is_on_the_tape_before_it_happens_and_a_read_before_its_answer_leaves(
    workspace: Workspace,
) -> None:
    workspace.write("a.txt", "one\n")
    met: list[list[str]] = []
    async with open_crib(workspace.ws, mode="work") as watching:

        async def write(args: Target, files: Files) -> Answer[Said]:
            met.append(await stages(watching, "c1"))
            await files.write(args.path, b"two\n", expect=(await files.place(args.path, digest=True)).digest)
            return Answer(Said(said="written"))

        async def act(word: str) -> str:
            met.append(await stages(watching, "c2"))
            return word

        own = tool(kind="write", effect="reversible", name="put", description="Puts.", writes=paths("path"))(write)
        async with open_crib(
            workspace.ws, mode="work", tools=[own, probe("act", act)], approver=person("once")
        ) as crib:
            await ok(crib, "put", call_id="c1")
            await ok(crib, "act", call_id="c2")
            await ok(crib, "read_file", path="a.txt", call_id="c3")
            assert await stages(watching, "c3") == ["received", "judged", "started", "closed"]
    assert [each[-1] for each in met] == ["started", "started"]
    assert all(each[:2] == ["received", "judged"] for each in met)


@pytest.mark.promise("P-tape-before")
async def test_what_was_read_does_not_leave_when_it_cannot_be_taped(workspace: Workspace, state: Path) -> None:
    workspace.write("a.txt", "the content of it\n")
    store = state / "state"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", str(store)], check=True)
    try:
        async with opened(workspace.ws) as crib:
            await ok(crib, "read_file", path="a.txt")
            with (store / "filler").open("wb", buffering=0) as filler, suppress(OSError):
                while filler.write(bytes(4096)):
                    pass
            answers = [await crib.call("read_file", path="a.txt") for _ in range(40)]
            refusals = [each for each in answers if isinstance(each, Refused)]
            assert {each.name for each in refusals} == {"disk.full"}
            assert "the content of it" not in "".join(f"{each}{each.to_json()}" for each in refusals)
            os.unlink(store / "filler")
            answered = [each for each in answers if isinstance(each, Ok)]
            for each in answered:
                assert (await stages(crib, each))[-1] == "closed"
            await ok(crib, "read_file", path="a.txt")
            assert (await crib.verify()).broken is None
    finally:
        subprocess.run(["umount", "-l", str(store)], check=True)


def _garbage(database: Path) -> None:
    database.write_bytes(b"no database at all\n" * 500)


def _half(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def _foreign(database: Path) -> None:
    database.unlink()
    with closing(sqlite3.connect(database)) as link:
        link.execute("CREATE TABLE recipes (name TEXT)")
        link.commit()


def _newer(database: Path) -> None:
    with closing(sqlite3.connect(database)) as link:
        link.execute("PRAGMA user_version = 9999")


def _another_table(database: Path) -> None:
    with closing(sqlite3.connect(database)) as link:
        link.execute("CREATE TABLE more (name TEXT)")
        link.commit()


HARM: dict[str, Callable[[Path], None]] = {
    "garbage": _garbage,
    "half": _half,
    "foreign": _foreign,
    "newer": _newer,
    "another table": _another_table,
}


@pytest.mark.promise("P-tape-foreign")
@pytest.mark.parametrize("harm", HARM)
async def test_a_damaged_or_foreign_store_is_refused_by_name_and_left_as_it_is(
    workspace: Workspace, state: Path, harm: str
) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a.txt", ("one", "two")), Ok)
    (database,) = [
        path
        for path in (state / "state" / "toolcrib" / "workspaces").rglob("*")
        if path.is_file() and path.read_bytes().startswith(b"SQLite format 3")
    ]
    HARM[harm](database)
    before = database.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            async with opened(workspace.ws):
                pass
        assert caught.value.message
        assert "Traceback" not in caught.value.message
        assert database.read_bytes() == before
    assert workspace.read("a.txt") == b"two\n"


@pytest.mark.promise("P-tape-foreign")
async def test_a_store_whose_other_files_were_lost_is_repaired_with_everything_in_it(
    workspace: Workspace, state: Path
) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a.txt", ("one", "two")), Ok)
        count = len(await crib.tape(limit=1000))
        head = (await crib.verify()).head
    (place,) = (state / "state" / "toolcrib" / "workspaces").iterdir()
    for path in [*place.glob("*-wal"), *place.glob("*-shm")]:
        path.unlink()
    async with opened(workspace.ws) as crib:
        found = await crib.tape(limit=1000)
        assert found[count - 1].hash == head
        assert (await crib.verify()).broken is None
        plan, _ = await crib.rewind_plan()
        assert isinstance(await crib.rewind(plan), Ok)
    assert workspace.read("a.txt") == b"one\n"
