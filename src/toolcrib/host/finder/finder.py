"""The port `Find` over one workspace: each method is one hop to a worker thread and reads the tree as it is now."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from anyio import to_thread

from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.engine import Engine, Pace
from toolcrib.host.finder.fff import Fff
from toolcrib.host.finder.fuzzy import fuzzy
from toolcrib.host.finder.globbing import glob
from toolcrib.host.finder.grep import grep
from toolcrib.host.finder.heads import Heads
from toolcrib.host.finder.listing import listing
from toolcrib.host.finder.remembered import Remembered
from toolcrib.host.finder.rg import Ripgrep
from toolcrib.host.finder.tree.tree import Standing, Tree
from toolcrib.host.finder.usage import Usage
from toolcrib.host.finder.view import View, rooted
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.find import Find, Found, Listed, Page, Query, Scored
from toolcrib.ports.run import Hold, Run
from toolcrib.ports.scope import Scope
from toolcrib.ports.tape import Tape
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import SearchSettings

T = TypeVar("T")


class Runner(Run, Hold, Protocol):
    """Starts programs, to wait for their end or to hold them."""


class Finder:
    """What the searches of one workspace share. `ripgrep` and `accelerator` are paths, None to do without.

    `excludes` is the path of the person's own git excludes file (core.excludesFile), which may be missing. With a
    `tape` files that were used lately come first in fuzzy searches.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        settings: SearchSettings,
        run: Runner,
        ripgrep: str | None,
        excludes: str | None,
        accelerator: str | None = None,
        tape: Tape | None = None,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._excludes = excludes
        self._tree = Tree(workspace.fd, excludes=excludes, most_file=settings.max_file)
        self._usage = None if tape is None else Usage(tape)
        pace, truth = Pace(), self._tree
        engines: list[Engine] = []
        if accelerator is not None:
            engines.append(Fff(run, accelerator, workspace.fd, truth, pace))
        self._ripgrep = None if ripgrep is None else Ripgrep(run, ripgrep, workspace.fd, truth, pace)
        if self._ripgrep is not None:
            engines.append(self._ripgrep)
        self._engine = Remembered(engines, truth, Heads(workspace.fd, truth)) if engines else None

    def within(self, scope: Scope) -> Find:
        """Return the searches as one call may make them."""
        view = View(
            workspace=self._workspace,
            root=self._workspace.fd,
            scope=scope,
            settings=self._settings,
            excludes=self._excludes,
            tree=self._tree,
        )
        return Bound(view, self._engine, self._ripgrep, self._usage)

    def begin(self) -> None:
        """Have the table grown in the background; a first search does so at its end."""
        self._tree.start()

    def standing(self) -> Standing:
        """Tell how the table stands."""
        return self._tree.standing()

    async def close(self) -> None:
        """End the engines and the table's thread."""
        if self._engine is not None:
            await self._engine.close()
        await to_thread.run_sync(self._tree.close)


class Bound:
    """The searches of one call. Implements `ports.find.Find`; see there for what each method promises."""

    def __init__(self, view: View, engine: Engine | None, ripgrep: Ripgrep | None, usage: Usage | None) -> None:
        self._view = view
        self._engine = engine
        self._ripgrep = ripgrep
        self._usage = usage

    async def listing(self, path: str, *, depth: int, limit: int, cursor: str | None) -> Page[Listed]:
        """List a directory."""
        most = self._limit(limit)
        return await self._work(partial(listing, path=path, depth=depth, limit=most, cursor=cursor))

    async def glob(self, pattern: str, *, under: str, limit: int, cursor: str | None) -> Page[str]:
        """Enumerate the files whose path matches."""
        most = self._limit(limit)
        return await self._work(partial(glob, pattern=pattern, under=under, limit=most, cursor=cursor))

    async def grep(self, query: Query) -> Found:
        """Search file contents."""
        bounded = replace(query, limit=self._limit(query.limit))
        try:
            return await grep(self._view, self._engine, bounded, ripgrep=self._ripgrep)
        finally:
            self._begin()

    async def fuzzy(self, query: str, *, under: str, limit: int, cursor: str | None) -> Page[Scored]:
        """Rank file names by likeness to `query`."""
        most = self._limit(limit)
        if self._usage is not None:
            await self._usage.refresh()
        search = partial(fuzzy, query=query, usage=self._usage, under=under, limit=most, cursor=cursor)
        return await self._work(search)

    async def _work(self, search: Callable[[View, Budget], Page[T]]) -> Page[T]:
        budget = self._view.budget()
        try:
            return await hop(budget, partial(rooted, self._view, lambda own: search(own, budget)))
        finally:
            self._begin()

    def _begin(self) -> None:
        """Have the table grown once somebody searches: the first search does not wait for it."""
        if self._view.tree is not None:
            self._view.tree.start()

    def _limit(self, limit: int) -> int:
        if limit < 1:
            raise Refusal("args.invalid", f"limit: expected 1 or more, found {limit}")
        return min(limit, self._view.settings.max_limit)
