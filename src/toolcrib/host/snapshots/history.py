"""The calls that changed something, read back from the tape: in order, and which of them were taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.ports.jobs import Jobs
from toolcrib.ports.tape import Tape
from toolcrib.terms.outcome import Change
from toolcrib.terms.records import Checkpoint, Job
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.wire import checkpoint_from, evidence_from

REWIND = "rewind"
"""The tool whose calls take others back; its payload names them as `calls`."""

_MOST = 100_000
"""Calls looked back over."""
_ENTRIES = 50
"""Entries of one call that are looked at; a call has fewer."""


@dataclass(frozen=True, slots=True)
class Made:
    """One closed call and the files it changed."""

    call_id: str
    tool: str
    seq: int
    changed: tuple[Change, ...]
    undone: tuple[str, ...] = ()
    """For a rewind: the calls it took back."""


class History:
    """Readings of the tape that a rewind needs."""

    def __init__(self, jobs: Jobs, tape: Tape) -> None:
        self._jobs = jobs
        self._tape = tape

    async def since(self, seq: int) -> list[Made]:
        """Return the calls that changed something and closed at or after `seq`, oldest first."""
        jobs = await self._jobs.changed(since=seq - 1, limit=_MOST)
        return [_made(job) for job in reversed(jobs)]

    async def last(self) -> tuple[Made, list[Made]]:
        """Return the last call that changed something, is no rewind and was not taken back; with all calls from it on.

        Raises:
            Refusal: `snapshot.missing` when there is none.
        """
        made = await self.since(1)
        dead = taken_back(made)
        for index in range(len(made) - 1, -1, -1):
            if made[index].tool != REWIND and made[index].call_id not in dead:
                return made[index], made[index:]
        raise Refusal(
            "snapshot.missing",
            "expected a call that changed something and was not taken back, found none",
            hint="Name the call; `toolcrib tape` lists them.",
        )

    async def named(self, call: str) -> Job:
        """Return the closed call whose id is, or alone starts with, `call`.

        Raises:
            Refusal: `snapshot.missing`, with the ids that fit when there are several.
        """
        if not (call.isascii() and call.isprintable()):
            raise Refusal(
                "snapshot.missing", f"no call is called {call[:80]!r}", hint="`toolcrib tape` lists the calls."
            )
        exact = await self._jobs.find(call) if call else None
        fitting: Sequence[Job] = [exact] if exact is not None else await self._jobs.matching(call) if call else []
        if len(fitting) == 1:
            if fitting[0].stage == "closed":
                return fitting[0]
            raise Refusal("snapshot.missing", f"the call {fitting[0].call_id} has not ended yet")
        found = ", ".join(job.call_id for job in fitting) or "none"
        raise Refusal(
            "snapshot.missing",
            f"expected one call whose id starts with {call[:40]!r}, found {found}",
            hint="`toolcrib tape` lists the calls and their ids.",
        )

    async def checkpoint(self, call_id: str) -> Checkpoint:
        """Return the checkpoint that was made before `call_id` ran.

        Raises:
            Refusal: `snapshot.missing`.
        """
        for entry in await self._tape.page(call_id=call_id, limit=_ENTRIES):
            held: Mapping[str, Any] | None = entry.data.get("checkpoint") if entry.stage == "started" else None
            if held:
                return checkpoint_from(held)
        raise Refusal(
            "snapshot.missing",
            f"no checkpoint was made before the call {call_id}",
            hint="It changed nothing that can be put back.",
        )


def taken_back(made: Sequence[Made]) -> frozenset[str]:
    """Return the ids of the calls in `made` (oldest first) that a rewind, itself not taken back, took back."""
    dead: set[str] = set()
    for each in reversed(made):
        if each.tool == REWIND and each.call_id not in dead:
            dead.update(each.undone)
    return frozenset(dead)


def _made(job: Job) -> Made:
    outcome: Mapping[str, Any] = job.outcome or {}
    evidence = evidence_from(outcome.get("evidence") or {})
    payload: Mapping[str, Any] = outcome.get("payload") or {}
    undone = tuple(str(each) for each in payload.get("calls") or ()) if job.tool == REWIND else ()
    return Made(job.call_id, job.tool, job.seq, evidence.changed, undone)
