"""READ: read_file."""

import asyncio
import os
import resource
import socket
import time
import zipfile

import pytest

from calling import edit, lines, ok, opened, refused
from conftest import Workspace
from toolcrib import Ok, Refused

pytestmark = pytest.mark.anyio


@pytest.mark.case("B046")
async def test_fifos_and_sockets_are_refused_at_once_by_kind(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace.ws / "p")
    os.symlink("p", workspace.ws / "link")
    monkeypatch.chdir(workspace.ws)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        async with opened(workspace.ws) as crib:
            for path, kind in (("p", "fifo"), ("link", "fifo"), ("s", "socket")):
                async with asyncio.timeout(1):
                    read = await refused(crib, "read_file", "file.not_regular", path=path)
                    change = [{"old": "a", "new": "b"}]
                    await refused(crib, "edit_file", "file.not_regular", path=path, digest="0" * 64, edits=change)
                    wrote = await refused(
                        crib, "write_file", "file.not_regular", path=path, content="x", overwrite_existing=True
                    )
                assert kind in read.message.lower()
                assert kind in wrote.message.lower()


@pytest.mark.case("B048")
async def test_the_first_lines_of_a_huge_file_come_at_once_and_cheaply(workspace: Workspace) -> None:
    with (workspace.ws / "big.txt").open("wb") as file:
        file.truncate(4 << 30)
        file.write(b"first line\n")
    async with opened(workspace.ws) as crib:
        workspace.write("small", "x\n")
        await ok(crib, "read_file", path="small")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.monotonic()
        first = await ok(crib, "read_file", path="big.txt", limit=1)
        second = await ok(crib, "read_file", path="big.txt", offset=2, limit=1)
        assert time.monotonic() - began < 2
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10
    assert first.payload["lines"] == ["first line"]
    assert first.payload["total_lines"] is None
    assert first.bounds.scan_capped
    assert second.bounds.clipped_lines == 1


@pytest.mark.case("B049")
async def test_one_line_of_megabytes_is_clipped_with_its_length_and_survives_an_edit(workspace: Workspace) -> None:
    long = "y" * 1_700_000
    workspace.write("a", f"short one\n{long}\nlast\n")
    async with opened(workspace.ws) as crib:
        outcome = await ok(crib, "read_file", path="a")
        assert outcome.payload["lines"][0] == "short one"
        assert outcome.payload["lines"][2] == "last"
        assert outcome.bounds.clipped_lines == 1
        assert "1,700,000" in str(outcome)
        assert len(str(outcome)) < 60_000
        assert isinstance(await edit(crib, "a", ("last", "LAST")), Ok)
    assert workspace.read("a") == f"short one\n{long}\nLAST\n".encode()


@pytest.mark.case("B050")
async def test_a_window_says_how_many_lines_there_are_and_past_the_end_is_said(workspace: Workspace) -> None:
    workspace.write("a", "".join(f"{number}\n" for number in range(1, 11)))
    async with opened(workspace.ws) as crib:
        part = await ok(crib, "read_file", path="a", limit=5)
        assert part.payload["total_lines"] == 10
        assert part.bounds.truncated
        past = await ok(crib, "read_file", path="a", offset=11)
        assert past.payload["lines"] == []
        assert "past the end" in str(past)
        assert "10" in str(past)


@pytest.mark.case("B051")
async def test_far_past_the_end_and_empty_files_are_said(workspace: Workspace) -> None:
    workspace.write("a", "1\n2\n3\n4\n5\n")
    workspace.write("empty", "")
    async with opened(workspace.ws) as crib:
        past = await ok(crib, "read_file", path="a", offset=100)
        assert "past the end" in str(past)
        assert past.payload["total_lines"] == 5
        empty = await ok(crib, "read_file", path="empty", offset=1)
        assert "empty" in str(empty)
        assert empty.payload["total_lines"] == 0


@pytest.mark.case("B053")
async def test_a_form_feed_ends_no_line(workspace: Workspace) -> None:
    workspace.write("a", b"def a():\n    return 1\n\n\x0c\ndef b():\n    TARGET = 1\n")
    async with opened(workspace.ws) as crib:
        found = await ok(crib, "grep", pattern="TARGET")
        number = found.payload["matches"][0]["line"]
        assert number == 6
        assert await lines(crib, "a", offset=number, limit=1) == ["    TARGET = 1"]


@pytest.mark.case("B055")
async def test_binaries_are_refused_with_size_and_type(workspace: Workspace) -> None:
    with zipfile.ZipFile(workspace.ws / "data.txt", "w") as archive:
        archive.writestr("a", "b" * 100)
    workspace.write("program", b"\x7fELF\x02\x01\x01" + b"\0" * 200)
    async with opened(workspace.ws) as crib:
        for path, kind in (("data.txt", "zip"), ("program", "elf")):
            outcome = await refused(crib, "read_file", "file.binary", path=path)
            assert kind in outcome.message.lower()
            assert f"{(workspace.ws / path).stat().st_size:,}" in outcome.message
            assert "\0" not in str(outcome)
            assert "\ufffd" not in str(outcome)


@pytest.mark.case("B057")
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
async def test_utf_16_with_a_mark_is_read_and_searched(workspace: Workspace, codec: str) -> None:
    workspace.write("a", "\ufeffone needle\r\ntwo\r\n".encode(codec))
    async with opened(workspace.ws) as crib:
        outcome = await ok(crib, "read_file", path="a")
        assert outcome.payload["lines"] == ["one needle", "two"]
        assert outcome.payload["encoding"] == codec
        found = await ok(crib, "grep", pattern="needle")
        assert found.payload["matches"] or found.bounds.skipped_binary
        assert isinstance(await edit(crib, "a", ("two", "three")), Ok)
    assert workspace.read("a") == "\ufeffone needle\r\nthree\r\n".encode(codec)


@pytest.mark.case("B058")
async def test_damage_in_the_middle_is_marked_and_written_back_exactly_or_not_at_all(workspace: Workspace) -> None:
    text = b"line of text\n" * 1600
    data = text + b"\0" * 4096 + b"\xff\xfe\ntail\n"
    workspace.write("a", data)
    async with opened(workspace.ws) as crib:
        outcome = await ok(crib, "read_file", path="a", offset=-3)
        assert "tail" in str(outcome)
        assert "\0" not in str(outcome)
        str(outcome).encode("utf-8")
        found = await crib.call("grep", pattern="tail")
        assert isinstance(found, Ok)
        assert "tail" in str(found) or found.bounds.skipped_binary
        done = await edit(crib, "a", ("tail", "TAIL"))
        wanted = data.replace(b"tail", b"TAIL") if isinstance(done, Ok) else data
    assert workspace.read("a") == wanted


@pytest.mark.case("B059")
async def test_odd_windows_are_documented_results_or_argument_errors(workspace: Workspace) -> None:
    workspace.write("a", "1\n2\n3\n4\n5\n")
    async with opened(workspace.ws) as crib:
        for args in ({"limit": 0}, {"limit": -1}, {"offset": 0}):
            outcome = await refused(crib, "read_file", "args.invalid", path="a", **args)
            assert "empty" not in str(outcome)
        assert await lines(crib, "a", offset=-1) == ["5"]
        assert await lines(crib, "a", offset="3") == ["3", "4", "5"]
        assert await lines(crib, "a", limit=10**12) == ["1", "2", "3", "4", "5"]


@pytest.mark.case("B060")
@pytest.mark.parametrize("blank", ["\u00a0", "\u202f"])
async def test_a_name_with_another_blank_is_suggested(workspace: Workspace, blank: str) -> None:
    name = f"shot 1{blank}.png.txt".replace(" 1", f"{blank}1")
    workspace.write(name, "x\n")
    async with opened(workspace.ws) as crib:
        assert await lines(crib, name) == ["x"]
        outcome = await crib.call("read_file", path=name.replace(blank, " "))
        assert isinstance(outcome, Refused)
        assert outcome.name == "file.missing"
        assert name in outcome.hint or repr(name) in outcome.hint
