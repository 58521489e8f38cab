"""Reading a pattern character by character: where it stands, what it refuses, escapes and sets."""

import re
from functools import cache

from toolcrib.host.finder.classes import Group
from toolcrib.host.finder.linear import UnfitError, compiled
from toolcrib.terms.refusals import Refusal

_PROPERTY = re.compile(r"\\[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,6})\})")
_CONTROLS = {"t": 0x09, "n": 0x0A, "r": 0x0D, "f": 0x0C, "v": 0x0B, "a": 0x07}
_PLAIN_HINT = "Use mode=plain to look for exactly this text."


class Scanner:
    """A place in a pattern, and what can be read there whatever stands around it."""

    def __init__(self, pattern: str, *, multiline: bool) -> None:
        self.text: str = pattern
        self.at: int = 0
        self.multiline: bool = multiline

    def refused(self, what: str, at: int, hint: str = "") -> Refusal:
        """Return a refusal that names a construct and its place."""
        shown = self.text if len(self.text) <= 200 else self.text[:200] + "..."
        return Refusal(
            "grep.invalid",
            f"{what} at position {at + 1} of {shown!r}",
            hint=f"{hint} {_PLAIN_HINT}".strip(),
        )

    def beyond(self, what: str, at: int, hint: str = "") -> Refusal:
        """Return the refusal of a construct that linear time rules out."""
        return self.refused(f"{what} is not supported, because it can run away: found", at, hint)

    def set(self) -> str:
        """Read a set in brackets and return it as the engines read it."""
        opened = self.at
        group = Group()
        self.at += 1
        if self.text.startswith("^", self.at):
            group.negated = True
            self.at += 1
        first = self.at
        while self.at == first or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise self.refused("the set that opens is never closed:", opened, "Write \\[ for the character itself.")
            self._member(group, opened)
        self.at += 1
        text = group.written(lines=not self.multiline)
        if text is None:
            raise self.refused("the set holds only line ends, which no line holds:", opened, "Use multiline=true.")
        return text

    def _member(self, group: Group, opened: int) -> None:
        posix = _POSIX.match(self.text, self.at)
        if posix is not None:
            if not group.add_posix(posix[2], inverse=bool(posix[1])):
                raise self.refused(f"an unknown class {posix[0]}", self.at)
            self.at = posix.end()
            return
        letter = self.text[self.at + 1 : self.at + 2] if self.text[self.at] == "\\" else ""
        if letter and letter in "dwsDWS":
            self.at += 2
            group.add_perl(letter)
            return
        if letter in {"p", "P"}:
            at = self.at
            inverse, name = self.property()
            if inverse and group.negated:
                raise self.refused("a complement within a complement is not supported: found", at)
            (group.complements if inverse else group.named).append(name)
            return
        low = self._set_point(opened)
        if self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in {"", "]"}:
            dash = self.at
            self.at += 1
            high = self._set_point(opened)
            if high < low:
                raise self.refused("a range that ends before it begins:", dash, "Swap the ends, or write \\-.")
            group.ranges.append((low, high))
        else:
            group.ranges.append((low, low))

    def _set_point(self, opened: int) -> int:
        if self.at >= len(self.text):
            raise self.refused("the set that opens is never closed:", opened, "Write \\[ for the character itself.")
        char = self.text[self.at]
        if char != "\\":
            self.at += 1
            return ord(char)
        if self.text[self.at + 1 : self.at + 2] in {"d", "w", "s", "D", "W", "S", "p", "P"}:
            raise self.refused("a range cannot end in a class of characters:", self.at, "Write \\- for the dash.")
        if self.text[self.at + 1 : self.at + 2] == "b":
            self.at += 2
            return 0x08
        return self.point()

    def property(self) -> tuple[bool, str]:
        r"""Read `\p{..}`; return whether it is the complement, and the plain form."""
        at = self.at
        found = _PROPERTY.match(self.text, at)
        name = found and (found[2] or found[3])
        if found is None or not name or not _known(name):
            raise self.refused(
                "an unknown class of characters",
                at,
                "Use a general category such as \\p{Lu}, or a script such as \\p{Greek}.",
            )
        self.at = found.end()
        return (self.text[at + 1] == "P") != bool(found[1]), f"\\p{{{name}}}"

    def point(self) -> int:
        """Read an escaped character and return its number."""
        at = self.at
        letter = self.text[at + 1 : at + 2]
        if not letter:
            raise self.refused("a backslash with nothing behind it", at, "Write \\\\ for the character itself.")
        found = _HEX.match(self.text, at)
        if found is not None:
            point = int(next(each for each in found.groups() if each), 16)
            if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
                raise self.refused(f"{found[0]} is no character: found", at)
            self.at = found.end()
            return point
        if letter in _CONTROLS:
            self.at += 2
            return _CONTROLS[letter]
        if letter.isdecimal() or letter == "k" or letter == "g":
            raise (
                self.beyond("a back-reference", at, "Write \\x00 for a NUL.")
                if letter != "0"
                else self.refused("an octal number is not supported: found", at, "Write it in hexadecimal, as \\x00.")
            )
        if letter in "<>":
            raise self.refused(
                f"\\{letter} is read differently by different programs: found",
                at,
                f"Write \\b for the end of a word, or {letter} for the character.",
            )
        if letter.isascii() and letter.isalnum():
            raise self.refused(f"\\{letter} is not supported: found", at)
        self.at += 2
        return ord(letter)


@cache
def _known(name: str) -> bool:
    if name == "Cs":  # half characters, which no text of ours holds and ripgrep does not know
        return False
    try:
        compiled(f"\\p{{{name}}}")
    except UnfitError:
        return False
    return True
