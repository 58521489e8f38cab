"""FILEMETA: modes, links and concurrency of file writes."""

import asyncio
import os
import stat
import subprocess
from typing import Any

import pytest

from calling import edit, ok, opened, refused
from conftest import Workspace
from toolcrib import Ok, Outcome, Refused

pytestmark = pytest.mark.anyio


def mode(workspace: Workspace, path: str) -> int:
    return stat.S_IMODE(os.stat(workspace.ws / path).st_mode)


@pytest.mark.case("B037")
async def test_an_executable_stays_executable(workspace: Workspace) -> None:
    for name, bits in (("s.sh", 0o755), ("hook", 0o700)):
        workspace.write(name, "#!/bin/sh\necho old\n").chmod(bits)
    async with opened(workspace.ws) as crib:
        for name, bits in (("s.sh", 0o755), ("hook", 0o700)):
            assert isinstance(await edit(crib, name, ("old", "new")), Ok)
            assert mode(workspace, name) == bits
            await ok(crib, "write_file", path=name, content="#!/bin/sh\necho new\n", overwrite_existing=True)
            assert mode(workspace, name) == bits
    done = subprocess.run([workspace.ws / "s.sh"], capture_output=True, check=True)
    assert done.stdout == b"new\n"


@pytest.mark.case("B038")
async def test_modes_are_kept_exactly_and_a_new_file_gets_what_the_umask_leaves(workspace: Workspace) -> None:
    before = os.umask(0o077)
    try:
        for bits in (0o664, 0o640, 0o604, 0o2755):
            workspace.write(f"f{bits:o}", "old\n").chmod(bits)
        async with opened(workspace.ws) as crib:
            for bits in (0o664, 0o640, 0o604, 0o2755):
                assert isinstance(await edit(crib, f"f{bits:o}", ("old", "new")), Ok)
                assert mode(workspace, f"f{bits:o}") == bits
                await ok(crib, "write_file", path=f"f{bits:o}", content="newer\n", overwrite_existing=True)
                assert mode(workspace, f"f{bits:o}") == bits
            await ok(crib, "write_file", path="fresh", content="x")
            assert mode(workspace, "fresh") == 0o600
        os.umask(0o022)
        async with opened(workspace.ws) as crib:
            await ok(crib, "write_file", path="deep/fresh", content="x")
            assert mode(workspace, "deep/fresh") == 0o644
            assert mode(workspace, "deep") == 0o755
    finally:
        os.umask(before)


@pytest.mark.case("B039")
async def test_a_link_stays_a_link_and_its_target_has_the_new_text(workspace: Workspace) -> None:
    workspace.write("real/conf.txt", "old\n")
    os.symlink("real/conf.txt", workspace.ws / "conf")
    os.symlink("conf", workspace.ws / "chain")
    os.symlink("real/new.txt", workspace.ws / "soon")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "conf", ("old", "new")), Ok)
        assert workspace.read("real/conf.txt") == b"new\n"
        await ok(crib, "write_file", path="chain", content="newer\n", overwrite_existing=True)
        assert workspace.read("real/conf.txt") == b"newer\n"
        await ok(crib, "write_file", path="soon", content="made\n")
    assert workspace.read("real/new.txt") == b"made\n"
    assert [os.readlink(workspace.ws / name) for name in ("conf", "chain", "soon")] == [
        "real/conf.txt",
        "conf",
        "real/new.txt",
    ]


@pytest.mark.case("B041")
async def test_a_read_only_file_is_refused_with_content_and_mode_unchanged(workspace: Workspace) -> None:
    workspace.write("locked.txt", "old\n").chmod(0o444)
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "locked.txt", ("old", "new"))
        assert isinstance(outcome, Refused)
        assert outcome.name == "file.read_only"
        await refused(crib, "write_file", "file.read_only", path="locked.txt", content="x", overwrite_existing=True)
    assert workspace.read("locked.txt") == b"old\n"
    assert mode(workspace, "locked.txt") == 0o444


def change(old: str, new: str, digest: str | None) -> dict[str, Any]:
    return {"path": "a", "digest": digest, "edits": [{"old": f"\n{old}\n", "new": f"\n{new}\n"}]}


@pytest.mark.case("B042")
async def test_edits_of_one_file_at_the_same_time_all_land_or_say_that_they_did_not(workspace: Workspace) -> None:
    rows = [str(number) for number in range(1, 101)]
    workspace.write("a", "\n".join(rows) + "\n")
    pair = {"50": "FIFTY", "75": "SEVENTY-FIVE"}
    six = {str(number): f"six {number}" for number in range(10, 16)}
    sessions = {str(number): f"session {number}" for number in range(20, 40, 2)}
    async with opened(workspace.ws) as crib, opened(workspace.ws) as other:
        digest = (await ok(crib, "read_file", path="a")).evidence.digest
        outcomes: list[Outcome] = []
        for batch in (pair, six):
            outcomes += await crib.batch([("edit_file", change(old, new, digest)) for old, new in batch.items()])
        assert all(isinstance(outcome, Ok) for outcome in outcomes)
        outcomes += await asyncio.gather(
            *(
                (crib if index % 2 else other).call("edit_file", **change(old, new, digest))
                for index, (old, new) in enumerate(sessions.items())
            )
        )
    for (old, new), outcome in zip({**pair, **six, **sessions}.items(), outcomes, strict=True):
        if isinstance(outcome, Ok):
            rows[int(old) - 1] = new
        else:
            assert outcome.name == "file.stale"
    assert workspace.read("a").decode() == "\n".join(rows) + "\n"


@pytest.mark.case("B044")
async def test_a_write_over_a_file_that_changed_since_it_was_read_is_stale(workspace: Workspace) -> None:
    workspace.write("n.md", "one\n")
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="n.md")).evidence.digest
        workspace.write("n.md", "theirs\n")
        for cited in ({"digest": digest}, {}):
            outcome = await refused(
                crib, "write_file", "file.stale", path="n.md", content="mine\n", overwrite_existing=True, **cited
            )
            assert "read" in outcome.hint
        assert workspace.read("n.md") == b"theirs\n"
    async with opened(workspace.ws) as crib:
        await refused(crib, "write_file", "file.exists", path="n.md", content="mine\n")
    assert workspace.read("n.md") == b"theirs\n"
