"""Every dialect lands on the same tool, the same effect and the same ruling; only the spelling differs."""

from typing import Any

import pytest

from calling import opened
from conftest import Workspace
from toolcrib import Answered, Approval, Crib, Ok, Outcome, Refused
from toolcrib.terms.settings import MODES, Mode

pytestmark = pytest.mark.anyio

OLD, NEW = "one\ntwo\n", "one\nTWO\n"
CHANGES = {"write_file", "edit_file", "apply_patch", "move_file", "delete_file"}
NAMES = {
    "toolcrib": {"read_file", "list_dir", *CHANGES, "glob", "grep", "fff_search", "artifact_read"},
    "standard": {"read_file", "list_dir", *CHANGES, "glob", "grep", "fff_search", "artifact_read"},
    "staage": {"file_read", "file_edit", "file_write", "file_find", "file_search"},
    "kram": {"read_file", "list_dir", *CHANGES - {"apply_patch"}, "glob", "grep", "artifact_read"},
    "claude": {"Read", "Edit", "Write", "Glob", "Grep"},
    "codex": {"view_image", "apply_patch"},
    "gemini": {"read_file", "list_directory", "write_file", "replace", "glob", "grep_search"},
    "openhands": {"str_replace_editor"},
}
EDITOR = "str_replace_editor"
FLAT = {"old_string": "two", "new_string": "TWO"}
EDITS = {"edits": [{"old": "two", "new": "TWO"}]}
ONE_EDIT: dict[str, tuple[str, dict[str, Any]]] = {
    "standard": ("edit_file", {"path": "a.txt", **EDITS}),
    "kram": ("edit_file", {"path": "a.txt", **FLAT}),
    "claude": ("Edit", {"file_path": "a.txt", **FLAT}),
    "gemini": ("replace", {"file_path": "a.txt", "instruction": "shout", **FLAT}),
    "openhands": (
        "str_replace_editor",
        {"command": "str_replace", "path": "a.txt", "old_str": "two", "new_str": "TWO"},
    ),
}
ONE_READ: dict[str, tuple[str, dict[str, Any]]] = {
    "toolcrib": ("read_file", {"path": "a.txt", "offset": 2, "limit": 1}),
    "standard": ("read_file", {"path": "a.txt", "offset": 2, "limit": 1}),
    "staage": ("file_read", {"path": "a.txt", "offset": 2, "limit": 1}),
    "claude": ("Read", {"file_path": "a.txt", "offset": 2, "limit": 1}),
    "gemini": ("read_file", {"file_path": "a.txt", "start_line": 2, "end_line": 2}),
    "openhands": ("str_replace_editor", {"command": "view", "path": "a.txt", "view_range": [2, 2]}),
}
REPLACES = {
    "kram": ("write_file", {"path": "a.txt", "content": NEW}),
    "claude": ("Write", {"file_path": "a.txt", "content": NEW}),
    "gemini": ("write_file", {"file_path": "a.txt", "content": NEW}),
}


@pytest.fixture(autouse=True)
def _a_file(workspace: Workspace) -> None:
    workspace.write("a.txt", OLD)


async def call(crib: Crib, spoken: str, name: str, args: dict[str, Any]) -> Outcome:
    return await crib.submit(crib.make(name, args, dialect=spoken))


@pytest.mark.promise("P-catalog-dialects")
async def test_each_dialect_offers_the_names_of_its_system(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        for spoken, names in NAMES.items():
            assert {each["name"] for each in crib.render("mcp", dialect=spoken)} == names
            overview = crib.overview(dialect=spoken)
            assert all(f"\n{name} — " in overview for name in names)


@pytest.mark.promise("P-catalog-dialects")
@pytest.mark.parametrize("spoken", ONE_READ)
async def test_a_read_is_the_same_read(workspace: Workspace, spoken: str) -> None:
    async with opened(workspace.ws, mode="ask") as crib:
        name, args = ONE_READ[spoken]
        outcome = await call(crib, spoken, name, args)
        plain = await call(crib, "toolcrib", *ONE_READ["toolcrib"])
        assert isinstance(outcome, Ok), str(outcome)
        assert (outcome.payload, outcome.evidence) == (plain.payload, plain.evidence)


@pytest.mark.promise("P-catalog-dialects")
@pytest.mark.parametrize("spoken", ONE_EDIT)
@pytest.mark.parametrize("mode", MODES)
async def test_an_edit_is_the_same_edit_under_the_same_ruling(workspace: Workspace, spoken: str, mode: Mode) -> None:
    name, args = ONE_EDIT[spoken]
    ruled: list[tuple[str, str]] = []
    async with opened(workspace.ws, mode=mode) as crib:
        for each_name, each_spoken, each_args in ((name, spoken, args), ("edit_file", "toolcrib", None)):
            digest = (await _digest(crib, workspace)) if each_args is None else ""
            outcome = await call(
                crib, each_spoken, each_name, each_args or {"path": "a.txt", "digest": digest, **EDITS}
            )
            judged = [each for each in await crib.tape(call_id=outcome.call_id) if each.stage == "judged"]
            ruled += [(each.data["ruling"], each.data["rule"]) for each in judged]
            assert workspace.read("a.txt").decode() == (NEW if isinstance(outcome, Ok) else OLD)
            assert isinstance(outcome, Ok) == (mode == "work"), str(outcome)
    assert len(ruled) == 2
    assert ruled[0] == ruled[1]


async def _digest(crib: Crib, workspace: Workspace) -> str:
    """Put the old text back and return its digest."""
    workspace.write("a.txt", OLD)
    seen = await crib.submit(crib.make("read_file", {"path": "a.txt"}), asker=_yes)
    return seen.evidence.digest or ""


async def _yes(_approval: Approval) -> Answered:
    return Answered("once", by="test")


@pytest.mark.parametrize("spoken", REPLACES)
async def test_replacing_without_a_flag_for_it_always_asks(workspace: Workspace, spoken: str) -> None:
    name, args = REPLACES[spoken]
    asked: list[str] = []

    async def person(approval: Approval) -> Answered:
        asked.append(approval.diff)
        return Answered("once", by="test")

    async with opened(workspace.ws) as crib:
        unattended = await call(crib, spoken, name, args)
        assert isinstance(unattended, Refused)
        assert unattended.name == "file.exists"
        assert workspace.read("a.txt").decode() == OLD
        attended = await crib.submit(crib.make(name, args, dialect=spoken), asker=person)
        assert isinstance(attended, Ok), str(attended)
    assert workspace.read("a.txt").decode() == NEW
    assert len(asked) == 1
    assert "+TWO" in asked[0]


async def test_a_new_file_needs_no_flag_and_no_question(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        outcome = await call(crib, "claude", "Write", {"file_path": "new.txt", "content": "x\n"})
        assert isinstance(outcome, Ok), str(outcome)


async def test_faults_are_told_in_the_words_of_the_dialect(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        outcome = await call(crib, "claude", "Read", {"path": "a.txt", "offset": "x"})
        assert isinstance(outcome, Refused)
        assert outcome.name == "args.invalid"
        for part in ("path: unknown parameter", "file_path: required", "offset: "):
            assert part in outcome.message
        empty = await call(crib, "kram", "edit_file", {"path": "a.txt", "old_string": "", "new_string": "x"})
        assert isinstance(empty, Refused)
        assert empty.message.startswith("old_string: ")


async def test_a_name_of_another_dialect_is_unknown(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        for spoken, name in (("claude", "read_file"), ("toolcrib", "Read"), ("staage", "list_dir")):
            outcome = await call(crib, spoken, name, {"path": "a.txt"})
            assert isinstance(outcome, Refused)
            assert outcome.name == "tool.unknown"


@pytest.mark.seed("S-catalog-file_read")
@pytest.mark.seed("S-catalog-file_edit")
async def test_the_tool_catalogs_read_and_edit_are_bound_by_the_digest(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        read = await call(crib, "staage", "file_read", {"path": "a.txt"})
        digest = read.evidence.digest
        assert digest
        assert read.payload is not None
        assert read.payload["lines"] == ["one", "two"]

        async def edit(cited: str, old: str, new: str) -> Outcome:
            args = {"path": "a.txt", "digest": cited, "edits": [{"old": old, "new": new}]}
            return await call(crib, "staage", "file_edit", args)

        missing = await edit(digest, "three", "x")
        assert isinstance(missing, Refused)
        assert missing.name == "file.missing"
        ambiguous = await edit(digest, "o", "x")
        assert isinstance(ambiguous, Refused)
        assert ambiguous.name == "file.ambiguous"
        workspace.write("a.txt", "zero\n" + OLD)
        moved = await edit(digest, "two", "TWO")
        assert isinstance(moved, Refused)
        assert moved.name == "file.stale"
        workspace.write("a.txt", OLD)
        done = await edit(digest, "two", "TWO")
        assert isinstance(done, Ok), str(done)
        assert "+TWO" in (done.evidence.diff or "")
        assert done.evidence.digest != digest
        again = await edit(done.evidence.digest or "", "one", "ONE")
        assert isinstance(again, Ok), str(again)
    assert workspace.read("a.txt") == b"ONE\nTWO\n"


@pytest.mark.seed("S-catalog-file_write")
@pytest.mark.seed("S-catalog-file_find")
@pytest.mark.seed("S-catalog-file_search")
async def test_the_tool_catalogs_write_find_and_search(workspace: Workspace) -> None:
    workspace.write("b.txt", "x" * 5000 + " needle\n")
    async with opened(workspace.ws) as crib:
        blind = await call(crib, "staage", "file_write", {"path": "a.txt", "content": NEW})
        assert isinstance(blind, Refused)
        assert blind.name == "file.exists"
        assert "overwrite_existing" in blind.message + blind.hint
        meant = {"path": "a.txt", "content": NEW, "overwrite_existing": True}
        assert isinstance(await call(crib, "staage", "file_write", meant), Ok)
        page = await call(crib, "staage", "file_find", {"pattern": "*.txt", "limit": 1})
        assert page.payload is not None
        assert page.bounds.truncated
        rest = await call(
            crib, "staage", "file_find", {"pattern": "*.txt", "limit": 1, "cursor": page.bounds.next_cursor}
        )
        assert [page.payload["paths"], (rest.payload or {})["paths"]] == [["a.txt"], ["b.txt"]]
        hits = await call(crib, "staage", "file_search", {"pattern": "needle"})
        (match,) = (hits.payload or {})["matches"]
        assert (match["path"], match["line"]) == ("b.txt", 1)
        assert len(match["text"]) < 1000
        assert hits.bounds.clipped_lines == 1
