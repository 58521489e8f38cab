"""A batch of calls: contiguous reads run at once, any other call is a barrier, and every call gets one outcome."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from toolcrib.terms.call import Call
from toolcrib.terms.outcome import Outcome


async def run_batch(
    calls: Sequence[Call],
    *,
    run: Callable[[Call], Awaitable[Outcome]],
    is_read: Callable[[Call], bool],
    at_once: int,
) -> list[Outcome]:
    """Return the outcomes in call order."""
    outcomes: list[Outcome] = []
    position = 0
    while position < len(calls):
        end = position
        while end < len(calls) and is_read(calls[end]):
            end += 1
        if end == position:
            outcomes.append(await run(calls[position]))
            position += 1
            continue
        outcomes.extend(await _together(calls[position:end], run, at_once))
        position = end
    return outcomes


async def _together(calls: Sequence[Call], run: Callable[[Call], Awaitable[Outcome]], at_once: int) -> list[Outcome]:
    gate = asyncio.Semaphore(at_once)

    async def one(call: Call) -> Outcome:
        async with gate:
            return await run(call)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(call)) for call in calls]
    return [task.result() for task in tasks]
