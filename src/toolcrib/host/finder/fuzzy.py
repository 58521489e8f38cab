"""Fuzzy file names: every file whose path holds the letters of the query, roughly, best first.

A file is a result when each word of the query stands in its path with its letters in order, or nearly so in one piece.
The score, 0 to 100, is the likeness of the words to the path, and of the whole query to the file's name.
"""

import re
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz, process

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.cursor import key_of, put, take
from toolcrib.host.finder.place import start
from toolcrib.host.finder.table import Under, covers, table
from toolcrib.host.finder.view import View
from toolcrib.ports.find import Page, Scored
from toolcrib.terms.refusals import Refusal

MOST_CHARS = 128
_NEAR = 75
"""Least likeness of a word to a part of a path that does not hold its letters in order."""
_SHORT = 2
"""Characters of a word that must stand there as they are."""
_BATCH = 5_000
"""Paths scored by one call of the library, so that a search can be ended between two."""
_BETWEEN = re.compile(r"[\s/_.\-]+")


def fuzzy(view: View, budget: Budget, query: str, *, under: str, limit: int, cursor: str | None) -> Page[Scored]:
    """Rank file names by likeness; see `ports.find.Find.fuzzy`."""
    words = query.casefold().split()
    if not words or len(query) > MOST_CHARS:
        raise Refusal(
            "find.invalid",
            f"expected 1 to {MOST_CHARS} characters of a file name, found {query[:MOST_CHARS]!r}",
            hint="Name some letters of the path, or use glob with ** for every file.",
        )
    with start(view, under) as at:
        key = ["fuzzy", view.workspace.root, at.path, query]
        after = key_of((float, str), take(key, cursor))
        seen = table(view, budget, Under(handle=at.handle, base=at.base, named=(at.base,) if at.path else ()))
        every = seen.select(None, ignored=True)
        named = [path for path in every if at.path and covers(at.path, seen.top(path))]
        cut = len(at.base)
    ranked = _ranked(budget, words, [*seen.select(None), *named], cut)
    left = set(every).difference(named)
    ignored = len(_ranked(budget, words, sorted(left), cut)) if left else 0
    first = 0 if after is None else sum((-score, path) <= (-after[0], after[1]) for score, path in ranked)
    page = ranked[first : first + limit]
    more = len(ranked) > first + limit
    bounds = view.bounds(budget, seen.notes, cursor=put(key, list(page[-1])) if more else None, ignored=ignored)
    items = tuple(Scored(path=path, score=score) for score, path in page)
    return Page(items=items, total=None if budget.capped else len(ranked), bounds=bounds)


def _ranked(budget: Budget, words: Sequence[str], paths: Sequence[str], cut: int) -> list[tuple[float, str]]:
    scored: list[tuple[float, str]] = []
    for at in range(0, len(paths), _BATCH):
        if budget.spent():
            break
        scored += _scored(words, paths[at : at + _BATCH], cut)
    scored.sort(key=lambda each: (-each[0], each[1]))
    return scored


def _scored(words: Sequence[str], paths: Sequence[str], cut: int) -> list[tuple[float, str]]:
    folded = [path[cut:].casefold() for path in paths]
    alive = list(range(len(paths)))
    sums = dict.fromkeys(alive, 0.0)
    for word in words:
        choices = [folded[index] for index in alive]
        near = _NEAR if len(word) > _SHORT else 100
        found = {at: score for _, score, at in _extract(word, choices, cutoff=near)}
        holds = _in_order(word)
        rest = [at for at, choice in enumerate(choices) if at not in found and holds(choice)]
        found.update((rest[at], score) for _, score, at in _extract(word, [choices[at] for at in rest], cutoff=0))
        for at, score in found.items():
            sums[alive[at]] += score
        alive = [alive[at] for at in sorted(found)]
    names = [_BETWEEN.sub(" ", folded[index].rpartition("/")[2]) for index in alive]
    whole = _BETWEEN.sub(" ", " ".join(words))
    close = {at: score for _, score, at in process.extract(whole, names, scorer=fuzz.ratio, limit=None)}
    score_of = {index: 0.6 * sums[index] / len(words) + 0.4 * close[at] for at, index in enumerate(alive)}
    return [(round(score, 2), paths[index]) for index, score in score_of.items()]


def _extract(word: str, choices: Sequence[str], *, cutoff: float) -> list[tuple[str, float, int]]:
    return process.extract(word, choices, scorer=fuzz.partial_ratio, limit=None, score_cutoff=cutoff)


def _in_order(word: str) -> Callable[[str], object]:
    """Return a test for the letters of `word` in order; each step looks for the next letter only, so it is linear."""
    return re.compile("".join(f"[^{re.escape(char)}]*{re.escape(char)}" for char in word)).match
