"""In-memory tape, jobs, approvals and grants: for tests of the line that need no disk. Nothing here is durable."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.ports.clock import Clock
from toolcrib.ports.tape import Verdict
from toolcrib.terms.call import Decision
from toolcrib.terms.digest import of_json
from toolcrib.terms.records import Approval, Entry, Grant, Job, Taped, grant_of
from toolcrib.terms.refusals import Refusal

START = "0" * 64
"""What the first entry names as its predecessor."""


class MemoryTape:
    """The ports `Tape` and `Jobs` over two lists. `before` runs at each append and may raise, as a bad disk would."""

    def __init__(self, clock: Clock, *, before: Callable[[Sequence[Entry]], None] | None = None) -> None:
        self._clock = clock
        self.before = before
        self.entries: list[Taped] = []
        self._jobs: dict[str, Job] = {}

    async def append(self, entries: Sequence[Entry], *, durable: bool = True) -> Sequence[Taped]:
        """Append as one group, yielding to other tasks once, as a real disk would."""
        await asyncio.sleep(0)
        if self.before is not None:
            self.before(entries)
        group = [self._chained(entry, offset) for offset, entry in enumerate(entries)]
        await asyncio.sleep(0)
        return group

    def _chained(self, entry: Entry, _offset: int) -> Taped:
        previous = self.entries[-1].hash if self.entries else START
        seq, at = len(self.entries) + 1, self._clock.now()
        data = dict(entry.data)
        taped = Taped(
            seq=seq,
            at=at,
            stage=entry.stage,
            call_id=entry.call_id,
            data=data,
            previous=previous,
            hash=of_json([previous, seq, at, entry.stage, entry.call_id, data]),
        )
        self.entries.append(taped)
        if entry.call_id:
            self._jobs[entry.call_id] = _job(self._jobs.get(entry.call_id), taped)
        return taped

    async def page(self, *, since: int = 0, limit: int = 100, call_id: str | None = None) -> Sequence[Taped]:
        """Return entries above `since`."""
        found = [each for each in self.entries if each.seq > since and call_id in {None, each.call_id}]
        return found[:limit]

    async def latest(self, *, limit: int = 100) -> Sequence[Taped]:
        """Return the last entries."""
        return self.entries[-limit:]

    async def verify(self) -> Verdict:
        """Recompute the chain."""
        previous = START
        for each in self.entries:
            wanted = of_json([previous, each.seq, each.at, each.stage, each.call_id, dict(each.data)])
            if each.hash != wanted:
                return Verdict(entries=len(self.entries), head=previous, broken=each.seq, why="hash")
            previous = each.hash
        return Verdict(entries=len(self.entries), head=previous)

    async def find(self, call_id: str) -> Job | None:
        """Return one job."""
        return self._jobs.get(call_id)

    async def matching(self, prefix: str) -> Sequence[Job]:
        """Return jobs by the start of their id."""
        return [job for job in self._newest() if job.call_id.startswith(prefix)][:10]

    async def changed(self, *, since: int = 0, limit: int = 1000) -> Sequence[Job]:
        """Return jobs that changed something, newest first."""
        return [job for job in self._newest() if job.seq > since and _changes(job)][:limit]

    async def unfinished(self, *, dead: Sequence[str] | None = None) -> Sequence[Job]:
        """Return jobs that are not closed."""
        return [job for job in self._newest() if job.stage != "closed" and (dead is None or job.owner in dead)]

    def _newest(self) -> list[Job]:
        return sorted(self._jobs.values(), key=lambda job: -job.seq)


def _job(earlier: Job | None, taped: Taped) -> Job:
    data = taped.data
    if earlier is None:
        earlier = Job(
            call_id=taped.call_id,
            kind=data.get("kind", "tool_call"),
            tool=str(data.get("tool", "")),
            principal=str(data.get("principal", "")),
            thread=str(data.get("thread", "")),
            stage=taped.stage,
            owner=str(data.get("owner", "")),
            started=False,
            seq=taped.seq,
        )
    if earlier.stage == "closed":
        # An answer that comes late is on the tape, and leaves the closed job as it is.
        return earlier
    started = earlier.started or taped.stage == "started"
    if taped.stage != "closed":
        return replace(earlier, stage=taped.stage, started=started, seq=taped.seq)
    return replace(
        earlier,
        stage="closed",
        started=started,
        seq=taped.seq,
        outcome=data["outcome"],
        text=str(data.get("text", "")),
    )


def _changes(job: Job) -> bool:
    evidence: Mapping[str, Any] = (job.outcome or {}).get("evidence", {})
    return bool(evidence.get("changed"))


class MemoryApprovals:
    """The ports `Approvals` and `Grants` over two tables."""

    def __init__(self, clock: Clock, tape: MemoryTape) -> None:
        self._clock = clock
        self._tape = tape
        self.stored: dict[str, Approval] = {}
        self.grants: dict[str, Grant] = {}
        self._leases: dict[str, float] = {}
        self._answered = asyncio.Event()

    async def ask(self, approval: Approval, entries: Sequence[Entry]) -> None:
        """Store a pending approval."""
        await self._tape.append(entries)
        self.stored[approval.id] = approval

    async def find(self, approval_id: str) -> Approval | None:
        """Return the approval by its id, or the unique start or end of it."""
        found = [self._now(each) for key, each in self.stored.items() if _names(approval_id, key)]
        return found[0] if len(found) == 1 else None

    async def pending(self) -> Sequence[Approval]:
        """Return the pending approvals."""
        return [each for each in map(self._now, self.stored.values()) if each.state == "pending"]

    async def answer(self, approval_id: str, *, decision: Decision, words: str, by: str) -> Approval:
        """Record the first valid answer."""
        approval = self._now(self.stored[approval_id])
        if approval.state == "expired":
            raise Refusal("approval.expired", f"approval {approval_id} has expired")
        if approval.state != "pending":
            raise Refusal("approval.stale", f"approval {approval_id} was settled already: {approval.settled}")
        state = "denied" if decision == "deny" else "granted"
        answered = replace(approval, state=state, decision=decision, words=words, by=by)
        data = {"approval": approval_id, "decision": decision, "words": words, "by": by}
        self.stored[approval_id] = answered
        await self._tape.append([Entry(stage="answered", call_id=approval.call_id, data=data)])
        self._answered.set()
        self._answered = asyncio.Event()
        return answered

    async def consume(self, *, effect: str, principal: str) -> Approval | None:
        """Take a granted approval, once."""
        for key, each in self.stored.items():
            if each.effect == effect and each.principal == principal and self._now(each).state == "granted":
                self.stored[key] = replace(each, state="consumed")
                if (grant := grant_of(self.stored[key], at=self._clock.now())) is not None:
                    self.grants[grant.id] = grant
                return self.stored[key]
        return None

    async def standing(self, *, effect: str, principal: str) -> Approval | None:
        """Return the pending or denied approval of this effect."""
        for each in reversed([self._now(each) for each in self.stored.values()]):
            if each.effect == effect and each.principal == principal and each.state in {"pending", "denied"}:
                return each
        return None

    async def wait(self, approval_id: str, *, seconds: float) -> Approval:
        """Return the approval once answered, or after `seconds`."""
        deadline = self._clock.monotonic() + seconds
        while (left := deadline - self._clock.monotonic()) > 0 and self._now(
            self.stored[approval_id]
        ).state == "pending":
            try:
                async with asyncio.timeout(min(left, 0.05)):
                    await self._answered.wait()
            except TimeoutError:
                continue
        return self._now(self.stored[approval_id])

    async def lease(self, holder: str, *, seconds: float) -> None:
        """Hold the approver lease."""
        self._leases[holder] = self._clock.monotonic() + seconds

    async def attended(self) -> bool:
        """Tell whether anyone holds a lease."""
        return any(until > self._clock.monotonic() for until in self._leases.values())

    async def active(self, root: str) -> Sequence[Grant]:
        """Return the grants that still hold."""
        now = self._clock.now()
        return [
            each
            for each in self.grants.values()
            if each.root == root and (each.expires is None or each.expires > now) and each.uses != 0
        ]

    async def every(self, root: str) -> Sequence[Grant]:
        """Return the grants of a root, those that have ended too."""
        return [each for each in self.grants.values() if each.root == root]

    async def add(self, grant: Grant) -> None:
        """Store a grant."""
        self.grants[grant.id] = grant

    async def use(self, grant_id: str) -> bool:
        """Count one use."""
        grant = self.grants.get(grant_id)
        if grant is None or grant.uses == 0:
            return False
        if grant.uses is not None:
            self.grants[grant_id] = replace(grant, uses=grant.uses - 1)
        return True

    async def revoke(self, grant_id: str, *, by: str) -> bool:
        """Remove a grant."""
        return self.grants.pop(grant_id, None) is not None

    def _now(self, approval: Approval) -> Approval:
        live = approval.state in {"pending", "granted"}
        return replace(approval, state="expired") if live and approval.expires <= self._clock.now() else approval


def _names(text: str, key: str) -> bool:
    return len(text) >= 4 and (key.startswith(text) or key.endswith(text))
