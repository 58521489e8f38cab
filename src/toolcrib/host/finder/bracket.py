"""Character sets in brackets, as wildmatch reads them: shared by ignore files and globs."""

from dataclasses import dataclass

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\x01-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@[-`{-~",
    "space": "\t-\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
"""The classes of git's wildmatch, in ASCII."""

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bracket:
    """A set of code points, and the index behind its closing bracket. A negated set is all but `ranges`."""

    ranges: tuple[Range, ...]
    negated: bool
    end: int

    def expression(self, *, never: str) -> str:
        """Return the set for the expression library, without the characters of `never` and without NUL."""
        excluded = [(ord(each), ord(each)) for each in ("\0", *never)]
        if self.negated:
            return f"[^{_written((*self.ranges, *excluded))}]"
        kept = _without(self.ranges, [low for low, _ in excluded])
        return f"[{_written(kept)}]" if kept else "[^\\x{0}-\\x{10FFFF}]"


def bracket(pattern: str, at: int) -> Bracket | None:
    """Read the set that opens at `at`; None when it never closes or names an unknown class.

    The rules are those of git's wildmatch: `!` or `^` negates, `]` first is itself, a backslash quotes.
    """
    index = at + 1
    negated = pattern[index : index + 1] in {"!", "^"}
    index += negated
    ranges: list[Range] = []
    previous: int | None = None
    first = True
    while first or pattern[index : index + 1] != "]":
        first = False
        if index >= len(pattern):
            return None
        char = pattern[index]
        if char == "-" and previous is not None and pattern[index + 1 : index + 2] not in {"", "]"}:
            index += 1
            high, index = _quoted(pattern, index)
            if high is None:
                return None
            ranges.append((previous, high))
            previous = None
        elif char == "[" and pattern[index + 1 : index + 2] == ":" and (close := pattern.find("]", index + 2)) >= 0:
            name = pattern[index + 2 : close - 1] if pattern[close - 1] == ":" and close > index + 2 else None
            if name is None:
                previous, index = ord("["), index + 1
                ranges.append((previous, previous))
                continue
            if name not in _POSIX:
                return None
            ranges += _spelled(_POSIX[name])
            previous, index = None, close + 1
        else:
            previous, index = _quoted(pattern, index)
            if previous is None:
                return None
            ranges.append((previous, previous))
    return Bracket(tuple(ranges), negated, index + 1)


def _quoted(pattern: str, at: int) -> tuple[int | None, int]:
    if pattern[at] == "\\":
        at += 1
        if at >= len(pattern):
            return None, at
    return ord(pattern[at]), at + 1


def _spelled(text: str) -> list[Range]:
    found: list[Range] = []
    index = 0
    while index < len(text):
        if text[index + 1 : index + 2] == "-" and index + 2 < len(text):
            found.append((ord(text[index]), ord(text[index + 2])))
            index += 3
        else:
            found.append((ord(text[index]), ord(text[index])))
            index += 1
    return found


def _without(ranges: tuple[Range, ...], points: list[int]) -> tuple[Range, ...]:
    kept = [each for each in ranges if each[0] <= each[1]]
    for point in points:
        cut: list[Range] = []
        for low, high in kept:
            cut += [
                piece for piece in ((low, min(high, point - 1)), (max(low, point + 1), high)) if piece[0] <= piece[1]
            ]
        kept = cut
    return tuple(kept)


def _written(ranges: tuple[Range, ...]) -> str:
    return "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges if low <= high)
