"""The threads that touch files: who waits for what when a caller is cancelled, and that closing ends them."""

import threading
import time

import anyio
import pytest

from toolcrib.host.workspace.hands import Hands
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio


async def test_work_is_done_and_its_fault_reaches_the_caller() -> None:
    hands = Hands()
    assert await hands.read(lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        await hands.read(lambda: 1 // 0)
    assert await hands.change(lambda: "after a fault") == "after a fault"
    assert await anyio.to_thread.run_sync(hands.close)


async def test_more_work_than_threads_is_done_all_the_same() -> None:
    hands = Hands(most=2)
    names: set[str] = set()

    def work() -> None:
        names.add(threading.current_thread().name)

    async with anyio.create_task_group() as group:
        for _ in range(200):
            group.start_soon(hands.read, work)
    assert 1 <= len(names) <= 2
    assert await anyio.to_thread.run_sync(hands.close)


async def test_a_cancelled_change_is_waited_for_and_a_cancelled_reading_is_not() -> None:
    hands = Hands()
    going, ended = threading.Event(), threading.Event()

    def work() -> None:
        going.wait(10)
        ended.set()

    with anyio.move_on_after(0.05) as scope:
        await hands.read(work)
    assert scope.cancelled_caught
    assert not ended.is_set()
    going.set()
    assert ended.wait(10)

    going.clear()
    ended.clear()
    timer = threading.Timer(0.3, going.set)
    timer.start()
    began = time.monotonic()
    with anyio.move_on_after(0.05) as scope:
        await hands.change(work)
    assert scope.cancelled_caught
    assert ended.is_set()
    assert time.monotonic() - began >= 0.25
    timer.join()
    assert await anyio.to_thread.run_sync(hands.close)


async def test_a_fault_of_a_cancelled_change_is_nobodys() -> None:
    hands = Hands()
    going = threading.Event()

    def work() -> None:
        going.wait(10)
        raise RuntimeError("too late for anybody")

    timer = threading.Timer(0.2, going.set)
    timer.start()
    with anyio.move_on_after(0.05) as scope:
        await hands.change(work)
    assert scope.cancelled_caught
    timer.join()
    assert await anyio.to_thread.run_sync(hands.close)


async def test_closing_says_when_a_thread_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.host.workspace.hands.FAREWELL", 0.05)
    hands = Hands()
    going = threading.Event()
    with anyio.move_on_after(0.05):
        await hands.read(lambda: going.wait(10))
    assert not await anyio.to_thread.run_sync(hands.close)
    going.set()
    assert await anyio.to_thread.run_sync(hands.close)


async def test_closed_hands_do_nothing_more_and_say_so_at_once() -> None:
    hands = Hands()
    await hands.read(lambda: None)
    assert await anyio.to_thread.run_sync(hands.close)
    done: list[str] = []
    for ask in (hands.read, hands.change):
        with anyio.fail_after(5), pytest.raises(Refusal, match=r"workspace\.gone: the workspace was closed"):
            await ask(lambda: done.append("x"))
    assert done == []
