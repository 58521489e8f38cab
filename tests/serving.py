"""A program of a tool author: serves a directory over MCP with tools of its own. Run by the tests, not imported."""

import asyncio
import logging
import os
import sys
import warnings

import anyio

import toolcrib
from toolcrib.faces.gate.server import serve_stdio
from toolcrib.ports.context import Context


class Nothing(toolcrib.Arguments):
    """No parameters."""


class Steps(toolcrib.Arguments):
    """How many steps to report."""

    steps: int = 3


class Said(toolcrib.Payload):
    """Some words."""

    words: str

    def text(self) -> str:
        """Return them."""
        return self.words


@toolcrib.tool(kind="meta", effect="read", approval="never")
async def forever(args: Nothing, context: Context) -> toolcrib.Answer[Said]:
    """Report that it began, then wait without end."""
    await context.progress("began", done=1)
    await asyncio.Event().wait()
    return toolcrib.Answer(Said(words="never"))


@toolcrib.tool(kind="meta", effect="read", approval="never")
async def steps(args: Steps, context: Context) -> toolcrib.Answer[Said]:
    """Report each step."""
    for step in range(args.steps):
        await context.progress(f"step {step}", done=float(step), total=float(args.steps))
    return toolcrib.Answer(Said(words="done"))


@toolcrib.tool(kind="meta", effect="read", approval="never")
async def noisy(args: Nothing) -> toolcrib.Answer[Said]:
    """Write to standard output in every way there is, and read standard input."""
    print("a stray print")
    os.write(1, b"stray bytes\n")
    sys.stderr.write("a word to standard error\n")
    logging.getLogger("noisy").warning("a warning")
    warnings.warn("a Python warning", stacklevel=1)
    return toolcrib.Answer(Said(words=f"read {os.read(0, 10)!r}"))


@toolcrib.tool(kind="meta", effect="read", approval="never")
async def broken(args: Nothing) -> toolcrib.Answer[Said]:
    """Fail inside."""
    raise RuntimeError("boom: a defect of this tool")


@toolcrib.tool(kind="meta", effect="read", approval="never")
async def strange(args: Nothing) -> toolcrib.Answer[Said]:
    """Answer with text that is no Unicode and holds what some readers take for the end of a line."""
    return toolcrib.Answer(Said(words="lone \ud800, byte \udce9, separators \u2028\u2029\x85, nul \0"))


async def main() -> None:
    """Serve until the client leaves."""
    logging.basicConfig(level=logging.DEBUG)
    tools = (forever, steps, noisy, broken, strange)
    async with toolcrib.open_crib(sys.argv[1], mode="work", tools=tools) as crib:
        await serve_stdio(crib)


if __name__ == "__main__":
    anyio.run(main)
