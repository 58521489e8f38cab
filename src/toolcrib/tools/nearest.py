"""The text most like one that was not found, and how it differs: for the message of `file.no_match`.

Bounded: work grows with the size of the text once, never with the product of two sizes, and long lines are compared
by their folded form or their first characters only.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from toolcrib.terms.text import split_lines

SHOWN = 40
"""Lines of the nearest text that are shown."""

LIKE = 0.5
"""Least likeness, 0 to 1, of a line that is offered as the nearest."""

MOST = 4 << 20
"""Characters of the longest text that is looked through."""

_SAME = "line breaks"
"""What differs when the lines do not."""

_HEAD = 400
"""Characters of a line that likeness is computed over."""

_LOOKED = 12
"""Words of the wanted text that are looked up."""

_OFTEN = 200
"""Occurrences of one word that are looked at."""

_PREFIX = re.compile(r"^ *\d+\t", re.MULTILINE)
_WORD = re.compile(r"\w{3,}")
_QUOTES: dict[int, str] = dict.fromkeys(
    map(ord, '"`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\xab\xbb'), "'"
)
_DASHES: dict[int, str] = dict.fromkeys(range(0x2010, 0x2016), "-") | {0x2212: "-"}
_DOTS: dict[int, str] = {0x2026: "..."}
_HIDDEN: dict[int, None] = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD), None)


@dataclass(frozen=True, slots=True)
class Nearest:
    """Lines of the file from `first` (1-based), and the names of what differs; none when only the words do."""

    first: int
    lines: tuple[str, ...]
    differs: tuple[str, ...] = ()


def _blank(text: str) -> str:
    return "\n".join("".join(line.split()) for line in text.split("\n"))


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode normal form", _normal),
    ("quotation marks", lambda text: text.translate(_QUOTES)),
    ("dashes", lambda text: text if text.isascii() else text.translate(_DASHES)),
    ("dots", lambda text: text if text.isascii() else text.translate(_DOTS)),
    ("invisible characters", lambda text: text if text.isascii() else text.translate(_HIDDEN)),
    ("whitespace", _blank),
    ("letter case", str.casefold),
)
"""Differences a reader does not see, by name, each with the fold that hides it; none makes or removes a line break."""


def nearest(text: str, wanted: str) -> Nearest | None:
    """Return the lines of `text` most like `wanted`, or None when nothing is like it."""
    if len(text) > MOST:
        return None
    lines, sought = split_lines(text), split_lines(wanted)
    if not lines or not any(line.strip() for line in sought):
        return None
    for spelled, name in ((_PREFIX.sub("", wanted), "line numbers in front"), (_unescaped(wanted), "escape sequences")):
        if spelled != wanted and (found := _folded(lines, split_lines(spelled))):
            return Nearest(found.first, found.lines, (name, *(each for each in found.differs if each != _SAME)))
    return _folded(lines, sought) or _aligned(lines, sought) or _by_words(text, lines, sought)


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _fold(lines: Sequence[str], *, without: str = "") -> str:
    text = "\n".join(lines)
    for name, fold in _FOLDS:
        if name != without:
            text = fold(text)
    return text


def _folded(lines: Sequence[str], sought: Sequence[str]) -> Nearest | None:
    """Find where the text is the same but for differences a reader does not see."""
    wanted = _fold(sought)
    if not wanted.strip():
        return None
    text = _fold(lines)
    at = text.find(wanted)
    if at < 0:
        return None
    first = text.count("\n", 0, at)
    found = tuple(lines[first : first + len(sought)])
    return Nearest(first + 1, found[:SHOWN], _differences(found, sought))


def _differences(found: Sequence[str], sought: Sequence[str]) -> tuple[str, ...]:
    """Name each fold without which the two are no longer the same."""
    needed = [name for name, _ in _FOLDS if _fold(sought, without=name) not in _fold(found, without=name)]
    if "whitespace" in needed:
        tabs = [any("\t" in line[: len(line) - len(line.lstrip())] for line in each) for each in (found, sought)]
        if tabs[0] != tabs[1]:
            kinds = ("tabs", "spaces") if tabs[0] else ("spaces", "tabs")
            needed[needed.index("whitespace")] = f"whitespace (the file has {kinds[0]}, `old` has {kinds[1]})"
    if needed:
        return tuple(needed)
    # two folds may hide the same difference; then none of them alone is needed
    return (_SAME,) if "\n".join(sought) in "\n".join(found) else ("Unicode normal form",)


def _aligned(lines: Sequence[str], sought: Sequence[str]) -> Nearest | None:
    """Find where most of the lines agree, by the distance at which equal lines stand."""
    wanted = {line.strip(): index for index, line in enumerate(sought) if line.strip()}
    if len(wanted) < 2:
        return None
    votes: Counter[int] = Counter()
    for index, line in enumerate(lines):
        at = wanted.get(line.strip())
        if at is not None:
            votes[index - at] += 1
    if not votes:
        return None
    first = min(votes, key=lambda start: (-votes[start], start))
    if votes[first] * 3 < len(wanted):
        return None
    first = max(0, first)
    return Nearest(first + 1, tuple(lines[first : first + min(len(sought), SHOWN)]))


def _by_words(text: str, lines: Sequence[str], sought: Sequence[str]) -> Nearest | None:
    """Find the line that shares the rarest words with the first line that has any, and is like it."""
    head = next((line for line in sought if _WORD.search(line)), sought[0])[:_HEAD]
    counts = {word: text.count(word) for word in _WORD.findall(head)}
    votes: Counter[int] = Counter()
    for word, count in sorted(counts.items(), key=lambda each: (each[1], each[0]))[:_LOOKED]:
        if count <= _OFTEN:
            # whole numbers, so that equal votes are equal: a word weighs more the rarer it is
            votes.update(dict.fromkeys(_lines_with(text, word), _OFTEN // max(count, 1)))
    best, likeness = -1, 0.0
    for line, _ in sorted(votes.items(), key=lambda each: (-each[1], each[0]))[:20]:
        found = SequenceMatcher(None, lines[line][:_HEAD].strip(), head.strip(), autojunk=False).ratio()
        if found > likeness:
            best, likeness = line, found
    if likeness < LIKE:
        return None
    return Nearest(best + 1, (lines[best],))


def _lines_with(text: str, word: str) -> set[int]:
    found: set[int] = set()
    line, at, since = 0, text.find(word), 0
    while at >= 0:
        line += text.count("\n", since, at) + text.count("\r", since, at) - text.count("\r\n", since, at)
        found.add(line)
        since, at = at, text.find(word, at + 1)
    return found
