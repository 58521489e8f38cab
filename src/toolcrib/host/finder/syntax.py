r"""The syntax of regular expressions for content search: read once, refused with its place, written for both engines.

It is the part of Perl's syntax that a linear-time engine can run, and that ripgrep and RE2 read alike. `^` and `$` are
the ends of a line, a carriage return before a line feed belongs to the line's end, and `.`, `[^a]` and `\s` match no
line end unless the search is multi-line.
"""

import re
from dataclasses import dataclass
from typing import Literal

from toolcrib.host.finder.classes import MARKS, Group, written
from toolcrib.host.finder.scan import Scanner

_MOST_DEPTH = 100
_MOST_SETS = 40
"""Unicode's classes in one pattern: compiling many takes long, and holds up other threads meanwhile."""
_LONG_SET = 400
_MOST_COPIES = 50
_MOST_REPEATS = 1000  # RE2's own bound

_COUNTED = re.compile(r"\{(\d{0,9})(,)?(\d{0,9})\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_BEYOND = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "an atomic group",
    "(?#": "a comment",
    "(?P=": "a back-reference",
    "(?P>": "a recursive call",
    "(?&": "a recursive call",
    "(?R": "a recursive call",
    "(?(": "a condition",
    "(?|": "a branch reset",
}

Kind = Literal["raw", "atom", "begin", "end", "boundary", "inside"]
Token = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A pattern as tokens, each an atom that takes up text, a place in it, or syntax around them."""

    tokens: tuple[Token, ...]
    ignore_case: bool
    copies: int = 0
    """How many marks a place needs: as many as ends of words may be asked for there one after another."""

    @property
    def has_boundaries(self) -> bool:
        """Whether the ends of words matter."""
        return any(kind in {"boundary", "inside"} for kind, _ in self.tokens)

    @property
    def folds(self) -> bool:
        """Whether a letter may match its other case somewhere."""
        return self.ignore_case or any(kind == "raw" and text.startswith("(?i") for kind, text in self.tokens)

    def exact(self) -> str:
        """Return the expression as it is. RE2 knows the ends of words in ASCII only."""
        return self._written({})

    def loose(self) -> str:
        """Return an expression that matches wherever the exact one does, and maybe where words do not end."""
        return self._written({"boundary": "(?:)", "inside": "(?:)"})

    def marked(self) -> str:
        """Return an expression for a text in which every place between characters holds marks: see `marks`."""
        first, second = (f"\\x{{{point:x}}}" for point in MARKS)
        skip = f"[{first}{second}]*"
        return self._written({"boundary": first, "inside": second, "end": f"{skip}$"}, skip)

    def _written(self, instead: dict[Kind, str], skip: str = "") -> str:
        flags = "(?mi)" if self.ignore_case else "(?m)"
        texts = [
            f"(?:{skip}{text})" if skip and kind == "atom" else instead.get(kind, text) for kind, text in self.tokens
        ]
        return flags + "".join(texts)


def literal(text: str, *, ignore_case: bool) -> Parsed:
    """Return the pattern that matches exactly `text`; a line feed in it matches either form of line end."""
    tokens: list[Token] = []
    for char in text.replace("\r\n", "\n"):
        tokens += _line_end() if char == "\n" else [_char(ord(char))]
    return Parsed(tuple(tokens), ignore_case)


def parse(pattern: str, *, ignore_case: bool, multiline: bool) -> Parsed:
    """Read a regular expression.

    Raises:
        Refusal: `grep.invalid` with the construct, its position in the pattern, and what to do.
    """
    reader = _Reader(pattern, multiline=multiline)
    return Parsed(tuple(reader.read()), ignore_case, min(reader.ends, _MOST_COPIES))


def _char(point: int) -> Token:
    char = chr(point)
    return ("atom", char if char.isascii() and (char.isalnum() or char in " _") else written([(point, point)]))


def _line_end() -> list[Token]:
    return [("raw", "(?:"), _char(0x0D), ("raw", "?"), _char(0x0A), ("raw", ")")]


class _Reader(Scanner):
    """A recursive reader; nesting is bounded."""

    def __init__(self, pattern: str, *, multiline: bool) -> None:
        super().__init__(pattern, multiline=multiline)
        self._dot_all: bool = False
        self.ends: int = 0
        """How many ends of words the pattern asks for, those in a repetition as often as they must be repeated."""

    def read(self) -> list[Token]:
        """Return the tokens of the whole pattern."""
        tokens = self._branches(0)
        if sum(kind == "atom" and ("\\p{" in text or len(text) > _LONG_SET) for kind, text in tokens) > _MOST_SETS:
            raise self.refused(f"more than {_MOST_SETS} classes of characters, the last", len(self.text) - 1)
        if self.at < len(self.text):
            raise self.refused("')' without a group to close", self.at, "Write \\) for the character itself.")
        return tokens

    def _branches(self, depth: int) -> list[Token]:
        dot_all = self._dot_all
        tokens = self._sequence(depth)
        while self.text.startswith("|", self.at):
            self.at += 1
            tokens.append(("raw", "|"))
            tokens += self._sequence(depth)
        self._dot_all = dot_all
        return tokens

    def _sequence(self, depth: int) -> list[Token]:
        tokens: list[Token] = []
        places: list[Token] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            place = self._place()
            if place is not None:
                places += place
                continue
            tokens += _ordered(places)
            places = []
            before = self.ends
            piece, repeatable = self._piece(depth)
            tokens += piece
            least = self._check_repeat(tokens, repeatable=repeatable)
            self.ends += (self.ends - before) * (least - 1)
        return [*tokens, *_ordered(places)]

    def _place(self) -> list[Token] | None:
        """Read what takes up no text: the ends of lines, words, and files."""
        at = self.at
        rest = self.text[at : at + 2]
        if rest[:1] == "^":
            found: list[Token] = [("begin", "^")]
        elif rest[:1] == "$":
            found = [("raw", "(?:"), _char(0x0D), ("raw", "?"), ("end", "$"), ("raw", ")")]
        elif rest in {r"\b", r"\B"}:
            self.ends += 1
            found = [("boundary" if rest == r"\b" else "inside", rest)]
        elif rest in {r"\A", r"\z"}:
            if not self.multiline:
                raise self.refused(
                    f"{rest} is the {'start' if rest == chr(92) + 'A' else 'end'} of the file, which a search by "
                    "lines does not see: found",
                    at,
                    "Use ^ or $, or multiline=true.",
                )
            found = [("begin" if rest == r"\A" else "end", rest)]
        else:
            return None
        self.at += 1 if rest[0] in "^$" else 2
        self._no_repeat("an end of a line or word")
        return found

    def _no_repeat(self, what: str) -> None:
        char = self.text[self.at : self.at + 1]
        if char and (char in "*+?" or self._counted() is not None):
            raise self.refused(f"{char!r} has nothing to repeat: {what} stands before it,", self.at)

    def _check_repeat(self, tokens: list[Token], *, repeatable: bool) -> int:
        """Read a repetition behind a piece; return how often the piece must be there at least, or 1."""
        char = self.text[self.at : self.at + 1]
        counted = self._counted()
        if not char or (char not in "*+?" and counted is None):
            return 1
        if not repeatable:
            raise self.refused(f"{char!r} has nothing to repeat,", self.at)
        place = self.at
        if counted is None:
            text = char
            self.at += 1
        else:
            text = self._bounded(counted)
            self.at += len(counted[0])
        follow = self.text[self.at : self.at + 1]
        if follow == "?":
            text += "?"
            self.at += 1
        elif follow == "+":
            raise self.beyond("a possessive repetition", place, "Leave the second sign out.")
        elif follow == "*" or self._counted() is not None:
            raise self.refused("a repetition of a repetition", self.at, "Put the first one in a group.")
        tokens.append(("raw", text))
        return max(int(counted[1] or 0), 1) if counted is not None else 1

    def _counted(self) -> re.Match[str] | None:
        found = _COUNTED.match(self.text, self.at)
        return found if found is not None and (found[1] or (found[2] and found[3])) else None

    def _bounded(self, found: re.Match[str]) -> str:
        low = int(found[1] or 0)
        high = low if found[2] is None else int(found[3]) if found[3] else None
        if high is not None and high < low:
            raise self.refused(f"{found[0]} counts from {low} down to {high}:", self.at, "Swap the two numbers.")
        if max(low, high or 0) > _MOST_REPEATS:
            raise self.refused(f"{found[0]} repeats more than {_MOST_REPEATS} times:", self.at, "Use a smaller number.")
        return f"{{{low}}}" if high == low else f"{{{low},{'' if high is None else high}}}"

    def _piece(self, depth: int) -> tuple[list[Token], bool]:
        """Read one piece; say whether a repetition may follow."""
        char = self.text[self.at]
        if char in "*+?" or self._counted() is not None:
            raise self.refused(f"{char!r} has nothing to repeat,", self.at, f"Write \\{char} for the character itself.")
        if char == "(":
            return self._group(depth)
        if char == "[":
            return [("atom", self.set())], True
        if char == "\\":
            return self._escape(), True
        self.at += 1
        if char == ".":
            whole = self._dot_all and self.multiline
            return [("atom", Group(negated=True).written(lines=not whole) or "")], True
        if char == "\n":
            return self._line_feed(self.at - 1), True
        return [_char(ord(char))], True

    def _line_feed(self, at: int) -> list[Token]:
        if not self.multiline:
            raise self.refused("a line feed cannot match within one line: found", at, "Use multiline=true.")
        return _line_end()

    def _group(self, depth: int) -> tuple[list[Token], bool]:
        at = self.at
        if depth >= _MOST_DEPTH:
            raise self.refused(f"groups are nested more than {_MOST_DEPTH} deep,", at)
        lead = self.text[at : at + 4]
        for size in (4, 3):
            if lead[:size] in _BEYOND:
                raise self.beyond(_BEYOND[lead[:size]], at, "Write it without, and look at the lines found.")
        flags = _FLAGS.match(self.text, at)
        named = _NAMED.match(self.text, at)
        opening = "(?:"
        dot_all = self._dot_all
        if flags is not None:
            opening = self._flags(flags)
            self.at = flags.end()
            if flags[3] == ")":
                self._no_repeat("a flag")
                return [("raw", opening)], False
        elif named is not None:
            self.at = named.end()
        elif lead.startswith("(?"):
            raise self.refused("a group that begins in an unknown way", at, "Write (?:...) for a plain group.")
        else:
            self.at = at + 1
        inner = self._branches(depth + 1)
        self._dot_all = dot_all
        if not self.text.startswith(")", self.at):
            raise self.refused("the group that opens is never closed:", at, "Write \\( for the character itself.")
        self.at += 1
        return [("raw", opening), *inner, ("raw", ")")], True

    def _flags(self, found: re.Match[str]) -> str:
        on, off = found[1], found[2] or ""
        for letter in on + off:
            if letter not in "imsu":
                raise self.refused(f"the flag {letter!r} is not supported: found", found.start(), "Use i or s.")
        if "m" in off or "u" in off:
            raise self.refused("the flags m and u cannot be turned off: found", found.start())
        if "s" in on or "s" in off:
            self._dot_all = "s" in on
        case = "i" if "i" in on else "-i" if "i" in off else ""
        return f"(?{case}{found[3]}" if case else "(?:" if found[3] == ":" else "(?:)"

    def _escape(self) -> list[Token]:
        at = self.at
        letter = self.text[at + 1 : at + 2]
        if letter in {"d", "w", "s", "D", "W", "S"}:
            self.at += 2
            group = Group(negated=letter.isupper())
            group.add_perl(letter.lower())
            return [("atom", group.written(lines=not self.multiline) or "")]
        if letter in {"p", "P"}:
            inverse, name = self.property()
            group = Group(named=[name], negated=inverse)
            return [("atom", group.written(lines=not self.multiline) or "")]
        point = self.point()
        return self._line_feed(at) if point == 0x0A else [_char(point)]


def _ordered(places: list[Token]) -> list[Token]:
    """Return what stands at one place in the order that every form of the expression needs: starts, words, ends."""
    words = [each for each in places if each[0] in {"boundary", "inside"}]
    if not words:
        return places
    starts = [each for each in places if each[0] == "begin"]
    ends = [each for each in places if each[0] not in {"boundary", "inside", "begin"}]
    return [*starts, *words, *ends]
