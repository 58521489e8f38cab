"""Content search: files selected by the one walker, counted by ripgrep where there is one, shown by our own engine."""

from collections.abc import Collection
from functools import partial

from toolcrib.host.finder import cold
from toolcrib.host.finder.answer import Answer, Prepared
from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.choosing import Globs
from toolcrib.host.finder.cursor import key_of, take
from toolcrib.host.finder.engine import NOTHING, Engine, Job, Proposal, doubting
from toolcrib.host.finder.matching import matcher
from toolcrib.host.finder.patterns import Alternative, parse
from toolcrib.host.finder.place import Start, start
from toolcrib.host.finder.rg import Ripgrep
from toolcrib.host.finder.table import Table, Under, covers, split_absolute, table
from toolcrib.host.finder.view import View, rooted
from toolcrib.ports.find import Found, Query
from toolcrib.terms.digest import Json

FEW = 48
"""Files that are read sooner than a program is started."""


async def grep(view: View, engine: Engine | None, query: Query, *, ripgrep: Ripgrep | None = None) -> Found:
    """Search file contents; see `ports.find.Find.grep`. With `ripgrep` a first search need not wait for a walk."""
    budget = view.budget()
    if ripgrep is not None and cold.is_first(view):
        first = await hop(budget, partial(rooted, view, lambda own: _first(own, query)))
        found = None if first is None else await cold.search(view, ripgrep, first, budget)
        if found is not None:
            return found
    prepared = await hop(
        budget, partial(rooted, view, lambda own: prepare(own, budget, query, sizes=engine is not None))
    )
    proposal, job = NOTHING, None
    if engine is not None and prepared.parsed is not None and len(prepared.files) > FEW and not budget.spent():
        places, files = _places(prepared)
        job = Job(
            expression=prepared.parsed.exact(),
            parsed=prepared.parsed,
            literal=query.pattern if query.mode == "plain" else None,
            ignore_case=query.ignore_case,
            multiline=prepared.multiline,
            # A directory that holds something the caller may not see is not shown to a program either.
            directories=[place for place in places if place not in prepared.found.guarded],
            places=len(places),
            files=files,
            most_file=view.settings.max_file,
        )
        proposal = await engine.propose(job, budget)
    found = await _answered(view, budget, prepared, proposal)
    if found.total_lines == 0 and job is not None and proposal.rest and not proposal.read and view.tree is not None:
        # That there is nothing is only said once every file was asked for changes that give no event.
        changed = await hop(budget, view.tree.verified)
        if changed is None:
            return await _answered(view, budget, prepared, NOTHING)
        if changed & job.files:
            return await _answered(view, budget, prepared, doubting(proposal, job, changed))
    return found


async def _answered(view: View, budget: Budget, prepared: Prepared, proposal: Proposal) -> Found:
    return await hop(budget, partial(rooted, view, lambda own: Answer(own, budget, prepared, proposal).found()))


def prepare(view: View, budget: Budget, query: Query, *, sizes: bool) -> Prepared:
    """Read the arguments and select the files; with `sizes` the large ones are noted.

    Raises:
        Refusal: as `ports.find.Find`.
    """
    found, parsed, multiline = matcher(query)
    with start(view, query.path, files=True) as at:
        key = _key(view, at, query)
        after = key_of((str, int), take(key, query.cursor))
        globs = _filter(view, at, query.glob)
        named = ("",) if query.include_ignored else (at.base,) if at.path else ()
        # What is named is walked to its end, however much of it is ignored; the empty path names everything.
        most = view.settings.max_file if sizes else None
        under = Under(handle=at.handle, base=at.base, named=named, most_size=most)
        files, ignored, seen = _selected(view, budget, at, under, globs)
    return Prepared(
        query=query,
        key=key,
        after=(after[0], after[1]) if after else None,
        matcher=found,
        parsed=parsed,
        multiline=multiline,
        files=files,
        ignored=ignored,
        found=seen,
    )


def _first(view: View, query: Query) -> cold.First | None:
    """Read the arguments of a search that ripgrep may make by itself; None for any other."""
    if query.cursor is not None or query.glob is not None or query.include_ignored:
        return None
    found, parsed, multiline = matcher(query)
    if parsed is None:
        return None
    with start(view, query.path, files=True) as at:
        if at.path or not cold.is_large(view, Under(handle=at.handle, base="")):
            return None
        key = _key(view, at, query)
    prepared = Prepared(
        query=query,
        key=key,
        after=None,
        matcher=found,
        parsed=parsed,
        multiline=multiline,
        files=[],
        ignored=0,
        found=Table(),
    )
    return cold.First(prepared, parsed.exact())


def _key(view: View, at: Start, query: Query) -> Json:
    """Return what binds a cursor to the search."""
    return [
        "grep",
        view.workspace.root,
        at.path,
        *(query.pattern, query.mode, query.glob, query.ignore_case, query.multiline, query.output),
        query.include_ignored,
    ]


def _places(prepared: Prepared) -> tuple[Collection[str], frozenset[str]]:
    """Return the directories of the selected files, and the files as a set."""
    kept = prepared.found.kept
    if kept is not None and prepared.files is kept.whole.files:
        return kept.whole.places, kept.whole.set
    return dict.fromkeys(path.rpartition("/")[0] for path in prepared.files), frozenset(prepared.files)


def _selected(view: View, budget: Budget, at: Start, under: Under, globs: Globs | None) -> tuple[list[str], int, Table]:
    if not at.directory:
        alone = Table(files=[at.path])
        return alone.select(globs), 0, alone
    seen = table(view, budget, under)
    whole = seen.kept.whole.files if globs is None and seen.kept is not None and not at.base else None
    files = seen.select(globs) if whole is None else whole
    left = seen.select(globs, ignored=True)
    wanted = [path for path in left if "" in under.named or (at.path and covers(at.path, seen.top(path)))]
    return sorted([*files, *wanted]) if wanted else files, len(left) - len(wanted), seen


def _filter(view: View, at: Start, pattern: str | None) -> Globs | None:
    """Return what `glob` lets through: a pattern without a slash at any depth, else from `path` or from the root."""
    if pattern is None:
        return None
    text, absolute = split_absolute(view, pattern)
    base = at.path if at.directory else at.path.rpartition("/")[0]
    found: list[Alternative] = []
    for each in parse(text):
        if len(each.segments) == 1 and not absolute:
            found.append(each.anywhere())
        else:
            found += [each] if absolute or not base else [each, each.below(base)]
    if all(each.takes_away for each in found):
        found = [*parse("**"), *found]
    return Globs(found)
