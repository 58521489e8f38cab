"""Checkpoint: the pre-image is safe and the start is on the tape before anything changes."""

from dataclasses import replace

from toolcrib.engine.admit import moved, resolve
from toolcrib.engine.kit import Kit
from toolcrib.engine.stages import Cleared, Guarded, Stop
from toolcrib.ports.tape import Repeated
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Refusal


async def checkpoint(cleared: Cleared, kit: Kit) -> Guarded:
    """Return the guarded call. Runs under the locks of the write footprint.

    Raises:
        Stop: `approval.stale` when what was approved is no longer what would happen, `checkpoint.failed`,
            `store.unavailable`, `disk.full`.
    """
    admitted = cleared.judged.admitted
    flight, tool = admitted.flight, admitted.tool
    if tool.descriptor.kind == "read":
        flight.pending.append(Entry(stage="started", call_id=flight.call.id))
        return Guarded(cleared, admitted.facts, None)
    try:
        facts, held = admitted.facts, None
        if admitted.footprint.writes:
            if cleared.asked:
                places, footprint = await resolve(tool, admitted.args, kit, digest=bool(tool.pins))
                facts = replace(facts, places=places)
                if footprint != admitted.footprint or facts.pins() != admitted.facts.pins():
                    raise moved(admitted.footprint.subject)
            held = await kit.snapshots.hold(flight.call.id, admitted.footprint.writes)
        started = Entry(
            stage="started", call_id=flight.call.id, data={"checkpoint": held.to_json()} if held is not None else {}
        )
        entries, flight.pending = [*flight.pending, started], []
        await kit.tape.append(entries)
    except Refusal as refusal:
        raise Stop(refusal) from refusal
    except Repeated as repeated:
        raise Stop(Refusal("args.invalid", f"{repeated}", hint="give each call an id of its own")) from repeated
    flight.started, flight.checkpoint = True, held
    return Guarded(cleared, facts, held)
