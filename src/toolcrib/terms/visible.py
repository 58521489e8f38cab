r"""Makes untrusted text harmless and honest in a terminal: what would steer it or hide in it is shown as an escape.

Nothing is dropped. `\n` and `\t` stay; every other character that is not visible becomes its name, and so does a letter
that passes for a Latin one inside a Latin word. A long run of blanks, behind which something may hide, is a number.
"""

import re
import unicodedata
from collections.abc import Callable

MARKS_IN_A_ROW = 4
"""Combining marks that one character may carry; more would paint over the lines beside it."""

BLANKS = 120
"""Longest run of blanks that is shown as it is."""

_UNSEEN = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
)
"""Characters that count as printable and yet show nothing: fillers, joiners, the blank pattern, variation selectors."""

_ALIKE = frozenset("АВЕЅІЈКМНОРСТУХЬаеѕіјорсухһԁԛԝӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυϲϳ" + "օսհոց")
"""Cyrillic, Greek and Armenian letters that look like Latin ones (see the confusables of Unicode TR 39)."""

_BLANKS, _OTHER = rf"(?P<blanks> {{{BLANKS + 1},}})", "(?P<other>[^ -~]+)"
_SUSPECT = re.compile(f"{_BLANKS}|{_OTHER}")
_SUSPECT_WORDS = re.compile(rf"{_BLANKS}|(?P<word>\w+)|{_OTHER}")
"""For texts in which some word may be disguised: each word is looked at. Both take a time that grows as the text."""

_LATIN = re.compile("[A-Za-z]")


def visible(text: str, *, mark: Callable[[str], str] = str, lines: bool = True) -> str:
    r"""Return `text` with controls, escapes, bidirectional, invisible and disguised characters written out.

    A control becomes `\x1b`, an undecodable byte `\xff`, any other `<U+202E>`. `mark` dresses each such escape;
    with `lines` false `\n` and `\t` are written out too, so that the result is one line.
    """

    def written(found: re.Match[str]) -> str:
        part = found.group()
        if found.lastgroup == "word" and part.isascii():
            return part
        if found.lastgroup == "blanks":
            return mark(f"<{len(part):,} blanks>")
        disguised = _ALIKE if found.lastgroup == "word" and _LATIN.search(part) else frozenset[str]()
        return _letters(part, disguised, mark=mark, lines=lines)

    return (_SUSPECT if _ALIKE.isdisjoint(text) else _SUSPECT_WORDS).sub(written, text)


def one_line(text: str, *, most: int = 0) -> str:
    """Return `text` visible on one line, cut to `most` characters with a mark where that is given."""
    cut = text[: most + 1] if most else text
    shown = visible(cut, lines=False)
    return shown if not most or len(shown) <= most else shown[: most - 1] + "…"


def _letters(text: str, disguised: frozenset[str], *, mark: Callable[[str], str], lines: bool) -> str:
    shown: list[str] = []
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        seen = letter.isprintable() and ord(letter) not in _UNSEEN and letter not in disguised
        plain = lines if letter in "\n\t" else seen and marks <= MARKS_IN_A_ROW
        shown.append(letter if plain else mark(_written(letter)))
    return "".join(shown)


def _written(letter: str) -> str:
    number = ord(letter)
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter)
    if named is not None:
        return named
    if number < 0xA0:
        return f"\\x{number:02x}"
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    return f"<U+{number:04X}>"
