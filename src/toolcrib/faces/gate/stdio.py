"""Standard input and output as the SDK's streams of messages: no thread a message, and nothing else on the wire.

While it is open, descriptor 0 reads as empty and descriptor 1 is standard error, so that a stray print or a started
program can neither take a message nor write between two.
"""

import asyncio
import os
import stat
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from types import TracebackType
from typing import Self

from anyio import to_thread

from toolcrib.faces.gate import frames
from toolcrib.faces.gate.sdk import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    SessionMessage,
)

LINE = 64 << 20
"""Longest line read, bytes. A longer one is skipped to its end and answered with an error."""

WAITING = 64
"""Lines read ahead; with more the client waits."""

LARGE = 1 << 20
"""Lines longer than this are parsed in a thread, bytes."""

FLUSH = 2.0
"""Seconds that the last answers have to leave once the session ended."""


class Inbox(asyncio.Protocol):
    """Takes bytes from a pipe and gives the messages in them, until the pipe ends."""

    def __init__(self, outbox: "Outbox", *, depth: int) -> None:
        self._outbox = outbox
        self._depth = depth
        self._partial = bytearray()
        self._skipping = False
        self._lines: deque[bytes | None] = deque()
        """Complete lines; None stands for one that was too long."""
        self._ended = False
        self._arrived = asyncio.Event()
        self._source: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the pipe, to hold it back when lines pile up."""
        if isinstance(transport, asyncio.ReadTransport):
            self._source = transport

    def data_received(self, data: bytes) -> None:
        """Cut what arrived into lines."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._partial += line
            self._lines.append(None if self._skipping else bytes(self._partial))
            self._partial.clear()
            self._skipping = False
        self._partial += rest
        if len(self._partial) > LINE:
            self._skipping = True
        if self._skipping:
            self._partial.clear()
        self._arrived.set()
        if len(self._lines) > WAITING and self._source is not None:
            self._source.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """End: the client closed its side."""
        self.end()

    def end(self) -> None:
        """Give no further message once those read are taken."""
        self._ended = True
        self._arrived.set()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; lines that are none are answered here.

        Raises:
            StopAsyncIteration: the pipe ended.
        """
        while True:
            line = await self._line()
            if line is None:
                found = frames.Fault(PARSE_ERROR, f"a line of more than {LINE:,} bytes")
            elif not line.strip():
                continue
            elif len(line) > LARGE:
                found = await to_thread.run_sync(lambda line=line: frames.read(line, depth=self._depth))
            else:
                found = frames.read(line, depth=self._depth)
            if not isinstance(found, frames.Fault):
                return SessionMessage(found)
            error = ErrorData(code=found.code, message=found.message)
            await self._outbox.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=found.id, error=error)))

    async def _line(self) -> bytes | None:
        while not self._lines:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        line = self._lines.popleft()
        if len(self._lines) == WAITING // 2 and self._source is not None:
            self._source.resume_reading()
        return line

    async def aclose(self) -> None:
        """Stop reading."""
        self.end()
        if self._source is not None:
            self._source.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self.receive()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Outbox(asyncio.Protocol):
    """Writes messages as lines to a pipe, as fast as the client reads."""

    def __init__(self) -> None:
        self._sink: asyncio.WriteTransport | None = None
        self._free = asyncio.Event()
        self._free.set()
        self.gone = asyncio.Event()
        """Set once the pipe is closed, by either side."""
        self._file: int | None = None
        self._turn = asyncio.Lock()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the pipe."""
        if isinstance(transport, asyncio.WriteTransport):
            self._sink = transport

    def to_file(self, descriptor: int) -> None:
        """Write to something that is no pipe, by a thread."""
        self._file = descriptor

    def pause_writing(self) -> None:
        """Hold writers back: the client does not read."""
        self._free.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """End: nobody reads any more."""
        self.gone.set()
        self._free.set()

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message; silently nothing once the client is gone."""
        line = _line_of(item.message)
        if self._file is not None:
            async with self._turn:
                await to_thread.run_sync(_write_all, self._file, line)
            return
        if self._sink is None or self.gone.is_set():
            return
        self._sink.write(line)
        if not self._free.is_set():
            await self._free.wait()

    async def aclose(self) -> None:
        """Let what was written leave, for a bounded time."""
        if self._sink is None:
            return
        self._sink.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH):
                await self.gone.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


@asynccontextmanager
async def wire(*, depth: int) -> AsyncGenerator[tuple[Inbox, Outbox]]:
    """Open standard input and output as a pair of message streams; `depth` is how deep arguments may nest."""
    loop = asyncio.get_running_loop()
    source, sink = _taken(0, os.O_RDONLY), _taken(1, os.O_WRONLY)
    blocking = [(each, os.get_blocking(each)) for each in (source, sink)]
    outbox = Outbox()
    inbox = Inbox(outbox, depth=depth)
    helpers: list[asyncio.Task[None]] = []
    try:
        if _is_file(sink):
            outbox.to_file(sink)
        else:
            await loop.connect_write_pipe(lambda: outbox, os.fdopen(os.dup(sink), "wb", 0))
        if _is_file(source):
            helpers.append(asyncio.create_task(_pump(source, inbox)))
        else:
            await loop.connect_read_pipe(lambda: inbox, os.fdopen(os.dup(source), "rb", 0))
        helpers.append(asyncio.create_task(_end_with(outbox, inbox)))
        try:
            yield inbox, outbox
        finally:
            for helper in helpers:
                helper.cancel()
            await inbox.aclose()
            await outbox.aclose()
            await asyncio.wait(helpers, timeout=FLUSH)
    finally:
        for descriptor, was in blocking:
            os.set_blocking(descriptor, was)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


def _line_of(message: JSONRPCMessage) -> bytes:
    """Return the line of a message; of an answer that is not JSON, an error that says so."""
    try:
        return frames.write(message)
    except (ValueError, TypeError, RecursionError) as fault:
        known = message.id if isinstance(message, JSONRPCResponse) else None
        error = ErrorData(code=INTERNAL_ERROR, message=f"the answer is not JSON ({type(fault).__name__})")
        return frames.write(JSONRPCError(jsonrpc="2.0", id=known, error=error))


def _taken(descriptor: int, access: int) -> int:
    """Move a standard stream to a number of its own, and leave the null device or standard error in its place."""
    taken = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    try:
        instead = os.dup(2) if access == os.O_WRONLY else os.open(os.devnull, access)
    except OSError:
        instead = os.open(os.devnull, access)
    os.dup2(instead, descriptor)
    os.close(instead)
    return taken


def _is_file(descriptor: int) -> bool:
    """Tell whether the event loop cannot wait for it: a regular file, or a device such as the null device."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISCHR(mode):
        return not os.isatty(descriptor)
    return not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


async def _pump(descriptor: int, inbox: Inbox) -> None:
    while data := await to_thread.run_sync(os.read, descriptor, 1 << 16):
        inbox.data_received(data)
    inbox.end()


async def _end_with(outbox: Outbox, inbox: Inbox) -> None:
    """A client that no longer reads is gone, even if it left its other side open."""
    await outbox.gone.wait()
    inbox.end()


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
