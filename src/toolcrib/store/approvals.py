"""Approvals: stored Asks, answered once, consumed once, each change on the tape in the same transaction."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from toolcrib.ports.clock import Clock
from toolcrib.store import sealed
from toolcrib.store.chain import Coded
from toolcrib.store.database import Link, Row
from toolcrib.store.grants import insert
from toolcrib.store.lanes import Reader
from toolcrib.store.leases import Leases
from toolcrib.store.ledger import Ledger
from toolcrib.store.tape import writable
from toolcrib.store.term import Term
from toolcrib.store.writer import Writer
from toolcrib.terms.call import Decision
from toolcrib.terms.records import Approval, ApprovalState, Entry, grant_of
from toolcrib.terms.refusals import Refusal

POLLS = (0.02, 0.02, 0.05, 0.05, 0.1)
"""Seconds between looks at the database while waiting for another process's answer; then `POLL` each."""

POLL = 0.2

MOST_OPEN = 1000
"""Questions that wait in one store at most."""

_COLUMNS = sealed.SEALED["approvals"]
_SELECT = f"SELECT {_COLUMNS}, seal FROM approvals"  # noqa: S608 - a constant
_COUNT = "SELECT count(*) FROM approvals WHERE state = 'pending'"
_STATE = "SELECT state, term FROM approvals WHERE id = ?"
_INSERT = f"INSERT INTO approvals ({_COLUMNS}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - a constant
_UPDATE = "UPDATE approvals SET state = ?, record = ?, seal = ? WHERE id = ? AND state = ?"
_OPEN: tuple[ApprovalState, ...] = ("pending", "granted")


class Approvals:
    """The port over one store."""

    def __init__(self, writer: Writer | None, reader: Reader, leases: Leases, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._leases = leases
        self._clock = clock
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    async def ask(self, approval: Approval, entries: Sequence[Entry]) -> None:
        """Store a pending approval together with `entries`.

        Raises:
            Refusal: `call.limit` when `MOST_OPEN` wait already; nothing is dropped for a new one.
        """
        term = Term.until_wall(self._clock, approval.created, approval.expires)

        def task(ledger: Ledger, coded: Sequence[Coded]) -> None:
            self._room(ledger.link)
            ledger.append(coded)
            columns = _columns(approval, term)
            ledger.link.run(_INSERT, (*columns, sealed.seal(*columns)))

        await writable(self._writer).submit(task, entries)

    def _room(self, link: Link) -> None:
        """Make room for one more question: what has expired no longer counts."""
        (waiting,) = link.one(_COUNT) or (0,)
        if int(str(waiting)) < MOST_OPEN:
            return
        for row in link.all(f"{_SELECT} WHERE state = 'pending'"):
            if (approval := self._approval(row)).state == "expired":
                self._move(link, row, approval, was="pending")
        (waiting,) = link.one(_COUNT) or (0,)
        if int(str(waiting)) >= MOST_OPEN:
            raise Refusal(
                "call.limit",
                f"{MOST_OPEN:,} questions wait for an answer already, and no more are kept",
                hint="a person answers them with `toolcrib approve`, or they expire",
            )

    async def find(self, approval_id: str) -> Approval | None:
        """Return the approval whose id is, or uniquely starts or ends with, `approval_id`."""

        def task(link: Link) -> Approval | None:
            row = link.one(f"{_SELECT} WHERE id = ?", (approval_id,))
            if row is not None or not approval_id:
                return None if row is None else self._approval(row)
            part = (len(approval_id), approval_id) * 2
            rows = link.all(f"{_SELECT} WHERE substr(id, 1, ?) = ? OR substr(id, -?) = ? LIMIT 2", part)
            return self._approval(rows[0]) if len(rows) == 1 else None

        return await self._reader.submit(task)

    async def pending(self) -> Sequence[Approval]:
        """Return the pending approvals that have not expired, oldest first."""
        found = await self._reader.submit(
            lambda link: [
                self._approval(row) for row in link.all(f"{_SELECT} WHERE state = 'pending' ORDER BY created, id")
            ]
        )
        return [each for each in found if each.state == "pending"]

    async def answer(self, approval_id: str, *, decision: Decision, words: str, by: str) -> Approval:
        """Record the first valid answer and return the approval as it then stands.

        Raises:
            Refusal: `approval.expired`, or `approval.stale` when it was answered already or never asked.
        """

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> Approval:
            row = ledger.link.one(f"{_SELECT} WHERE id = ?", (approval_id,))
            approval = self._answerable(approval_id, row)
            state: ApprovalState = "denied" if decision == "deny" else "granted"
            answered = replace(approval, state=state, decision=decision, words=words, by=by)
            self._move(ledger.link, row, answered, was="pending")
            data = {"approval": approval_id, "decision": decision, "words": words, "by": by}
            ledger.add(Entry(stage="answered", call_id=approval.call_id, data=data))
            return answered

        answered = await writable(self._writer).submit(task)
        for loop, event in self._waiting.get(approval_id, ()):
            if loop is asyncio.get_running_loop():
                event.set()
        return answered

    async def consume(self, *, effect: str, principal: str) -> Approval | None:
        """Take the one granted approval of this exact effect and principal, if any; it cannot be taken again.

        An `always` makes its grant in the same transaction.
        """
        if await self._first(effect, principal, ("granted",)) is None:
            return None

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> Approval | None:
            for row in _standing(ledger.link, effect, principal, ("granted",)):
                approval = self._approval(row)
                if approval.state != "granted":
                    continue
                consumed = replace(approval, state="consumed")
                self._move(ledger.link, row, consumed, was="granted")
                data = {"approval": approval.id, "consumed": True}
                ledger.add(Entry(stage="answered", call_id=approval.call_id, data=data))
                if (grant := grant_of(consumed, at=self._clock.now())) is not None:
                    insert(ledger, grant, Term.until_wall(self._clock, grant.created, grant.expires))
                return consumed
            return None

        return await writable(self._writer).submit(task)

    async def standing(self, *, effect: str, principal: str) -> Approval | None:
        """Return the pending or denied approval of this exact effect and principal, newest first, if there is one."""
        return await self._first(effect, principal, ("pending", "denied"))

    async def wait(self, approval_id: str, *, seconds: float) -> Approval:
        """Return the approval once it is answered or expired, or as it stands after `seconds`.

        Another process's answer is seen within `POLL` seconds, this event loop's own at once.

        Raises:
            Refusal: `approval.stale` when there is no such approval.
        """
        loop = asyncio.get_running_loop()
        until, clock_until = loop.time() + seconds, self._clock.monotonic() + seconds
        looks = 0
        with self._listening(approval_id, loop) as event:
            while True:
                open_still = await self._is_open(approval_id)
                left = min(until - loop.time(), clock_until - self._clock.monotonic())
                if not open_still or left <= 0:
                    return await self._exactly(approval_id)
                pause = POLLS[looks] if looks < len(POLLS) else POLL
                looks += 1
                try:
                    await asyncio.wait_for(event.wait(), min(pause, left))
                except TimeoutError:
                    continue

    async def _is_open(self, approval_id: str) -> bool:
        """Look cheaply, without the diff and the arguments: what is returned in the end is read whole and checked."""
        row = await self._reader.submit(lambda link: link.one(_STATE, (approval_id,)))
        try:
            return row is not None and row[0] == "pending" and not Term.parse(str(row[1])).is_over(self._clock)
        except ValueError:
            return False

    async def _exactly(self, approval_id: str) -> Approval:
        row = await self._reader.submit(lambda link: link.one(f"{_SELECT} WHERE id = ?", (approval_id,)))
        if row is None:
            raise _unknown(approval_id)
        return self._approval(row)

    async def lease(self, holder: str, *, seconds: float) -> None:
        """Say that `holder` watches for approvals for `seconds` from now; 0 ends it."""
        await self._leases.hold(holder, seconds=seconds)

    async def attended(self) -> bool:
        """Tell whether anyone holds an approver lease."""
        return await self._leases.any()

    async def _first(self, effect: str, principal: str, states: Sequence[ApprovalState]) -> Approval | None:
        rows = await self._reader.submit(lambda link: _standing(link, effect, principal, states))
        return next((each for each in map(self._approval, rows) if each.state in states), None)

    def _approval(self, row: Row) -> Approval:
        record = sealed.opened(row[:-1], row[-1], "approval")
        approval = Approval(**record)
        over = Term.parse(str(row[5])).is_over(self._clock)
        return replace(approval, state="expired") if over and approval.state in (*_OPEN, "denied") else approval

    def _answerable(self, approval_id: str, row: Row | None) -> Approval:
        if row is None:
            raise _unknown(approval_id)
        approval = self._approval(row)
        if approval.state == "pending":
            return approval
        if approval.state == "expired" and approval.decision is None:
            raise Refusal(
                "approval.expired",
                f"approval {approval_id} expired before it was answered",
                hint="Repeat the call to ask again.",
            )
        raise Refusal(
            "approval.stale",
            f"approval {approval_id} was settled already: {approval.settled}",
            hint="Only the first answer counts; repeat the call to ask again.",
        )

    @staticmethod
    def _move(link: Link, row: Row | None, after: Approval, *, was: ApprovalState) -> None:
        term = Term.parse(str(row[5])) if row is not None else Term("", 0, None, None)
        columns = _columns(after, term)
        link.run(_UPDATE, (after.state, columns[-1], sealed.seal(*columns), after.id, was))
        if link.changes() != 1:
            raise Refusal("approval.stale", f"approval {after.id} is no longer {was}", hint="Repeat the call.")

    @contextmanager
    def _listening(self, approval_id: str, loop: asyncio.AbstractEventLoop) -> Generator[asyncio.Event]:
        event = asyncio.Event()
        mine = (loop, event)
        self._waiting.setdefault(approval_id, []).append(mine)
        try:
            yield event
        finally:
            left = [each for each in self._waiting[approval_id] if each is not mine]
            if left:
                self._waiting[approval_id] = left
            else:
                del self._waiting[approval_id]


def _columns(approval: Approval, term: Term) -> tuple[str, str, str, str, float, str, str]:
    record = sealed.text_of(approval)
    return (
        approval.id,
        approval.effect,
        approval.principal,
        approval.state,
        float(approval.created),
        str(term),
        record,
    )


def _standing(link: Link, effect: str, principal: str, states: Sequence[ApprovalState]) -> list[Row]:
    marks = ", ".join("?" * len(states))
    return link.all(
        f"{_SELECT} WHERE effect = ? AND principal = ? AND state IN ({marks}) ORDER BY created DESC, id DESC",
        (effect, principal, *states),
    )


def _unknown(approval_id: str) -> Refusal:
    return Refusal(
        "approval.stale",
        f"there is no approval {approval_id[:80]!r}",
        hint="List the pending ones with `toolcrib approve`.",
    )
