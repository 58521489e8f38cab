"""The launcher: what a program gets, how it ends, and that nothing of it is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.run import Program, Ran

pytestmark = pytest.mark.anyio

# A grandchild that leaves by every way there is: new session, orphaned twice, no descriptors, another directory, an
# empty environment, every signal ignored that can be. It writes its id, and lives for a minute.
DAEMON = """
import os, signal, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
for number in range(1, 30):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
with open(sys.argv[1] + ".part", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
for handle in range(3):
    os.close(handle)
os.execve("/bin/sleep", ["sleep", "60"], {})
"""


def starts_daemon(mark: Path, then: str) -> list[str]:
    """Return a command that starts the daemon, waits until it is on its own, and goes on with `then`."""
    wait = f"while ! test -e '{mark}'; do sleep 0.01; done"
    return ["/bin/sh", "-c", f'"$0" -c "$1" \'{mark}\'; {wait}; {then}', sys.executable, DAEMON]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1]
    except OSError:
        return False
    return state not in {b"Z", b"X"}


def shell(script: str, **rest: object) -> Program:
    return Program(argv=["/bin/sh", "-c", script], **rest)  # pyright: ignore[reportArgumentType] - by keyword


@pytest.fixture
def mark(tmp_path: Path) -> Generator[Path]:
    path = tmp_path / "pid"
    yield path
    if path.exists() and alive(int(path.read_text())):
        os.kill(int(path.read_text()), signal.SIGKILL)


async def run(program: Program) -> Ran:
    return await Launcher().run(program)


async def test_arguments_arrive_as_they_are_and_no_shell_reads_them() -> None:
    words = ["$HOME", "`id`", "a  b", "*", "; echo x", "", "\udcff", "-n"]
    ran = await run(Program(argv=["/usr/bin/printf", "%s\\0", *words]))
    assert ran.stdout.split(b"\0")[:-1] == [os.fsencode(word) for word in words]
    assert ran.exit == 0


async def test_bytes_and_text_may_stand_side_by_side_in_the_arguments() -> None:
    ran = await run(Program(argv=["/bin/echo", b"\xff", "a"]))
    assert ran.stdout == b"\xff a\n"


async def test_the_environment_is_exactly_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "secret")
    assert b"secret" in subprocess.run(["/usr/bin/env"], capture_output=True, check=True).stdout
    assert (await run(Program(argv=["/usr/bin/env"]))).stdout == b""
    ran = await run(Program(argv=["/usr/bin/env"], environment={"A": "b"}))
    assert ran.stdout == b"A=b\n"


async def test_standard_input_is_the_given_bytes_and_else_nothing() -> None:
    assert (await run(Program(argv=["/bin/cat"], stdin=b"a\0b"))).stdout == b"a\0b"
    assert (await run(Program(argv=["/bin/cat"]))).stdout == b""
    assert (await run(Program(argv=["/bin/readlink", "/proc/self/fd/0"]))).stdout == b"/dev/null\n"


async def test_much_input_and_output_at_once_do_not_stand_in_each_others_way() -> None:
    data = os.urandom(1 << 20) * 4
    assert (await run(Program(argv=["/bin/cat"], stdin=data))).stdout == data


async def test_input_that_nobody_reads_is_dropped() -> None:
    ran = await run(Program(argv=["/bin/true"], stdin=b"x" * (4 << 20)))
    assert ran == Ran(exit=0, stdout=b"", stderr=b"")


async def test_only_three_descriptors_are_open_in_the_program(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(handle, True)
    try:
        ran = await run(Program(argv=["/bin/ls", "/proc/self/fd"], directory=handle))
    finally:
        os.close(handle)
    assert ran.stdout.split() == [b"0", b"1", b"2", b"3"]  # the fourth is ls reading the directory


async def test_it_starts_in_the_directory_of_the_handle_whatever_its_name_is_now(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    handle = os.open(tmp_path / "old", os.O_RDONLY)
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "old").mkdir()
    try:
        ran = await run(Program(argv=["/bin/pwd", "-P"], directory=handle))
    finally:
        os.close(handle)
    assert ran.stdout == os.fsencode(tmp_path / "new") + b"\n"
    assert (await run(Program(argv=["/bin/pwd", "-P"]))).stdout == b"/\n"


async def test_it_leads_a_session_of_its_own() -> None:
    ran = await run(shell("read -r pid _ _ _ group session rest < /proc/self/stat; echo $pid $group $session"))
    first, group, session = map(int, ran.stdout.split())
    assert first == group == session
    assert session != os.getsid(0)


async def test_the_exit_and_both_outputs_are_told_apart() -> None:
    ran = await run(shell("echo out; echo err >&2; exit 3"))
    assert ran == Ran(exit=3, stdout=b"out\n", stderr=b"err\n")


async def test_an_end_by_signal_is_negative() -> None:
    assert (await run(shell("kill -TERM $$"))).exit == -signal.SIGTERM


async def test_a_missing_program_and_one_that_a_search_path_would_choose_are_refused() -> None:
    with pytest.raises(FileNotFoundError):
        await run(Program(argv=["/no/such/program"]))
    with pytest.raises(ValueError, match="absolute"):
        await run(Program(argv=["true"]))
    with pytest.raises(PermissionError):
        await run(Program(argv=["/etc/passwd"]))


async def test_at_the_deadline_it_is_killed_and_what_it_said_is_kept() -> None:
    began = time.monotonic()
    ran = await run(shell("echo before; sleep 60", seconds=0.3))
    assert time.monotonic() - began < 2.3
    assert ran == Ran(exit=-signal.SIGKILL, stdout=b"before\n", stderr=b"", timed_out=True)


async def test_output_beyond_the_cap_is_dropped_and_the_program_killed() -> None:
    began = time.monotonic()
    ran = await run(Program(argv=["/usr/bin/yes"], most_bytes=100_001))
    assert time.monotonic() - began < 5
    assert (len(ran.stdout), ran.capped, ran.timed_out) == (100_001, True, False)
    exact = await run(shell("printf 12345", most_bytes=5))
    assert (exact.stdout, exact.capped) == (b"12345", False)


async def test_a_flood_of_errors_fills_nothing() -> None:
    ran = await run(shell("yes >&2 & sleep 0.2; kill $!; echo done"))
    assert ran.stdout == b"done\n"
    assert len(ran.stderr) <= 64 << 10


async def test_a_pipe_that_somebody_holds_does_not_hang_the_call() -> None:
    began = time.monotonic()
    ran = await run(shell("sleep 60 & echo done"))
    assert time.monotonic() - began < 2
    assert (ran.exit, ran.stdout) == (0, b"done\n")


@pytest.mark.invariant("I7", "own")
@pytest.mark.parametrize("end", ["exit", "deadline", "cap", "cancel"])
async def test_what_left_the_tree_is_dead_in_two_seconds_however_the_run_ends(mark: Path, end: str) -> None:
    control = mark.with_name("control")
    subprocess.run(starts_daemon(control, "true"), check=True, timeout=10)
    survivor = int(control.read_text())
    assert alive(survivor), "without the launcher it lives on"
    then = {"exit": "exit 0", "deadline": "sleep 60", "cap": "yes", "cancel": "sleep 60"}[end]
    program = Program(
        argv=starts_daemon(mark, then), seconds=1.5 if end == "deadline" else 20, most_bytes=1000, environment=PATH
    )
    began = time.monotonic()
    if end == "cancel":
        async with anyio.create_task_group() as group:
            group.start_soon(run, program)
            while not await anyio.Path(mark).exists():
                await anyio.lowlevel.checkpoint()
            began = time.monotonic()
            group.cancel_scope.cancel()
    else:
        ran = await run(program)
        assert (ran.timed_out, ran.capped) == (end == "deadline", end == "cap")
        began += program.seconds if end == "deadline" else 0
    assert time.monotonic() - began < 2
    assert not alive(int(mark.read_text()))
    assert alive(survivor), "and nothing else is killed"
    os.kill(survivor, signal.SIGKILL)


PATH = {"PATH": os.defpath}


async def test_a_cancelled_run_that_waits_for_a_slot_never_starts(tmp_path: Path) -> None:
    launcher = Launcher(at_once=1)
    began = time.monotonic()
    async with anyio.create_task_group() as group:
        group.start_soon(launcher.run, shell("sleep 60"))
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.1):
            await launcher.run(shell(f"touch '{tmp_path}/ran'"))
        group.cancel_scope.cancel()
    assert time.monotonic() - began < 3
    assert not (tmp_path / "ran").exists()


async def test_many_runs_leave_no_process_and_no_descriptor_behind() -> None:
    launcher = Launcher()
    await launcher.run(Program(argv=["/bin/true"]))
    before, others = len(os.listdir("/proc/self/fd")), children()
    async with anyio.create_task_group() as group:
        for _ in range(40):
            group.start_soon(launcher.run, Program(argv=["/bin/true"]))
    assert len(os.listdir("/proc/self/fd")) == before
    assert children() <= others


def children() -> set[int]:
    """Return the processes whose parent is this one, those that wait to be reaped included."""
    found: set[int] = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(status.parent.name))
    return found


async def test_a_process_left_behind_would_be_seen() -> None:
    left = subprocess.Popen(["/bin/true"])
    try:
        assert left.pid in children()
    finally:
        left.wait()


async def test_the_loop_goes_on_while_a_program_runs() -> None:
    worst = 0.0
    async with anyio.create_task_group() as group:
        done = anyio.Event()

        async def work() -> None:
            await run(shell("sleep 0.5; yes | head -c 3000000", seconds=10))
            done.set()

        group.start_soon(work)
        last = time.monotonic()
        while not done.is_set():
            await anyio.sleep(0.005)
            worst = max(worst, time.monotonic() - last)
            last = time.monotonic()
    assert worst < 0.25
