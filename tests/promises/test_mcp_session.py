"""The MCP server as a client meets it: both revisions, driven by the official client over a real process."""

import base64
import json
from typing import Any

import anyio
import pytest
from jsonschema import ValidationError, validate
from mcp import Client

from conftest import Workspace
from toolcrib import open_crib
from wired import REVISIONS, WITH_OWN_TOOLS, Mode, client, lines, served, stages, structured, tape_of, text_of

pytestmark = pytest.mark.anyio

both = pytest.mark.parametrize("mode", REVISIONS)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def text(connected: Client, tool: str, **args: Any) -> str:
    """Call a tool, demand an answer that is no error, and return what a model reads."""
    result = await connected.call_tool(tool, args)
    assert not result.is_error, result
    return text_of(result)


@both
@pytest.mark.promise("P-gate-revisions")
async def test_the_official_client_lists_reads_searches_and_edits(workspace: Workspace, mode: Mode) -> None:
    workspace.write("src/a.py", "import os\n\nTODO = 1\n")
    async with client(served(workspace.ws, "--mode", "work"), mode) as connected:
        assert connected.protocol_version == REVISIONS[mode]
        listed = [tool.name for tool in (await connected.list_tools()).tools]
        assert listed == sorted(listed)
        assert "TODO = 1" in await text(connected, "grep", pattern="TODO")
        read = await connected.call_tool("read_file", {"path": "src/a.py"})
        digest = structured(read)["evidence"]["digest"]
        change = {"old": "TODO = 1", "new": "DONE = 1"}
        assert "DONE" in await text(connected, "edit_file", path="src/a.py", digest=digest, edits=[change])
    assert workspace.read("src/a.py") == b"import os\n\nDONE = 1\n"
    calls = [entry for entry in await tape_of(workspace.ws) if entry.stage == "received"]
    assert [entry.data["tool"] for entry in calls] == ["grep", "read_file", "edit_file"]
    assert {entry.data["face"] for entry in calls} == {"mcp"}
    assert {entry.data["principal"] for entry in calls} == {"mcp:mcp"}
    assert len({entry.data["thread"] for entry in calls}) == 1


@both
@pytest.mark.promise("P-gate-annotations")
async def test_annotations_say_what_the_effect_class_says_and_are_all_there(workspace: Workspace, mode: Mode) -> None:
    async with client(served(workspace.ws), mode) as connected:
        tools = {tool.name: tool for tool in (await connected.list_tools()).tools}
    hints = {name: tool.annotations.model_dump(exclude={"title"}) for name, tool in tools.items() if tool.annotations}
    reads = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}
    changes = {"read_only_hint": False, "destructive_hint": True, "idempotent_hint": False, "open_world_hint": False}
    writers = {"write_file", "edit_file", "apply_patch", "move_file", "delete_file"}
    expected = {name: changes if name in writers else reads for name in tools}
    assert hints == expected
    assert all(tool.title and tool.annotations and tool.annotations.title for tool in tools.values())


@both
@pytest.mark.promise("P-catalog-visible")
async def test_the_list_is_the_view_that_the_crib_renders(workspace: Workspace, mode: Mode) -> None:
    async with client(served(workspace.ws, "--mode", "read-only"), mode) as connected:
        listed = (await connected.list_tools()).tools
        instructions = connected.instructions
    async with open_crib(workspace.ws, mode="read-only") as crib:
        rendered = crib.render("mcp")
        assert instructions == crib.overview()
    assert [tool.name for tool in listed] == [tool["name"] for tool in rendered]
    assert "write_file" not in {tool.name for tool in listed}
    for tool, wanted in zip(listed, rendered, strict=True):
        assert tool.input_schema == wanted["inputSchema"]
        assert tool.description == wanted["description"]


@both
@pytest.mark.promise("P-gate-annotations")
async def test_an_answer_is_the_whole_outcome_as_structured_content_with_a_text_twin(
    workspace: Workspace, mode: Mode
) -> None:
    workspace.write("a.txt", "one\ntwo\n")
    async with client(served(workspace.ws), mode) as connected:
        schemas = {tool.name: tool.output_schema for tool in (await connected.list_tools()).tools}
        told = await connected.call_tool("read_file", {"path": "a.txt", "limit": 1})
    async with open_crib(workspace.ws) as crib:
        outcome = await crib.call("read_file", path="a.txt", limit=1)
    found = structured(told)
    assert found.pop("call_id")
    wanted = outcome.to_json()
    del wanted["call_id"]
    assert found == wanted
    assert found["bounds"]["truncated"] is True
    assert told.content[0].model_dump(exclude_none=True) == {"type": "text", "text": str(outcome)}
    assert all(schema is not None for schema in schemas.values())


@pytest.mark.promise("P-gate-annotations")
async def test_refusals_keep_to_the_listed_schema_too(workspace: Workspace) -> None:
    """The TypeScript client holds the structured content of errors against the schema as well."""
    workspace.write("a.txt", "a\n")
    workspace.write("b.bin", b"\0\1\2")
    calls: dict[str, list[dict[str, Any]]] = {
        "read_file": [{}, {"path": "none"}, {"path": "b.bin"}, {"path": "../x"}],
        "edit_file": [{"path": "a.txt", "digest": "0" * 12, "edits": [{"old": "a", "new": "b"}]}],
        "write_file": [{"path": "a.txt", "content": "x"}, {"path": ".git/config", "content": "x"}],
        "grep": [{"pattern": "(", "mode": "regex"}],
        "artifact_read": [{"id": "none"}],
    }
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        listed = (await wire.ask("tools/list"))["result"]["tools"]
        schemas = {tool["name"]: tool["outputSchema"] for tool in listed}
        for tool, arguments in calls.items():
            for each in arguments:
                result = await wire.call(tool, each)
                assert result["isError"], (tool, each)
                validate(result["structuredContent"], schemas[tool])
        with pytest.raises(ValidationError):
            validate({"kind": "ok"}, schemas["glob"])


@pytest.mark.promise("P-gate-annotations")
async def test_a_spilled_answer_keeps_to_the_schema_that_was_listed(workspace: Workspace) -> None:
    for number in range(900):
        workspace.write(f"many/a-file-with-a-rather-long-name-that-fills-the-answer-{number:04d}.txt")
    async with client(served(workspace.ws), "auto") as connected:
        await connected.list_tools()
        # The official client holds every structured content against the listed schema and raises where it differs.
        told = await connected.call_tool("glob", {"pattern": "**", "limit": 1000})
        assert not told.is_error
        payload = structured(told)["payload"]
        assert set(payload) == {"spilled", "size", "head", "tail"}
        rest = await connected.call_tool("artifact_read", {"id": payload["spilled"], "offset": 4000})
        assert not rest.is_error


@both
@pytest.mark.promise("P-gate-approval")
async def test_a_question_is_stored_answered_elsewhere_and_used_up_by_the_repeat(
    workspace: Workspace, mode: Mode
) -> None:
    async with client(served(workspace.ws), mode) as connected:
        await connected.list_tools()
        args = {"path": "new.txt", "content": "hello\n"}
        first = await connected.call_tool("write_file", args)
        assert first.is_error
        assert structured(first)["name"] == "approval.unattended"
        assert not (workspace.ws / "new.txt").exists()
        async with open_crib(workspace.ws) as other:
            (waiting,) = await other.pending()
            assert waiting.id[-8:] in text_of(first)
            await other.answer(waiting.id, decision="once", by="a person")
        changed = await connected.call_tool("write_file", {**args, "content": "something else\n"})
        assert structured(changed)["name"] == "approval.unattended"
        again = await connected.call_tool("write_file", args)
        assert not again.is_error, again
        assert workspace.read("new.txt") == b"hello\n"
        third = await connected.call_tool("write_file", {**args, "overwrite_existing": True})
        assert structured(third)["name"] == "approval.unattended"


@both
@pytest.mark.promise("P-files-media")
async def test_a_picture_comes_as_an_image_and_a_document_as_a_resource(workspace: Workspace, mode: Mode) -> None:
    workspace.write("dot.png", PIXEL)
    workspace.write("page.pdf", b"%PDF-1.4\n%%EOF\n")
    async with client(served(workspace.ws), mode) as connected:
        picture = (await connected.call_tool("read_file", {"path": "dot.png"})).content
        document = (await connected.call_tool("read_file", {"path": "page.pdf"})).content
    assert [part.type for part in picture] == ["text", "image"]
    shown = picture[1].model_dump(by_alias=True)
    assert base64.b64decode(shown["data"]) == PIXEL
    assert shown["mimeType"] == "image/png"
    assert [part.type for part in document] == ["text", "resource"]
    held = document[1].model_dump(by_alias=True)["resource"]
    assert base64.b64decode(held["blob"]) == b"%PDF-1.4\n%%EOF\n"
    assert held["mimeType"] == "application/pdf"


@both
async def test_progress_reaches_the_client_and_grows_with_every_notice(workspace: Workspace, mode: Mode) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with client([*WITH_OWN_TOOLS, str(workspace.ws)], mode) as connected:
        told = await connected.call_tool("steps", {"steps": 4}, progress_callback=listen)
    assert not told.is_error, told
    assert [message for _, _, message in heard] == [f"step {number}" for number in range(4)]
    assert {total for _, total, _ in heard} == {4.0}
    values = [value for value, _, _ in heard]
    assert values == sorted(set(values))


@both
async def test_a_call_that_the_client_cancels_is_closed_and_the_session_goes_on(
    workspace: Workspace, mode: Mode
) -> None:
    async with client([*WITH_OWN_TOOLS, str(workspace.ws)], mode) as connected:
        with anyio.CancelScope() as scope:

            async def stop(progress: float, total: float | None, message: str | None) -> None:
                assert (progress, total, message) == (1, None, "began")
                scope.cancel()

            await connected.call_tool("forever", {}, progress_callback=stop)
        assert scope.cancelled_caught
        assert not (await connected.call_tool("steps", {})).is_error
    (entries,) = stages(await tape_of(workspace.ws), "forever")
    assert entries.count("closed") == 1
    (closed,) = [entry for entry in await tape_of(workspace.ws) if "call.cancelled" in json.dumps(dict(entry.data))]
    assert closed.stage == "closed"


async def test_when_the_client_leaves_a_call_under_way_is_cancelled_and_closed(workspace: Workspace) -> None:
    async with lines([*WITH_OWN_TOOLS, str(workspace.ws)]) as wire:
        await wire.open()
        wire.say(
            {
                "id": 7,
                "method": "tools/call",
                "params": {"name": "forever", "arguments": {}, "_meta": {"progressToken": "t"}},
            }
        )
        began = await wire.hear()
        assert began is not None
        assert began["params"]["message"] == "began"
        assert await wire.close() == 0
        assert not [message for message in wire.heard if message.get("id") == 7 and "result" in message]
    (entries,) = stages(await tape_of(workspace.ws), "forever")
    assert entries[-1] == "closed"
    assert (await tape_of(workspace.ws))[-1].data["outcome"]["name"] == "call.cancelled"


async def test_the_caller_is_named_after_the_client_in_one_harmless_word(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        await wire.open(name="Big Client\u202e\n; rm -rf / " + "x" * 500)
        assert not (await wire.call("read_file", {"path": "a.txt"}))["isError"]
        assert await wire.close() == 0
    (principal,) = {entry.data["principal"] for entry in await tape_of(workspace.ws) if entry.stage == "received"}
    assert principal.startswith("mcp:Big-Client")
    assert len(principal) <= len("mcp:") + 64
    assert all(letter.isalnum() or letter in "-_.:" for letter in principal)


@pytest.mark.promise("P-catalog-disabled")
async def test_a_tool_that_is_switched_off_meanwhile_leaves_the_list_and_is_refused(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        assert not (await wire.call("list_dir", {}))["isError"]
        await anyio.run_process([*served(workspace.ws)[:3], "tools", "disable", "list_dir"])
        listed = (await wire.ask("tools/list"))["result"]["tools"]
        assert "list_dir" not in {tool["name"] for tool in listed}
        refused = await wire.call("list_dir", {})
        assert refused["isError"]
        assert refused["structuredContent"]["name"] == "tool.disabled"


async def test_an_earlier_handshake_revision_is_served_too(workspace: Workspace) -> None:
    async with lines(served(workspace.ws)) as wire:
        info = {"name": "old", "version": "1"}
        asked = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": info}
        answer = (await wire.ask("initialize", asked))["result"]
        assert answer["protocolVersion"] == "2024-11-05"
        assert answer["serverInfo"]["name"] == "toolcrib"
        assert (await wire.ask("tools/list"))["result"]["tools"]
