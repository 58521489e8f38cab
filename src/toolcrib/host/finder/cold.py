"""The first content search of a large tree, before there is a table: ripgrep walks, and we check what it names.

It finds only; that there is nothing is never said from here, nor is it counted what ignore rules leave out and which
files are too large.
"""

import os
from dataclasses import dataclass, replace
from functools import partial

from toolcrib.host.finder.answer import Answer, Prepared
from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.engine import Proposal
from toolcrib.host.finder.ignore import FILES, Rules
from toolcrib.host.finder.place import rules_above
from toolcrib.host.finder.rg import Direct, Ripgrep, Walked
from toolcrib.host.finder.table import Table, Under, table
from toolcrib.host.finder.view import View, rooted
from toolcrib.host.finder.walk import beneath, entered
from toolcrib.ports.find import Found
from toolcrib.terms.names import TEMP_NAME

LARGE = 1_000
"""Entries of a tree from which on ripgrep walks sooner than we do."""


@dataclass(frozen=True, slots=True)
class First:
    """A search of the whole tree with its arguments read: as `Prepared`, without files."""

    prepared: Prepared
    expression: str


def is_first(view: View) -> bool:
    """Tell whether there is no table yet."""
    return view.tree is not None and view.shows is None and view.tree.growing


def is_large(view: View, under: Under) -> bool:
    """Tell whether a walk would meet many entries."""
    budget = Budget(seconds=view.settings.seconds, entries=LARGE)
    table(view, budget, under)
    return budget.capped is not None


async def search(view: View, ripgrep: Ripgrep, first: First, budget: Budget) -> Found | None:
    """Return what ripgrep finds; None where it finds nothing, or cannot be relied on here."""
    walked = await ripgrep.direct(
        Direct(
            expression=first.expression,
            multiline=first.prepared.multiline,
            under="",
            excludes=view.excludes,
            most_file=view.settings.max_file,
        ),
        budget,
    )
    if walked is None or walked.unsearched:
        return None
    found = await hop(budget, partial(rooted, view, lambda own: _found(own, budget, first, walked)))
    return found if found.total_lines else None


def _found(view: View, budget: Budget, first: First, walked: Walked) -> Found:
    seen = Table()
    judge = _Judge(view)
    files = [path for path in sorted(walked.candidates) if judge.takes(path)]
    counts = {path: walked.counts[path] for path in files if path in walked.counts}
    proposal = Proposal(counts=counts, doubtful=frozenset(files).difference(counts), rest=True, read=True)
    prepared = replace(first.prepared, files=files, found=seen)
    return Answer(view, budget, prepared, proposal).found()


class _Judge:
    """Tells of single files whether our ignore rules leave them out."""

    def __init__(self, view: View) -> None:
        self._root = view.root
        self._known: dict[str, tuple[Rules, str | None]] = {"": (rules_above(view, "")[0], None)}
        self._within: dict[str, tuple[Rules, str | None]] = {}

    def takes(self, path: str) -> bool:
        """Tell whether our rules search the file."""
        place = path[: path.rfind("/") + 1]
        name = path[len(place) :]
        rules, within = self._inside(place)
        return within is None and not TEMP_NAME.match(name) and not rules.ignored(place, [], [name])

    def _inside(self, place: str) -> tuple[Rules, str | None]:
        """Return the rules that hold in a directory, and the topmost ignored one that it is or lies in."""
        found = self._within.get(place)
        if found is None:
            rules, within = self._above(place)
            found = self._within[place] = (self._entered(place, rules) if within is None else rules, within)
        return found

    def _above(self, place: str) -> tuple[Rules, str | None]:
        """Return the rules that hold of a directory itself."""
        if place in self._known:
            return self._known[place]
        parent = place[: place[:-1].rfind("/") + 1]
        rules, within = self._inside(parent)
        name = place[len(parent) : -1]
        if within is None and name in rules.ignored(parent, [name], []):
            within = place
        self._known[place] = (rules, within)
        return rules, within

    def _entered(self, place: str, rules: Rules) -> Rules:
        try:
            handle = beneath(self._root, place)
        except OSError:
            return rules
        try:
            return entered(rules, place, handle, list(FILES), [".git"])
        finally:
            os.close(handle)
