"""Driving the command line from outside: as a program without a terminal, and as a person at one."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "toolcrib")
SECONDS = 15.0
"""Longest wait for one thing to happen."""

OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
"""Makes the terminal the program's own, so that Ctrl-C reaches it, and becomes the program."""

STEER = re.compile(rb"\x1b\[[0-9;]*m")
"""The only escape sequences that our own views send: colour."""


@dataclass(frozen=True)
class Done:
    """One run that has ended."""

    code: int
    out: str
    err: str
    raw: bytes

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value that it must be."""
        return json.loads(self.out)


def toolcrib(*words: str | bytes, at: Path, env: Mapping[str, str] | None = None, code: int | None = 0) -> Done:
    """Run one command line in `at` without a terminal, and demand its exit code where one is given."""
    command = [*COMMAND, *words]
    ran = subprocess.run(
        command,
        check=False,
        cwd=at,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
    )
    out, err = ran.stdout.decode("utf-8", "surrogateescape"), ran.stderr.decode("utf-8", "surrogateescape")
    assert code is None or ran.returncode == code, f"exit {ran.returncode}\n{out}\n{err}"
    assert "Traceback" not in err, err
    return Done(ran.returncode, out, err, ran.stdout)


def tape(at: Path) -> list[dict[str, Any]]:
    """Return the whole tape of the workspace."""
    return [json.loads(line) for line in toolcrib("tape", "--json", at=at).out.splitlines()]


class Terminal:
    """A program at a terminal of its own, with what it has shown so far."""

    def __init__(self, command: Sequence[str], *, at: Path, width: int = 100) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, width))
        self._shown = b""
        self._seen = 0
        environment = {**os.environ, "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)

        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN, *command],
            cwd=at,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

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
        start, self._seen = self._seen, place + len(wanted)
        return self.text[start : self._seen]

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
        return self.process.wait(timeout=max(0.1, until - time.monotonic()))

    def close(self) -> None:
        """Leave nothing running."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._master)

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux reports the end of a terminal so
            return False
        self._shown += data
        return bool(data)


@contextmanager
def terminal(*words: str, at: Path, width: int = 100) -> Generator[Terminal]:
    """Run one command line at a terminal."""
    with at_terminal([*COMMAND, *words], at=at, width=width) as shown:
        yield shown


@contextmanager
def at_terminal(command: Sequence[str], *, at: Path, width: int = 100) -> Generator[Terminal]:
    """Run any program at a terminal."""
    shown = Terminal(command, at=at, width=width)
    try:
        yield shown
    finally:
        shown.close()
