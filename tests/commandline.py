"""Driving the command line from outside: as a program without a terminal, and as a person at one.

Every run is a process of its own with its own descriptors, directory and environment. To spare each of them the loading
of the libraries, they are forked from one process that has loaded everything and run nothing (`nursery.py`); `fresh`
starts an interpreter instead.
"""

import atexit
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "toolcrib")
SECONDS = 18.0
"""Longest wait for one thing to happen."""

STEER = re.compile(rb"\x1b\[[0-9;]*m")
"""The only escape sequences that our own views send: colour."""


@dataclass(frozen=True)
class Done:
    """One run that has ended."""

    code: int
    raw: bytes
    raw_err: bytes

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.raw.decode("utf-8", "surrogateescape")

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self.raw_err.decode("utf-8", "surrogateescape")

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value that it must be."""
        return json.loads(self.out)


class Run:
    """A command line under way. `pid` is its process."""

    def __init__(self, words: tuple[str, ...], *, at: Path, env: Mapping[str, str], files: Mapping[int, str]) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.link.connect(_nursery())
        request = {"words": words, "at": str(at), "env": dict(env), "files": {str(k): v for k, v in files.items()}}
        self.link.sendall(json.dumps(request).encode() + b"\n")
        self._answers = self.link.makefile("rb")
        self.link.settimeout(SECONDS)
        self.pid = int(self._answers.readline())
        self._code: int | None = None

    def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        if self._code is None:
            self._code = int(self._answers.readline())
        return self._code

    def is_running(self) -> bool:
        """Say whether it has not ended yet."""
        return self._code is None and not select.select([self.link], [], [], 0)[0]

    def kill(self) -> None:
        """Leave nothing running."""
        if self.is_running():
            os.kill(self.pid, signal.SIGKILL)
        self.wait()
        self._answers.close()
        self.link.close()


@cache
def _nursery() -> str:
    """Start the process that runs are forked from, and return its socket; it ends with this one."""
    place = tempfile.mkdtemp(prefix="toolcrib-nursery-")
    command = [sys.executable, str(Path(__file__).with_name("nursery.py")), place]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin is not None
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"

    def end() -> None:
        parent.communicate()
        os.rmdir(place)

    atexit.register(end)
    return f"{place}/socket"


def toolcrib(*words: str | bytes, at: Path, env: Mapping[str, str] | None = None, code: int | None = 0) -> Done:
    """Run one command line in `at` without a terminal, and demand its exit code where one is given."""
    run = start(*words, at=at, env=env)
    return run.done(code)


@dataclass(frozen=True)
class Started:
    """A command line under way without a terminal, with the files that its outputs go to."""

    run: Run
    out: Path
    err: Path

    def done(self, code: int | None = 0) -> Done:
        """Wait for the end, and demand the exit code where one is given."""
        try:
            ended = Done(self.run.wait(), self.out.read_bytes(), self.err.read_bytes())
        finally:
            self.run.kill()
        assert code is None or ended.code == code, f"exit {ended.code}\n{ended.out}\n{ended.err}"
        assert "Traceback" not in ended.err, ended.err
        return ended


def start(*words: str | bytes, at: Path, env: Mapping[str, str] | None = None) -> Started:
    """Start one command line in `at` without a terminal."""
    place = Path(tempfile.mkdtemp(prefix="run-", dir=os.environ["XDG_RUNTIME_DIR"]))
    files = {0: os.devnull, 1: str(place / "out"), 2: str(place / "err")}
    run = Run(tuple(os.fsdecode(word) for word in words), at=at, env={**os.environ, **(env or {})}, files=files)
    return Started(run, place / "out", place / "err")


def fresh(*words: str, at: Path, code: int = 0) -> Done:
    """Run one command line in a new interpreter."""
    command = [*COMMAND, *words]
    ran = subprocess.run(command, check=False, cwd=at, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    assert ran.returncode == code, ran.stderr.decode()
    return Done(ran.returncode, ran.stdout, ran.stderr)


def tape(at: Path) -> list[dict[str, Any]]:
    """Return the whole tape of the workspace."""
    return [json.loads(line) for line in toolcrib("tape", "--json", at=at).out.splitlines()]


class Terminal:
    """A command line at a terminal of its own, with what the terminal has shown so far."""

    def __init__(self, words: tuple[str, ...], *, at: Path, width: int) -> None:
        # Our side of the slave stays open: a terminal that nobody has open yet looks like one that has ended.
        self._master, self._slave = pty.openpty()
        self._shown = b""
        self._seen = 0
        termios.tcsetwinsize(self._slave, (50, width))
        environment = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
        files = dict.fromkeys(range(3), os.ttyname(self._slave))
        self.run = Run(words, at=at, env={**environment, "TERM": "xterm-256color"}, files=files)

    @property
    def raw(self) -> bytes:
        """Every byte that the terminal has received."""
        return self._shown

    @property
    def text(self) -> str:
        """The same as text, colours taken out."""
        return STEER.sub(b"", self._shown).decode("utf-8", "replace").replace("\r\n", "\n")

    def expect(self, wanted: str) -> str:
        """Wait until the terminal shows `wanted` after what was expected before, and return what came with it."""
        until = time.monotonic() + SECONDS
        while (place := self.text.find(wanted, self._seen)) < 0:
            if not self._read(until):
                raise AssertionError(f"expected {wanted!r} after:\n{self.text[self._seen :]}")
        begin, self._seen = self._seen, place + len(wanted)
        return self.text[begin : self._seen]

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, line.encode() + b"\n")

    def press(self, key: bytes) -> None:
        """Press a key, such as Ctrl-C."""
        os.write(self._master, key)

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        until = time.monotonic() + SECONDS
        while self._read(until):
            pass
        return self.run.wait()

    def close(self) -> None:
        """Leave nothing running."""
        self.run.kill()
        os.close(self._master)
        os.close(self._slave)

    def _read(self, until: float) -> bool:
        """Take in what the terminal receives next; False when the command has ended and all is taken in."""
        running = self.run.is_running()
        left = max(0.0, until - time.monotonic())
        ready, _, _ = select.select(
            [self._master, *([self.run.link] if running else [])], [], [], left if running else 0
        )
        if self._master in ready:
            self._shown += os.read(self._master, 65536)
        return bool(ready)


@contextmanager
def terminal(*words: str, at: Path, width: int = 100) -> Generator[Terminal]:
    """Run one command line at a terminal."""
    shown = Terminal(words, at=at, width=width)
    try:
        yield shown
    finally:
        shown.close()
