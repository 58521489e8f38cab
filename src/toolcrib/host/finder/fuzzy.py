"""Fuzzy file names: the files whose path holds the words of the query, or else nearly so, best first.

Each word stands in the path as written; where no file has them all so, its letters stand there in order; and where
none has that either, it is nearly there in one piece. The score, 0 to 100, is the likeness of the words to the path and
of the whole query to the file's name.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from rapidfuzz import fuzz, process

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.cursor import key_of, put, take
from toolcrib.host.finder.place import Start, start
from toolcrib.host.finder.table import Table, Under, covers, table
from toolcrib.host.finder.tree.shelves import Shelf, beneath, holds
from toolcrib.host.finder.usage import Usage
from toolcrib.host.finder.view import View
from toolcrib.ports.find import Page, Scored
from toolcrib.terms.refusals import Refusal

MOST_CHARS = 128
_NEAR = 75
"""Least likeness of a word to a part of a path that does not hold its letters in order."""
_COMMON = "zqxjkvwyfbghpmudcltisnorae"
"""Letters from rare to common in names of files; any other character is rarer."""
_RARE = 2
_TIES = 100
_LIFT = 0.5
_SHORT = 2
"""Characters of a word that must stand there as they are."""


def fuzzy(
    view: View, budget: Budget, query: str, usage: Usage | None, *, under: str, limit: int, cursor: str | None
) -> Page[Scored]:
    """Rank file names by likeness; see `ports.find.Find.fuzzy`. A further page counts the uses that the first did."""
    words = query.casefold().split()
    if not words or len(query) > MOST_CHARS:
        raise Refusal(
            "find.invalid",
            f"expected 1 to {MOST_CHARS} characters of a file name, found {query[:MOST_CHARS]!r}",
            hint="Name some letters of the path, or use glob with ** for every file.",
        )
    with start(view, under) as at:
        key = ["fuzzy", view.workspace.root, at.path, query]
        after = key_of((float, str, int), take(key, cursor))
        seen = table(view, budget, Under(handle=at.handle, base=at.base, named=(at.base,) if at.path else ()))
        found, like, ignored = _found(seen, words, at)
    last, used = (0, {}) if usage is None else usage.of(after[2] if after else None)
    ranked = _lifted(_ranked(found, like, len(at.base), None if after else limit + 1), found, used, like, len(at.base))
    first = 0 if after is None else sum((-score, path) <= (-after[0], after[1]) for score, path in ranked)
    page = ranked[first : first + limit]
    more = len(ranked) > first + limit
    bounds = view.bounds(budget, seen.notes, cursor=put(key, [*page[-1], last]) if more else None, ignored=ignored)
    items = tuple(Scored(path=path, score=score) for score, path in page)
    return Page(items=items, total=None if budget.capped else len(found), bounds=bounds)


def _found(seen: Table, words: Sequence[str], at: Start) -> tuple[list[str], "_Like", int]:
    """Return the files that hold the words in the strictest way that finds any, and how many ignored ones do."""
    ways = (_Exact(words), _InOrder(words), _Near(words))
    ignored = 0
    for like in ways:
        found = seen.select(like)
        left = seen.select(like, ignored=True)
        named = [path for path in left if at.path and covers(at.path, seen.top(path))]
        if found or named:
            return (sorted([*found, *named]) if named else found), like, len(left) - len(named)
        ignored = ignored or len(left)
    return [], ways[-1], ignored


class _Like(ABC):
    """A way in which paths hold words. The part of a path behind the searched directory counts."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def among(self, shelf: Shelf, base: str) -> list[str]:
        """Return the paths of a shelf beneath `base` that hold the words, in order."""
        low, high = beneath(shelf.paths, base)
        whole = (low, high) == (0, len(shelf.paths))
        folded = shelf.folded if whole else [path[len(base) :] for path in shelf.folded[low:high]]
        return [shelf.paths[low + at] for at in self.hold(folded)]

    def of(self, paths: list[str], *, base: str) -> list[str]:
        """Return those of some paths that lie beneath `base` and hold the words."""
        below = [path for path in paths if path.startswith(base)]
        return [below[at] for at in self.hold([path[len(base) :].casefold() for path in below])]

    def hold(self, folded: Sequence[str]) -> Sequence[int]:
        """Return the places of those that hold every word."""
        alive: Sequence[int] = range(len(folded))
        for word in sorted(self.words, key=len, reverse=True):
            alive = self.one(word, folded, alive)
        return alive

    @abstractmethod
    def one(self, word: str, folded: Sequence[str], alive: Sequence[int]) -> Sequence[int]:
        """Return which of `alive` hold one word."""

    base: float = 0.0
    """How well every path that is held so holds the words, 0 to 100; 0 where that differs."""


class _Exact(_Like):
    """As written, but for letter case."""

    base = 100.0

    def one(self, word: str, folded: Sequence[str], alive: Sequence[int]) -> Sequence[int]:
        """Return which hold the word."""
        return _holding(word, folded, alive)


class _InOrder(_Like):
    """With its letters in order, whatever stands between them."""

    base = 50.0

    def one(self, word: str, folded: Sequence[str], alive: Sequence[int]) -> Sequence[int]:
        """Return which hold the letters."""
        # What lacks a rare letter is left out by the quickest of tests.
        for letter in sorted(set(word), key=_COMMON.find)[:_RARE]:
            alive = _holding(letter, folded, alive)
        holds = _in_order(word)
        return [at for at in alive if holds(folded[at])]


class _Near(_Like):
    """Nearly in one piece, or with its letters in order."""

    def one(self, word: str, folded: Sequence[str], alive: Sequence[int]) -> Sequence[int]:
        """Return which hold something like the word."""
        holds = _in_order(word)
        near = _NEAR if len(word) > _SHORT else 100
        choices = [folded[at] for at in alive]
        found = {at for _, _, at in process.extract_iter(word, choices, scorer=fuzz.partial_ratio, score_cutoff=near)}
        return [at for place, at in enumerate(alive) if place in found or holds(choices[place])]


def _ranked(paths: Sequence[str], like: _Like, cut: int, most: int | None) -> list[tuple[float, str]]:
    """Return scores and paths, best first, ties by path; at least the first `most` of them."""
    whole = " ".join(like.words)
    names = [path[path.rfind("/") + 1 :].casefold() for path in paths]
    wide = most + _TIES if like.base and most is not None else None
    close = process.extract(whole, names, scorer=fuzz.ratio, limit=wide)
    scored = [
        (round(0.6 * (like.base or _held(like, paths[at], cut)) + 0.4 * score, 2), paths[at]) for _, score, at in close
    ]
    if wide is not None and most is not None and len(scored) == wide and scored[most - 1][0] == scored[-1][0]:
        return _ranked(paths, like, cut, None)  # more share this score than were asked for, and their order is by path
    return sorted(scored, key=lambda each: (-each[0], each[1]))


def _lifted(
    ranked: list[tuple[float, str]], paths: Sequence[str], used: Mapping[str, float], like: _Like, cut: int
) -> list[tuple[float, str]]:
    """Return the ranking with files that were used lately further up: half of what they lack at the most."""
    found = [path for path in used if holds(paths, path)]
    if not found:
        return ranked
    raised = {
        path: round(score + (100 - score) * _LIFT * used[path], 2) for score, path in _ranked(found, like, cut, None)
    }
    rest = [(score, path) for score, path in ranked if path not in raised]
    return sorted([*rest, *((score, path) for path, score in raised.items())], key=lambda each: (-each[0], each[1]))


def _held(like: _Like, path: str, cut: int) -> float:
    """Return how well a path holds the words on average, 0 to 100."""
    folded = path[cut:].casefold()
    return sum(100.0 if word in folded else fuzz.partial_ratio(word, folded) for word in like.words) / len(like.words)


def _holding(text: str, folded: Sequence[str], alive: Sequence[int]) -> Sequence[int]:
    """Return which of `alive` hold the text as written."""
    if len(alive) == len(folded):
        return [at for at, path in enumerate(folded) if text in path]
    return [at for at in alive if text in folded[at]]


def _in_order(word: str) -> Callable[[str], object]:
    """Return a test for the letters of `word` in order; each step looks for the next letter only, so it is linear."""
    return re.compile("".join(f"[^{re.escape(char)}]*{re.escape(char)}" for char in word)).match
