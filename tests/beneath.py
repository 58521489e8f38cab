"""The membrane in a test: a workspace opened by either way of staying beneath the root, and system calls that fail."""

import errno
import os
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

from anyio import to_thread

from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.files import Files
from toolcrib.ports.scope import Scope
from toolcrib.terms.names import TEMP_PREFIX, mint_id
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings

Way = Literal["openat2", "walk"]
WAYS: tuple[Way, ...] = ("openat2", "walk")
SITES = [
    "create",
    "write",
    "own",
    "permit",
    "attribute",
    "sync",
    "close",
    "settle",
    "exchange",
    "carry",
    "swap",
    "link",
    "unlink",
    "make",
    "unmake",
]
"""The methods of the write path: each call of one is a site."""


class Walking(Calls):
    """A kernel without openat2."""

    def beneath(self, directory: int, path: bytes, flags: int, resolve: int) -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


class Killed(BaseException):
    """The process ends here: nothing that comes later reaches the system."""


class Faulty(Calls):
    """Counts the sites of the write path, and fails, cuts short or ends the process at one of them.

    `at` is the 1-based site that is struck. `fault` is an error number, `short` for a write that takes one byte,
    `kill` for an end before the call and `exit` for the same by a real end of the process.
    """

    def __init__(self, at: int = 0, fault: int | Literal["short", "kill", "exit"] = errno.EIO) -> None:
        self.at = at
        self.fault = fault
        self.seen: list[str] = []
        self.dead = False

    def __getattribute__(self, name: str) -> object:
        found = object.__getattribute__(self, name)
        if name not in SITES:
            return found

        def site(*args: object) -> object:
            return self.strike(name, found, args)

        return site

    def strike(self, name: str, call: object, args: tuple[object, ...]) -> object:
        assert callable(call)
        if self.dead:
            raise Killed
        self.seen.append(name)
        fault = self.fault
        if len(self.seen) == self.at:
            if fault == "exit":
                os._exit(9)
            if fault == "kill":
                self.dead = True
                raise Killed
            if fault == "short":
                if name == "write":
                    handle, data = args
                    assert isinstance(data, memoryview)
                    return call(handle, data[:1])
            elif isinstance(fault, int):
                if name == "close":  # close(2): the descriptor is gone whatever it answers
                    call(*args)
                raise OSError(fault, os.strerror(fault))
        return call(*args)


@contextmanager
def membrane(
    root: Path,
    way: Way = "openat2",
    *,
    calls: Calls | None = None,
    protected: Sequence[str] = (),
    edit_bytes: int = 64 << 20,
) -> Generator[Workspace]:
    """Open the workspace at `root`; `way` says by which means paths are kept beneath it."""
    doors = calls or (Walking() if way == "walk" else None)
    opened = Workspace.open(str(root), settings=FileSettings(edit_bytes=edit_bytes), protected=protected, calls=doors)
    assert calls is not None or opened.confined_by == way
    try:
        yield opened
    finally:
        opened.close()


@asynccontextmanager
async def opened(root: Path, way: Way = "openat2", **options: Any) -> AsyncGenerator[Workspace]:
    """Open as `membrane`, away from the event loop."""
    entered = membrane(root, way, **options)
    yield await to_thread.run_sync(entered.__enter__)
    await to_thread.run_sync(entered.__exit__, None, None, None)


def files(workspace: Workspace, *writes: str) -> Files:
    """Return the files of a call that may read all and write `writes`."""
    return workspace.within(scope(*writes))


def scope(*writes: str, call_id: str = "") -> Scope:
    """Return the scope of a call that may read all and write `writes`."""
    return Scope(writes=frozenset(writes), call_id=call_id or mint_id())


class Answer:
    """What `refusing` caught."""

    refusal: Refusal

    @property
    def text(self) -> str:
        """Message and hint, as a caller reads them."""
        return f"{self.refusal.message} {self.refusal.hint}"


@contextmanager
def refusing(*names: str) -> Generator[Answer]:
    """Demand that the body ends with a refusal of one of these names."""
    answer = Answer()
    try:
        yield answer
    except Refusal as refusal:
        assert refusal.name in names, f"expected {names}, found {refusal}"
        answer.refusal = refusal
        return
    raise AssertionError(f"expected a refusal {names}, found none")


def leftovers(root: Path) -> list[str]:
    """Return every temporary name below `root`."""
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.name.startswith(TEMP_PREFIX)]


def handles() -> int:
    """Return how many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))
