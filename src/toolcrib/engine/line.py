"""The line: admit, judge, approve, checkpoint, execute, finish. The order is written here and nowhere else."""

import asyncio
import logging

from toolcrib.engine.admit import admit
from toolcrib.engine.approve import Desk, approve
from toolcrib.engine.checkpoint import checkpoint
from toolcrib.engine.execute import execute
from toolcrib.engine.finish import finish
from toolcrib.engine.inflight import Inflight
from toolcrib.engine.judge import judge
from toolcrib.engine.kit import Kit
from toolcrib.engine.locks import Locks
from toolcrib.engine.readings import Readings
from toolcrib.engine.stages import Flight, Stop
from toolcrib.ports.ask import Asker, Progress
from toolcrib.terms.call import Call
from toolcrib.terms.outcome import Ok, Outcome
from toolcrib.terms.payload import Answer, Payload
from toolcrib.terms.refusals import Refusal

log = logging.getLogger("toolcrib.engine")


class Line:
    """Takes calls to outcomes. Every call that reaches the tape leaves exactly one closing entry."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._locks = Locks()
        self._readings = Readings()
        self._inflight = Inflight(kit.jobs)

    async def run(self, call: Call, *, asker: Asker | None = None, listener: Progress | None = None) -> Outcome:
        """Return the outcome of `call`; the first one, when its id was seen before."""
        async with self._inflight.claim(call) as claim:
            if claim.outcome is not None:
                return claim.outcome
            claim.outcome = await self._run(call, asker, listener)
            return claim.outcome

    async def _run(self, call: Call, asker: Asker | None, listener: Progress | None) -> Outcome:
        flight = Flight(call)
        try:
            policy = self.kit.policy()
            admitted = await admit(flight, self.kit, self._readings)
            judged = await judge(admitted, self.kit, policy)
            cleared = await approve(judged, Desk(self.kit, policy, asker))
            async with self._locks.hold(cleared.footprint):
                guarded = await checkpoint(cleared, self.kit)
                ending = await execute(guarded, self.kit, listener)
                return await self._close(flight, ending)
        except Stop as stop:
            ending = stop.refusal
        except Refusal as refusal:
            ending = refusal
        except asyncio.CancelledError:
            if flight.closing:
                raise
            happened = "maybe" if flight.started else "no"
            await self._close(flight, Refusal("call.cancelled", "the caller cancelled the call", happened=happened))
            raise
        except Exception as fault:
            log.exception("the line failed before the tool ran")
            ending = Refusal("call.fault", f"the line failed before the tool ran ({type(fault).__name__})")
        return await self._close(flight, ending)

    async def _close(self, flight: Flight, ending: Answer[Payload] | Refusal) -> Outcome:
        """Write the closing entry even while being cancelled; re-raise the cancellation after."""
        flight.closing = True
        task = asyncio.ensure_future(self._finish(flight, ending))
        cancelled = False
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                cancelled = True
        outcome = task.result()
        self._note(flight, outcome)
        if cancelled:
            raise asyncio.CancelledError
        return outcome

    async def _finish(self, flight: Flight, ending: Answer[Payload] | Refusal) -> Outcome:
        """Close with the ending, or, when a tool's own payload cannot be told, with the fault: closed all the same."""
        try:
            return await finish(flight, ending, self.kit)
        except Exception as fault:
            log.exception("the ending of a call could not be told")
            message = f"the answer could not be told ({type(fault).__name__}); this is a defect of the tool"
            return await finish(flight, Refusal("call.fault", message, happened="maybe"), self.kit)

    def _note(self, flight: Flight, outcome: Outcome) -> None:
        """Remember what this thread has now seen of the file it read or wrote."""
        if not isinstance(outcome, Ok):
            return
        thread = flight.call.principal.thread
        for change in outcome.evidence.changed:
            if change.after is not None:
                self._readings.note(thread, change.path, change.after)
        path = outcome.payload.get("path")
        if outcome.evidence.digest is not None and isinstance(path, str):
            self._readings.note(thread, path, outcome.evidence.digest)
