"""Asking a person, seen from a program."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from probing import marking, person, probe, stages
from toolcrib import Answered, Approval, Ok, Refusal, Refused, open_crib
from toolcrib.terms.call import Decision

pytestmark = pytest.mark.anyio


@pytest.mark.promise("P-approval-unattended")
async def test_without_anybody_a_question_is_stored_and_the_call_ends_at_once_with_its_id(workspace: Workspace) -> None:
    ran: list[str] = []
    async with open_crib(workspace.ws, mode="ask", tools=[probe("deploy", marking(ran))]) as crib:
        async with asyncio.timeout(5):
            outcome = await refused(crib, "deploy", "approval.unattended", word="a")
            wrote = await refused(crib, "write_file", "approval.unattended", path="a.txt", content="x\n")
        waiting = {each.tool: each for each in await crib.pending()}
        for each, tool in ((outcome, "deploy"), (wrote, "write_file")):
            assert waiting[tool].id in each.message
            assert waiting[tool].id[-8:] in each.hint
            assert waiting[tool].call_id == each.call_id
            assert (await stages(crib, each))[-2:] == ["asked", "closed"]
        assert "+x" in waiting["write_file"].diff
        again = await refused(crib, "deploy", "approval.unattended", word="a")
        assert waiting["deploy"].id in again.message
        assert len(await crib.pending()) == 2
    assert ran == []
    assert workspace.tree(workspace.ws) == {}
    async with open_crib(workspace.ws, mode="ask", tools=[probe("deploy", marking(ran))]) as crib:
        assert {each.tool for each in await crib.pending()} == {"deploy", "write_file"}
        await crib.answer(waiting["deploy"].id, decision="once", by="a person")
        await ok(crib, "deploy", word="a")
        await refused(crib, "deploy", "approval.unattended", word="a")
    assert ran == ["ran"]


@pytest.mark.invariant("I11")
async def test_a_yes_covers_one_call_as_shown_once_and_ends(workspace: Workspace) -> None:
    seen: list[Approval] = []
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws, mode="ask") as crib:
        args: dict[str, Any] = {"path": "a.txt", "content": "two\n", "overwrite_existing": True}
        await refused(crib, "write_file", "approval.unattended", **args)
        (waiting,) = await crib.pending()
        assert waiting.expires > waiting.created
        assert waiting.args["content"] == "two\n"
        assert "-one\n+two" in waiting.diff
        await crib.answer(waiting.id, decision="once", by="a person")
        await refused(crib, "write_file", "approval.unattended", **{**args, "content": "two \n"})
        done = await ok(crib, "write_file", **args)
        assert workspace.read("a.txt") == b"two\n"
        assert done.evidence.diff == waiting.diff
        workspace.write("a.txt", "one\n")
        await ok(crib, "read_file", path="a.txt")
        await refused(crib, "write_file", "approval.unattended", **args)
        attended = await crib.submit(crib.make("write_file", args), asker=person("deny", seen=seen, words="no"))
        assert isinstance(attended, Refused)
        assert workspace.read("a.txt") == b"one\n"


async def test_the_first_answer_stands(workspace: Workspace) -> None:
    async with opened(workspace.ws, mode="ask") as crib:
        await refused(crib, "write_file", "approval.unattended", path="a.txt", content="x\n")
        (waiting,) = await crib.pending()

        async def answer(decision: Any) -> str:
            try:
                return (await crib.answer(waiting.id, decision=decision, by=decision)).decision or ""
            except Refusal as late:
                return type(late).__name__

        told = await asyncio.gather(*(answer(each) for each in ("deny", "once", "deny", "once")))
        assert sorted(told)[:3] == ["Refusal"] * 3
        (decision,) = [each for each in told if each != "Refusal"]
        outcome = await crib.call("write_file", path="a.txt", content="x\n")
        assert isinstance(outcome, Ok) == (decision == "once")


@pytest.mark.case("B148")
async def test_a_second_answerer_is_told_what_settled_the_question_and_who(workspace: Workspace) -> None:
    async with opened(workspace.ws, mode="ask") as crib:
        for name, decision, told in (("a", "once", "yes, once"), ("b", "always", "yes, always"), ("c", "deny", "no")):
            outcome = await refused(crib, "write_file", "approval.unattended", path=name, content="x\n")
            (waiting,) = [each for each in await crib.pending() if each.call_id == outcome.call_id]
            await crib.answer(waiting.id, decision=decision, by="ann")  # pyright: ignore[reportArgumentType] - a tuple's
            with pytest.raises(Refusal, match=f"settled already: {told}, by ann$") as late:
                await crib.answer(waiting.id, decision="once", by="bob")
            assert late.value.name == "approval.stale"
        await ok(crib, "write_file", path="a", content="x\n")
        (taped,) = [each for each in await crib.tape(limit=1000) if each.data.get("consumed")][:1]
        with pytest.raises(Refusal, match="yes, once, by ann, and the yes was used"):
            await crib.answer(str(taped.data["approval"]), decision="deny", by="bob")


@pytest.mark.parametrize(("decision", "name"), [("once", ""), ("always", ""), ("deny", "approval.denied")])
async def test_an_answer_from_elsewhere_ends_the_question_here(
    workspace: Workspace, decision: Decision, name: str
) -> None:
    ended: list[str] = []
    elsewhere: list[asyncio.Future[Approval]] = []

    async def nobody(approval: Approval) -> Answered:
        answering = asyncio.ensure_future(other.answer(approval.id, decision=decision, words="from afar", by="ann"))
        elsewhere.append(answering)
        try:
            return await asyncio.Future[Answered]()
        except asyncio.CancelledError as gone:
            ended.extend(map(str, gone.args))
            raise

    async with opened(workspace.ws, mode="ask") as crib, opened(workspace.ws, mode="ask") as other:
        made = crib.make("write_file", {"path": "a.txt", "content": "x\n"})
        outcome = await crib.submit(made, asker=nobody)
        await asyncio.gather(*elsewhere)
        assert isinstance(outcome, Refused) == bool(name), str(outcome)
        assert not isinstance(outcome, Refused) or (outcome.name == name and "from afar" in outcome.message)
        assert len(await crib.grants()) == (decision == "always")
    assert ended == [f"answered elsewhere: {'no' if decision == 'deny' else f'yes, {decision}'}, by ann"]


async def test_an_answer_that_comes_too_late_gives_way_to_the_first(workspace: Workspace) -> None:
    async def late(approval: Approval) -> Answered:
        async with opened(workspace.ws, mode="ask") as other:
            await other.answer(approval.id, decision="deny", words="no", by="ann")
        return Answered("once", by="bob")

    async with opened(workspace.ws, mode="ask") as crib:
        outcome = await crib.submit(crib.make("write_file", {"path": "a.txt", "content": "x\n"}), asker=late)
        assert isinstance(outcome, Refused)
        assert outcome.name == "approval.denied"
    assert not (workspace.ws / "a.txt").exists()


async def test_of_two_same_calls_that_wait_for_one_yes_one_runs_and_the_other_is_told(workspace: Workspace) -> None:
    ran: list[str] = []
    both = asyncio.Event()
    seen: list[Approval] = []

    async def waits(approval: Approval) -> Answered:
        seen.append(approval)
        if len(seen) == 2:
            both.set()
        await both.wait()
        return Answered("once", by="ann")

    async with open_crib(workspace.ws, mode="ask", tools=[probe("deploy", marking(ran))], approver=waits) as crib:
        outcomes = await asyncio.gather(crib.call("deploy", word="a"), crib.call("deploy", word="a"))
    assert len(ran) == sum(isinstance(each, Ok) for each in outcomes)
    assert 1 <= len(ran) <= len({each.id for each in seen})
    for each in outcomes:
        assert isinstance(each, Ok) or each.name == "approval.stale", str(each)


@pytest.mark.promise("P-approval-always")
async def test_always_stores_the_pattern_that_was_shown_and_is_not_offered_where_it_would_do_nothing(
    workspace: Workspace, state: Path
) -> None:
    (state / "config" / "toolcrib").mkdir()
    rule = '[[policy.rules]]\nrule = "ask"\npath = "exact.txt"\n[[policy.rules]]\nrule = "ask"\npath = "docs/**"\n'
    (state / "config" / "toolcrib" / "config.toml").write_text(rule, encoding="utf-8")
    seen: list[Approval] = []
    async with opened(workspace.ws, mode="work", approver=person("always", seen=seen)) as crib:
        for path in ("exact.txt", ".mcp.json", "docs/[x] y.txt"):
            await ok(crib, "write_file", path=path, content="x\n")
        (grant,) = await crib.grants()
        assert [each.grantable for each in seen] == [False, False, True]
        assert seen[2].pattern == grant.pattern == "docs/\\[x\\]\\ y.txt"
    async with opened(workspace.ws, mode="work") as crib:
        again = {"content": "y\n", "overwrite_existing": True}
        await ok(crib, "write_file", path="docs/[x] y.txt", **again)
        for path in ("exact.txt", "docs/x y.txt", ".mcp.json"):
            await refused(crib, "write_file", "approval.unattended", path=path, **again)


async def test_a_path_that_holds_a_secret_is_never_granted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    async with opened(workspace.ws, mode="ask", approver=person("always")) as crib:
        await ok(crib, "write_file", path="hunter2hunter2.txt", content="x\n")
        assert await crib.grants() == []
        assert [each for each in await crib.tape(limit=1000) if each.stage == "config"] == []


async def test_a_call_that_names_no_path_is_asked_about_by_its_arguments(workspace: Workspace) -> None:
    seen: list[Approval] = []
    tools = [probe("deploy")]
    async with open_crib(workspace.ws, mode="ask", tools=tools, approver=person("deny", seen=seen)) as crib:
        await refused(crib, "deploy", "approval.denied", word="production")
        await refused(crib, "deploy", "approval.denied", word="w" * 5000)
    assert seen[0].subject == ""
    assert seen[0].headline == 'deploy word="production"'
    assert len(seen[1].headline) < 250
    assert seen[1].args == {"word": "w" * 5000}
