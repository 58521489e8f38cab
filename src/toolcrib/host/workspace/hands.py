"""Threads that touch the files for the event loop.

A hand-over costs the loop two turns here and four with anyio's own threads: that is much of a short reading.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

from anyio import CancelScope

from toolcrib.terms.refusals import Refusal

T = TypeVar("T")

MOST = 16
"""Threads at most; more work waits its turn."""

FAREWELL = 2.0
"""Seconds that closing waits for work under way."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    work: Callable[[], T]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[T]"
    answer: T | None = None
    fault: BaseException | None = None

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Keep a fault for the waiter, so that the thread lives on."""
        self.fault = fault
        return True

    def settle(self) -> None:
        if self.future.done():
            return
        if self.fault is not None:
            self.future.set_exception(self.fault)
        else:
            self.future.set_result(cast("T", self.answer))


class Hands:
    """A few threads, each started when it is first needed."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._free = 0
        self._closed = False
        self._threads: list[threading.Thread] = []

    async def read(self, work: Callable[[], T]) -> T:
        """Have `work` done and return what it returns; a cancelled caller does not wait for its end.

        Raises:
            Refusal: `workspace.gone`: the workspace was closed; what its handle's number means now is not known.
        """
        return await self._hand(work)

    async def change(self, work: Callable[[], T]) -> T:
        """As `read`, for work that changes something: a cancelled caller still waits until it is done."""
        future = self._hand(work)
        try:
            # A shield, since cancelling the future itself would lose the end of the work.
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            with CancelScope(shield=True):
                await _ended(future)
            raise

    def close(self) -> bool:
        """End the threads, which blocks, and tell whether all ended; one that hangs in the kernel does not."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._queue.put(None)
        for thread in self._threads:
            thread.join(FAREWELL)
        return not any(thread.is_alive() for thread in self._threads)

    def _hand(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._closed:
                raise Refusal("workspace.gone", "the workspace was closed", hint="open it again")
            if self._free:
                self._free -= 1
            elif len(self._threads) < self._most:
                thread = threading.Thread(target=self._serve, name=f"toolcrib-files-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            else:
                self._free -= 1
            # Under the lock, so that no job comes to stand behind the word that ends the threads.
            self._queue.put(_Job(work, loop, future))
        return future

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            with job:
                job.answer = job.work()
            with self._lock:
                self._free += 1
            try:
                job.loop.call_soon_threadsafe(job.settle)
            except RuntimeError:
                # The loop ended meanwhile; nobody waits any more.
                continue
            finally:
                del job


async def _ended(future: "asyncio.Future[Any]") -> None:
    """Wait for the end however often the caller is cancelled; what the work raised is nobody's any more."""
    while not future.done():
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            continue
    future.exception()
