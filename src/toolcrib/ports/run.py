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
