"""Calls under way and calls already done, by id: a repeated id returns the first outcome and never runs again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.ports.jobs import Jobs
from toolcrib.terms.call import Call
from toolcrib.terms.outcome import Outcome, Refused
from toolcrib.terms.refusals import Happened, RefusalName
from toolcrib.terms.wire import outcome_from


@dataclass(slots=True)
class Claim:
    """A call's right to run: `outcome` is set when there is nothing left to run."""

    outcome: Outcome | None = None


class Inflight:
    """One future a call id of this process; the jobs of the store for what came before."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._open: dict[str, asyncio.Future[Outcome]] = {}

    @asynccontextmanager
    async def claim(self, call: Call) -> AsyncGenerator[Claim]:
        """Claim `call.id`; whoever claims it second waits for the first one's outcome.

        The first caller's cancellation ends the call; the second then gets `call.cancelled`, as the tape has it.
        """
        if (waiting := self._open.get(call.id)) is not None:
            yield Claim(await asyncio.shield(waiting))
            return
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._open[call.id] = future
        claim = Claim(None if call.fresh else await self._earlier(call))
        try:
            yield claim
        finally:
            del self._open[call.id]
            future.set_result(
                claim.outcome or _refused(call, "call.cancelled", "the caller cancelled the call", "maybe")
            )

    async def _earlier(self, call: Call) -> Outcome | None:
        job = await self._jobs.find(call.id)
        if job is None:
            return None
        if job.principal != call.principal.id:
            return _refused(call, "args.invalid", "this call id belongs to another caller", "no")
        if job.tool != call.tool[:200]:
            message = f"this call id belongs to a call of {job.tool}; give each call an id of its own"
            return _refused(call, "args.invalid", message, "no")
        if job.outcome is None:
            message = "a call with this id was started elsewhere and has not ended"
            return _refused(call, "call.interrupted", message, "maybe")
        return outcome_from(job.outcome, text=job.text)


def _refused(call: Call, name: RefusalName, message: str, happened: Happened) -> Outcome:
    return Refused(tool=call.tool[:200], call_id=call.id, name=name, message=message, happened=happened, text=message)
