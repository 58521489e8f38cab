"""The MCP Inspector's command line as a client."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from place import Place

Inspect = Callable[..., Any]

IS_ERROR = 5
"""Its exit code when a tool's result says `isError`."""


@pytest.fixture
def inspect(clients: Path, place: Place) -> Inspect:
    """Return what asks the server by the inspector and gives the JSON it prints."""

    def ask(*asked: str, flags: tuple[str, ...] = (), expected: int = 0) -> Any:
        program = clients / "npm" / "node_modules" / ".bin" / "mcp-inspector"
        server = [sys.executable, "-m", "toolcrib", "mcp", "-C", str(place.ws), *flags]
        done = subprocess.run(
            [str(program), "--cli", *server, "--method", *asked],
            env=place.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == expected, done.stdout + done.stderr
        return json.loads(done.stdout)

    return ask


def test_it_lists_tools_resources_and_prompts(inspect: Inspect) -> None:
    tools = {tool["name"]: tool for tool in inspect("tools/list")["tools"]}
    assert {"read_file", "edit_file", "grep"} <= tools.keys()
    assert tools["read_file"]["annotations"]["readOnlyHint"] is True
    assert [each["uri"] for each in inspect("resources/list")["resources"]] == ["toolcrib:tape"]
    assert [each["name"] for each in inspect("prompts/list")["prompts"]] == ["tools", "review"]


def test_it_reads_writes_and_is_refused_as_any_client(inspect: Inspect, place: Place) -> None:
    (place.ws / "a.txt").write_text("hello\n")
    read = inspect("tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt")
    assert read["structuredContent"]["payload"]["lines"] == ["hello"]
    write = ("tools/call", "--tool-name", "write_file", "--tool-arg", "path=b.txt", "content=x")
    asked = inspect(*write, expected=IS_ERROR)
    assert asked["isError"] is True
    assert asked["structuredContent"]["name"] == "approval.unattended"
    assert not (place.ws / "b.txt").exists()
    assert inspect(*write, flags=("--mode", "work"))["isError"] is False
    assert (place.ws / "b.txt").read_text() == "x"
