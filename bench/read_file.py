"""Reading 4 KiB: through the line in process, and over MCP beside the npm filesystem server."""

import os
from collections.abc import Sequence
from pathlib import Path

from _harness import Figure, Plan, main, ours, p50, p95, peer, timed, workspace
from mcp import Client, StdioServerParameters

import toolcrib

TIMES = 600

Served = tuple[list[str], str, dict[str, str]]
"""The command of a server, the tool to call, and its arguments."""


async def in_process(directory: Path, times: int) -> list[float]:
    """Return the times of readings through the line, tape on."""
    async with toolcrib.open_crib(directory, mode="work") as crib:

        async def call() -> None:
            outcome = await crib.call("read_file", path="notes.txt")
            assert outcome.kind == "ok", str(outcome)

        await timed(call, times=50)
        return await timed(call, times=times)


async def over_mcp(commands: dict[str, Served], times: int) -> dict[str, list[float]]:
    """Return the times of readings over stdio, by server: the same SDK client, each server twice in turn."""
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(2):
        for name, (command, tool, args) in commands.items():
            server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
            async with Client(server, mode="legacy", read_timeout_seconds=30) as client:
                await client.list_tools()

                async def call(client: Client = client, tool: str = tool, args: dict[str, str] = args) -> None:
                    answer = await client.call_tool(tool, args)
                    assert not answer.is_error, answer

                await timed(call, times=50)
                took[name].extend(await timed(call, times=times // 2))
    return took


async def measure(plan: Plan) -> Sequence[Figure]:
    """Measure both ways."""
    times = plan.times(TIMES)
    with workspace() as directory:
        line = "sixty-three characters of text, so that a line is sixty-four..\n"
        (directory / "notes.txt").write_text((line * 64)[:4096])
        inside = await in_process(directory, times)
        commands: dict[str, Served] = {"toolcrib": (ours(directory), "read_file", {"path": "notes.txt"})}
        if not plan.brief and (other := peer(directory)) is not None:
            commands["peer"] = (other, "read_text_file", {"path": str(directory / "notes.txt")})
        outside = await over_mcp(commands, times)
    figures = [
        Figure("read_file 4 KiB in process, tape on, p50", p50(inside), "ms", 1.2),
        Figure("read_file 4 KiB in process, tape on, p95", p95(inside), "ms"),
        Figure("read_file 4 KiB over stdio MCP, p50", p50(outside["toolcrib"]), "ms", 2.5),
        Figure("read_file 4 KiB over stdio MCP, p95", p95(outside["toolcrib"]), "ms"),
    ]
    if "peer" in outside:
        figures += [
            Figure("server-filesystem (npm) read_text_file, same client, p50", p50(outside["peer"]), "ms"),
            Figure("ratio, ours to theirs", p50(outside["toolcrib"]) / p50(outside["peer"]), ""),
        ]
    return figures


if __name__ == "__main__":
    main("Reading a file of 4 KiB", measure)
