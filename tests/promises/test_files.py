"""Reading and changing files, seen from outside."""

import os
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from calling import edit, lines, ok, opened, refused
from conftest import Workspace
from probing import person
from toolcrib import Approval, Ok, Refused, WorkspaceError, open_crib
from toolcrib.terms.digest import of_bytes

pytestmark = pytest.mark.anyio


def change(old: str, new: str) -> list[dict[str, Any]]:
    return [{"old": old, "new": new}]


@pytest.mark.promise("P-files-digest")
async def test_a_reading_gives_the_digest_to_cite_and_an_edit_gives_the_next(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\ntwo\nthree\n")
    async with opened(workspace.ws) as crib:
        read = await ok(crib, "read_file", path="a.txt", offset=2, limit=1)
        digest = read.evidence.digest
        assert digest == read.payload["digest"] == of_bytes(workspace.read("a.txt"))
        assert str(digest)[:12] in str(read)
        for old, new in (("one", "1"), ("two", "2"), ("three", "3")):
            done = await ok(crib, "edit_file", path="a.txt", digest=digest, edits=change(old, new))
            digest = done.payload["digest"]
            assert digest == done.evidence.digest == of_bytes(workspace.read("a.txt"))
            assert digest[:12] in str(done)
            assert not done.payload["unread"]
        short = await ok(crib, "edit_file", path="a.txt", digest=digest[:12], edits=change("1", "one"))
        assert short.evidence.digest == of_bytes(b"one\n2\n3\n")
        await refused(crib, "edit_file", "file.stale", path="a.txt", digest="0" * 64, edits=change("two", "x"))
        await refused(crib, "edit_file", "args.invalid", path="a.txt", digest="0" * 11, edits=change("one", "x"))
    assert workspace.read("a.txt") == b"one\n2\n3\n"


KEPT = {
    "plain": b"one\ntwo\n",
    "no end": b"one\ntwo",
    "crlf": b"one\r\ntwo\r\n",
    "mixed": b"one\r\ntwo\nthree\rfour\r\n",
    "marked": b"\xef\xbb\xbfone\r\ntwo\r\n",
    "wide": "\ufeffone\r\ntwo \u4e2d\r\n".encode("utf-16-le"),
    "wide big-endian": "\ufeffone\ntwo\n".encode("utf-16-be"),
    "no utf-8": b"one\ncaf\xe9 \xff\ntwo\n",
    "decomposed": "one e\u0301\ntwo \u00e9\n".encode(),
}


@pytest.mark.promise("P-files-encodings")
@pytest.mark.parametrize("kind", KEPT)
async def test_an_edit_changes_its_own_bytes_and_no_other(workspace: Workspace, kind: str) -> None:
    before = KEPT[kind]
    codec = {"wide": "utf-16-le", "wide big-endian": "utf-16-be"}.get(kind, "utf-8")
    workspace.write("a.txt", before)
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a.txt", ("two", "2 \u00fc")), Ok)
        assert workspace.read("a.txt") == before.replace("two".encode(codec), "2 \u00fc".encode(codec))
        assert isinstance(await edit(crib, "a.txt", ("2 \u00fc", "two")), Ok)
    assert workspace.read("a.txt") == before


@pytest.mark.promise("P-files-encodings")
async def test_a_whole_write_keeps_mark_and_endings_and_refuses_where_it_would_have_to_guess(
    workspace: Workspace,
) -> None:
    for name in ("marked", "wide", "crlf"):
        workspace.write(name, KEPT[name])
    workspace.write("odd", KEPT["no utf-8"])
    async with opened(workspace.ws) as crib:

        async def replace(path: str, content: str) -> Any:
            return await crib.call("write_file", path=path, content=content, overwrite_existing=True)

        for name in ("marked", "wide", "crlf"):
            done = await replace(name, "new\nlines\n")
            assert isinstance(done, Ok), str(done)
        await refused(
            crib, "write_file", "file.undecodable", path="odd", content="caf\u00e9\n", overwrite_existing=True
        )
    assert workspace.read("marked") == b"\xef\xbb\xbfnew\r\nlines\r\n"
    assert workspace.read("wide") == "\ufeffnew\r\nlines\r\n".encode("utf-16-le")
    assert workspace.read("crlf") == b"new\r\nlines\r\n"
    assert workspace.read("odd") == KEPT["no utf-8"]


@pytest.mark.promise("P-files-atomic")
async def test_readers_see_the_whole_old_or_the_whole_new(workspace: Workspace) -> None:
    versions = [f"{letter * 60}\n" * 5000 for letter in "ab"]
    path = workspace.write("a.txt", versions[0])
    seen: set[bytes] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            seen.add(path.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        async with opened(workspace.ws) as crib:
            for turn in range(1, 13):
                await ok(crib, "write_file", path="a.txt", content=versions[turn % 2], overwrite_existing=True)
    finally:
        over.set()
        await to_thread.run_sync(watcher.join)
    assert len(seen) == 2
    assert seen == {version.encode() for version in versions}
    assert os.listdir(workspace.ws) == ["a.txt"]


@pytest.mark.promise("P-files-atomic")
async def test_a_write_names_what_it_displaced_and_never_displaces_anything_else(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        first = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        done = await ok(crib, "write_file", path="a.txt", content="two\n", overwrite_existing=True, digest=first)
        (what,) = done.evidence.changed
        assert (what.path, what.before, what.after) == ("a.txt", first, of_bytes(b"two\n"))
        workspace.write("a.txt", "somebody else's\n")
        args = {"path": "a.txt", "content": "three\n", "overwrite_existing": True}
        await refused(crib, "write_file", "file.stale", **args, digest=what.after)
        await refused(crib, "write_file", "file.stale", **args)
    assert workspace.tree(workspace.ws) == {"a.txt": b"somebody else's\n"}


@pytest.mark.promise("P-files-metadata")
async def test_mode_owner_and_attributes_survive_and_a_second_hard_link_is_refused(workspace: Workspace) -> None:
    path = workspace.write("run.sh", "#!/bin/sh\necho one\n")
    path.chmod(0o754)
    os.setxattr(path, "user.origin", b"somewhere")
    with suppress(PermissionError):
        os.chown(path, 12345, 23456)
    before = path.stat()
    workspace.write("twin", "one\n")
    os.link(workspace.ws / "twin", workspace.ws / "other")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "run.sh", ("one", "two")), Ok)
        await ok(crib, "write_file", path="run.sh", content="#!/bin/sh\necho three\n", overwrite_existing=True)
        args = {"path": "twin", "content": "two\n", "overwrite_existing": True}
        assert "2" in (await refused(crib, "write_file", "file.linked", **args)).message
        linked = await edit(crib, "other", ("one", "two"))
        assert isinstance(linked, Refused)
        assert linked.name == "file.linked"
    after = path.stat()
    assert workspace.read("run.sh") == b"#!/bin/sh\necho three\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(path, "user.origin") == b"somewhere"
    assert (workspace.read("twin"), workspace.read("other")) == (b"one\n", b"one\n")


@pytest.mark.promise("P-files-rebase")
async def test_an_edit_of_untouched_text_applies_to_the_newer_file_and_says_so_else_both_versions_are_shown(
    workspace: Workspace,
) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 21))
    workspace.write("a.txt", text)
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        workspace.write("a.txt", text.replace("line 18\n", "line 18, theirs\n"))
        done = await ok(crib, "edit_file", path="a.txt", digest=digest, edits=change("line 3\n", "line 3, mine\n"))
        assert done.payload["rebased"]
        assert "rebased" in str(done)
        merged = text.replace("line 18\n", "line 18, theirs\n").replace("line 3\n", "line 3, mine\n")
        assert workspace.read("a.txt").decode() == merged
        digest = done.evidence.digest
        workspace.write("a.txt", merged.replace("line 10\n", "line 10, theirs\n"))
        args = {"path": "a.txt", "digest": digest, "edits": change("line 10\n", "line 10, mine\n")}
        stale = await refused(crib, "edit_file", "file.stale", **args)
        assert "line 10, theirs" in str(stale)
        assert "line 10, mine" in str(stale)
        assert stale.payload is not None
    assert workspace.read("a.txt").decode() == merged.replace("line 10\n", "line 10, theirs\n")


@pytest.mark.promise("P-files-rebase")
async def test_rebasing_can_be_switched_off(workspace: Workspace, state: Path) -> None:
    (state / "config" / "toolcrib").mkdir()
    (state / "config" / "toolcrib" / "config.toml").write_text("[files]\nrebase = false\n", encoding="utf-8")
    workspace.write("a.txt", "one\n\n\n\n\ntwo\n")
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        workspace.write("a.txt", "one\n\n\n\n\ntwo, theirs\n")
        await refused(crib, "edit_file", "file.stale", path="a.txt", digest=digest, edits=change("one", "1"))
    assert workspace.read("a.txt") == b"one\n\n\n\n\ntwo, theirs\n"


@pytest.mark.promise("P-files-flag")
async def test_replacing_needs_the_flag_and_the_refusal_names_it(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        for flag in ({}, {"overwrite_existing": False}):
            outcome = await refused(crib, "write_file", "file.exists", path="a.txt", content="two\n", **flag)
            assert "overwrite_existing" in f"{outcome.message} {outcome.hint}"
            assert workspace.read("a.txt") == b"one\n"
        await ok(crib, "write_file", path="new.txt", content="new\n")
        await ok(crib, "write_file", path="a.txt", content="two\n", overwrite_existing=True)
    assert (workspace.read("a.txt"), workspace.read("new.txt")) == (b"two\n", b"new\n")


PROTECTED = (".git/config", "sub/.git/hooks/pre-commit", ".toolcrib/config.toml", "kept/a.txt", ".GIT/x")
HOST_RUN = (".vscode/tasks.json", ".github/workflows/ci.yml", ".mcp.json", "sub/.envrc")


@pytest.mark.promise("P-files-protected")
async def test_a_protected_path_is_refused_with_where_its_protection_comes_from(
    workspace: Workspace, state: Path
) -> None:
    (state / "config" / "toolcrib").mkdir()
    (state / "config" / "toolcrib" / "config.toml").write_text('[policy]\nprotected = ["kept"]\n', encoding="utf-8")
    async with opened(workspace.ws) as crib:
        for path in ("kept", ".git/x"):
            outcome = await refused(crib, "write_file", "file.protected", path=path, content="x")
            assert "what policy.protected names" in outcome.hint


@pytest.mark.promise("P-files-protected")
@pytest.mark.parametrize("spoken", ["toolcrib", "kram", "claude", "gemini", "openhands", "staage"])
async def test_protected_and_host_run_paths_hold_for_every_tool_in_every_dialect(
    workspace: Workspace, state: Path, spoken: str
) -> None:
    (state / "config" / "toolcrib").mkdir()
    allows = '[policy]\nprotected = ["kept"]\n[[policy.rules]]\nrule = "allow"\ntool = "*"\n'
    (state / "config" / "toolcrib" / "config.toml").write_text(allows, encoding="utf-8")
    for path in (*PROTECTED, *HOST_RUN):
        workspace.write(path, "one\n" if path != ".toolcrib/config.toml" else "# one\n")
    before = workspace.tree(workspace.ws)
    digest = of_bytes(b"one\n")
    edits = {"edits": [{"old": "one", "new": "two"}], "digest": digest}
    flat = {"old_string": "one", "new_string": "two"}
    calls: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
        "toolcrib": [
            ("edit_file", "path", edits),
            ("write_file", "path", {"content": "two\n", "overwrite_existing": True}),
        ],
        "kram": [("edit_file", "path", flat), ("write_file", "path", {"content": "two\n"})],
        "claude": [("Edit", "file_path", flat), ("Write", "file_path", {"content": "two\n"})],
        "gemini": [
            ("replace", "file_path", {**flat, "instruction": "x"}),
            ("write_file", "file_path", {"content": "two\n"}),
        ],
        "openhands": [
            ("str_replace_editor", "path", {"command": "str_replace", "old_str": "one", "new_str": "two"}),
            ("str_replace_editor", "path", {"command": "create", "file_text": "two\n"}),
        ],
        "staage": [
            ("file_edit", "path", edits),
            ("file_write", "path", {"content": "two\n", "overwrite_existing": True}),
        ],
    }
    seen: list[Approval] = []
    async with opened(workspace.ws, mode="work") as crib:
        for name, where, args in calls[spoken]:
            for path in PROTECTED:
                made = crib.make(name, {where: path, **args}, dialect=spoken, given="once")
                outcome = await crib.submit(made)
                assert isinstance(outcome, Refused), (name, path)
                assert "protected" in str(outcome), str(outcome)
            for path in HOST_RUN:
                made = crib.make(name, {where: path, **args}, dialect=spoken)
                outcome = await crib.submit(made, asker=person("deny", seen=seen))
                assert isinstance(outcome, Refused), (name, path)
    assert workspace.tree(workspace.ws) == before
    assert {each.subject for each in seen} <= set(HOST_RUN)
    assert seen


@pytest.mark.promise("P-files-workspace")
async def test_what_cannot_be_a_workspace_is_refused_by_name(workspace: Workspace, state: Path) -> None:
    workspace.write("file", "x")
    for directory, said in (
        (workspace.ws / "missing", "does not exist"),
        (workspace.ws / "file", "not a directory"),
        (Path("/"), "too wide"),
        (state / "home", "too wide"),
    ):
        with pytest.raises(WorkspaceError) as caught:
            async with open_crib(directory):
                pass
        assert said in caught.value.message
        assert str(directory) in caught.value.message
    async with open_crib(state / "home", mode="work", wide=True) as crib:
        await ok(crib, "write_file", path="a.txt", content="x\n")


@pytest.mark.promise("P-files-workspace")
async def test_a_workspace_that_vanishes_under_a_call_is_said_and_never_made_anew(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        (workspace.ws / "a.txt").unlink()
        workspace.ws.rmdir()
        for name, args in (
            ("read_file", {"path": "a.txt"}),
            ("list_dir", {}),
            ("glob", {"pattern": "*"}),
            ("grep", {"pattern": "x"}),
            ("write_file", {"path": "a.txt", "content": "x"}),
        ):
            outcome = await crib.submit(crib.make(name, args))
            assert isinstance(outcome, Refused), str(outcome)
            assert outcome.name in {"workspace.gone", "checkpoint.failed"}, str(outcome)
    assert not workspace.ws.exists()


@contextmanager
def tiny(where: Path, size: str = "256k") -> Generator[None]:
    """Mount a small file system in memory."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(where)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


@pytest.mark.promise("P-files-workspace")
async def test_a_read_only_workspace_is_read_and_a_change_is_refused(workspace: Workspace) -> None:
    with tiny(workspace.ws):
        workspace.write("a.txt", "one\n")
        subprocess.run(["mount", "-o", "remount,ro", str(workspace.ws)], check=True)
        async with opened(workspace.ws) as crib:
            assert await lines(crib, "a.txt") == ["one"]
            await ok(crib, "grep", pattern="one")
            changed = await edit(crib, "a.txt", ("one", "two"))
            assert isinstance(changed, Refused)
            assert (changed.name, changed.happened) == ("file.read_only", "no")
            await refused(crib, "write_file", "file.read_only", path="new/b.txt", content="x")


@pytest.mark.promise("P-files-disk")
async def test_a_full_disk_is_named_leaves_nothing_partial_and_work_goes_on(workspace: Workspace) -> None:
    with tiny(workspace.ws):
        workspace.write("a.txt", "one\n")
        with (workspace.ws / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        names = sorted(os.listdir(workspace.ws))
        async with opened(workspace.ws) as crib:
            large = "x" * 20_000
            for args in ({"path": "a.txt", "overwrite_existing": True}, {"path": "deep/er/b.txt"}):
                await refused(crib, "write_file", "disk.full", content=large, **args)
                assert sorted(os.listdir(workspace.ws)) == names
            assert await lines(crib, "a.txt") == ["one"]
            (workspace.ws / "filler").unlink()
            await ok(crib, "write_file", path="a.txt", content=large, overwrite_existing=True)
            await ok(crib, "write_file", path="deep/er/b.txt", content=large)
            assert (await crib.verify()).broken is None
        assert workspace.read("deep/er/b.txt").decode() == workspace.read("a.txt").decode() == large
