"""The program's way in: opening a crib, its outcomes, its own tools, the bench and the fakes."""

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

import toolcrib
from calling import ok, opened, refused
from conftest import Workspace
from probing import Said, Word, person, probe, stages
from shelved import Hands, at
from toolcrib import Answer, Approval, Ok, Refusal, Refused, open_crib, tool
from toolcrib.ports.artifacts import Artifacts
from toolcrib.ports.blobs import Blobs
from toolcrib.ports.clock import Clock
from toolcrib.ports.files import Files
from toolcrib.ports.scope import Scope
from toolcrib.terms.tool import paths
from toolcrib.testing import bench
from toolcrib.testing.fakes import ManualClock, MemoryArtifacts, MemoryBlobs, MemoryFiles
from toolcrib.wiring.clock import SystemClock

pytestmark = pytest.mark.anyio


def openai(tools: Any) -> dict[str, Any]:
    return {each["function"]["name"]: each["function"]["parameters"] for each in tools if each["type"] == "function"}


def anthropic(tools: Any) -> dict[str, Any]:
    return {each["name"]: each["input_schema"] for each in tools}


def gemini(tools: Any) -> dict[str, Any]:
    (one,) = tools
    return {each["name"]: each["parametersJsonSchema"] for each in one["functionDeclarations"]}


def mcp(tools: Any) -> dict[str, Any]:
    return {each["name"]: each["inputSchema"] for each in tools}


PROVIDERS: dict[Any, Callable[[Any], dict[str, Any]]] = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "mcp": mcp,
}


@pytest.mark.promise("P-python-crib")
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_program_opens_a_crib_offers_its_tools_to_a_model_and_calls_what_the_model_chose(
    workspace: Workspace, provider: Any
) -> None:
    workspace.write("a.txt", "one\n")
    async with toolcrib.open_crib(str(workspace.ws), mode="work") as crib:
        offered = json.loads(json.dumps(PROVIDERS[provider](crib.render(provider))))
        assert {"read_file", "edit_file", "grep", "glob"} <= set(offered)
        assert set(offered["read_file"]["properties"]) == {"path", "offset", "limit"}
        assert "path" in offered["read_file"]["required"]
        assert "read_file" in crib.overview()
        outcome = await crib.call("read_file", path="a.txt")
        assert isinstance(outcome, toolcrib.Ok)
        both = await crib.batch([("grep", {"pattern": "one"}), ("read_file", {"path": "missing"})])
        assert [each.kind for each in both] == ["ok", "refused"]
        assert crib.root == workspace.ws.resolve()
        assert (await crib.verify()).broken is None


@pytest.mark.promise("P-python-outcome")
async def test_an_outcome_has_the_attributes_of_its_json_form_and_reads_as_a_model_reads_it(
    workspace: Workspace,
) -> None:
    workspace.write("a.txt", "one\n")
    workspace.write("bin", b"one\0" * 99)
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="a.txt")).evidence.digest
        outcomes = [
            await crib.call("read_file", path="a.txt"),
            await crib.call("grep", pattern="one"),
            await crib.call("edit_file", path="a.txt", digest=digest, edits=[{"old": "one", "new": "two"}]),
            await crib.call("read_file", path="missing"),
            await crib.call("edit_file", path="a.txt", digest=digest, edits=[{"old": "none", "new": "x"}]),
        ]
        closed = {each.call_id: each.data for each in await crib.tape(limit=1000) if each.stage == "closed"}
    for outcome in outcomes:
        form = json.loads(json.dumps(outcome.to_json()))
        assert set(form) <= {each.name for each in fields(outcome)}
        for name in set(form) - {"bounds", "evidence"}:
            assert form[name] == json.loads(json.dumps(getattr(outcome, name))), name
        for part in ("bounds", "evidence"):
            for name, value in form[part].items():
                if name != "changed":
                    held = getattr(getattr(outcome, part), name)
                    assert value == json.loads(json.dumps(held)), name
        assert str(outcome) == outcome.text == closed[outcome.call_id]["text"]
        assert form == closed[outcome.call_id]["outcome"]
    assert "one" in str(outcomes[0])
    assert outcomes[1].bounds.skipped_binary == 1
    assert [each.path for each in outcomes[2].evidence.changed] == ["a.txt"]
    assert str(outcomes[3]).startswith("refused file.missing: ")
    assert isinstance(outcomes[3], Refused)
    assert outcomes[3].hint in str(outcomes[3])


class Move(toolcrib.Arguments):
    """Parameters of `shout`."""

    path: str
    to: str


@pytest.mark.promise("P-python-own")
async def test_ones_own_tool_walks_the_same_line_as_every_other(workspace: Workspace, state: Path) -> None:
    (state / "config" / "toolcrib").mkdir()
    deny = '[[policy.rules]]\nrule = "deny"\npath = "secrets/**"\n'
    (state / "config" / "toolcrib" / "config.toml").write_text(deny, encoding="utf-8")
    for path in ("a.txt", "secrets/a.txt"):
        workspace.write(path, "one\n")
    os.symlink(workspace.out, workspace.ws / "away")

    @tool(kind="write", effect="reversible", reads=paths("path"), writes=paths("to"))
    async def shout(args: Move, files: Files) -> Answer[Said]:
        """Write a file in capitals. It makes one."""
        loaded = await files.load(args.path, most=1 << 20)
        where = "b.txt" if args.to == "sneaky" else args.to
        await files.write(where, loaded.data.upper(), expect=None)
        return Answer(Said(said=where))

    seen: list[Approval] = []
    async with open_crib(workspace.ws, mode="ask", tools=[shout], approver=person("once", seen=seen)) as crib:
        (rendered,) = [each for each in crib.render("mcp") if each["name"] == "shout"]
        assert set(rendered["inputSchema"]["properties"]) == {"path", "to"}
        assert "shout — Write a file in capitals." in crib.overview()
        done = await ok(crib, "shout", path="a.txt", to="loud.txt")
        assert [each.subject for each in seen] == ["loud.txt a.txt"]
        assert [each.path for each in done.evidence.changed] == ["loud.txt"]
        walked = await stages(crib, done)
        assert (walked[0], walked[-2:]) == ("received", ["started", "closed"])
        plan, diff = await crib.rewind_plan(done.call_id)
        assert "-ONE" in diff
        assert isinstance(await crib.rewind(plan), Ok)
        assert not (workspace.ws / "loud.txt").exists()
        await refused(crib, "shout", "args.invalid", path="a.txt")
        for args, name in (
            ({"path": "secrets/a.txt", "to": "x"}, "policy.denied"),
            ({"path": "a.txt", "to": "secrets/x"}, "policy.denied"),
            ({"path": "a.txt", "to": "../out/x"}, "file.outside"),
            ({"path": "away/canary", "to": "x"}, "file.outside"),
            ({"path": "a.txt", "to": ".git/x"}, "file.protected"),
        ):
            await refused(crib, "shout", name, **args)
        sneaky = await crib.call("shout", path="a.txt", to="sneaky")
        assert isinstance(sneaky, Refused), str(sneaky)
        assert not (workspace.ws / "b.txt").exists()
    assert set(workspace.tree()) == {"canary"}


@pytest.mark.promise("P-python-own")
async def test_a_tool_that_asks_for_a_power_that_is_not_there_is_listed_as_unavailable(workspace: Workspace) -> None:
    class Nothing:
        """No power."""

    @tool(kind="read", effect="read")
    async def wishes(args: Word, power: Nothing) -> Answer[Said]:
        """Wish."""
        return Answer(Said(said=f"{args}{power}"))

    async with open_crib(workspace.ws, mode="work", tools=[wishes]) as crib:
        assert "wishes" not in {each["name"] for each in crib.render("mcp")}
        assert isinstance(outcome := await crib.call("wishes"), Refused)
        assert outcome.name == "tool.unavailable"


@pytest.mark.promise("P-python-bench")
async def test_the_first_test_of_a_tool_is_three_lines_and_touches_nothing_of_the_persons(state: Path) -> None:
    before = sorted(state.rglob("*"))
    async with bench({"a.txt": "one two"}) as crib:
        outcome = await crib.call("read_file", path="a.txt")
        assert outcome.payload is not None
        assert outcome.payload["lines"] == ["one two"]
    assert sorted(state.rglob("*")) == before
    assert not crib.root.parent.exists()


@pytest.mark.promise("P-python-bench")
async def test_the_bench_takes_tools_modes_and_a_person_and_is_the_real_line() -> None:
    async with bench({"sub/a.bin": b"\0"}, tools=[probe("act")], mode="ask", approver=person("deny")) as crib:
        await refused(crib, "act", "approval.denied")
        await refused(crib, "read_file", "file.outside", path="../x")
        await refused(crib, "read_file", "file.binary", path="sub/a.bin")
        assert (await crib.verify()).broken is None
        assert len(await crib.tape()) > 6
    async with bench(mode="read-only", without=["grep"]) as crib:
        assert not {"grep", "write_file"} & {each["name"] for each in crib.render("mcp")}


async def said(doing: Callable[[], Awaitable[Any]]) -> str:
    """Return what came of it, or the name of the refusal."""
    try:
        return repr(await doing())
    except Refusal as refusal:
        return refusal.name


@pytest.mark.promise("P-python-crib")
async def test_a_wrong_name_of_a_mode_a_provider_or_a_tool_is_told_with_the_right_ones(workspace: Workspace) -> None:
    wrong: Any = "wrk"
    with pytest.raises(toolcrib.ConfigError, match="no mode 'wrk'") as caught:
        async with open_crib(workspace.ws, mode=wrong):
            pass
    assert caught.value.__notes__ == ["next: Known modes: locked, ask, work, read-only."]
    bare: Any = [said]
    with pytest.raises(TypeError, match=r"is no tool; put @toolcrib\.tool"):
        async with open_crib(workspace.ws, tools=bare):
            pass
    provider: Any = "opnai"
    async with opened(workspace.ws) as crib:
        outcome = await ok(crib, "list_dir")
        with pytest.raises(toolcrib.ConfigError, match="no provider 'opnai'; nearest: 'openai'"):
            crib.render(provider)
        with pytest.raises(toolcrib.ConfigError, match="no provider 'opnai'"):
            await crib.replies(provider, [])
        with pytest.raises(toolcrib.ConfigError, match="no provider 'opnai'"):
            outcome.render(provider)
        before = len(await crib.tape())
        here: Any = Path("a.txt")
        told = await refused(crib, "read_file", "args.invalid", path=here)
        assert told.message == f"path: expected JSON, found {type(here).__name__}; pass str() of it"
        assert len(await crib.tape()) > before


@pytest.mark.promise("P-python-crib")
@pytest.mark.parametrize("what", ["reads", "writes", "replaces"])
def test_a_picker_of_a_field_that_there_is_none_of_is_refused_where_the_tool_is_declared(what: Any) -> None:
    async def odd(args: Word) -> Answer[Said]:
        """Take a word."""
        return Answer(Said(said=args.word))

    declared: Any = {what: paths("wrod")}
    with pytest.raises(TypeError, match=rf"odd: {what} picks 'wrod', and the arguments are: word"):
        tool(kind="write", **declared)(odd)


@pytest.mark.promise("P-python-crib")
@pytest.mark.parametrize("given", ["text", None, Said(said="x")], ids=["text", "nothing", "a payload"])
async def test_a_tool_that_returns_no_answer_is_named_with_what_it_returned(given: Any) -> None:
    @tool(kind="read", effect="read")
    async def odd(args: Word) -> Answer[Said]:
        """Return what is no answer."""
        return given

    async with bench(tools=[odd]) as crib:
        outcome = await refused(crib, "odd", "call.fault")
    assert outcome.message.startswith(f"odd returned {type(given).__name__} where a tool returns an Answer")


@pytest.mark.promise("P-python-crib")
async def test_a_crib_that_was_closed_answers_that_it_is_closed(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        await ok(crib, "list_dir")
    outcome = await refused(crib, "write_file", "store.unavailable", path="a.txt", content="x")
    assert "closed" in outcome.message
    assert outcome.hint == "Open it again."
    assert not (workspace.ws / "a.txt").exists()


async def asked_of_files(files: Files) -> list[str]:
    first = await files.load("a.txt", most=1000)
    doings: list[Callable[[], Awaitable[Any]]] = [
        lambda: files.load("a.txt", most=1000),
        lambda: files.load("a.txt", most=1),
        lambda: files.load("missing", most=1000),
        lambda: files.load("../out", most=1000),
        lambda: files.place("sub/b.txt", digest=True),
        lambda: files.window("a.txt", offset=2, limit=1, most_bytes=1000, line_chars=2),
        lambda: files.write("a.txt", b"new\n", expect="0" * 64),
        lambda: files.write("other.txt", b"new\n", expect=None),
        lambda: files.write("a.txt", b"new\n", expect=None),
        lambda: files.write("a.txt", b"new\n", expect=first.digest),
        lambda: files.write("deep/new.txt", b"new\n", expect=None),
        lambda: files.load("a.txt", most=1000),
    ]
    return [await said(doing) for doing in doings]


WRITES = ("a.txt", "deep/new.txt")


@pytest.mark.promise("P-python-fakes")
async def test_files_in_memory_answer_a_tool_as_the_real_ones_do() -> None:
    content = {"a.txt": "one\ntwo\n", "sub/b.txt": "three\n"}
    real: list[str] = []

    @tool(kind="write", effect="reversible", writes=lambda _args: WRITES)
    async def asks(args: Word, files: Files) -> Answer[Said]:
        """Ask."""
        real.extend(await asked_of_files(files))
        return Answer(Said(said=args.word))

    async with bench(content, tools=[asks]) as crib:
        await ok(crib, "asks")
    fake = MemoryFiles()
    for path, text in content.items():
        fake.put(path, text.encode())
    assert await asked_of_files(fake.bound(Scope(writes=frozenset(WRITES)))) == real
    assert len(set(real)) > 8


async def asked_of_store(blobs: Blobs, artifacts: Artifacts) -> list[str]:
    digest = await blobs.put(b"one")
    kept = await artifacts.put("one \u00e9\ntwo\n".encode() * 3, media="text/plain")
    doings: list[Callable[[], Awaitable[Any]]] = [
        lambda: blobs.put(b"one"),
        lambda: blobs.get(digest),
        lambda: blobs.get("0" * 64),
        lambda: artifacts.read(kept.id, offset=3, limit=5),
        lambda: artifacts.read(kept.id, offset=1000, limit=5),
        lambda: artifacts.read("nothing", offset=0, limit=5),
        lambda: artifacts.search(kept.id, "two", limit=2),
    ]
    return [digest, repr(kept), *[await said(doing) for doing in doings]]


@pytest.mark.promise("P-python-fakes")
async def test_blobs_and_artifacts_in_memory_answer_as_the_stores_do(tmp_path: Path) -> None:
    async with at(tmp_path / "kept", Hands()) as store:
        real = await asked_of_store(store.blobs, store.artifacts)
    assert await asked_of_store(MemoryBlobs(), MemoryArtifacts()) == real
    assert "snapshot.missing" in real
    assert "artifact.missing" in real


@pytest.mark.promise("P-python-fakes")
async def test_the_manual_clock_reads_like_the_systems_and_moves_by_hand() -> None:
    manual = ManualClock()
    for clock in (manual, SystemClock()):
        read: Clock = clock
        first = (read.now(), read.monotonic())
        await to_thread.run_sync(lambda: None)
        second = (read.now(), read.monotonic())
        assert all(isinstance(value, float) for value in (*first, *second))
        assert second[1] >= first[1]
    before = (manual.now(), manual.monotonic())
    manual.advance(60)
    assert (manual.now() - before[0], manual.monotonic() - before[1]) == (60, 60)
