"""FILEMETA: moving and deleting, seen from outside."""

import os
import stat
from typing import Any

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from toolcrib import Crib, Ok

pytestmark = pytest.mark.anyio


async def back(crib: Crib) -> Ok:
    """Take the last change back."""
    plan, _ = await crib.rewind_plan()
    outcome = await crib.rewind(plan)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


def dressed(workspace: Workspace) -> dict[str, tuple[object, int]]:
    """Return everything in the workspace with its mode."""
    found = workspace.tree(workspace.ws)
    return {path: (what, stat.S_IMODE(os.lstat(workspace.ws / path).st_mode)) for path, what in found.items()}


@pytest.mark.case("B062")
async def test_a_move_replaces_nothing_unasked_and_knows_one_name_by_every_spelling(workspace: Workspace) -> None:
    workspace.write("a.txt", "a")
    workspace.write("b.txt", "b")
    (workspace.ws / "sub").mkdir()
    before = workspace.tree(workspace.ws)
    async with opened(workspace.ws) as crib:
        await refused(crib, "move_file", "file.exists", old_path="a.txt", new_path="b.txt")
        for same in ("./a.txt", "sub/../a.txt", str(workspace.ws / "a.txt")):
            await refused(crib, "move_file", "file.unchanged", old_path="a.txt", new_path=same)
        for outside in ("../out/a.txt", str(workspace.out / "a.txt")):
            await refused(crib, "move_file", "file.outside", old_path="a.txt", new_path=outside)
        assert workspace.tree(workspace.ws) == before
        await ok(crib, "move_file", old_path="a.txt", new_path="A.TXT")
        assert sorted(workspace.tree(workspace.ws)) == ["A.TXT", "b.txt", "sub"]
        moved = await ok(crib, "move_file", old_path="A.TXT", new_path="new/dir/a.txt")
        assert moved.payload["created_directories"] == ["new", "new/dir"]
        assert workspace.read("new/dir/a.txt") == b"a"


@pytest.mark.case("B062")
async def test_a_person_who_is_asked_about_a_move_reads_both_ends(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    workspace.write("b.txt", "b\n")
    async with opened(workspace.ws, mode="ask") as crib:
        await refused(crib, "move_file", "approval.unattended", old_path="a.txt", new_path="c.txt")
        (asked,) = await crib.pending()
        assert asked.headline == "move file a.txt to c.txt"
        assert asked.subject == "a.txt c.txt"
        args = {"old_path": "a.txt", "new_path": "b.txt", "overwrite_existing": True}
        await refused(crib, "move_file", "approval.unattended", **args)
        over = next(each for each in await crib.pending() if each.id != asked.id)
        assert "-b\n" in over.diff
        await crib.answer(over.id, decision="once", by="test")
        workspace.write("b.txt", "changed since\n")
        await refused(crib, "move_file", "approval.unattended", **args)
    assert workspace.tree(workspace.ws) == {"a.txt": b"a\n", "b.txt": b"changed since\n"}


async def test_moves_and_deletions_are_taken_back_byte_for_byte_with_modes(workspace: Workspace) -> None:
    workspace.write("a.txt", b"\0\xff one").chmod(0o640)
    workspace.write("b.txt", "two").chmod(0o600)
    workspace.write("d/e/run.sh", "#!/bin/sh\n").chmod(0o755)
    (workspace.ws / "d" / "empty").mkdir(mode=0o700)
    (workspace.ws / "d").chmod(0o751)
    os.symlink("../a.txt", workspace.ws / "d" / "l")
    os.symlink("nowhere", workspace.ws / "dead")
    steps: list[tuple[str, dict[str, Any]]] = [
        ("move_file", {"old_path": "a.txt", "new_path": "n/a.txt"}),
        ("move_file", {"old_path": "n/a.txt", "new_path": "b.txt", "overwrite_existing": True}),
        ("move_file", {"old_path": "d", "new_path": "n/m/d"}),
        ("move_file", {"old_path": "dead", "new_path": "n/dead"}),
        ("delete_file", {"path": "n/dead"}),
        ("delete_file", {"path": "b.txt"}),
        ("move_file", {"old_path": "n/m/d", "new_path": "d2"}),
    ]
    async with opened(workspace.ws) as crib:
        states = [dressed(workspace)]
        for name, args in steps:
            await ok(crib, name, **args)
            states.append(dressed(workspace))
        for state in reversed(states[:-1]):
            undo = await back(crib)
            assert dressed(workspace) == state
            again, _ = await crib.rewind_plan(undo.call_id)
            await crib.rewind(again)
            plan, _ = await crib.rewind_plan()
            assert isinstance(await crib.rewind(plan), Ok)
            assert dressed(workspace) == state


async def test_what_came_into_a_moved_directory_since_stays_when_the_move_is_taken_back(workspace: Workspace) -> None:
    workspace.write("d/f", "x")
    async with opened(workspace.ws) as crib:
        await ok(crib, "move_file", old_path="d", new_path="e")
        workspace.write("e/mine", "a person's")
        await back(crib)
    assert workspace.tree(workspace.ws) == {"d": None, "d/f": b"x", "e": None, "e/mine": b"a person's"}


async def test_a_deletion_is_held_to_what_was_last_read(workspace: Workspace) -> None:
    workspace.write("a", "one")
    (workspace.ws / "d").mkdir()
    async with opened(workspace.ws) as crib:
        await ok(crib, "read_file", path="a")
        workspace.write("a", "changed by a person")
        await refused(crib, "delete_file", "file.stale", path="a")
        await ok(crib, "read_file", path="a")
        await ok(crib, "delete_file", path="a")
        said = await refused(crib, "delete_file", "file.not_regular", path="d")
        assert "one by one" in said.hint
        await refused(crib, "delete_file", "file.missing", path="a")
    assert workspace.tree(workspace.ws) == {"d": None}


async def test_rules_and_host_run_files_bind_what_lies_in_a_moved_directory(workspace: Workspace, state: Any) -> None:
    workspace.write("pkg/secret/key", "k")
    workspace.write("app/.vscode/tasks.json", "{}")
    home = state / "config" / "toolcrib"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text('[[policy.rules]]\nrule = "deny"\ntool = "read_file"\npath = "pkg/secret/**"\n')
    before = workspace.tree(workspace.ws)
    async with opened(workspace.ws) as crib:
        for old, new in (("pkg", "open"), ("pkg/secret/key", "key")):
            await refused(crib, "move_file", "policy.denied", old_path=old, new_path=new)
        await refused(crib, "delete_file", "policy.denied", path="pkg/secret/key")
        await refused(crib, "move_file", "approval.unattended", old_path="app", new_path="app2")
    assert workspace.tree(workspace.ws) == before


async def test_a_directory_with_very_much_in_it_is_refused_by_its_limit(workspace: Workspace) -> None:
    for number in range(1001):
        workspace.write(f"many/{number}")
    async with opened(workspace.ws) as crib:
        said = await refused(crib, "move_file", "call.limit", old_path="many", new_path="other")
    assert "1,000" in said.message
