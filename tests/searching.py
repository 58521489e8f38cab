"""The searches in a test: one workspace, by either engine, with or without rules on what may be seen."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest
from anyio import to_thread

from toolcrib.host.finder.finder import Finder
from toolcrib.host.finder.rg import find_ripgrep
from toolcrib.host.finder.tree.tree import Tree
from toolcrib.host.process.launcher import Launcher
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.find import Find, Found, Query
from toolcrib.ports.run import Held, Program, Ran
from toolcrib.ports.scope import Scope
from toolcrib.terms.settings import FileSettings, SearchSettings

Engine = Literal["ripgrep", "counting", "own", "kept", "kept-own", "first"]
"""Ripgrep naming files, ripgrep counting their lines too, or none; `kept` with the resident table in use, `first` with
ripgrep walking by itself."""
RIPGREP = find_ripgrep()
assert RIPGREP is not None
WITHOUT_RIPGREP = {"own", "kept-own"}
ENGINES: tuple[Engine, ...] = ("ripgrep", "counting", "own", "kept", "kept-own", "first")


class Counting:
    """A launcher that remembers what it was asked to run."""

    def __init__(self) -> None:
        self.ran: list[Program] = []
        self._launcher = Launcher()

    async def run(self, program: Program) -> Ran:
        self.ran.append(program)
        return await self._launcher.run(program)

    def hold(self, program: Program) -> Held:
        return self._launcher.hold(program)


class Kept:
    """Searches that begin when the resident table is there, or is known not to come."""

    def __init__(self, finder: Finder, find: Find) -> None:
        self._finder = finder
        self._find = find

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._find, name)

        async def search(*args: object, **named: object) -> object:
            self._finder.begin()
            with anyio.fail_after(20):
                while (standing := self._finder.standing()).stage == "growing":
                    await anyio.sleep(0.002)
            assert standing.stage in {"ready", "off"}
            return await method(*args, **named)

        return search


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

    async def ranked(self, query: str, *, under: str = ".", limit: int = 50) -> list[str]:
        """Return the paths that a fuzzy search finds, best first."""
        return [each.path for each in (await self.find.fuzzy(query, under=under, limit=limit, cursor=None)).items]

    async def pages(self, query: Query) -> list[Found]:
        """Return every page of a search."""
        pages = [await self.find.grep(query)]
        while pages[-1].bounds.next_cursor:
            pages.append(await self.find.grep(replace(query, cursor=pages[-1].bounds.next_cursor)))
            assert len(pages) < 1000
        return pages


@asynccontextmanager
async def searches(
    root: Path,
    engine: Engine = "ripgrep",
    *,
    may_read: Callable[[str], bool] | None = None,
    excludes: Path | None = None,
    settings: SearchSettings | None = None,
) -> AsyncGenerator[Searches]:
    """Open a workspace for searching; ripgrep is used however few files there are."""
    workspace = await to_thread.run_sync(lambda: Workspace.open(str(root), settings=FileSettings()))
    launcher = Counting()
    finder = Finder(
        workspace,
        settings=settings or SearchSettings(),
        run=launcher,
        ripgrep=None if engine in WITHOUT_RIPGREP else RIPGREP,
        excludes=None if excludes is None else str(excludes),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolcrib.host.finder.grep.FEW", 0)
        if engine == "first":
            patch.setattr("toolcrib.host.finder.cold.LARGE", 0)
            patch.setattr(Tree, "start", Tree.standing)
        if engine == "counting":
            patch.setattr("toolcrib.host.finder.rg.MANY", 0)
            patch.setattr("toolcrib.host.finder.rg.SHARE", 1_000_000)
        find = finder.within(Scope(may_read=may_read))
        try:
            yield Searches(cast("Find", Kept(finder, find)) if engine.startswith("kept") else find, launcher)
        finally:
            await finder.close()
            workspace.close()


def plain(pattern: str, **rest: object) -> Query:
    """Return a search for plain text."""
    return Query(pattern=pattern, **rest)  # pyright: ignore[reportArgumentType] - by keyword


def regex(pattern: str, **rest: object) -> Query:
    """Return a search by expression."""
    return plain(pattern, mode="regex", **rest)
