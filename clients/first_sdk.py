"""A session by the first generation of the MCP SDK, run in an environment of its own; prints what it saw as JSON."""

import asyncio
import json
import sys
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult


async def main(command: str, *args: str) -> None:
    """List, read, and write once with a yes by a form and once with a no."""
    answers = ["once", "deny"]
    asked: list[str] = []

    async def person(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"decision": answers.pop(0)})

    server = StdioServerParameters(command=command, args=list(args), env=None)
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing, elicitation_callback=person) as session:
            opened = await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            read = await session.call_tool("read_file", {"path": "a.txt"})
            wrote = await session.call_tool("write_file", {"path": "b.txt", "content": "by a form\n"})
            denied = await session.call_tool("write_file", {"path": "c.txt", "content": "no\n"})
            tape = (await session.read_resource("toolcrib:tape")).contents[0].text  # type: ignore[arg-type, union-attr]
    seen = {
        "revision": opened.protocolVersion,
        "tools": tools,
        "read": read.structuredContent,
        "wrote": wrote.structuredContent,
        "denied": denied.structuredContent,
        "asked": asked,
        "tape": len(tape.splitlines()),
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
