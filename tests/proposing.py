"""Search engines in a test: jobs made from queries, what our own scanner says of them, and whether a proposal holds."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from anyio import to_thread

from searching import RIPGREP
from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.engine import NOTHING, Engine, Job, Proposal, Truth
from toolcrib.host.finder.fff import Fff
from toolcrib.host.finder.fff_library import find_fff
from toolcrib.host.finder.matching import matcher
from toolcrib.host.finder.reading import Shelf
from toolcrib.host.finder.remembered import Remembered
from toolcrib.host.finder.rg import Ripgrep
from toolcrib.host.finder.scanning import Scanned, Scanner, Wanted
from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.find import Query
from toolcrib.ports.run import Hold

Kind = Literal["ripgrep", "ripgrep knowing", "fff", "remembered"]
KINDS: tuple[Kind, ...] = ("ripgrep", "ripgrep knowing", "fff", "remembered")
MOST_FILE = 64 << 20
PEERS = Path(__file__).resolve().parent.parent / ".toolcrib-dev" / "bench" / "fff"
SECONDS = 30


def library() -> str:
    """Return the path of the accelerator's library, which `script/test` installs."""
    found = find_fff(None, [str(PEERS)], workspace="/nonexistent")
    if found is None:
        pytest.fail("the library of fff is not there: run script/setup --bench, which needs npm")
    return found


@dataclass
class Changes:
    """A truth that a test writes."""

    version: int = 1
    log: list[tuple[int, frozenset[str]]] = field(default_factory=list[tuple[int, frozenset[str]]])
    lost: bool = False

    def changed(self, *paths: str) -> None:
        """Note that files changed."""
        self.version += 1
        self.log.append((self.version, frozenset(paths)))

    def changed_since(self, version: int) -> frozenset[str] | None:
        """Return what was noted; see `engine.Truth`."""
        if self.lost:
            return None
        return frozenset[str]().union(*(paths for at, paths in self.log if at > version))


def budget() -> Budget:
    """Return room enough."""
    return Budget(seconds=SECONDS, entries=1_000_000)


def job(root: Path, query: Query) -> Job:
    """Return the job of a query over all regular files."""
    _, parsed, multiline = matcher(query)
    assert parsed is not None
    files = frozenset(
        os.path.relpath(os.path.join(top, name), root) for top, _, names in os.walk(root) for name in names
    )
    directories = sorted({path.rpartition("/")[0] for path in files})
    return Job(
        expression=parsed.exact(),
        parsed=parsed,
        literal=query.pattern if query.mode == "plain" else None,
        ignore_case=query.ignore_case,
        multiline=multiline,
        directories=directories,
        places=len(directories),
        files=files,
        most_file=MOST_FILE,
    )


async def scanned(root: Path, query: Query, files: frozenset[str]) -> dict[str, Scanned]:
    """Return what our own scanner finds in each file."""
    return await to_thread.run_sync(partial(_scanned, root, query, files))


def _scanned(root: Path, query: Query, files: frozenset[str]) -> dict[str, Scanned]:
    found, _, multiline = matcher(query)
    handle = os.open(root, os.O_RDONLY)
    shelf = Shelf(handle, MOST_FILE)
    try:
        scanner = Scanner(shelf=shelf, matcher=found, multiline=multiline, line_chars=100, budget=budget())
        return {path: scanner.scan(path, Wanted()) for path in sorted(files)}
    finally:
        shelf.close()
        os.close(handle)


def wrong(proposal: Proposal, found: dict[str, Scanned]) -> list[str]:
    """Return what is not so in a proposal."""
    faults = [
        f"{path} has {each.count} lines, not {proposal.counts[path]}"
        for path, each in found.items()
        if path in proposal.counts and proposal.counts[path] != each.count
    ]
    faults += [f"{path} is {found[path].state}" for path in proposal.binary if found[path].state != "binary"]
    faults += [f"{path} is not of the job" for path in proposal.counts.keys() - found.keys()]
    if proposal.rest:
        known = proposal.doubtful | proposal.counts.keys()
        faults += [
            f"{path} has {each.count} lines, not none"
            for path, each in found.items()
            if each.count and path not in known
        ]
        faults += [
            f"{path} is binary, and not told"
            for path, each in found.items()
            if each.state == "binary" and path not in proposal.doubtful | proposal.binary
        ]
    return faults


@asynccontextmanager
async def engine(root: Path, kind: Kind, truth: Truth, *, hold: Hold | None = None) -> AsyncGenerator[Engine]:
    """Open an engine that is ready to answer, however few files there are."""
    assert RIPGREP is not None
    handle = os.open(root, os.O_RDONLY)
    launcher = Launcher()
    made: Ripgrep | Fff | Remembered
    if kind == "fff":
        made = Fff(hold or launcher, await to_thread.run_sync(library), handle, truth)
    elif kind == "remembered":
        made = Remembered([Ripgrep(launcher, RIPGREP, handle)], truth)
    else:
        made = Ripgrep(launcher, RIPGREP, handle, truth if kind == "ripgrep knowing" else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolcrib.host.finder.fff.LEAST_FILES", 0)
        patch.setattr("toolcrib.host.finder.fff.LEAST_MILLISECONDS", 5000)
        if kind == "ripgrep knowing":
            patch.setattr("toolcrib.host.finder.rg.MANY", 0)
            patch.setattr("toolcrib.host.finder.rg.SHARE", 1_000_000)
        try:
            await made.propose(job(root, Query(pattern="a")), budget())
            if isinstance(made, Fff):
                await made.settle(SECONDS)
                assert made.state == "ready" or hold is not None
            yield made
        finally:
            await made.close()
            os.close(handle)


__all__ = ["KINDS", "NOTHING", "Changes", "Kind", "budget", "engine", "job", "library", "scanned", "wrong"]
