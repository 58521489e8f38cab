"""Driving the MCP server over a real process: by the official client, and by bare lines."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Self, cast

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from toolcrib import open_crib
from toolcrib.terms.records import Taped

Mode = Literal["auto", "legacy"]
REVISIONS: dict[Mode, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""How the official client connects, and the revision that it then speaks with us."""

SECONDS = 18
"""What a whole session may take."""

WITH_OWN_TOOLS = [sys.executable, str(Path(__file__).with_name("serving.py"))]
"""Serves a directory with further tools: see `serving.py`."""


def served(directory: Path, *flags: str) -> list[str]:
    """Return the command that a client's configuration has for `directory`."""
    return [sys.executable, "-m", "toolcrib", "mcp", "-C", str(directory), *flags]


@asynccontextmanager
async def client(command: Sequence[str], mode: Mode, **options: Any) -> AsyncGenerator[Client]:
    """Connect the official client to a new server process."""
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    with anyio.fail_after(SECONDS):
        async with Client(server, mode=mode, read_timeout_seconds=SECONDS, **options) as connected:
            yield connected


class Lines:
    """A server process and the lines between us; every line it writes is kept and must be one JSON-RPC message."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[dict[str, Any]] = []
        self._next = 0

    def say(self, *messages: dict[str, Any] | bytes) -> None:
        """Write messages, or bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
            self.process.stdin.write(raw)

    async def hear(self) -> dict[str, Any] | None:
        """Return the next message, None at the end."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            return None
        found: dict[str, Any] = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        assert ("method" in found) + ("result" in found) + ("error" in found) == 1, found
        self.heard.append(found)
        return found

    async def answer(self, known: int | str | None) -> dict[str, Any]:
        """Return the answer to a request, passing over what comes before it."""
        while (found := await self.hear()) is not None:
            if "method" not in found and found["id"] == known:
                return found
        raise AssertionError(f"the server ended without an answer to {known!r}; heard {self.heard}")

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._next += 1
        self.say({"id": self._next, "method": method, **({} if params is None else {"params": params})})
        return await self.answer(self._next)

    async def call(self, name: Any, arguments: Any = None) -> dict[str, Any]:
        """Call a tool and return its result."""
        return (await self.ask("tools/call", {"name": name, "arguments": arguments}))["result"]

    async def open(self, name: str = "lines") -> Self:
        """Shake hands by the revision 2025-11-25."""
        info = {"name": name, "version": "1"}
        asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        assert (await self.ask("initialize", asked))["result"]["protocolVersion"] == "2025-11-25"
        self.say({"method": "notifications/initialized"})
        return self

    async def close(self) -> int:
        """Close its input, take what it still says, and return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        while await self.hear() is not None:
            pass
        return await self.process.wait()


@asynccontextmanager
async def lines(command: Sequence[str]) -> AsyncGenerator[Lines]:
    """Start a server process and talk to it in bare lines; nothing but messages may come out of it."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, limit=1 << 26
    )
    assert process.stderr is not None
    errors = asyncio.create_task(process.stderr.read())
    try:
        with anyio.fail_after(SECONDS):
            yield Lines(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        said = (await errors).decode("utf-8", "replace")
        assert "Traceback" not in said or "boom" in said, said


def structured(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a result, which is an object."""
    found: object = result.structured_content
    assert isinstance(found, dict)
    return cast("dict[str, Any]", found)


def text_of(result: CallToolResult) -> str:
    """Return what a model reads of a result."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


async def tape_of(directory: Path) -> list[Taped]:
    """Return the tape of a workspace, read by a crib of this process."""
    async with open_crib(directory) as crib:
        return list(await crib.tape(limit=10_000))


def stages(tape: Sequence[Taped], tool: str) -> list[list[str]]:
    """Return the stages of each call of a tool, in order."""
    calls = [entry.call_id for entry in tape if entry.stage == "received" and entry.data["tool"] == tool]
    return [[entry.stage for entry in tape if entry.call_id == call] for call in calls]
