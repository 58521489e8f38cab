"""The one door to process creation: fixed argv, no shell, clean environment, a deadline, and the whole tree dead after.

Not a sandbox: what a program may reach is decided where it is wrapped, before it comes here.
"""

import fcntl
import os
import selectors
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio import CapacityLimiter, to_thread

from toolcrib.host.process import strays
from toolcrib.host.process.held import Pipes
from toolcrib.ports.run import Held, Program, Ran

_STDERR_BYTES = 64 << 10
_CHUNK = 256 << 10
_PIPE_BYTES = 1 << 20
"""Room in a pipe, so that the program goes on while its output waits to be read; less where the system says so."""
_LITTLE = 16 << 10
_PAUSE = 0.002
_SWEEP_SECONDS = 1.5
"""How long remaining processes are hunted; the whole tree is to be dead within 2 s."""
_DRAIN_SECONDS = 0.2
"""How long output is waited for once everything that could write it is dead."""


class Launcher:
    """Runs programs, at most `at_once` at a time. Implements `ports.run.Run` and `ports.run.Hold`."""

    def __init__(self, *, at_once: int = 16) -> None:
        self._slots = anyio.Semaphore(at_once)
        self._threads = CapacityLimiter(at_once)

    async def run(self, program: Program) -> Ran:
        """Run to the end; a cancellation kills the whole tree before it is raised.

        Raises:
            FileNotFoundError: the executable does not exist.
            PermissionError: it may not be executed.
            ValueError: the executable is not named by an absolute path, so a search path would decide.
        """
        _check(program)
        # A slot is waited for where a cancellation still ends the wait at once; from then on there is a thread.
        async with self._slots:
            return await self._run(program)

    def hold(self, program: Program) -> Held:
        """Start a program that stays; it counts for none of the slots. See `ports.run.Hold`."""
        _check(program)
        process = _start(program, stays=True)
        mark = strays.mark(process.pid)
        exited = os.pidfd_open(process.pid)

        def end() -> None:
            try:
                _end(process, mark, exited)
            finally:
                os.close(exited)
                process.wait()

        return Pipes(*_taken(process), end)

    async def _run(self, program: Program) -> Ran:
        halt = _Halt()
        ended: list[Ran | OSError] = []
        done = anyio.Event()

        async def work() -> None:
            with anyio.CancelScope(shield=True):
                ended.append(await to_thread.run_sync(partial(_conduct, program, halt), limiter=self._threads))
            done.set()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(work)
                try:
                    await done.wait()
                except anyio.get_cancelled_exc_class():
                    halt.pull()
                    raise
        finally:
            halt.close()
        if isinstance(ended[0], OSError):
            raise ended[0]
        return ended[0]


class _Halt:
    """A switch that a thread waiting in a selector sees."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def pull(self) -> None:
        os.eventfd_write(self.fd, 1)

    def pulled(self) -> bool:
        try:
            os.eventfd_read(self.fd)
        except BlockingIOError:
            return False
        os.eventfd_write(self.fd, 1)
        return True

    def close(self) -> None:
        os.close(self.fd)


@dataclass
class _Stream:
    """What was read of one output: kept up to `most` bytes, the rest dropped."""

    most: int
    kept: bytearray = field(default_factory=bytearray)
    over: bool = False

    def take(self, data: bytes) -> None:
        room = self.most - len(self.kept)
        self.over = self.over or len(data) > room
        self.kept += data[:room]


def _conduct(program: Program, halt: _Halt) -> Ran | OSError:
    """Start, feed, read, and end. Runs in a worker thread; an error of starting is returned, not raised."""
    deadline = time.monotonic() + program.seconds
    if halt.pulled():
        return Ran(exit=-signal.SIGKILL, stdout=b"", stderr=b"")
    try:
        process = _start(program)
    except OSError as error:
        return error
    mark = strays.mark(process.pid)
    with ExitStack() as stack:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                stack.callback(pipe.close)
        exited = os.pidfd_open(process.pid)
        stack.callback(os.close, exited)
        watch = _Watch(program, process, exited, halt.fd)
        stack.callback(watch.close)
        try:
            timed_out = watch.until(deadline)
        finally:
            _end(process, mark, exited)
        watch.drain()
        return Ran(
            exit=process.wait(),
            stdout=bytes(watch.out.kept),
            stderr=bytes(watch.err.kept),
            timed_out=timed_out,
            capped=watch.out.over,
        )


def _check(program: Program) -> None:
    if not os.path.isabs(program.argv[0]):
        raise ValueError(f"expected an absolute path of a program, found {program.argv[0]!r}")


def _start(program: Program, *, stays: bool = False) -> "subprocess.Popen[bytes]":
    # No preexec_fn: it is unsafe among threads, and without it the child is made by vfork.
    directory = "/" if program.directory is None else f"/proc/self/fd/{program.directory}"
    return subprocess.Popen(  # noqa: S603 - fixed argv of ours, no shell
        list(program.argv),
        bufsize=0,
        stdin=subprocess.PIPE if program.stdin or stays else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if stays else subprocess.PIPE,
        cwd=directory,
        env=dict(program.environment),
        start_new_session=True,
    )


def _taken(process: "subprocess.Popen[bytes]") -> tuple[int, int]:
    """Return handles of our own on the input and output of a process, whose objects are closed."""
    handles: list[int] = []
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            handles.append(os.dup(pipe.fileno()))
            pipe.close()
    return handles[0], handles[1]


def _end(process: "subprocess.Popen[bytes]", mark: strays.Mark, exited: int) -> None:
    """Kill the group, then all that left it, until nothing of the tree runs. The leader is not reaped before.

    While the leader is not reaped its id, which is the group's, cannot be given to anything else.
    """
    deadline = time.monotonic() + _SWEEP_SECONDS
    while True:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if not strays.kill_marked(process.pid, mark) and _readable(exited):
            return
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _readable(handle: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(handle, selectors.EVENT_READ)
        return bool(selector.select(0))


class _Watch:
    """Moves bytes between us and the program until it ends, a deadline passes, or the switch is pulled."""

    def __init__(self, program: Program, process: "subprocess.Popen[bytes]", exited: int, halt: int) -> None:
        self.out = _Stream(program.most_bytes)
        self.err = _Stream(_STDERR_BYTES)
        self._exited = exited
        self._halt = halt
        self._input = memoryview(program.stdin)
        self._selector = selectors.DefaultSelector()
        for handle in (exited, halt):
            self._selector.register(handle, selectors.EVENT_READ)
        self._streams: dict[int, _Stream] = {}
        for pipe, stream in ((process.stdout, self.out), (process.stderr, self.err)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                with suppress(OSError):
                    fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
                self._streams[pipe.fileno()] = stream
                self._selector.register(pipe.fileno(), selectors.EVENT_READ)
        self._stdin = process.stdin
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin.fileno(), selectors.EVENT_WRITE)

    def until(self, deadline: float) -> bool:
        """Return whether the deadline passed first."""
        while not self.out.over:
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            ready = {key.fd for key, _ in self._selector.select(left)}
            if self._halt in ready:
                return False
            moved = self._move(ready)
            if self._exited in ready:
                return False
            if 0 < moved < _LITTLE:
                # Many small writes are read together: waking up for each costs more than they do.
                time.sleep(_PAUSE)
        return False

    def drain(self) -> None:
        """Read what is still in the pipes of a dead tree."""
        until = time.monotonic() + _SWEEP_SECONDS
        self._selector.unregister(self._exited)
        self._selector.unregister(self._halt)
        while self._streams and not self.out.over and time.monotonic() < until:
            ready = {key.fd for key, _ in self._selector.select(_DRAIN_SECONDS)}
            if not ready:
                return  # somebody holds the pipe, and says nothing
            self._move(ready)

    def close(self) -> None:
        self._selector.close()

    def _move(self, ready: set[int]) -> int:
        moved = sum(self._read(handle) for handle in ready & self._streams.keys())
        if self._stdin is not None and self._stdin.fileno() in ready:
            self._feed(self._stdin.fileno())
        return moved

    def _read(self, handle: int) -> int:
        try:
            data = os.read(handle, _CHUNK)
        except BlockingIOError:
            return 0
        if data:
            self._streams[handle].take(data)
        else:
            self._selector.unregister(handle)
            del self._streams[handle]
        return len(data)

    def _feed(self, handle: int) -> None:
        try:
            self._input = self._input[os.write(handle, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input and self._stdin is not None:
            self._selector.unregister(handle)
            self._stdin.close()
            self._stdin = None
