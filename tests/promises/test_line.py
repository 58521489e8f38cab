"""The line, seen from outside: what a caller may rely on for every call, whatever the tool."""

import asyncio
import itertools
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from calling import ok, opened, refused
from conftest import Workspace
from probing import Said, Word, marking, person, probe, stages
from shelved import child
from toolcrib import Answer, Approval, Crib, Ok, Outcome, Refusal, Refused, open_crib, tool
from toolcrib.ports.files import Files
from toolcrib.terms.names import BUILTIN
from toolcrib.terms.tool import Previewed, paths

pytestmark = pytest.mark.anyio

ORDER = ("received", "judged", "asked", "answered", "started", "closed")
SECRET = "hunter2-" + "correct-horse-battery"


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


def once(walked: list[str]) -> list[str]:
    """Return the stages with each run of one stage told once: an answer is taped when given and when used."""
    return [stage for stage, _ in itertools.groupby(walked)]


@pytest.mark.promise("P-line-order")
async def test_a_call_that_asks_walks_every_stage_with_the_tape_ahead_of_it(workspace: Workspace) -> None:
    met: list[tuple[str, list[str]]] = []
    async with open_crib(workspace.ws, mode="work") as watching:

        async def meet(what: str) -> None:
            met.append((what, await stages(watching, "c1")))

        async def preview(_args: Word) -> Previewed:
            await meet("preview")
            return Previewed("deploy")

        async def run(word: str) -> str:
            await meet("run")
            return word

        async def yes(_approval: Approval) -> Any:
            await meet("ask")
            return await person("once")(_approval)

        tools = [probe("deploy", run, preview=preview)]
        async with open_crib(workspace.ws, mode="work", tools=tools, approver=yes) as crib:
            assert isinstance(await crib.call("deploy", call_id="c1"), Ok)
        await meet("end")
    assert [what for what, _ in met] == ["preview", "ask", "run", "end"]
    assert [once(found) for _, found in met] == [[], list(ORDER[:3]), list(ORDER[:5]), list(ORDER)]


@pytest.mark.promise("P-line-order")
@pytest.mark.promise("P-line-refused-unrun")
async def test_no_way_of_calling_skips_a_stage_and_what_is_refused_never_ran(workspace: Workspace, state: Path) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\ntool = "forbidden"\n')
    ran: list[str] = []
    tools = [probe("deploy", marking(ran)), probe("forbidden", marking(ran)), probe("off", marking(ran))]
    look = probe("look", marking(ran), kind="read", effect="read")
    (state / "config" / "toolcrib" / "disabled.json").write_text('["off"]', encoding="utf-8")
    expected: list[tuple[Any, str, str]] = []
    async with open_crib(workspace.ws, mode="ask", tools=[*tools, look]) as crib:

        async def tried(tool: str, args: dict[str, Any] | None = None, **options: Any) -> Outcome:
            asker = options.pop("asker", None)
            outcome = await crib.submit(crib.make(tool, args or {}, **options), asker=asker)
            expected.append((outcome.call_id, tool, outcome.name if isinstance(outcome, Refused) else "ok"))
            return outcome

        refusals = {
            "tool.unknown": await tried("nothing"),
            "tool.disabled": await tried("off"),
            "tool.not_in_profile": await tried("deploy", without=["deploy"]),
            "args.invalid": await tried("deploy", {"word": 3, "more": 1}),
            "policy.denied": await tried("forbidden", given="once"),
            "approval.unattended": await tried("deploy"),
            "approval.denied": await tried("deploy", {"word": "a"}, asker=person("deny", words="not today")),
            "file.outside": await tried("write_file", {"path": "../out/x", "content": "x"}, given="once"),
            "file.protected": await tried("write_file", {"path": ".git/x", "content": "x"}, given="once"),
            "file.missing": await tried("edit_file", _edit("gone", "0" * 64), given="once"),
        }
        by_flag = await tried("deploy", {"word": "b"}, given="deny")
        assert isinstance(by_flag, Refused)
        assert by_flag.name == "approval.denied"
        assert {name: each.name for name, each in refusals.items() if isinstance(each, Refused)} == {
            name: name for name in refusals
        }
        assert ran == []
        assert workspace.tree(workspace.ws) == {}
        for outcome in (by_flag, *refusals.values()):
            assert isinstance(outcome, Refused)
            assert outcome.happened == "no"
            assert "started" not in await stages(crib, outcome)
        assert isinstance(await tried("look"), Ok)
        assert isinstance(await tried("deploy", {"word": "c"}, given="once"), Ok)
        assert isinstance(await tried("deploy", {"word": "d"}, asker=person("once")), Ok)
        assert ran == ["ran"] * 3
        for call_id, name, ended in expected:
            walked = once(await stages(crib, call_id))
            assert walked == sorted(set(walked), key=ORDER.index), (name, ended)
            assert (walked[0], walked[-1]) == ("received", "closed")
            if ended == "ok":
                assert {"judged", "started"} <= set(walked)
                assert name == "look" or "answered" in walked


def _edit(path: str, digest: str, old: str = "one", new: str = "two") -> dict[str, Any]:
    return {"path": path, "digest": digest, "edits": [{"old": old, "new": new}]}


@pytest.mark.promise("P-line-started")
async def test_started_without_closed_stands_there_exactly_while_the_call_may_be_running(workspace: Workspace) -> None:
    asked, go, running, end = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(word: str) -> str:
        running.set()
        await end.wait()
        return word

    async def yes(approval: Approval) -> Any:
        asked.set()
        await go.wait()
        return await person("once")(approval)

    async with (
        opened(workspace.ws) as watching,
        open_crib(workspace.ws, mode="work", tools=[probe("deploy", run)], approver=yes) as crib,
    ):
        call = asyncio.create_task(crib.call("deploy", call_id="c1"))
        await asked.wait()
        assert "started" not in await stages(watching, "c1")
        go.set()
        await running.wait()
        assert (await stages(watching, "c1"))[-1] == "started"
        end.set()
        assert isinstance(await call, Ok)
        assert (await stages(watching, "c1"))[-2:] == ["started", "closed"]


DIES = """
import asyncio, os, sys
import anyio
from probing import person, probe
from toolcrib import open_crib

async def main(ws):
    asked = asyncio.Event()

    async def die(_word):
        await asked.wait()
        os.kill(os.getpid(), 9)

    async def approver(approval):
        if approval.call_id == "dead-started":
            return await person("once")(approval)
        asked.set()
        await asyncio.Event().wait()

    async with open_crib(ws, mode="work", tools=[probe("deploy", die)], approver=approver) as crib:
        calls = [crib.call("deploy", call_id=f"dead-{where}", word=where) for where in ("asked", "started")]
        await asyncio.gather(*calls)

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.timeout(60)
@pytest.mark.promise("P-line-started")
def test_a_process_that_dies_leaves_maybe_after_the_start_and_no_before_it(workspace: Workspace) -> None:
    with child(DIES, str(workspace.ws)) as process:
        said, _ = process.communicate(timeout=50)
        assert process.returncode == -9, said

    async def look() -> None:
        async with open_crib(workspace.ws) as crib:
            for where, happened in (("asked", "no"), ("started", "maybe")):
                entries = await crib.tape(call_id=f"dead-{where}")
                walked = [entry.stage for entry in entries]
                assert ("started" in walked) == (where == "started")
                assert walked.count("closed") == 1
                told = entries[-1].data["outcome"]
                assert (told["name"], told["happened"]) == ("call.interrupted", happened)

    anyio.run(look)


@pytest.mark.promise("P-line-digest")
async def test_what_runs_is_what_was_shown_even_if_the_callers_own_object_changes(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    edits = [{"old": "one", "new": "two"}]
    args: dict[str, Any] = {"path": "a.txt", "edits": edits}

    async def yes(approval: Approval) -> Any:
        assert "+two" in approval.diff
        edits[0]["new"] = "evil"
        edits.append({"old": "\n", "new": " worse\n"})
        args["path"] = "b.txt"
        return await person("once")(approval)

    async with opened(workspace.ws, mode="ask", approver=yes) as crib:
        digest = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        args["digest"] = digest
        outcome = await crib.submit(crib.make("edit_file", args))
        assert isinstance(outcome, Ok), str(outcome)
        assert [each.before for each in outcome.evidence.changed] == [digest]
    assert workspace.tree(workspace.ws) == {"a.txt": b"two\n"}


@pytest.mark.promise("P-line-digest")
async def test_a_file_that_changes_after_the_yes_is_not_what_was_approved(workspace: Workspace) -> None:
    async def yes(approval: Approval) -> Any:
        await to_thread.run_sync(workspace.write, "a.txt", "somebody else's\n")
        return await person("once")(approval)

    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws, mode="ask", approver=yes) as crib:
        args = {"path": "a.txt", "content": "mine\n", "overwrite_existing": True}
        outcome = await refused(crib, "write_file", "approval.stale", **args)
        assert "started" not in await stages(crib, outcome)
    assert workspace.read("a.txt") == b"somebody else's\n"


@pytest.mark.promise("P-line-duplicate")
async def test_a_repeated_id_gives_the_first_outcome_at_once_later_and_after_a_restart(workspace: Workspace) -> None:
    ran: list[str] = []
    running, end = asyncio.Event(), asyncio.Event()

    async def run(word: str) -> str:
        ran.append(word)
        running.set()
        await end.wait()
        return f"{word} {len(ran)}"

    tools = [probe("deploy", run)]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=person("once")) as crib:
        first = asyncio.create_task(crib.call("deploy", call_id="c1", word="first"))
        await running.wait()
        second = asyncio.create_task(crib.call("deploy", call_id="c1", word="second"))
        end.set()
        outcomes = [await first, await second, await crib.call("deploy", call_id="c1", word="third")]
        denied = await crib.call("write_file", call_id="c2", path="../x", content="x")
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=person("once")) as crib:
        outcomes.append(await crib.call("deploy", call_id="c1", word="fourth"))
        again = await crib.call("write_file", call_id="c2", path="fine.txt", content="x")
        assert (await stages(crib, "c1")).count("started") == 1
    assert [each.to_json() for each in outcomes] == [outcomes[0].to_json()] * 4
    assert [str(each) for each in outcomes] == ["first 1"] * 4
    assert ran == ["first"]
    assert again.to_json() == denied.to_json()
    assert workspace.tree(workspace.ws) == {}


@pytest.mark.promise("P-line-fault")
@pytest.mark.parametrize("place", ["footprint", "preview", "person"])
async def test_a_fault_before_the_tool_is_a_refusal_and_the_tool_never_ran(workspace: Workspace, place: str) -> None:
    ran: list[str] = []

    def pick(_args: object) -> tuple[str, ...]:
        if place == "footprint":
            raise RuntimeError("a defect")
        return ()

    async def preview(_args: Word) -> Previewed:
        if place == "preview":
            raise RuntimeError("a defect")
        return Previewed("deploy")

    async def asker(approval: Approval) -> Any:
        if place == "person":
            raise RuntimeError("a defect")
        return await person("once")(approval)

    tools = [probe("deploy", marking(ran), reads=pick, preview=preview)]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=asker) as crib:
        outcome = await refused(crib, "deploy", "call.fault")
        walked = await stages(crib, outcome)
        assert "started" not in walked
        assert walked[-1] == "closed"
        assert ran == []
        assert "Traceback" not in str(outcome)
        await ok(crib, "list_dir")


@pytest.mark.promise("P-line-batch")
async def test_reads_side_by_side_run_at_once_all_else_is_a_barrier_and_results_keep_their_order(
    workspace: Workspace,
) -> None:
    workspace.write("a.txt", "one\n")
    met: list[str] = []
    both = {"left": asyncio.Event(), "right": asyncio.Event()}

    def meeting(mine: str, other: str) -> Any:
        async def does(word: str) -> str:
            both[mine].set()
            async with asyncio.timeout(10):
                await both[other].wait()
            met.append(f"{mine} {word}")
            return mine

        return probe(mine, does, kind="read", effect="read", origin=BUILTIN)

    tools = [meeting("left", "right"), meeting("right", "left"), probe("act", marking(met, "act"), approval="never")]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=person("once")) as crib:
        digest = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        found = await crib.batch(
            [
                ("left", {"word": "1"}),
                ("read_file", {"path": "a.txt"}),
                ("right", {"word": "1"}),
                ("edit_file", _edit("a.txt", digest or "")),
                ("nothing", {}),
                ("read_file", {"path": "a.txt"}),
                ("act", {}),
                ("left", {"word": "2"}),
            ]
        )
    assert [each.tool for each in found] == [
        *("left", "read_file", "right", "edit_file", "nothing", "read_file", "act", "left"),
    ]
    assert [each.kind for each in found] == ["ok", "ok", "ok", "ok", "refused", "ok", "ok", "ok"]
    assert set(met[:2]) == {"left 1", "right 1"}
    assert met[2:] == ["act", "left 2"]
    before, after = found[1].payload, found[5].payload
    assert before is not None
    assert after is not None
    assert (before["lines"], after["lines"]) == (["one"], ["two"])


class Typed(Word):
    """One parameter of each plain type."""

    number: int = 0
    share: float = 0.0
    yes: bool = False
    names: tuple[str, ...] = ()


@pytest.mark.promise("P-line-coercion")
async def test_only_lossless_coercions_are_made(workspace: Workspace) -> None:
    got: list[Typed] = []

    async def body(args: Typed) -> Answer[Said]:
        got.append(args)
        return Answer(Said(said=""))

    typed = tool(kind="read", effect="read", name="typed", description="Takes types.")(body)
    kept: list[tuple[str, Any, Any]] = [
        ("number", "3", 3),
        ("number", 3.0, 3),
        ("number", "-7", -7),
        ("number", 10**15, 10**15),
        ("share", "0.5", 0.5),
        ("share", 2, 2.0),
        ("yes", "true", True),
        ("yes", "false", False),
        ("names", ["a", "b"], ("a", "b")),
    ]
    lossy: list[tuple[str, Any]] = [
        *(("number", value) for value in ("3.5", 3.5, "three", "", [3], "0x10", 1e300)),
        *(("share", value) for value in ("half", [1.0], "1,5")),
        *(("yes", value) for value in (2, "maybe", -1, "", [1])),
        *(("names", value) for value in ("a b", "a", [1], {"a": 1})),
        *(("word", value) for value in (3, True, 1.5, ["a"], {"a": 1})),
    ]
    async with open_crib(workspace.ws, mode="work", tools=[typed]) as crib:
        for name, given, wanted in kept:
            await ok(crib, "typed", **{name: given})
            found = getattr(got[-1], name)
            assert (found, type(found)) == (wanted, type(wanted)), (name, given)
        for name in ("number", "share", "yes", "names", "word"):
            await ok(crib, "typed", **{name: None})
            assert getattr(got[-1], name) == typed.parameters.model_fields[name].default, "null is as if left out"
        count = len(got)
        for name, given in lossy:
            outcome = await refused(crib, "typed", "args.invalid", **{name: given})
            assert name in outcome.message, outcome.message
        assert len(got) == count


@pytest.mark.promise("P-line-bounds")
async def test_an_answer_without_bounds_is_complete_and_each_cut_or_skip_is_named(
    workspace: Workspace, state: Path
) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "denied/**"\n[search]\nmax_file = 100000\n')
    for number in range(5):
        workspace.write(f"src/{number}.txt", "needle\n" * 3)
    async with opened(workspace.ws, mode="ask") as crib:
        whole = [
            await ok(crib, "read_file", path="src/1.txt"),
            await ok(crib, "grep", pattern="needle", path="src"),
            await ok(crib, "glob", pattern="**/*"),
            await ok(crib, "list_dir", depth=3),
        ]
        assert [bool(each.bounds) for each in whole] == [False] * 4
        assert whole[0].payload["lines"] == ["needle"] * 3
        assert len(whole[1].payload["matches"]) == whole[1].payload["total"] == 15
        assert len(whole[2].payload["paths"]) == 5
        assert len(whole[3].payload["entries"]) == 6
    workspace.write("long.txt", "x\n" * 2500)
    workspace.write("wide.txt", "needle " + "y" * 9000 + "\n")
    workspace.write("large.txt", "needle\n" * 20_000)
    workspace.write("bin", b"needle\0\x01\xff" * 100)
    workspace.write("denied/a.txt", "needle\n")
    workspace.write("skipped/a.txt", "needle\n")
    workspace.write(".gitignore", "skipped/\n")
    async with opened(workspace.ws, mode="ask") as crib:
        long = await ok(crib, "read_file", path="long.txt")
        wide = await ok(crib, "read_file", path="wide.txt")
        found = await ok(crib, "grep", pattern="needle", limit=10_000)
        cut = await ok(crib, "grep", pattern="needle", limit=2)
        globbed = await ok(crib, "glob", pattern="**/*", limit=3)
        listed = await ok(crib, "list_dir", limit=2)
    assert (long.bounds.truncated, len(long.payload["lines"])) == (True, 2000)
    assert wide.bounds.clipped_lines == 1
    assert (found.bounds.skipped_binary, found.bounds.skipped_large, found.bounds.skipped_denied) == (1, 1, 1)
    assert found.bounds.skipped_ignored >= 1
    assert found.bounds.clipped_lines == 1
    assert len(found.payload["matches"]) == 16
    for each in (cut, globbed, listed):
        assert each.bounds.truncated
        assert each.bounds.next_cursor
        assert f"cursor={each.bounds.next_cursor}" in str(each)
    assert "500 more lines" in str(long)
    assert "clipped" in str(wide)
    for words in ("1 binary", "1 too large", "1 denied", "1 ignored", "clipped"):
        assert words in str(found), words


@pytest.mark.promise("P-line-refusal-text")
async def test_a_refusal_tells_no_secret_no_traceback_and_no_path_outside(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    os.symlink(workspace.out / "canary", workspace.ws / "away")
    os.symlink(workspace.out, workspace.ws / "dir")

    async def breaks(_word: str) -> str:
        raise RuntimeError(f"cannot log in with {SECRET} at {workspace.out}")

    async def refuses(_word: str) -> str:
        raise Refusal("net.failed", f"the server said no to {SECRET}", hint=f"try another than {SECRET}")

    tools = [
        probe("breaks", breaks, kind="read", effect="read"),
        probe("refuses", refuses, kind="read", effect="read"),
    ]
    async with open_crib(workspace.ws, mode="work", tools=tools) as crib:
        outcomes: list[Refused] = []
        for name, args in (
            ("breaks", {}),
            ("refuses", {}),
            ("read_file", {"path": "away"}),
            ("read_file", {"path": "dir/canary"}),
            ("write_file", {"path": "dir/new", "content": "x"}),
            ("list_dir", {"path": "dir"}),
            ("read_file", {"path": f"keys/{SECRET}"}),
            ("edit_file", {**_edit("a", "0" * 64), "more": SECRET}),
            ("grep", {"pattern": f"({SECRET}", "mode": "regex"}),
        ):
            outcome = await crib.submit(crib.make(name, args))
            assert isinstance(outcome, Refused), str(outcome)
            outcomes.append(outcome)
        tape = await crib.tape(limit=1000)
    assert [each.name for each in outcomes[:2]] == ["call.fault", "net.failed"]
    told = "\n".join([*(f"{each}\n{each.to_json()}" for each in outcomes), *(repr(dict(each.data)) for each in tape)])
    assert SECRET not in told
    assert "Traceback" not in told
    assert ".py" not in told
    assert str(workspace.out) not in told


@pytest.mark.promise("P-line-spill")
async def test_a_large_result_is_an_artifact_that_is_read_in_slices_by_its_id(workspace: Workspace) -> None:
    text = "".join(f"line {number} \u00e9\n" for number in range(9000))

    async def tells(_word: str) -> str:
        return text

    tools = [probe("tells", tells, kind="read", effect="read")]
    async with open_crib(workspace.ws, mode="work", tools=tools) as crib:
        outcome = await ok(crib, "tells")
        spilled = outcome.bounds.spilled
        assert spilled is not None
        assert len(str(outcome)) < 10_000
        assert spilled in str(outcome)
        assert outcome.payload["size"] == len(text.encode())
        offset, slices = 0, list[str]()
        while True:
            part = (await ok(crib, "artifact_read", id=spilled, offset=offset, limit=50_000)).payload
            slices.append(part["content"])
            offset = part["end"]
            if offset >= part["size"]:
                break
        assert "".join(slices) == text
        assert len(slices) > 2
        held = await crib.artifact(spilled, offset=0, limit=1 << 20)
        assert held.data == text.encode()
        (hit,) = (await ok(crib, "artifact_read", id=spilled, pattern="line 8123 ")).payload["lines"]
        assert hit["line"] == 8124
    async with opened(workspace.ws) as crib:
        assert (await ok(crib, "artifact_read", id=spilled, limit=7)).payload["content"] == "line 0 "


@pytest.mark.promise("P-line-redaction")
async def test_one_redaction_set_covers_what_is_shown_taped_and_kept(
    workspace: Workspace, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    known = "ghp_" + "a1B2" * 9
    both = f"{SECRET} and {known}\n"
    workspace.write("keys.txt", both)
    seen: list[Approval] = []

    async def tells(word: str) -> str:
        return f"{both}{word}" * 2000

    tools = [probe("tells", tells, kind="read", effect="read")]
    async with open_crib(workspace.ws, mode="ask", tools=tools, approver=person("once", seen=seen)) as crib:
        read = await ok(crib, "read_file", path="keys.txt")
        found = await ok(crib, "grep", pattern="and")
        wrote = await ok(crib, "write_file", path="more.txt", content=both)
        spilled = await ok(crib, "tells", word=known)
        kept = await crib.artifact(spilled.bounds.spilled or "")
        tape = await crib.tape(limit=1000)
    shown = [f"{each}{each.to_json()}" for each in (read, found, wrote, spilled)]
    asked = [repr(each) for each in seen]
    for text in (*shown, *asked, kept.data.decode(), *(repr(dict(entry.data)) for entry in tape)):
        assert SECRET not in text
        assert known not in text
    for text in (*shown, *asked, kept.data.decode(), repr([dict(entry.data) for entry in tape])):
        assert "[redacted:" in text
    assert read.evidence.redactions >= 2
    assert workspace.read("more.txt") == both.encode()
    stored = b"".join(path.read_bytes() for path in (state / "state").rglob("*.sqlite*"))
    assert SECRET.encode() not in stored


@pytest.mark.promise("P-line-redaction")
async def test_what_a_person_and_the_tape_are_told_of_a_path_is_redacted_too(workspace: Workspace) -> None:
    known = "ghp_" + "a1B2" * 9
    seen: list[Approval] = []
    async with opened(workspace.ws, mode="ask", approver=person("deny", seen=seen)) as crib:
        outcome = await crib.call("write_file", path=f"{known}.txt", content="x\n")
        told = [repr(seen), f"{outcome}{outcome.to_json()}", repr([dict(each.data) for each in await crib.tape()])]
    assert [known in each for each in told] == [False] * 3


class Target(Word):
    """A file."""

    path: str


@pytest.mark.promise("P-line-fault")
async def test_a_fault_of_the_tool_itself_says_maybe_and_what_changed(workspace: Workspace) -> None:
    async def body(args: Target, files: Files) -> Answer[Said]:
        await files.write(args.path, b"half\n", expect=None)
        raise RuntimeError("a defect")

    own = tool(kind="write", effect="reversible", name="half", description="Half.", writes=paths("path"))(body)
    async with open_crib(workspace.ws, mode="work", tools=[own]) as crib:
        outcome = await crib.call("half", path="a.txt")
        assert isinstance(outcome, Refused)
        assert (outcome.name, outcome.happened) == ("call.fault", "yes")
        assert [each.path for each in outcome.evidence.changed] == ["a.txt"]
        assert (await _undo(crib)).kind == "ok"
    assert workspace.tree(workspace.ws) == {}


async def _undo(crib: Crib) -> Outcome:
    plan, _ = await crib.rewind_plan()
    return await crib.rewind(plan)


async def test_each_fault_of_a_list_is_told_once_in_the_words_of_json(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with opened(workspace.ws) as crib:

        async def said(edits: object) -> str:
            return (
                await refused(crib, "edit_file", "args.invalid", path="a.txt", digest="0" * 64, edits=edits)
            ).message

        wrong = await said([{"old": "a"}])
        assert wrong == "edits.0.new: required, and missing"
        assert (await said([])).startswith("edits: expected at least 1, found 0")
        assert "expected a list" in await said({"old": "a", "new": "b"})
        assert "uple" not in await said([{"old": "a", "new": "b"}] * 1001)
        zero = await refused(crib, "read_file", "args.invalid", path="a.txt", offset=0)
        assert zero.message.startswith("offset: lines count from 1")
