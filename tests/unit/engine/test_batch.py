"""Batches: contiguous reads at once, any other call a barrier."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.engine.batch import run_batch
from toolcrib.engine.locks import Locks
from toolcrib.terms.call import Call, Principal
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.outcome import Ok, Outcome

pytestmark = pytest.mark.anyio

WHO = Principal(id="test", face="python", thread="t")


def call(name: str, args: Mapping[str, Any] | None = None) -> Call:
    return Call(id=name, tool=name, args=args or {}, principal=WHO)


@given(st.text(alphabet="rw", max_size=12))
def test_every_call_gets_one_outcome_in_order_and_a_write_runs_alone(kinds: str) -> None:
    running: set[str] = set()
    together: list[set[str]] = []

    async def run(each: Call) -> Outcome:
        running.add(each.id)
        together.append(set(running))
        for _ in range(3):
            await asyncio.sleep(0)
        running.discard(each.id)
        return Ok(tool=each.tool, call_id=each.id, payload={})

    calls = [call(f"{index}{kind}") for index, kind in enumerate(kinds)]
    done = asyncio.run(run_batch(calls, run=run, is_read=lambda each: each.id.endswith("r"), at_once=4))
    assert [each.call_id for each in done] == [each.id for each in calls]
    assert all(len(group) == 1 for group in together if any(name.endswith("w") for name in group))
    assert max((len(group) for group in together), default=0) <= 4
    if "rr" in kinds:
        assert max(len(group) for group in together) >= 2


async def test_two_writers_of_one_path_take_turns_and_crossed_paths_do_not_deadlock() -> None:
    locks, inside, most = Locks(), 0, 0

    async def write(*paths: str) -> None:
        nonlocal inside, most
        async with locks.hold(Footprint(writes=paths)):
            inside += 1
            most = max(most, inside)
            for _ in range(3):
                await asyncio.sleep(0)
            inside -= 1

    async with asyncio.timeout(5):
        await asyncio.gather(*(write("a", "b") if index % 2 else write("b", "a") for index in range(20)))
    assert most == 1
    assert locks.idle
