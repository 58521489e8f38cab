"""PATH: containment of paths."""

import os

import pytest

from calling import ok, opened, refused
from conftest import Workspace

pytestmark = pytest.mark.anyio


@pytest.mark.case("B001")
async def test_a_sibling_that_shares_a_prefix_is_outside(workspace: Workspace) -> None:
    evil = workspace.base / "work-evil"
    evil.mkdir()
    (evil / "s.txt").write_text("secret", encoding="utf-8")
    before = workspace.tree(workspace.base)
    async with opened(workspace.ws) as crib:
        for path in (str(evil / "s.txt"), "../work-evil/s.txt"):
            await refused(crib, "read_file", "file.outside", path=path)
            await refused(crib, "list_dir", "file.outside", path=path)
            await refused(crib, "write_file", "file.outside", path=path, content="x", overwrite_existing=True)
            await refused(crib, "glob", "file.outside", pattern=path)
    assert workspace.tree(workspace.base) == before


@pytest.mark.case("B002")
async def test_links_to_the_outside_are_refused_and_the_target_keeps_its_bytes(workspace: Workspace) -> None:
    secret = workspace.out / "secret.txt"
    secret.write_text("secret\n", encoding="utf-8")
    for target in (secret, os.path.relpath(secret, workspace.ws)):
        (workspace.ws / "leak.txt").unlink(missing_ok=True)
        (workspace.ws / "leak.txt").symlink_to(target)
        (workspace.ws / "leakdir").unlink(missing_ok=True)
        (workspace.ws / "leakdir").symlink_to(os.path.dirname(target))
        assert (workspace.ws / "leak.txt").read_text(encoding="utf-8") == "secret\n"
        async with opened(workspace.ws) as crib:
            await refused(crib, "read_file", "file.outside", path="leak.txt")
            await refused(crib, "list_dir", "file.outside", path="leakdir")
            change = [{"old": "secret", "new": "x"}]
            await refused(crib, "edit_file", "file.outside", path="leak.txt", digest="0" * 64, edits=change)
            await refused(crib, "write_file", "file.outside", path="leakdir/secret.txt", content="x")
            await refused(crib, "write_file", "file.outside", path="leak.txt", content="x", overwrite_existing=True)
    assert secret.read_text(encoding="utf-8") == "secret\n"


@pytest.mark.case("B003")
async def test_writing_through_a_link_to_the_outside_creates_and_changes_nothing(workspace: Workspace) -> None:
    victim = workspace.out / "victim.txt"
    victim.write_text("mine", encoding="utf-8")
    (workspace.ws / "notes.md").symlink_to(victim)
    (workspace.ws / "draft.md").symlink_to(workspace.out / "not-yet.txt")
    (workspace.ws / "relative.md").symlink_to("../out/not-yet.txt")
    async with opened(workspace.ws) as crib:
        for path in ("notes.md", "draft.md", "relative.md"):
            await refused(crib, "write_file", "file.outside", path=path, content="x", overwrite_existing=True)
    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (workspace.out / "not-yet.txt").exists()


@pytest.mark.case("B006")
async def test_a_file_with_a_second_hard_link_is_refused(workspace: Workspace) -> None:
    victim = workspace.out / "victim.txt"
    victim.write_text("mine\n", encoding="utf-8")
    os.link(victim, workspace.ws / "h.txt")
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="h.txt")).evidence.digest
        await refused(crib, "write_file", "file.linked", path="h.txt", content="x", overwrite_existing=True)
        edits = [{"old": "mine", "new": "x"}]
        await refused(crib, "edit_file", "file.linked", path="h.txt", digest=digest, edits=edits)
    assert victim.read_text(encoding="utf-8") == "mine\n"
    assert (workspace.ws / "h.txt").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.case("B007")
async def test_dots_that_leave_are_refused_and_dots_that_stay_work(workspace: Workspace) -> None:
    (workspace.base / "outside.txt").write_text("no", encoding="utf-8")
    workspace.write("inside.txt", "yes\n")
    (workspace.ws / "sub").mkdir()
    async with opened(workspace.ws) as crib:
        for path in ("../outside.txt", "sub/../../outside.txt", "./sub/./../../outside.txt"):
            await refused(crib, "read_file", "file.outside", path=path)
            await refused(crib, "read_file", "file.outside", path=f"{workspace.ws}/{path}")
        for path in ("sub/../inside.txt", f"{workspace.ws}/sub/../inside.txt"):
            assert (await ok(crib, "read_file", path=path)).payload["lines"] == ["yes"]


@pytest.mark.case("B008", "files")
async def test_the_parent_is_refused_to_every_file_tool(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        await refused(crib, "list_dir", "file.outside", path="..")
        await refused(crib, "glob", "file.outside", pattern="*", cwd="..")
        await refused(crib, "grep", "file.outside", pattern="canary", path="..")
        await refused(crib, "fff_search", "file.outside", query="canary", cwd="..")


@pytest.mark.case("B009")
async def test_a_daemon_started_elsewhere_resolves_below_the_workspace(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("a.txt", "a\n")
    workspace.write("sub/b.txt", "b\n")
    monkeypatch.chdir("/")
    async with opened(workspace.ws) as crib:
        assert (await ok(crib, "read_file", path="a.txt")).payload["lines"] == ["a"]
        assert (await ok(crib, "read_file", path="sub/b.txt")).payload["lines"] == ["b"]


@pytest.mark.case("B012", "files")
async def test_names_that_look_like_commands_are_only_names(workspace: Workspace) -> None:
    names = ("$(touch pwned1).txt", "`touch pwned2`.txt", "a;touch pwned3.txt")
    for name in names:
        workspace.write(name, "needle\n")
    async with opened(workspace.ws) as crib:
        for name in names:
            digest = (await ok(crib, "read_file", path=name)).evidence.digest
            await ok(crib, "edit_file", path=name, digest=digest, edits=[{"old": "needle", "new": "needle 2"}])
        found = await ok(crib, "grep", pattern="needle 2")
        assert all(name in str(found) for name in names)
        plan, _ = await crib.rewind_plan()
        assert (await crib.rewind(plan)).kind == "ok"
    assert workspace.read(names[2]) == b"needle\n"
    assert not [name for name in os.listdir(workspace.ws) if name.startswith("pwned")]


@pytest.mark.case("B013", "files")
async def test_a_project_policy_that_appears_by_a_tool_is_refused_and_one_that_appears_anyhow_is_not_honoured(
    workspace: Workspace,
) -> None:
    rule = '[policy]\nmode = "work"\n\n[[policy.rules]]\nrule = "allow"\ntool = "*"\n'
    async with opened(workspace.ws, mode="ask") as crib:
        await refused(crib, "write_file", "file.protected", path=".toolcrib/config.toml", content=rule)
    assert not (workspace.ws / ".toolcrib").exists()
    workspace.write(".toolcrib/config.toml", rule)
    async with opened(workspace.ws, mode=None) as crib:
        assert crib.dropped
        await refused(crib, "write_file", "approval.unattended", path="a.txt", content="x")
