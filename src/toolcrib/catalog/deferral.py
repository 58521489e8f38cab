"""Deferral: where the visible tools cost more than the budget, most are told by name only, until they are looked for.

It is about cost and decides nothing: a deferred tool is found by the line under its name as any visible one is, with
the same ruling. Pure, so the same view, budget and loaded names give the same tools.
"""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from toolcrib.catalog.views import Shown, View
from toolcrib.terms.names import nearest

SEARCH = "tool_search"
"""Canonical name of the tool that finds deferred tools. Nothing is deferred without it; nobody is shown it in vain."""

CORE = ("read_file", "edit_file", "bash", "grep", "write_file", "glob", "list_dir")
"""Canonical names of the tools that stay, in this order, as long as there is room."""

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]+|\s+")
MARGIN = 1.1
"""By how much the estimate stays above what was counted (`docs/benchmarks.md`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens of all visible tools above which tools are deferred, and tokens of those that then stay."""

    tokens: int
    deferred: int


def tokens(text: str) -> int:
    """Return about how many tokens `text` has for the tokenizer o200k_base; more rather than fewer.

    Counted by words, numbers and signs. Made for JSON and prose: of noise it may say half of the true number.
    """
    return math.ceil(MARGIN * sum(_weight(piece) for piece in _PIECE.findall(text)))


def _weight(piece: str) -> float:
    if piece.isascii() and piece.isalpha():
        return 1 + (len(piece) - 1) // 9 if len(piece) <= 14 else len(piece) / 2
    if piece.isascii() and piece.isdigit():
        return math.ceil(len(piece) / 3)
    if piece.isspace():
        return 0 if piece == " " else 1
    return sum(1 / 2.6 if letter.isascii() else len(letter.encode("utf-8", "surrogatepass")) / 2 for letter in piece)


def cost(item: Shown) -> int:
    """Return the tokens of one tool in a request; a symbol costs none."""
    if item.surface != "json":
        return 0
    told = {"name": item.name, "description": item.description, "parameters": item.schema}
    return tokens(json.dumps(told, ensure_ascii=False, separators=(",", ":"), default=str))


def deferred(view: View, budget: Budget | None, *, loaded: Collection[str] = frozenset()) -> View:
    """Return `view` within `budget`, what does not fit in its `deferred`; `loaded` are canonical names that stay."""
    search = next((item for item in view.items if item.entry.name == SEARCH), None)
    if search is None:
        return view
    others = [item for item in view.items if item is not search]
    if budget is None or sum(map(cost, others)) <= budget.tokens:
        return replace(view, items=tuple(others))
    kept = {search.name, *(item.name for item in others if item.entry.name in loaded)}
    room = budget.deferred - cost(search)
    for item in sorted(others, key=_urgency):
        if item.name not in kept and cost(item) <= room:
            kept.add(item.name)
            room -= cost(item)
    return replace(
        view,
        items=tuple(item for item in view.items if item.name in kept),
        deferred=tuple(item for item in view.items if item.name not in kept),
    )


def _urgency(item: Shown) -> int:
    return CORE.index(item.entry.name) if item.entry.name in CORE else len(CORE)


def find(items: Sequence[Shown], query: str) -> list[Shown]:
    """Return the tools that `query` speaks of, best first.

    Those that it names exactly, and no other; else those with its words, in their names above all, a rare word above a
    common one; else those whose names are nearly it.
    """
    named = [item for item in items if item.name in {query.strip(), *query.split()}]
    if named:
        return named
    told = [_Told(item) for item in items]
    # In order, so that the sums below do not depend on how a set is walked.
    words = {word: sum(word in each.all for each in told) for word in sorted(_words(query))}
    scored = [(each.score(words), place, each.item) for place, each in enumerate(told)]
    found = [item for score, _, item in sorted(scored, key=lambda each: (-each[0], each[1])) if score > 0]
    if found:
        return found
    near = nearest(query.strip(), [item.name for item in items])
    return [item for name in near for item in items if item.name == name]


class _Told:
    """The words of one tool: of its name, of its parameters, and all of them."""

    def __init__(self, item: Shown) -> None:
        self.item = item
        self.name = _words(item.name)
        self.parameters = _words(" ".join(item.schema.get("properties", {})))
        self.all = self.name | self.parameters | _words(f"{item.title} {item.summary} {item.description}")

    def score(self, words: Mapping[str, int]) -> float:
        """Return how well the words fit; each comes with the number of tools that have it."""
        return sum(
            (4 * (word in self.name) + 2 * (word in self.parameters) + (word in self.all)) / count
            for word, count in words.items()
            if count
        )


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, plurals as their singular; names are cut at signs and capitals."""
    cut = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    found = re.findall(r"[^\W_]+", cut.lower())
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found)
