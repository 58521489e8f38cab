"""Resources, prompts and changes of the list of tools, as an MCP client meets them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import BlobResourceContents, TextContent, TextResourceContents

from conftest import Workspace
from toolcrib import open_crib
from wired import REVISIONS, Mode, client, served, structured, tape_of

pytestmark = pytest.mark.anyio

both = pytest.mark.parametrize("mode", REVISIONS)


async def text(connected: Any, uri: str) -> str:
    """Read a resource that is text."""
    (content,) = (await connected.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@both
@pytest.mark.promise("P-gate-resources")
async def test_a_session_reads_its_own_calls_and_nobody_elses(workspace: Workspace, mode: Mode) -> None:
    workspace.write("a.txt", "of this session\n")
    workspace.write("b.txt", "of another\n")
    async with open_crib(workspace.ws) as crib:
        other = await crib.call("read_file", path="b.txt")
    async with client(served(workspace.ws), mode) as connected:
        read = structured(await connected.call_tool("read_file", {"path": "a.txt"}))
        assert [each.uri for each in (await connected.list_resources()).resources] == ["toolcrib:tape"]
        templates = (await connected.list_resource_templates()).resource_templates
        assert {each.uri_template for each in templates} == {"toolcrib:tape/{call_id}", "toolcrib:artifact/{id}"}
        whole = [json.loads(line) for line in (await text(connected, "toolcrib:tape")).splitlines()]
        assert {each["call_id"] for each in whole} == {read["call_id"]}
        one = (await text(connected, f"toolcrib:tape/{read['call_id']}")).splitlines()
        assert [json.loads(line)["stage"] for line in one] == ["received", "judged", "started", "closed"]
        for strange in (f"toolcrib:tape/{other.call_id}", "toolcrib:tape/none", "file:///etc/passwd", "toolcrib:"):
            with pytest.raises(MCPError, match="no resource"):
                await connected.read_resource(strange)


@both
async def test_what_was_too_large_is_read_whole_and_the_reading_is_on_the_tape(
    workspace: Workspace, mode: Mode
) -> None:
    workspace.write("many.txt", "".join(f"line {number} with TODO in it\n" for number in range(4000)))
    async with client(served(workspace.ws), mode) as connected:
        found = structured(await connected.call_tool("grep", {"pattern": "TODO", "limit": 4000}))
        artifact = found["bounds"]["spilled"]
        whole = await text(connected, f"toolcrib:artifact/{artifact}")
        assert "line 3999 with TODO" in whole
        with pytest.raises(MCPError, match=r"artifact\.missing"):
            await connected.read_resource("toolcrib:artifact/none")
    calls = [entry.data["tool"] for entry in await tape_of(workspace.ws) if entry.stage == "received"]
    assert calls == ["grep", "artifact_read", "artifact_read"]


@both
async def test_a_picture_is_read_as_bytes(workspace: Workspace, mode: Mode) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(64)
    workspace.write("dot.png", picture)
    async with client(served(workspace.ws), mode) as connected:
        read = structured(await connected.call_tool("read_file", {"path": "dot.png"}))
        (content,) = (
            await connected.read_resource(f"toolcrib:artifact/{read['payload']['media']['artifact']}")
        ).contents
        assert isinstance(content, BlobResourceContents)
        assert content.mime_type == "image/png"


@both
async def test_a_rule_that_keeps_artifacts_from_reading_holds_for_resources(
    workspace: Workspace, mode: Mode, state: Path
) -> None:
    config = state / "config" / "toolcrib"
    config.mkdir(mode=0o700, parents=True)
    (config / "config.toml").write_text(
        '[[policy.rules]]\nrule = "deny"\ntool = "artifact_read"\nreason = "not here"\n'
    )
    async with client(served(workspace.ws), mode) as connected:
        with pytest.raises(MCPError, match=r"policy\.denied|tool\."):
            await connected.read_resource("toolcrib:artifact/any")


@both
async def test_prompts_say_how_to_work_and_show_what_changed(workspace: Workspace, mode: Mode) -> None:
    async with client(served(workspace.ws, "--mode", "work"), mode) as connected:
        assert [each.name for each in (await connected.list_prompts()).prompts] == ["tools", "review"]

        async def prompt(name: str) -> str:
            (message,) = (await connected.get_prompt(name)).messages
            assert isinstance(message.content, TextContent)
            return message.content.text

        assert "read_file" in await prompt("tools")
        assert "changed nothing" in await prompt("review")
        await connected.call_tool("write_file", {"path": "a.txt", "content": "new words\n"})
        assert "+new words" in await prompt("review")
        with pytest.raises(MCPError, match="no prompt"):
            await connected.get_prompt("other")


@both
@pytest.mark.promise("P-gate-list-changed")
async def test_a_client_hears_when_its_list_of_tools_changes(workspace: Workspace, mode: Mode) -> None:
    heard = anyio.Event()

    async def message(told: Any) -> None:
        if "tools/list_changed" in str(getattr(told, "method", "")):
            heard.set()

    async with client(served(workspace.ws), mode, message_handler=message) as connected:
        before = {tool.name for tool in (await connected.list_tools()).tools}

        async def switch() -> None:
            command = [sys.executable, "-m", "toolcrib", "tools", "disable", "glob", "-C", str(workspace.ws)]
            await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True, capture_output=True))

        with anyio.fail_after(10):
            if mode == "legacy":
                await switch()
                await heard.wait()
            else:
                async with connected.listen(tools_list_changed=True) as events:
                    await switch()
                    async for event in events:
                        assert "ToolsListChanged" in type(event).__name__
                        break
        after = {tool.name for tool in (await connected.list_tools()).tools}
    assert before - after == {"glob"}
