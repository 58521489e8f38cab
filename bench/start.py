"""Cold starts: the command line's help, and the first list of tools of `toolcrib mcp` beside the npm server."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from _harness import Figure, Plan, main, ours, p50, peer, workspace

TIMES = 9
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def line(method: str, params: dict[str, object], number: int | None = None) -> bytes:
    """Return one JSON-RPC message as a line."""
    known = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **known, "method": method, "params": params}).encode() + b"\n"


async def first_list(command: list[str]) -> float:
    """Start a server and return the milliseconds until its tools were listed."""
    began = time.perf_counter()
    server = await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        limit=1 << 24,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    async with asyncio.timeout(30):
        server.stdin.write(line("initialize", dict(HANDSHAKE), 1))
        answer = json.loads(await server.stdout.readline())
        assert answer["id"] == 1, answer
        server.stdin.write(line("notifications/initialized", {}) + line("tools/list", {}, 2))
        while (listed := json.loads(await server.stdout.readline())).get("id") != 2:
            pass
        took = (time.perf_counter() - began) * 1000
        assert listed["result"]["tools"], listed
        server.stdin.close()
        await server.wait()
    return took


def help_page() -> float:
    """Return the milliseconds that `toolcrib --help` takes."""
    script = Path(sys.executable).with_name("toolcrib")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "toolcrib"]
    began = time.perf_counter()
    done = subprocess.run([*command, "--help"], capture_output=True, check=True)
    took = (time.perf_counter() - began) * 1000
    assert b"Commands" in done.stdout, done.stdout
    return took


async def measure(plan: Plan) -> Sequence[Figure]:
    """Measure new processes; the files they load are in the page cache after the first of each."""
    times = plan.times(TIMES)
    with workspace() as directory:
        (directory / "notes.txt").write_text("notes\n")
        commands = {"toolcrib": ours(directory)}
        if not plan.brief and (other := peer(directory)) is not None:
            commands["peer"] = other
        help_page()
        pages = [help_page() for _ in range(times)]
        lists: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(times + 1):
            for name, command in commands.items():
                took = await first_list(command)
                if turn:
                    lists[name].append(took)
    figures = [
        Figure("toolcrib --help, p50", p50(pages) / 1000, "s", 0.3),
        Figure("toolcrib mcp, tools/list from a cold start, p50", p50(lists["toolcrib"]) / 1000, "s", 1.2),
        Figure("toolcrib mcp, tools/list from a cold start, worst", max(lists["toolcrib"]) / 1000, "s"),
    ]
    if "peer" in lists:
        figures.append(
            Figure("server-filesystem (npm), tools/list from a cold start, p50", p50(lists["peer"]) / 1000, "s")
        )
    return figures


if __name__ == "__main__":
    main("Cold starts", measure)
