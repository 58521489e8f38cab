"""Approvals through an MCP client: only where a person marked it, by forms, on both revisions; and nothing by lying."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitRequestFormParams, ElicitResult

from conftest import Workspace
from toolcrib import open_crib
from wired import REVISIONS, Mode, client, lines, served, stages, structured, tape_of, text_of

pytestmark = pytest.mark.anyio

both = pytest.mark.parametrize("mode", REVISIONS)
WRITE = {"path": "new.txt", "content": "hello\n"}


@pytest.fixture
def marked(state: Path) -> None:
    """Mark the client that the tests connect as an approver, as a person does in the configuration."""
    config = state / "config" / "toolcrib"
    config.mkdir(mode=0o700, parents=True)
    (config / "config.toml").write_text("[approvers]\nmcp = true\nlines = true\n")


class Person:
    """Fills in forms as told, and keeps what was asked."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.asked: list[ElicitRequestFormParams] = []
        self._answers = list(answers)

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self._answers.pop(0)


def says(decision: str, words: str = "") -> ElicitResult:
    """Return a filled-in form."""
    return ElicitResult(action="accept", content={"decision": decision, "words": words})


@both
@pytest.mark.promise("P-gate-elicits")
async def test_a_marked_client_asks_its_person_and_a_yes_runs_the_call_once(
    workspace: Workspace, mode: Mode, marked: None
) -> None:
    person = Person(says("once"), says("deny", "not that one"))
    async with client(served(workspace.ws), mode, elicitation_callback=person) as connected:
        done = await connected.call_tool("write_file", WRITE)
        assert not done.is_error, done
        assert workspace.read("new.txt") == b"hello\n"
        again = await connected.call_tool("write_file", {"path": "other.txt", "content": "x\n"})
        assert again.is_error
        assert structured(again)["name"] == "approval.denied"
        assert "not that one" in text_of(again)
    assert not (workspace.ws / "other.txt").exists()
    assert "new.txt" in person.asked[0].message
    assert "+hello" in person.asked[0].message
    assert "every later write_file on exactly new.txt" in person.asked[0].message
    assert person.asked[0].requested_schema["properties"]["decision"]["enum"] == ["once", "always", "deny"]
    tape = await tape_of(workspace.ws)
    answers = [entry.data for entry in tape if entry.stage == "answered" and entry.data.get("by")]
    assert {each["by"] for each in answers} == {"mcp:mcp"}
    assert stages(tape, "write_file")[-1][-1] == "closed"


@both
async def test_always_makes_a_grant_and_the_next_call_like_it_is_not_asked(
    workspace: Workspace, mode: Mode, marked: None
) -> None:
    person = Person(says("always"))
    async with client(served(workspace.ws), mode, elicitation_callback=person) as connected:
        assert not (await connected.call_tool("write_file", WRITE)).is_error
        more = {**WRITE, "content": "other\n", "overwrite_existing": True}
        assert not (await connected.call_tool("write_file", more)).is_error
    assert len(person.asked) == 1
    assert workspace.read("new.txt") == b"other\n"


@both
@pytest.mark.promise("P-approval-elicit")
async def test_a_client_that_is_not_marked_is_never_asked(workspace: Workspace, mode: Mode) -> None:
    person = Person(says("once"))
    async with client(served(workspace.ws), mode, elicitation_callback=person) as connected:
        refused = await connected.call_tool("write_file", WRITE)
    assert structured(refused)["name"] == "approval.unattended"
    assert structured(refused)["payload"]["approval"]
    assert not person.asked
    assert not (workspace.ws / "new.txt").exists()


@both
async def test_a_dismissed_or_senseless_form_is_no_answer_and_the_approval_waits(
    workspace: Workspace, mode: Mode, marked: None
) -> None:
    odd = [
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={"decision": "yes please"}),
        ElicitResult(action="accept", content={}),
    ]
    person = Person(*odd, *odd)
    async with client(
        served(workspace.ws), mode, elicitation_callback=person, input_required_max_rounds=1
    ) as connected:
        for _ in odd:
            try:
                outcome = await connected.call_tool("write_file", WRITE)
            except Exception as error:  # noqa: BLE001 - the client gives up after one round of the newer revision
                assert "round" in str(error).lower()
            else:
                assert structured(outcome)["name"] == "approval.unattended"
    assert not (workspace.ws / "new.txt").exists()
    async with open_crib(workspace.ws) as crib:
        assert len(await crib.pending()) == 1


@both
@pytest.mark.attack("A105", "forms")
async def test_a_form_shows_what_would_hide(workspace: Workspace, mode: Mode, marked: None) -> None:
    person = Person(ElicitResult(action="decline"))
    hidden = "safe\u202e\x1b[2K\r" + " " * 10_000 + "rm -rf\u200b\n"
    async with client(served(workspace.ws), mode, elicitation_callback=person) as connected:
        refused = await connected.call_tool("write_file", {"path": "new.txt", "content": hidden})
    assert structured(refused)["name"] == "approval.denied"
    message = person.asked[0].message
    assert "rm -rf" in message
    assert "<10,000 blanks>" in message
    assert not {"\x1b", "\r", "\u202e", "\u200b"} & set(message)


NONE_AT_ALL: dict[str, dict[str, Any]] = {
    "cannot": {"error": {"code": -32601, "message": "Method not found"}},
    "nothing": {"result": None},
    "a list": {"result": []},
    "an error that is none": {"error": 5},
    "both": {"result": {"action": "accept", "content": {"decision": "once"}}, "error": {"code": 1, "message": "x"}},
}
"""What a client answers that is no answer by the protocol."""


@pytest.mark.parametrize("what", NONE_AT_ALL)
async def test_a_client_that_claims_forms_and_cannot_leaves_the_approval_waiting(
    workspace: Workspace, marked: None, what: str
) -> None:
    async with lines(served(workspace.ws)) as wire:
        asked: dict[str, Any] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "lines", "version": "1"},
        }
        await wire.ask("initialize", asked)
        wire.say({"method": "notifications/initialized"})
        wire.say({"id": 77, "method": "tools/call", "params": {"name": "write_file", "arguments": WRITE}})
        while (heard := await wire.hear()) is not None and heard.get("method") != "elicitation/create":
            pass
        assert heard is not None
        wire.say({"id": heard["id"], **NONE_AT_ALL[what]})
        answer = await wire.answer(77)
        assert answer["result"]["structuredContent"]["name"] == "approval.unattended"
    assert not (workspace.ws / "new.txt").exists()


async def test_an_answer_from_elsewhere_ends_the_question(workspace: Workspace, marked: None) -> None:
    answered = anyio.Event()

    async def slow(_context: Any, _params: Any) -> ElicitResult:
        async with open_crib(workspace.ws) as crib:
            (waiting,) = await crib.pending()
            await crib.answer(waiting.id, decision="once", by="somebody else")
        answered.set()
        await anyio.sleep(10)
        return says("deny")

    async with client(served(workspace.ws), "legacy", elicitation_callback=slow) as connected:
        done = await connected.call_tool("write_file", WRITE)
    assert answered.is_set()
    assert not done.is_error, done
    assert workspace.read("new.txt") == b"hello\n"


MODERN: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}


@pytest.mark.attack("A099", "sealed")
async def test_a_state_that_was_not_made_here_or_not_for_this_caller_answers_nothing(
    workspace: Workspace, marked: None
) -> None:
    reply = {"approval": {"action": "accept", "content": {"decision": "once"}}}

    def call(**more: Any) -> dict[str, Any]:
        return {"name": "write_file", "arguments": WRITE, "_meta": MODERN, **more}

    async with lines(served(workspace.ws)) as wire:
        first = (await wire.ask("tools/call", call()))["result"]
        assert first["resultType"] == "input_required"
        state = first["requestState"]
        body, _, proof = state.partition(".")
        for forged in ("", "x", body, f"{body}.", f"{body}.{'0' * 64}", f"{body[:-4]}AAAA.{proof}", f"{state}0"):
            again = (await wire.ask("tools/call", call(requestState=forged, inputResponses=reply)))["result"]
            assert again["resultType"] == "input_required", forged
        alone = (await wire.ask("tools/call", call(inputResponses=reply)))["result"]
        assert alone["resultType"] == "input_required"
        assert not (workspace.ws / "new.txt").exists()
        done = (await wire.ask("tools/call", call(requestState=state, inputResponses=reply)))["result"]
        assert done["resultType"] == "complete", json.dumps(done)
        assert workspace.read("new.txt") == b"hello\n"
        more = {**WRITE, "content": "second\n", "overwrite_existing": True}
        used = call(requestState=state, inputResponses=reply) | {"arguments": more}
        assert (await wire.ask("tools/call", used))["result"]["resultType"] == "input_required"
    assert workspace.read("new.txt") == b"hello\n"
