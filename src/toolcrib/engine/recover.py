"""Recovery: what a dead process left open is closed as interrupted, with what it changed; leftovers are swept.

A call that died while it changed several files together is put back as a whole first.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from toolcrib.ports.jobs import Jobs
from toolcrib.ports.snapshots import Snapshots
from toolcrib.ports.tape import Repeated, Tape
from toolcrib.terms.outcome import Change, Evidence, Refused
from toolcrib.terms.records import Checkpoint, Entry, Job
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.wire import checkpoint_from

NAMED = 20
"""Paths that an outcome names."""

Sweep = Callable[[str, Mapping[str, str | None]], Awaitable[Sequence[str]]]
"""Removes the temporary files of a dead call beside the given paths (path to pre-image digest); says what it kept."""


Undo = Callable[[Checkpoint], Awaitable[Sequence[str] | None]]
"""Puts back what a dead call was changing together, and returns the paths that somebody changed since; None where it
left no journal: it changed nothing together, or was done with it."""


async def recover(
    owners: Sequence[str], *, jobs: Jobs, tape: Tape, snapshots: Snapshots, sweep: Sweep, undo: Undo
) -> int:
    """Close the jobs that the dead `owners` left open and return how many there were. Nothing is run again."""
    if not owners:
        return 0
    unfinished = await jobs.unfinished(dead=owners)
    for job in unfinished:
        await _close(job, tape=tape, snapshots=snapshots, sweep=sweep, undo=undo)
    return len(unfinished)


async def _close(job: Job, *, tape: Tape, snapshots: Snapshots, sweep: Sweep, undo: Undo) -> None:
    changed: tuple[Change, ...] = ()
    kept: Sequence[str] = ()
    message = "the process that ran this call ended before the call did"
    checkpoint = await _checkpoint(job, tape) if job.started else None
    if checkpoint is not None:
        kept = await sweep(job.call_id, {held.path: held.mark for held in checkpoint.held})
        message += await _undone(checkpoint, undo)
        changed = await snapshots.changes(checkpoint)
    happened = "yes" if changed else "maybe" if job.started and checkpoint is None else "no"
    if kept:
        message += f"; kept aside: {', '.join(kept)}"
    evidence = Evidence(changed=changed, checkpoint=checkpoint.id if checkpoint is not None else None)
    outcome = Refused(
        tool=job.tool,
        call_id=job.call_id,
        name="call.interrupted",
        message=message,
        hint="look at what changed; nothing is repeated by itself",
        happened=happened,
        evidence=evidence,
    )
    text = f"refused call.interrupted: {message}"
    with suppress(Repeated):  # another process that starts at the same time recovered this call first
        await tape.append(
            [Entry(stage="closed", call_id=job.call_id, data={"outcome": outcome.to_json(), "text": text})]
        )


async def _undone(checkpoint: Checkpoint, undo: Undo) -> str:
    """Put back what the call was changing together; return what is to be said of it."""
    try:
        others = await undo(checkpoint)
    except Refusal as refusal:
        return f"; what it had changed could not be put back: {refusal.message}"
    if others is None:
        return ""
    since = f", but for what was changed since: {', '.join(others[:NAMED])}" if others else ""
    return f"; the files that it was changing together were put back{since}"


async def _checkpoint(job: Job, tape: Tape) -> Checkpoint | None:
    for entry in await tape.page(call_id=job.call_id, limit=20):
        if entry.stage == "started" and entry.data.get("checkpoint"):
            return checkpoint_from(entry.data["checkpoint"])
    return None
