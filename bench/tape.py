"""Durable appends to the tape, one after another and grouped."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from _harness import Figure, Plan, main, p50, workspace
from anyio import to_thread

from toolcrib.ports.tape import Tape
from toolcrib.store.store import Store
from toolcrib.terms.names import mint_id
from toolcrib.terms.records import Entry
from toolcrib.wiring.clock import SystemClock

ALONE = 200
AT_ONCE = 32
EACH = 40


def group() -> list[Entry]:
    """Return the two entries that a reading leaves."""
    call = mint_id()
    received = {"tool": "read_file", "canonical": "read_file", "kind": "tool_call", "args": {"path": "src/a.py"}}
    who = {"principal": "python", "face": "python", "thread": "bench", "owner": "bench", "digest": "0" * 64}
    outcome: dict[str, object] = {
        "kind": "ok",
        "tool": "read_file",
        "call_id": call,
        "payload": {},
        "bounds": {},
        "evidence": {},
    }
    return [
        Entry(stage="received", call_id=call, data={**received, **who}),
        Entry(stage="closed", call_id=call, data={"outcome": outcome, "text": "x" * 200}),
    ]


async def rates(tape: Tape, alone: int) -> tuple[list[float], float]:
    """Return the times of appends one after another, in ms, and the entries a second of many callers at once."""
    took: list[float] = []
    for _ in range(alone):
        began = time.perf_counter()
        await tape.append(group())
        took.append((time.perf_counter() - began) * 1000)

    async def caller() -> None:
        for _ in range(EACH):
            await tape.append(group())

    began = time.perf_counter()
    async with asyncio.TaskGroup() as callers:
        for _ in range(AT_ONCE):
            callers.create_task(caller())
    return took, AT_ONCE * EACH / (time.perf_counter() - began)


def flushes(directory: Path) -> list[float]:
    """Return how long one bare durable append of 1 KiB takes on this disk, in ms."""
    took: list[float] = []
    with open(directory / "floor", "ab") as file:
        for _ in range(ALONE):
            began = time.perf_counter()
            file.write(b"x" * 1024)
            file.flush()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return took


async def measure(plan: Plan) -> Sequence[Figure]:
    """Measure against a store of its own."""
    with workspace() as directory:
        store = await to_thread.run_sync(lambda: Store.open(str(directory / "store"), clock=SystemClock()))
        try:
            alone, grouped = await rates(store.tape, plan.times(ALONE))
            verdict = await store.tape.verify()
        finally:
            await to_thread.run_sync(store.close)
        assert verdict.broken is None, verdict
        bare = flushes(directory)
    return [
        Figure(f"durable appends a second, grouped ({AT_ONCE} callers at once)", grouped, "/s", 1000, most=False),
        Figure("one durable append alone, p50", p50(alone), "ms"),
        Figure("floor: one bare append and fdatasync, p50", p50(bare), "ms"),
    ]


if __name__ == "__main__":
    main("Appending to the tape", measure)
