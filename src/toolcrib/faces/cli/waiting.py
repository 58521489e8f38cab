"""One dim line on standard error while a call takes longer than a second, wiped before anything else is shown."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

from toolcrib.faces.cli.look import paint
from toolcrib.faces.cli.out import Stream
from toolcrib.ports.ask import Answered, Asker
from toolcrib.terms.records import Approval

PATIENCE = 1.0
"""Seconds before the line is shown, and between two counts."""


class Waiting:
    """Tells a person at a terminal that a call still runs, and for how long; nobody where there is no terminal."""

    def __init__(self, what: str, stream: Stream | None) -> None:
        self._what = what
        self._stream = stream if stream is not None and stream.terminal else None
        self._began = time.monotonic()
        self._shown = 0
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def told(self) -> Generator[None]:
        """Tell while the block runs."""
        self._start()
        try:
            yield
        finally:
            self._stop()

    def around(self, asker: Asker) -> Asker:
        """Return an asker that asks without the line in its way."""

        async def ask(approval: Approval) -> Answered | None:
            self._stop()
            try:
                return await asker(approval)
            finally:
                self._began = time.monotonic()
                self._start()

        return ask

    def _start(self) -> None:
        if self._stream is not None:
            self._task = asyncio.get_running_loop().create_task(self._count(self._stream))

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._shown and self._stream is not None:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._shown = 0

    async def _count(self, stream: Stream) -> None:
        while True:
            await asyncio.sleep(PATIENCE)
            line = f"{self._what} runs, {time.monotonic() - self._began:.0f} s; Ctrl-C cancels it"
            self._shown = len(line)
            stream.write("\r" + paint(line, "dim", stream))
