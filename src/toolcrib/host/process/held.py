"""A program that stays: its two pipes, read and written with a deadline, and its end told to whoever waits."""

import os
import selectors
import threading
import time
from collections.abc import Callable

_MOST = 256 << 10


class Pipes:
    """Talks to a program by its input and output, which become this object's. Implements `ports.run.Held`."""

    def __init__(self, stdin: int, stdout: int, end: Callable[[], None]) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._end = end
        self._halt = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._using = threading.Lock()
        self._ending = threading.Lock()
        self._ended = False
        for handle in (stdin, stdout):
            os.set_blocking(handle, False)

    def write(self, data: bytes, *, seconds: float) -> None:
        """Give it all of `data`."""
        deadline = time.monotonic() + seconds
        left = memoryview(data)
        with self._using:
            while left:
                self._wait(self._stdin, selectors.EVENT_WRITE, deadline)
                try:
                    left = left[os.write(self._stdin, left[:_MOST]) :]
                except BlockingIOError:
                    continue

    def read(self, most: int, *, seconds: float) -> bytes:
        """Return what it says; nothing when it is gone."""
        deadline = time.monotonic() + seconds
        with self._using:
            while True:
                try:
                    self._wait(self._stdout, selectors.EVENT_READ, deadline)
                    return os.read(self._stdout, min(most, _MOST))
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    return b""

    def end(self) -> None:
        """Kill it, and close everything once nobody uses it."""
        with self._ending:
            if self._ended:
                return
            os.eventfd_write(self._halt, 1)
            with self._using:
                self._ended = True
                for handle in (self._stdin, self._stdout, self._halt):
                    os.close(handle)
                self._end()

    def _wait(self, handle: int, event: int, deadline: float) -> None:
        if self._ended:
            raise BrokenPipeError
        with selectors.DefaultSelector() as selector:
            selector.register(handle, event)
            selector.register(self._halt, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(max(0.0, deadline - time.monotonic()))}
        if self._halt in ready:
            raise BrokenPipeError
        if not ready:
            raise TimeoutError
