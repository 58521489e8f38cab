"""A program that stays: talked to in pieces, ended at once, and dead when we are."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from adapters.test_run import alive
from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.run import Held, Program

pytestmark = pytest.mark.anyio

SECONDS = 10.0


@contextmanager
def held(*argv: str) -> Generator[Held]:
    child = Launcher().hold(Program(argv=argv))
    try:
        yield child
    finally:
        child.end()


def shell(script: str) -> tuple[str, str, str]:
    return "/bin/sh", "-c", script


def read_all(child: Held, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = child.read(size - len(found), seconds=SECONDS)
        assert piece
        found += piece
    return found


async def test_bytes_go_in_and_come_out_as_often_as_wanted() -> None:
    def work() -> None:
        with held("/bin/cat") as child:
            for number in range(3):
                data = os.urandom(100_000 * (number + 1))
                child.write(data[:50_000], seconds=SECONDS)
                assert read_all(child, 50_000) == data[:50_000]

    await to_thread.run_sync(work)


async def test_waiting_ends_at_the_deadline_and_nothing_is_lost() -> None:
    def work() -> None:
        with held(*shell("read line; echo answer; read line")) as child:
            with pytest.raises(TimeoutError):
                child.read(10, seconds=0.01)
            child.write(b"go\n", seconds=SECONDS)
            assert read_all(child, 7) == b"answer\n"
        with held(*shell("read line; exec sleep 60")) as child, pytest.raises(TimeoutError):
            child.write(b"\n" + bytes(4 << 20), seconds=0.2)

    await to_thread.run_sync(work)


async def test_a_program_that_ended_says_nothing_and_takes_nothing() -> None:
    def work() -> None:
        with held(*shell("exit 0")) as child:
            assert child.read(10, seconds=SECONDS) == b""
            with pytest.raises(BrokenPipeError):
                while True:  # the kernel closes its ends one after another
                    child.write(b"anybody?", seconds=SECONDS)

    await to_thread.run_sync(work)


async def test_ending_kills_the_whole_tree_leaves_no_zombie_and_wakes_whoever_waits() -> None:
    def start() -> tuple[Held, int, int]:
        child = Launcher().hold(Program(argv=shell("sleep 60 & echo $$ $!; trap '' TERM; read line; read line")))
        line = b""
        while not line.endswith(b"\n"):
            line += child.read(100, seconds=SECONDS)
        first, second = map(int, line.split())
        return child, first, second

    child, first, second = await to_thread.run_sync(start)
    before = len(os.listdir("/proc/self/fd"))
    said: list[bytes] = []
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            said.append(await to_thread.run_sync(partial(child.read, 10, seconds=SECONDS)))

        group.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        with anyio.fail_after(5):
            await to_thread.run_sync(child.end)
    assert said == [b""]
    assert not alive(first)
    assert not alive(second)
    assert not Path(f"/proc/{first}").exists(), "it was waited for"
    assert len(os.listdir("/proc/self/fd")) < before
    await to_thread.run_sync(child.end)
    assert await to_thread.run_sync(partial(child.read, 1, seconds=1)) == b""


def test_a_program_that_does_not_exist_is_not_held() -> None:
    with pytest.raises(FileNotFoundError):
        Launcher().hold(Program(argv=["/nonexistent/program"]))
    with pytest.raises(ValueError, match="absolute"):
        Launcher().hold(Program(argv=["cat"]))


PARENT = """
import sys
from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.run import Program

child = Launcher().hold(Program(argv=sys.argv[1:]))
print(open("/proc/self/task/%d/children" % __import__("os").getpid()).read(), flush=True)
sys.stdin.read()
"""


@pytest.mark.timeout(60)
def test_a_held_program_dies_with_us_even_when_we_are_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, "/bin/cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    handle = os.pidfd_open(child)
    try:
        assert alive(child)
        os.kill(parent.pid, signal.SIGKILL)
        ready, _, _ = select.select([handle], [], [], SECONDS)
        assert ready, "it lives on"
    finally:
        os.close(handle)
        parent.wait()
        parent.stdout.close()
        parent.stdin.close()
