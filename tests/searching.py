"""The searches in a test: one workspace, by either engine, with or without rules on what may be seen."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from toolcrib.host.finder.finder import Finder
from toolcrib.host.finder.rg import find_ripgrep
from toolcrib.host.process.launcher import Launcher
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.find import Find, Found, Query
from toolcrib.ports.run import Program, Ran
from toolcrib.ports.scope import Scope
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings, SearchSettings

Engine = Literal["ripgrep", "own"]
ENGINES: tuple[Engine, ...] = ("ripgrep", "own")


class Counting:
    """A launcher that remembers what it was asked to run."""

    def __init__(self) -> None:
        self.ran: list[Program] = []
        self._launcher = Launcher()

    async def run(self, program: Program) -> Ran:
        self.ran.append(program)
        return await self._launcher.run(program)


@dataclass
class Searches:
    """The searches of one workspace, and the programs they started."""

    find: Find
    launcher: Counting

    async def lines(self, query: Query) -> list[tuple[str, int, int | None, str]]:
        """Return the matches of a search as (path, line, column, text)."""
        return [(each.path, each.line, each.column, each.text) for each in (await self.find.grep(query)).matches]

    async def globbed(self, pattern: str, *, under: str = ".") -> list[str]:
        """Return every path that a glob finds."""
        page = await self.find.glob(pattern, under=under, limit=10_000, cursor=None)
        assert page.total == len(page.items) or page.bounds.truncated
        return list(page.items)


@contextmanager
def searches(
    root: Path,
    engine: Engine = "ripgrep",
    *,
    may_read: Callable[[str], bool] | None = None,
    excludes: Path | None = None,
    settings: SearchSettings | None = None,
) -> Generator[Searches]:
    """Open a workspace for searching; with the engine `ripgrep` it is used however few files there are."""
    program = find_ripgrep()
    assert program is not None
    workspace = Workspace.open(str(root), settings=FileSettings())
    launcher = Counting()
    finder = Finder(
        workspace,
        settings=settings or SearchSettings(),
        run=launcher,
        ripgrep=program if engine == "ripgrep" else None,
        excludes=None if excludes is None else str(excludes),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolcrib.host.finder.grep.FEW", 0)
        try:
            yield Searches(finder.within(Scope(may_read=may_read)), launcher)
        finally:
            workspace.close()


async def refusal(found: Callable[[], object]) -> Refusal:
    """Await a call that must be refused."""
    with pytest.raises(Refusal) as caught:
        await found()  # pyright: ignore[reportGeneralTypeIssues] - any awaitable
    return caught.value


async def whole(find: Find, query: Query) -> Found:
    """Return a search with every match on one page."""
    return await find.grep(query)
