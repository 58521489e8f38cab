"""SESSION: the state that sessions share, as far as there is no daemon yet; and attacks on it."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import soak
from calling import ok, opened, refused
from commandline import toolcrib
from conftest import Workspace
from toolcrib import Refused, ToolcribError

pytestmark = pytest.mark.anyio

WRITERS = 8
WRITER = """
import asyncio, sys
from toolcrib import open_crib

async def main():
    async with open_crib(sys.argv[1], mode="work") as crib:
        for number in range(int(sys.argv[3])):
            outcome = await crib.call("write_file", path=f"{sys.argv[2]}-{number}.txt", content=sys.argv[2])
            print(outcome.kind, flush=True)

asyncio.run(main())
"""


@pytest.mark.case("B222", "store")
@pytest.mark.soak("tape")
async def test_several_processes_on_one_state_directory_lose_no_record(workspace: Workspace) -> None:
    each = soak.count(1000)
    writers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(workspace.ws), f"w{number}", str(each), stdout=asyncio.subprocess.PIPE
        )
        for number in range(WRITERS)
    ]
    done = await asyncio.gather(*(writer.communicate() for writer in writers))
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    assert all(out.split() == [b"ok"] * each for out, _ in done)
    async with opened(workspace.ws) as crib:
        tape = await crib.tape(limit=1_000_000)
        assert [entry.seq for entry in tape] == list(range(1, len(tape) + 1))
        closed = [entry for entry in tape if entry.stage == "closed"]
        assert len(closed) == WRITERS * each
        assert (await crib.verify()).broken is None
    assert len(os.listdir(workspace.ws)) == WRITERS * each


def stored(state: Path) -> Path:
    (directory,) = (state / "state" / "toolcrib" / "workspaces").iterdir()
    return directory


@pytest.mark.case("B223")
async def test_a_torn_end_of_the_log_leaves_every_record_before_and_after_it_whole(
    workspace: Workspace, state: Path
) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        for _ in range(3):
            await ok(crib, "read_file", path="a.txt")
        before = await crib.tape(limit=100)
    log = stored(state) / "store.db-wal"
    with log.open("ab") as file:
        file.write(b'{"seq": 13, "stage": "clos\xe2\x82')
    async with opened(workspace.ws) as crib:
        await ok(crib, "read_file", path="a.txt")
        tape = await crib.tape(limit=100)
        assert tape[: len(before)] == before
        assert len(tape) == len(before) + 4
        assert (await crib.verify()).broken is None


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scramble(path: Path) -> None:
    path.write_bytes(os.urandom(max(4096, path.stat().st_size)))


@pytest.mark.case("B225", "store")
@pytest.mark.parametrize("harm", [empty, scramble])
@pytest.mark.parametrize("name", ["config.toml", "disabled.json", "trusted.json", "store.db", "store.db-wal", "mark"])
async def test_a_ruined_file_is_repaired_or_refused_by_name_and_never_means_allow(
    workspace: Workspace, state: Path, name: str, harm: Callable[[Path], None]
) -> None:
    config, held = state / "config" / "toolcrib", state / "state" / "toolcrib"
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text('[[policy.rules]]\nrule = "deny"\ntool = "write_file"\n', encoding="utf-8")
    (config / "disabled.json").write_text('["grep"]\n', encoding="utf-8")
    async with opened(workspace.ws) as crib:
        await refused(crib, "write_file", "policy.denied", path="a", content="x")
        await refused(crib, "grep", "tool.disabled", pattern="x")
    (held / "trusted.json").write_text("{}\n", encoding="utf-8")
    place = {"config.toml": config, "disabled.json": config, "trusted.json": held}.get(name, stored(state))
    target = place / name
    if not target.exists():
        target.write_bytes(b"")
    harm(target)
    try:
        async with opened(workspace.ws) as crib:
            outcome = await crib.call("write_file", path="a", content="x")
            ruled_out = name == "config.toml" and harm is empty
            assert ruled_out or isinstance(outcome, Refused)
    except ToolcribError as error:
        assert str(place) in error.message or name.partition("-")[0] in error.message
    assert name == "config.toml" or not (workspace.ws / "a").exists()


@pytest.mark.attack("A202", "state")
@pytest.mark.parametrize("part", ["state/toolcrib", "state/toolcrib/workspaces", "config/toolcrib"])
async def test_a_directory_that_others_may_write_is_refused_with_what_to_do(
    workspace: Workspace, state: Path, part: str
) -> None:
    async with opened(workspace.ws):
        pass
    (state / part).mkdir(parents=True, exist_ok=True)
    (state / part).chmod(0o777)
    control = state / part / "planted"
    control.write_text("by anyone", encoding="utf-8")
    assert control.exists()
    control.unlink()
    with pytest.raises(ToolcribError, match="other users may write"):
        async with opened(workspace.ws):
            pass
    done = toolcrib("call", "list_dir", at=workspace.ws, code=78)
    assert "chmod" in done.err


@pytest.mark.attack("A183")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("deep.ipynb", b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("wrong.ipynb", b'{"cells": [{"cell_type": 7, "source": {"a": 1}}, null, 3]}'),
        ("wide.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x06\0\0\0\0\0\0\0"),
        ("entities.xml", b'<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "&b;&b;">]><a>&b;</a>\n'),
        ("torn.pdf", b"%PDF-1.7\n1 0 obj << /Length 99999999999 >> stream\n" + b"\xff" * 3000),
    ],
)
async def test_a_hostile_document_is_text_or_a_named_refusal_and_harms_nobody(
    workspace: Workspace, name: str, data: bytes
) -> None:
    workspace.write(name, data)
    workspace.write("plain.txt", "fine\n")
    async with opened(workspace.ws) as crib:
        outcome = await crib.call("read_file", path=name)
        assert not isinstance(outcome, Refused) or outcome.name in {"file.binary", "file.too_large"}
        assert len(str(outcome)) < 100_000
        str(outcome).encode("utf-8")
        assert (await ok(crib, "read_file", path="plain.txt")).payload["lines"] == ["fine"]
