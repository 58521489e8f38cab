"""Starting a program of ours: fixed argv, clean environment, a deadline, and the whole tree dead at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program to run. No shell is ever involved; `environment` is all the environment it gets.

    `directory` is an open directory descriptor to start in (None: `/`). At most `most_bytes` of stdout are kept;
    what follows is dropped, and the program is then killed (`Ran.capped`).
    """

    argv: Sequence[str | bytes]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    directory: int | None = None
    stdin: bytes = b""
    seconds: float = 20.0
    most_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How it ended. `exit` is negative for a signal; after a deadline or a cap `exit` is what the kill made it."""

    exit: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    capped: bool = False


class Run(Protocol):
    """The one door to process creation."""

    async def run(self, program: Program) -> Ran:
        """Run to the end. Cancellation kills the whole tree before it is raised.

        Raises:
            FileNotFoundError: the executable does not exist.
        """
        ...


class Held(Protocol):
    """A program that stays, given bytes and read from piece by piece. Its methods block: for worker threads only."""

    def write(self, data: bytes, *, seconds: float) -> None:
        """Give it all of `data`.

        Raises:
            TimeoutError: it did not take them in time; how many it took is not known.
            OSError: it is gone.
        """
        ...

    def read(self, most: int, *, seconds: float) -> bytes:
        """Return what it says, 1 to `most` bytes; none when it is gone.

        Raises:
            TimeoutError: it said nothing in time.
        """
        ...

    def end(self) -> None:
        """Kill it and wait for its end; whoever waits in `read` or `write` is told that it is gone. Again is fine."""
        ...


class Hold(Protocol):
    """Starts programs that stay."""

    def hold(self, program: Program) -> Held:
        """Start it; `stdin` and the bounds of `program` do not count. Blocks: for worker threads only.

        A program to be held has to end when its input does, because that is how it learns that we died.

        Raises:
            OSError: it could not be started.
        """
        ...
