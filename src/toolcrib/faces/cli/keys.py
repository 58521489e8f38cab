"""Reading a person's typed lines without holding up the event loop, and without taking what was typed too early."""

import asyncio
import os
import sys
import termios

from toolcrib.faces.cli.out import Stream, stderr, stdout

LINE = 4096
"""Longest answer taken, bytes."""


def prompts(*, as_json: bool = False) -> Stream:
    """Return where questions are shown: standard error when standard output carries JSON."""
    return stderr() if as_json else stdout()


async def ask_line(prompt: str, stream: Stream) -> str | None:
    """Show `prompt` and return the line typed, without blanks around it; None for Ctrl-D.

    What was typed before the prompt appeared is thrown away, so that no answer is given by accident.
    """
    descriptor = sys.stdin.fileno()
    termios.tcflush(descriptor, termios.TCIFLUSH)
    stream.write(prompt)
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()

    def ready() -> None:
        if not typed.done():
            try:
                typed.set_result(os.read(descriptor, LINE))
            except OSError:
                typed.set_result(b"")

    loop.add_reader(descriptor, ready)
    try:
        data = await typed
    finally:
        loop.remove_reader(descriptor)
    if not data:
        stream.line()
        return None
    return data.decode("utf-8", "replace").strip()


async def confirm(question: str, stream: Stream) -> bool:
    """Ask a question of which only `y` or `yes` is a yes."""
    answer = await ask_line(f"{question} [y/N] ", stream)
    return answer is not None and answer.lower() in {"y", "yes"}
