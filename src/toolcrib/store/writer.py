"""The one thread of a process that writes: what waits is committed together, one flush for all of it."""

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from toolcrib.store.chain import Coded, encode_all
from toolcrib.store.database import Fault, is_full, is_lasting, meaning
from toolcrib.store.lanes import Lane, Work, deliver
from toolcrib.store.ledger import Ledger
from toolcrib.store.mark import Mark
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Refusal

T = TypeVar("T")

MOST = 256
"""Most pieces of work in one transaction."""

PAGES_IDLE = 500
"""Pages in the write-ahead log from which an idle writer copies them into the database file."""

PAGES_BUSY = 2000
"""Pages from which it does so even while work waits."""

LAZY = "PRAGMA synchronous = NORMAL"
"""Commits reach the log without a flush (https://sqlite.org/pragma.html#pragma_synchronous)."""

DURABLE = "PRAGMA synchronous = FULL"
"""Every commit is flushed, with all that came before it."""

COMMITS_TO_WIDEN = 8
"""Commits after which a process is taken to go on, so that a wide write-ahead log pays."""


class Writer:
    """Queues work for the writing thread. Each piece is done wholly or not at all."""

    def __init__(self, ledger: Ledger, mark: Mark) -> None:
        self._ledger = ledger
        self._mark = mark
        self._commits = 0
        self._wide = False
        self._flushing = True
        self._tidy_at = PAGES_IDLE
        self._lasting: Refusal | None = None
        self.trouble = ""
        """Why the last commit failed, empty once one succeeds."""
        self._lane: Lane[Ledger | None] = Lane("writer", 1, self._serve)

    async def submit(
        self, task: Callable[[Ledger, Sequence[Coded]], T], entries: Sequence[Entry] = (), *, lazy: bool = False
    ) -> T:
        """Run `task` inside a transaction, with `entries` encoded before it, and return once that is durable.

        With `lazy` it returns once it is committed: no crash of a process loses it, a power cut may, until the next
        commit that is not lazy, or the next checkpoint.

        Raises:
            Refusal: `store.unavailable` or `disk.full`; nothing was changed then.
        """
        prepared: list[Coded] = []

        def work(ledger: Ledger | None) -> T | None:
            if ledger is None:
                prepared[:] = encode_all(entries)
                return None
            return task(ledger, prepared)

        return cast("T", await self._lane.submit(work, lazy=lazy))

    def close(self) -> None:
        """Commit what waits, end the thread and close its connection."""
        self._lane.close()
        self._ledger.link.close()

    def _serve(self, queue: "SimpleQueue[Work[Any] | None]") -> None:
        going = True
        while going:
            batch: list[Work[Any]] = []
            work = queue.get()
            while work is not None:
                batch.append(work)
                if len(batch) == MOST:
                    break
                try:
                    work = queue.get_nowait()
                except Empty:
                    break
            going = work is not None
            if batch:
                self._carry_out(batch)
                deliver(batch)
                batch.clear()
                work = None
                self._tidy(busy=not queue.empty())

    def _carry_out(self, batch: list[Work[Any]]) -> None:
        for work in batch:
            with work:
                work.task(None)
        ready = [work for work in batch if work.fault is None]
        if len(ready) > 1:
            group: Work[None] = Work(self._commit, ready[0].loop, ready[0].future)
            with group:
                group.task(ready)
            if group.fault is None:
                return
            if isinstance(cause := group.fault.__cause__, Fault) and not is_full(cause):
                # The store itself failed: trying each would only wait as long again.
                for work in ready:
                    work.fault = group.fault
                return
        # One alone, or one of them failed: each on its own, so that a failure takes nothing else with it.
        for work in ready:
            with work:
                self._commit((work,))

    def _commit(self, works: Sequence[Work[Any]]) -> None:
        if self._lasting is not None:
            raise self._lasting
        ledger, lazy = self._ledger, all(work.lazy for work in works)
        try:
            self._flush(not lazy)
            ledger.begin()
            for work in works:
                work.answer = work.task(ledger)
            ledger.commit()
        except Fault as fault:
            raise self._failed(fault) from fault
        finally:
            ledger.link.rollback()
        self.trouble = ""
        self._commits += 1
        if not lazy:
            self._mark.move(ledger.seq)

    def _flush(self, wanted: bool) -> None:
        """Have the next commits flushed, or not; asked of the database only where that changes."""
        if self._flushing != wanted:
            self._ledger.link.run(DURABLE if wanted else LAZY)
            self._flushing = wanted

    def _failed(self, fault: Fault) -> Refusal:
        reason = self._ledger.link.errno()
        refusal = meaning(fault, reason)
        self.trouble = refusal.message
        if is_lasting(fault, reason):
            self._lasting = refusal
        return refusal

    def _tidy(self, *, busy: bool) -> None:
        link = self._ledger.link
        try:
            if self._commits >= COMMITS_TO_WIDEN and not busy and not self._wide:
                self._wide = True
                link.widen()
            if link.pages >= (PAGES_BUSY if busy else self._tidy_at):
                link.checkpoint()
                self._tidy_at = PAGES_IDLE
        except Fault as fault:
            self._tidy_at += PAGES_IDLE
            self._failed(fault)
