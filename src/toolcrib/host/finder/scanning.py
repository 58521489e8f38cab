"""Searching one file: its matching lines counted, and some of them shown."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.matching import Matcher, SlowError
from toolcrib.host.finder.reading import Shelf, State

MOST_SPANNED = 50
"""Lines of one match across lines that are shown."""
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a match begins in. `last` is the line it ends in; `clipped` says that `text` is a part."""

    line: int
    column: int
    text: str
    clipped: bool
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to find out: hits behind the line `after`, at most `hits` of them; with `count` also how many there are."""

    after: int = 0
    hits: int = 0
    count: bool = True


@dataclass(slots=True)
class Scanned:
    """What one file held. `count` is the number of matching lines, as far as it was wanted."""

    state: State
    count: int = 0
    hits: list[Hit] = field(default_factory=list[Hit])
    slow: bool = False
    """The rest of the file was left out, because the expression is slow in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanner:
    """Searches the files of one workspace for one thing. `line_chars` are shown of a line."""

    shelf: Shelf
    matcher: Matcher
    multiline: bool
    line_chars: int
    budget: Budget

    def scan(self, path: str, wanted: Wanted) -> Scanned:
        """Search one file."""
        text = self.shelf.open(path)
        if isinstance(text, str):
            return Scanned(text)
        found = Scanned("text")
        try:
            line = 1
            for block in text.blocks(whole=self.multiline):
                if not self._block(block, line, wanted, found) or self.budget.spent():
                    break
                line += block.count(b"\n")
        except OSError:
            found.state = "unreadable"
        except SlowError:
            found.slow = True
        finally:
            text.close()
        return found

    def _block(self, block: bytes, line: int, wanted: Wanted, found: Scanned) -> bool:
        """Add what a block holds; tell whether to go on."""
        counted = 0
        for number, (begin, end) in enumerate(self.matcher.spans(block)):
            line += block.count(b"\n", counted, begin)
            counted = begin
            found.count += 1
            if line > wanted.after and len(found.hits) < wanted.hits:
                found.hits.append(_hit(block, line, begin, end, self.line_chars))
            elif not wanted.count and len(found.hits) >= wanted.hits:
                return False
            if not number % 256 and self.budget.spent():
                return False
        return True

    def lines(self, path: str, wanted: set[int]) -> dict[int, tuple[str, bool]]:
        """Return the text of some lines, and whether it is clipped."""
        found: dict[int, tuple[str, bool]] = {}
        text = self.shelf.open(path)
        if isinstance(text, str):
            return found
        last = max(wanted, default=0)
        try:
            line = 1
            for block in text.blocks(whole=False):
                for each in _split(block):
                    if line in wanted:
                        found[line] = clipped(each, 0, self.line_chars)
                    line += 1
                    if line > last:
                        return found
        except OSError:
            return found
        finally:
            text.close()
        return found


def _split(block: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(block):
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield block[at:end]
        at = end + 1


def _hit(block: bytes, line: int, begin: int, end: int, most: int) -> Hit:
    start = block.rfind(b"\n", 0, begin) + 1
    stop = block.find(b"\n", begin)
    text, cut = clipped(block[start : len(block) if stop < 0 else stop], begin - start, most)
    column = len(block[start:begin].decode("utf-8", "surrogateescape")) + 1
    # A match that takes in the line feed at its end does not reach the line behind it.
    spanned = block.count(b"\n", begin, max(begin, end - 1))
    return Hit(line, column, text, cut, line + min(spanned, MOST_SPANNED))


def clipped(line: bytes, at: int, most: int) -> tuple[str, bool]:
    """Return at most about `most` characters of a line around the byte `at`, and whether any were left out.

    Where some were, the cut is marked. A carriage return at the end belongs to the line's end; a NUL is drawn.
    """
    line = line.removesuffix(b"\r")
    start, stop = 0, len(line)
    if len(line) > 4 * most:
        start = max(0, at - 4 * most)
        stop = min(len(line), at + 4 * most)
        start += next((skip for skip in range(4) if start and line[start + skip] & 0xC0 != 0x80), 0)
    text = line[start:stop].decode("utf-8", "surrogateescape")
    place = len(line[start : max(at, start)].decode("utf-8", "surrogateescape"))
    if start == 0 and stop == len(line) and len(text) <= most:
        return text.replace("\0", "␀"), False
    first = max(0, min(place - most // 3, len(text) - most))
    part = text[first : first + most]
    before = _CUT if start or first else ""
    after = _CUT if stop < len(line) or first + most < len(text) else ""
    return f"{before}{part}{after}".replace("\0", "␀"), True
