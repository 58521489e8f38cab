"""The rows of the three systems that meet here, each by what it does here."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from calling import edit, ok, opened, refused
from conftest import Workspace
from probing import marking, person, probe, stages
from toolcrib import Approval, Crib, Ok, Outcome, Refused, open_crib
from toolcrib.host.finder.finder import Finder
from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.run import Program, Ran
from toolcrib.terms.digest import of_bytes
from toolcrib.wiring.load import places
from toolcrib.wiring.trust import replace_disabled

pytestmark = pytest.mark.anyio

TOOLKIT = ("read_file", "list_dir", "grep", "glob", "fff_search", "write_file", "edit_file")


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


def names(crib: Crib, **options: Any) -> set[str]:
    return {each["name"] for each in crib.render("mcp", **options)}


async def call(crib: Crib, name: str, /, spoken: str = "standard", **args: Any) -> Outcome:
    return await crib.submit(crib.make(name, args, dialect=spoken))


async def well(crib: Crib, name: str, /, spoken: str = "standard", **args: Any) -> Ok:
    outcome = await call(crib, name, spoken, **args)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


async def badly(crib: Crib, name: str, wanted: str, /, spoken: str = "standard", **args: Any) -> Refused:
    outcome = await call(crib, name, spoken, **args)
    assert isinstance(outcome, Refused), str(outcome)
    assert outcome.name == wanted, str(outcome)
    return outcome


# --- the catalog's tools ----------------------------------------------------------------------------------------


@pytest.mark.seed("S-catalog-vocabulary")
async def test_every_tool_answers_ok_or_a_refusal_by_the_names_of_the_catalog(
    workspace: Workspace, state: Path
) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "secrets/**"\n')
    workspace.write("a.txt", "one\none\n")
    digest = of_bytes(b"one\none\n")

    def change(old: str) -> list[dict[str, str]]:
        return [{"old": old, "new": "two"}]

    async with opened(workspace.ws) as crib:
        for name, args in (
            ("file_read", {"path": "a.txt"}),
            ("file_find", {"pattern": "*"}),
            ("file_search", {"pattern": "one"}),
            ("file_write", {"path": "b.txt", "content": "x\n"}),
        ):
            assert (await well(crib, name, "staage", **args)).kind == "ok"
        rows: list[tuple[str, str, dict[str, Any]]] = [
            ("file_read", "file.missing", {"path": "missing"}),
            ("file_edit", "file.missing", {"path": "missing", "digest": digest, "edits": change("one")}),
            ("file_edit", "file.ambiguous", {"path": "a.txt", "digest": digest, "edits": change("one")}),
            ("file_edit", "file.stale", {"path": "a.txt", "digest": "0" * 64, "edits": change("one")}),
            ("file_find", "find.invalid", {"pattern": "{a"}),
            ("file_read", "file.outside", {"path": "../out/canary"}),
            ("file_read", "policy.denied", {"path": "secrets/a"}),
            ("file_read", "args.invalid", {}),
            ("file_nothing", "tool.unknown", {}),
        ]
        for name, wanted, args in rows:
            outcome = await badly(crib, name, wanted, "staage", **args)
            assert (outcome.kind, outcome.happened) == ("refused", "no")
            assert str(outcome).startswith(f"refused {wanted}: ")
    assert workspace.read("a.txt") == b"one\none\n"


# --- the package: approving -------------------------------------------------------------------------------------


@pytest.mark.seed("S-package-WithApprover")
async def test_each_call_brings_its_own_approver(workspace: Workspace) -> None:
    asked: dict[str, list[Approval]] = {"crib": [], "left": [], "right": []}
    ran: list[str] = []

    async def run(word: str) -> str:
        ran.append(word)
        return word

    tools = [probe("deploy", run)]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=person("once", seen=asked["crib"])) as crib:

        async def submit(word: str, **options: Any) -> Outcome:
            return await crib.submit(crib.make("deploy", {"word": word}), **options)

        left, right, plain = await asyncio.gather(
            submit("left", asker=person("once", seen=asked["left"])),
            submit("right", asker=person("deny", seen=asked["right"])),
            submit("crib"),
        )
    assert {who: [each.args["word"] for each in seen] for who, seen in asked.items()} == {
        each: [each] for each in asked
    }
    assert [each.kind for each in (left, right, plain)] == ["ok", "refused", "ok"]
    assert sorted(ran) == ["crib", "left"]


@pytest.mark.seed("S-package-ApprovalDecision")
async def test_once_is_for_one_call_always_for_the_next_too_and_deny_for_none(workspace: Workspace) -> None:
    ran: list[str] = []
    async with open_crib(workspace.ws, mode="work", tools=[probe("deploy", marking(ran))]) as crib:

        async def answered(decision: Any) -> tuple[str, int]:
            seen: list[Approval] = []
            outcome = await crib.submit(crib.make("deploy", {}), asker=person(decision, seen=seen))
            return outcome.kind, len(seen)

        assert await answered("deny") == ("refused", 1)
        assert ran == []
    async with open_crib(workspace.ws, mode="work", tools=[probe("other", marking(ran))]) as crib:

        async def again(decision: Any) -> tuple[str, int]:
            seen: list[Approval] = []
            outcome = await crib.submit(crib.make("other", {}), asker=person(decision, seen=seen))
            return outcome.kind, len(seen)

        assert [await again("once"), await again("once")] == [("ok", 1), ("ok", 1)]
        assert await again("always") == ("ok", 1)
        assert await again("deny") == ("ok", 0)
    assert ran == ["ran"] * 4


@pytest.mark.seed("S-package-Approver")
async def test_an_approver_is_shown_tool_subject_and_the_diff_of_the_change(workspace: Workspace) -> None:
    seen: list[Approval] = []
    workspace.write("sub/a.txt", "one\ntwo\n")
    async with opened(workspace.ws, mode="ask", approver=person("once", seen=seen)) as crib:
        changed = await edit(crib, "sub/a.txt", ("two", "2"))
        await ok(crib, "write_file", path="b.txt", content="new\n")
    assert [(each.tool, each.subject) for each in seen] == [("edit_file", "sub/a.txt"), ("write_file", "b.txt")]
    assert "-two\n+2\n" in seen[0].diff
    assert seen[0].diff == changed.evidence.diff
    assert "+new\n" in seen[1].diff


# --- the package: the registry ----------------------------------------------------------------------------------


@pytest.mark.seed("S-package-Tool")
async def test_every_tool_has_a_name_a_description_and_a_schema_that_its_execution_keeps_to(
    workspace: Workspace,
) -> None:
    async with open_crib(workspace.ws, mode="work", tools=[probe("act", approval="never")]) as crib:
        rendered = {each["name"]: each for each in crib.render("mcp")}
        for name, each in rendered.items():
            assert each["description"].strip()
            assert each["inputSchema"]["type"] == "object"
            needed = each["inputSchema"].get("required", [])
            outcome = await crib.submit(crib.make(name, {}))
            assert ("args.invalid" in str(outcome)) == bool(needed), name
            for parameter in needed:
                assert parameter in str(outcome)
            unknown = await crib.submit(crib.make(name, {"no_such": 1}))
            assert "no_such: unknown parameter" in str(unknown)


@pytest.mark.seed("S-package-ToolInfo")
@pytest.mark.seed("S-package-AllTools")
async def test_the_settings_screen_has_every_tool_with_its_state_by_name(workspace: Workspace, state: Path) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\ntool = "write_file"\n')
    await to_thread.run_sync(replace_disabled, places().config, ["grep", "act"])
    async with open_crib(workspace.ws, mode="work", tools=[probe("act")], without=["glob"]) as crib:
        roster = crib.roster()
        rows = {each["name"]: each for each in roster}
        assert [each["name"] for each in roster] == sorted(rows)
        further = {"act", "rewind", "artifact_read", "tool_search", "apply_patch", "move_file", "delete_file"}
        assert set(TOOLKIT) | further == set(rows)
        hidden = {name: each["state"] for name, each in rows.items() if each["state"] != "visible"}
        assert set(hidden) == {"grep", "act", "glob", "write_file", "rewind", "tool_search"}
        assert hidden["grep"] == hidden["act"] == "disabled"
        assert (hidden["write_file"], hidden["rewind"]) == ("denied", "person only")
        assert all(rows[name]["why"] for name in hidden)
        assert names(crib) == set(rows) - set(hidden)


@pytest.mark.seed("S-package-NewRegistry")
async def test_a_set_is_scoped_to_its_workspace_with_what_is_left_out_passed_in(workspace: Workspace) -> None:
    workspace.write("a.txt", "here\n")
    (workspace.out / "a.txt").write_text("there\n", encoding="utf-8")
    async with (
        open_crib(workspace.ws, mode="work", without=["grep"]) as here,
        open_crib(workspace.out, mode="work", without=["glob"]) as there,
    ):
        assert (await ok(here, "read_file", path="a.txt")).payload["lines"] == ["here"]
        assert (await ok(there, "read_file", path="a.txt")).payload["lines"] == ["there"]
        assert names(here) ^ names(there) == {"grep", "glob"}
        await refused(here, "grep", "tool.not_in_profile", pattern="x")
        assert isinstance(await there.call("grep", pattern="there"), Ok)


@pytest.mark.seed("S-package-Execute")
async def test_one_funnel_answers_unknown_disabled_and_denied_names_in_words(workspace: Workspace, state: Path) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\ntool = "forbidden"\nreason = "not on a Friday"\n')
    await to_thread.run_sync(replace_disabled, places().config, ["off"])
    ran: list[str] = []
    tools = [probe(name, marking(ran)) for name in ("off", "forbidden", "fine")]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=person("once")) as crib:
        rows = {
            "read_fil": ("tool.unknown", "read_file"),
            "off": ("tool.disabled", "off"),
            "forbidden": ("policy.denied", "not on a Friday"),
        }
        for name, (wanted, words) in rows.items():
            outcome = await refused(crib, name, wanted)
            assert words in str(outcome)
            assert (await stages(crib, outcome))[-1] == "closed"
        await ok(crib, "fine")
        await ok(crib, "list_dir")
        assert {(await stages(crib, each.call_id))[0] for each in await crib.tape() if each.call_id} == {"received"}
    assert ran == ["ran"]


@pytest.mark.seed("S-package-ReplaceDisabled")
async def test_the_disabled_set_is_replaced_under_an_open_crib(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        await ok(crib, "glob", pattern="*")
        for disabled in (["glob"], ["grep", "list_dir"], []):
            await to_thread.run_sync(replace_disabled, places().config, disabled)
            for name, args in (("glob", {"pattern": "*"}), ("grep", {"pattern": "x"}), ("list_dir", {})):
                outcome = await crib.submit(crib.make(name, args))
                wanted = "tool.disabled" if name in disabled else "ok"
                assert (outcome.name if isinstance(outcome, Refused) else "ok") == wanted
            assert not set(disabled) & names(crib)
            assert {"read_file"} <= names(crib)


def no_ripgrep(_search_path: str) -> None:
    """Stand for a machine without ripgrep."""


async def no_program(_launcher: Launcher, program: Program) -> Ran:
    """Stand for a machine on which no program may be started."""
    raise AssertionError(f"{program.argv} was started")


@pytest.mark.seed("S-package-grep")
async def test_search_works_without_any_program(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", no_ripgrep)
    monkeypatch.setattr(Launcher, "run", no_program)
    monkeypatch.setenv("PATH", "")
    workspace.write("sub/a.txt", "one\ntwo\n")
    async with opened(workspace.ws) as crib:
        for args in ({"pattern": "two"}, {"pattern": "^t.o$", "mode": "regex"}, {"pattern": "twoo", "mode": "fuzzy"}):
            found = await ok(crib, "grep", **args)
            assert [(each["path"], each["line"]) for each in found.payload["matches"]] == [("sub/a.txt", 2)]
        assert (await ok(crib, "glob", pattern="**/*.txt")).payload["paths"] == ["sub/a.txt"]


@pytest.mark.seed("S-package-scoped")
@pytest.mark.seed("S-toolkit-containment")
async def test_no_call_reaches_outside_and_every_spelling_of_the_inside_is_the_inside(workspace: Workspace) -> None:
    workspace.write("sub/a.txt", "needle\n")
    os.symlink("a.txt", workspace.ws / "sub" / "link")
    os.symlink(workspace.out, workspace.ws / "away")
    os.symlink(workspace.out / "canary", workspace.ws / "sub" / "leaf")
    canary = (workspace.out / "canary").read_text(encoding="utf-8")
    before, digest = workspace.tree(), of_bytes(canary.encode())
    calls: dict[str, Callable[[str], dict[str, Any]]] = {
        "read_file": lambda path: {"path": path},
        "list_dir": lambda path: {"path": path},
        "grep": lambda path: {"pattern": "canary", "path": path},
        "glob": lambda path: {"pattern": "*", "cwd": path},
        "fff_search": lambda path: {"query": "canary", "cwd": path},
        "write_file": lambda path: {"path": path, "content": "x", "overwriteExisting": True},
        "edit_file": lambda path: {"path": path, "edits": [{"old": canary[:6], "new": "x"}], "digest": digest},
    }
    assert set(calls) == set(TOOLKIT)
    outside = ("../out/canary", "../out", "away", "away/canary", "sub/leaf", str(workspace.out / "canary"), "/etc")
    async with opened(workspace.ws) as crib:
        for name, args in calls.items():
            for path in outside:
                outcome = await badly(crib, name, "file.outside", **args(path))
                assert canary not in str(outcome)
        inside = str(workspace.ws / "sub" / "a.txt")
        for path in ("sub/a.txt", "./sub/../sub/a.txt", "sub//a.txt", inside, "sub/link"):
            assert (await well(crib, "read_file", path=path)).payload["lines"] == ["needle"]
        for under in ("sub", "./sub", str(workspace.ws / "sub")):
            assert (await well(crib, "glob", pattern="*.txt", cwd=under)).payload["paths"] == ["sub/a.txt"]
            ranked = (await well(crib, "fff_search", query="a.txt", cwd=under)).payload["files"]
            assert [each["path"] for each in ranked] == ["sub/a.txt"]
        everything = [
            await well(crib, "grep", pattern="canary"),
            await well(crib, "glob", pattern="**/*"),
            await well(crib, "fff_search", query="canary"),
        ]
        found = [row for each in everything for row in each.payload.get("paths", each.payload.get("files", ()))]
        assert not [row for row in found if "canary" in json.dumps(row)]
        assert everything[0].payload["total"] == 0
    assert workspace.tree() == before


# --- the toolkit ------------------------------------------------------------------------------------------------


@pytest.mark.seed("S-toolkit-read_file")
@pytest.mark.seed("S-toolkit-list_dir")
async def test_the_toolkit_reads_a_file_and_lists_a_directory(workspace: Workspace) -> None:
    workspace.write("src/a.txt", "caf\u00e9\nzwei\n")
    workspace.write("src/sub/b.txt", "x\n")
    async with opened(workspace.ws) as crib:
        assert (await well(crib, "read_file", path="src/a.txt")).payload["lines"] == ["caf\u00e9", "zwei"]
        listed = (await well(crib, "list_dir", path="src")).payload["entries"]
        assert [(each["path"], each["kind"]) for each in listed] == [("src/a.txt", "file"), ("src/sub", "directory")]
        await badly(crib, "read_file", "file.missing", path="src/none")
        await badly(crib, "list_dir", "file.not_directory", path="src/a.txt")
        await badly(crib, "read_file", "file.not_regular", path="src")


@pytest.mark.seed("S-toolkit-grep")
@pytest.mark.seed("S-toolkit-glob")
@pytest.mark.seed("S-toolkit-fff_search")
async def test_the_toolkit_greps_in_three_ways_globs_exactly_and_finds_names_fuzzily(workspace: Workspace) -> None:
    workspace.write("src/parser.py", "def parse_header(line):\n    return line.split(':')\n")
    workspace.write("src/parser.md", "parse_header is a function\n")
    workspace.write("test/test_parser.py", "parse_header('a: b')\n")
    async with opened(workspace.ws) as crib:

        async def grepped(**args: Any) -> set[tuple[str, int]]:
            return {(each["path"], each["line"]) for each in (await well(crib, "grep", **args)).payload["matches"]}

        everywhere = {("src/parser.py", 1), ("src/parser.md", 1), ("test/test_parser.py", 1)}
        assert await grepped(pattern="parse_header") == everywhere
        assert await grepped(pattern="line.split(") == {("src/parser.py", 2)}
        assert await grepped(pattern=r"^def \w+_header\(", mode="regex") == {("src/parser.py", 1)}
        assert everywhere <= await grepped(pattern="parse_headr", mode="fuzzy")
        assert await grepped(pattern="parse_headr") == set()
        assert await grepped(pattern="parse_header", glob="src/*.py") == {("src/parser.py", 1)}
        assert await grepped(pattern="parse_header", glob="*.rs") == set()
        globbed = (await well(crib, "glob", pattern="**/*.py")).payload["paths"]
        assert globbed == ["src/parser.py", "test/test_parser.py"]
        assert (await well(crib, "glob", pattern="parser.py")).payload["paths"] == []
        ranked = (await well(crib, "fff_search", query="tst prser")).payload["files"]
        assert ranked[0]["path"] == "test/test_parser.py"


@pytest.mark.seed("S-toolkit-write_file")
@pytest.mark.seed("S-toolkit-edit_file")
@pytest.mark.seed("S-toolkit-host-facts")
async def test_the_toolkit_writes_with_its_flag_edits_exactly_and_keeps_what_was_there(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        created = await well(crib, "write_file", path="a.txt", content="one\ntwo\n")
        door = await badly(crib, "write_file", "file.exists", path="a.txt", content="x\n")
        assert "overwriteExisting" in f"{door.message} {door.hint}"
        replaced = await well(crib, "write_file", path="a.txt", content="three\nfour\n", overwriteExisting=True)
        assert (created.payload["action"], replaced.payload["action"]) == ("created", "replaced")
        assert "-one\n-two\n+three\n+four\n" in (replaced.evidence.diff or "")
        judged = {each.call_id: each.data["existed"] for each in await crib.tape(limit=100) if "existed" in each.data}
        assert judged[created.call_id] == {"a.txt": False}
        assert judged[replaced.call_id] == {"a.txt": True}
        changed = await well(crib, "edit_file", path="a.txt", edits=[{"old": "four", "new": "4"}])
        assert workspace.read("a.txt") == b"three\n4\n"
        await badly(crib, "edit_file", "file.no_match", path="a.txt", edits=[{"old": "Three", "new": "3"}])
        for forged in ("existed", "priorContent", "prior_content"):
            args: dict[str, Any] = {"path": "b.txt", "content": "x", forged: False}
            outcome = await badly(crib, "write_file", "args.invalid", **args)
            assert "unknown parameter" in outcome.message
        schemas = {each["name"]: each["inputSchema"]["properties"] for each in crib.render("mcp", dialect="standard")}
        for name in ("write_file", "edit_file"):
            assert not {"existed", "priorContent", "prior_content"} & set(schemas[name])
        for done, text in ((changed, b"three\nfour\n"), (replaced, b"one\ntwo\n"), (created, None)):
            plan, _ = await crib.rewind_plan(done.call_id)
            assert isinstance(await crib.rewind(plan), Ok)
            assert (workspace.read("a.txt") if text is not None else None) == text
    assert workspace.tree(workspace.ws) == {}


@pytest.mark.seed("S-toolkit-approval")
@pytest.mark.seed("S-toolkit-denial")
async def test_changes_are_approved_by_the_kind_of_their_job_and_a_no_is_something_to_read(
    workspace: Workspace,
) -> None:
    workspace.write("a.txt", "one\n")
    ran: list[str] = []
    async with open_crib(workspace.ws, mode="ask", tools=[probe("act", marking(ran))]) as crib:
        rows: tuple[tuple[str, dict[str, Any], str], ...] = (
            ("write_file", {"path": "b.txt", "content": "x\n"}, "file_mutate"),
            ("edit_file", {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}, "file_mutate"),
            ("act", {}, "tool_call"),
        )
        for name, args, kind in rows:
            unattended = await badly(crib, name, "approval.unattended", **args)
            assert "started" not in await stages(crib, unattended)
            made = crib.make(name, {**args}, dialect="standard")
            denied = await crib.submit(made, asker=person("deny", words="use another branch"))
            assert isinstance(denied, Refused)
            assert denied.name == "approval.denied"
            assert "use another branch" in str(denied)
            (entry,) = [each for each in await crib.tape(call_id=denied.call_id) if each.stage == "received"]
            assert entry.data["kind"] == kind
        assert ran == []
        assert workspace.tree(workspace.ws) == {"a.txt": b"one\n"}
        done = await crib.submit(crib.make("write_file", {"path": "c.txt", "content": "x\n"}), asker=person("once"))
        plan, _ = await crib.rewind_plan(done.call_id)
        undone = await crib.rewind(plan)
        read = await ok(crib, "read_file", path="a.txt")
        kinds = {each.call_id: each.data["kind"] for each in await crib.tape(limit=100) if each.stage == "received"}
        assert (kinds[undone.call_id], kinds[read.call_id]) == ("system_tool", "tool_call")


@pytest.mark.seed("S-toolkit-one-finder")
async def test_glob_grep_and_fuzzy_search_share_one_finder(
    workspace: Workspace, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Finder] = []
    first = Finder.__init__

    def counted(self: Finder, *args: Any, **options: Any) -> None:
        made.append(self)
        first(self, *args, **options)

    monkeypatch.setattr(Finder, "__init__", counted)
    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "secrets/**"\naccess = "read"\n')
    for path in ("a.txt", "sub/b.txt", "skipped/c.txt", "secrets/d.txt", ".dot/e.txt", "sub/skip.txt"):
        workspace.write(path, "needle\n")
    workspace.write(".gitignore", "skipped/\n")
    workspace.write("sub/.gitignore", "skip.txt\n")
    async with opened(workspace.ws, mode="ask") as crib:
        globbed = await well(crib, "glob", pattern="**/*.txt")
        grepped = await well(crib, "grep", pattern="needle", output="files")
        ranked = await well(crib, "fff_search", query="txt")
    wanted = {"a.txt", "sub/b.txt", ".dot/e.txt"}
    assert set(globbed.payload["paths"]) == wanted
    assert {each["path"] for each in grepped.payload["files"]} == wanted
    assert {each["path"] for each in ranked.payload["files"]} == wanted
    assert len(made) == 1


@pytest.mark.seed("S-toolkit-no-shell")
async def test_no_call_of_the_set_starts_a_process_of_the_callers_choice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, ...]] = []
    run = Launcher.run

    async def noted(self: Launcher, program: Program) -> Ran:
        started.append(tuple(map(os.fsdecode, program.argv)))
        return await run(self, program)

    monkeypatch.setattr(Launcher, "run", noted)
    workspace.write("a.txt", "$(touch pwned) `touch pwned`; touch pwned\n")
    wild = "$(touch pwned);touch pwned|--pre=touch"
    async with opened(workspace.ws) as crib:
        assert not {each["name"] for each in crib.roster()} & {"shell", "bash", "run", "process"}
        for mode in ("plain", "regex", "fuzzy"):
            await call(crib, "grep", pattern=wild, mode=mode)
            await call(crib, "grep", pattern="x", glob=wild, mode=mode)
        await call(crib, "glob", pattern=wild)
        await call(crib, "fff_search", query=wild)
        await call(crib, "read_file", path=wild)
        await call(crib, "list_dir", path=wild)
        await well(crib, "write_file", path="--version", content=wild)
        await well(crib, "edit_file", path="a.txt", edits=[{"old": "`touch pwned`", "new": wild}])
        await badly(crib, "shell", "tool.unknown", command="true")
    assert {Path(argv[0]).name for argv in started} <= {"rg"}
    assert not any(part.startswith("--pre") for argv in started for part in argv[: argv.index("--")] if "--" in argv)
    assert not (workspace.ws / "pwned").exists()

    monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", no_ripgrep)
    started.clear()
    async with opened(workspace.ws) as crib:
        await well(crib, "grep", pattern="touch")
    assert started == []


@pytest.mark.seed("S-toolkit-classes")
async def test_every_tool_is_of_one_of_the_four_classes(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        shown = {entry.name: entry.tool.descriptor.kind for item in crib.catalog.view().items for entry in item.entries}
        hints = {each["name"]: each["annotations"]["readOnlyHint"] for each in crib.render("mcp")}
    assert {name: shown[name] for name in TOOLKIT} == {
        **dict.fromkeys(("read_file", "list_dir", "grep", "glob", "fff_search"), "read"),
        **dict.fromkeys(("write_file", "edit_file"), "write"),
    }
    assert set(shown.values()) <= {"read", "write", "effect", "meta"}
    writers = {"write_file", "edit_file", "apply_patch", "move_file", "delete_file"}
    assert {name for name, read_only in hints.items() if not read_only} == writers


@pytest.mark.seed("S-toolkit-policy-always")
async def test_policy_always_runs_a_person_may_answer_and_the_leaf_runs_after_the_guard(
    workspace: Workspace, state: Path
) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\ntool = "never"\n')
    met: list[list[str]] = []
    async with open_crib(workspace.ws, mode="work", tools=[probe("never")]) as watching:

        async def run(word: str) -> str:
            met.append(await stages(watching, word))
            return word

        tools = [probe("act", run), probe("never", run), probe("look", run, kind="read", effect="read")]
        async with open_crib(workspace.ws, mode="work", tools=tools) as crib:
            for given in ("once", "always"):
                made = crib.make("never", {"word": "c0"}, given=given)
                outcome = await crib.submit(made, asker=person("always"))
                assert isinstance(outcome, Refused)
                assert outcome.name == "policy.denied"
            assert met == []
            waiting = await refused(crib, "act", "approval.unattended", word="c1")
            assert "judged" in await stages(crib, waiting)
            (approval,) = await crib.pending()
            await crib.answer(approval.id, decision="once", by="a person")
            await ok(crib, "act", call_id="c1", word="c1")
            assert met[0][-2:] == ["answered", "started"]
            look = await ok(crib, "look", word="c2")
            assert (await stages(crib, look))[:2] == ["received", "judged"]
