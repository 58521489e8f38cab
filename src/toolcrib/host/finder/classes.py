r"""Sets of characters for content search, written so that both engines read them alike.

Perl's classes are Unicode's: `\d` is Nd; `\w` is Alphabetic, M, Nd, Pc and Join_Control; `\s` is White_Space
(Unicode Technical Standard 18, annex C). Neither engine has them all, so they are spelled in general categories and
ranges.
"""

import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

Range = tuple[int, int]

MARKS = (0x10FFFE, 0x10FFFF)
"""Two characters that Unicode keeps out of text, so that a search may put them there; no set holds them."""

LINE_ENDS = (0x0A, 0x0D)

WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}-\x{200d}\x{24b6}-\x{24e9}"
    r"\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
)
DIGIT = r"\p{Nd}"
_SPACES: tuple[Range, ...] = (
    *((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
_CIRCLED: tuple[Range, ...] = (
    *((0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)),
)
_WORD_CATEGORIES = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}


_POSIX: dict[str, tuple[Range, ...]] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


@dataclass
class Group:
    """A set while it is read: ranges, named parts as the engines write them, and complements of such texts."""

    negated: bool = False
    ranges: list[Range] = field(default_factory=list[Range])
    named: list[str] = field(default_factory=list[str])
    complements: list[str] = field(default_factory=list[str])

    def add_perl(self, letter: str) -> None:
        r"""Add `\d`, `\w`, `\s` or the complement of one."""
        if letter.isupper() and self.negated:
            self.ranges += complement(_perl(letter.lower()))
        elif letter.isupper():
            self.complements.append(_text(letter.lower()))
        elif letter == "s":
            self.ranges += _SPACES
        else:
            self.named.append(_text(letter))

    def add_posix(self, name: str, *, inverse: bool) -> bool:
        """Add a class such as `[:alpha:]`, which is of ASCII; tell whether there is one of that name."""
        ranges = _POSIX.get(name)
        if ranges is not None:
            self.ranges += complement(ranges) if inverse else ranges
        return ranges is not None

    def written(self, *, lines: bool) -> str | None:
        """Return the set for the engines, None when nothing is left of it.

        With `lines` it holds no line end, except a carriage return that is in it on its own.
        """
        never = (*MARKS, *(LINE_ENDS if lines else ()))
        if self.negated:
            return f"[^{''.join(self.named)}{written((*self.ranges, *_points(never)))}]"
        own = [each for each in self.ranges if each == (0x0D, 0x0D)] if lines else []
        kept = (*less(self.ranges, never), *own)
        parts = [f"[{''.join(self.named)}{written(kept)}]"] if kept or self.named else []
        parts += [f"[^{each}{written(_points(never))}]" for each in self.complements]
        return None if not parts else parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _points(points: Iterable[int]) -> list[Range]:
    return [(each, each) for each in points]


def _text(letter: str) -> str:
    return {"d": DIGIT, "w": WORD}.get(letter) or written(_SPACES)


def less(ranges: Iterable[Range], points: Iterable[int]) -> tuple[Range, ...]:
    """Return the ranges without some points."""
    kept = list(ranges)
    for point in points:
        cut: list[Range] = []
        for low, high in kept:
            pieces = ((low, min(high, point - 1)), (max(low, point + 1), high))
            cut += [piece for piece in pieces if piece[0] <= piece[1]]
        kept = cut
    return tuple(kept)


def complement(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return every character that is in none of the ranges."""
    found: list[Range] = []
    at = 0
    for low, high in sorted(ranges):
        if low > at:
            found.append((at, low - 1))
        at = max(at, high + 1)
    if at <= sys.maxunicode:
        found.append((at, sys.maxunicode))
    return tuple(found)


def written(ranges: Iterable[Range]) -> str:
    """Return ranges as they stand between brackets."""
    return "".join(f"\\x{{{low:x}}}" if low == high else f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)


@cache
def _perl(letter: str) -> tuple[Range, ...]:
    if letter == "s":
        return _SPACES
    wanted = {"Nd"} if letter == "d" else _WORD_CATEGORIES
    found: list[Range] = []
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)) in wanted:
            if found and found[-1][1] == point - 1:
                found[-1] = (found[-1][0], point)
            else:
                found.append((point, point))
    return tuple(found) if letter == "d" else (*found, *_CIRCLED)


def is_word(char: str) -> bool:
    r"""Tell whether `\w` matches the character."""
    if char.isascii():
        return char.isalnum() or char == "_"
    point = ord(char)
    return unicodedata.category(char) in _WORD_CATEGORIES or any(low <= point <= high for low, high in _CIRCLED)
