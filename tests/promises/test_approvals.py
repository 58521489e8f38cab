"""Asking a person, seen from a program."""

import asyncio
from typing import Any

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from probing import marking, person, probe, stages
from toolcrib import Approval, Ok, Refusal, Refused, open_crib

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
