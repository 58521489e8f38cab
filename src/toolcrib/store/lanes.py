"""Threads that work on the database for the event loop: one that commits groups, and a few that read.

A caller's cancellation never reaches them: what was queued is carried out all the same.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Generic, TypeVar

from toolcrib.store.database import Fault, Link, meaning
from toolcrib.terms.refusals import Refusal

A = TypeVar("A")
T = TypeVar("T")

CLOSED = "the store is closed"


@dataclass(slots=True, eq=False)
class Work(Generic[T]):
    """One piece of work and who waits for it. Its `with` keeps a fault for the waiter, so that the thread lives on."""

    task: Callable[[Any], T]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[T]"
    lazy: bool = False
    """Nothing but readings is recorded: the disk need not have it before the waiter goes on."""
    answer: T | None = None
    fault: BaseException | None = None

    def __enter__(self) -> None:
        self.fault = None

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.fault = fault
        return True


class Lane(Generic[A]):
    """A queue of work and the threads that serve it, each piece of work being called with one argument of theirs."""

    def __init__(self, name: str, threads: int, serve: Callable[["SimpleQueue[Work[Any] | None]"], None]) -> None:
        self._queue: SimpleQueue[Work[Any] | None] = SimpleQueue()
        self._process = os.getpid()
        self._closed = False
        self._threads = [
            threading.Thread(target=serve, args=(self._queue,), name=f"toolcrib-{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def submit(self, task: Callable[[A], T], *, lazy: bool = False) -> T:
        """Have `task` carried out and return what it returns; cancelling the wait does not stop it.

        Raises:
            Refusal: `store.unavailable` once the store is closed, or in a process forked after it was opened.
        """
        if self._closed or os.getpid() != self._process:
            raise _closed()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(Work(task, loop, future, lazy))
        return await future

    def close(self) -> None:
        """Carry out what is queued, then end the threads."""
        if self._closed:
            return
        self._closed = True
        if os.getpid() != self._process:
            return
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        deliver(drained(self._queue))


def drained(queue: "SimpleQueue[Work[Any] | None]") -> list[Work[Any]]:
    """Empty `queue`, each piece of work refused because the store is closed."""
    left: list[Work[Any]] = []
    while True:
        try:
            work = queue.get_nowait()
        except Empty:
            return left
        if work is not None:
            work.fault = _closed()
            left.append(work)


def reading(open_link: Callable[[], Link]) -> Callable[["SimpleQueue[Work[Any] | None]"], None]:
    """Return the loop of a reading thread, which opens its own connection when it is first needed."""

    def serve(queue: "SimpleQueue[Work[Any] | None]") -> None:
        link: Link | None = None
        while (work := queue.get()) is not None:
            with work:
                try:
                    link = link or open_link()
                    work.answer = work.task(link)
                except Fault as fault:
                    raise meaning(fault, link.errno() if link else 0) from fault
            deliver((work,))
            del work
        if link is not None:
            link.close()

    return serve


def deliver(done: Iterable[Work[Any]]) -> None:
    """Hand each answer or fault to its waiter, on the waiter's own event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Work[Any]]] = {}
    for work in done:
        loops.setdefault(work.loop, []).append(work)
    for loop, works in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, works)
        except RuntimeError:
            # The loop ended while its work was being done; nobody waits any more.
            continue


def _resolve(works: list[Work[Any]]) -> None:
    for work in works:
        if work.future.done():
            continue
        if work.fault is not None:
            work.future.set_exception(work.fault)
        else:
            work.future.set_result(work.answer)


def _closed() -> Refusal:
    return Refusal("store.unavailable", CLOSED, hint="Open it again.")


Reader = Lane[Link]
"""The lane that reads."""
