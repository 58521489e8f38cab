"""Where the edits of a call match and what they make of the text. Pure: takes text and edits, knows no file.

Every `old` is looked for in the text as it was before the call, so the order of the edits does not matter and no two
may overlap. Line breaks match any line break: `old` and `new` take the ending of the file.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from toolcrib.terms.text import LINE_BREAK, MARK, Decoded, Ending, with_ending
from toolcrib.tools.align import Block, blocks
from toolcrib.tools.difftext import Span

MOST = 100_000
"""Places that one call may replace."""

SHOWN = 100
"""Lines named for an edit that matches in several places."""

_CRLF = re.compile(r"\r\n")
_SPLIT = re.compile(r"(\r\n|\n|\r)")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old` by `new`: its one occurrence, or every one with `every`."""

    old: str
    new: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """What looking for one edit found: how many places, and where; only the first `SHOWN` unless all are replaced."""

    edit: Edit
    count: int
    spans: tuple[Span, ...]

    @property
    def applies(self) -> bool:
        """Whether the edit says which places to replace."""
        return self.count == 1 or (self.edit.every and self.count > 1)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two edits, by index, that would change the same text at `at`."""

    one: int
    other: int
    at: int


def seek(decoded: Decoded, edits: Sequence[Edit]) -> tuple[Sought, ...]:
    """Look for every edit in the text."""
    finder = _Mixed(decoded.text) if decoded.ending == "mixed" else None
    found: list[Sought] = []
    for edit in edits:
        bare = _unmarked(decoded, edit)
        count, spans = _seek_mixed(finder, bare) if finder else _seek_plain(decoded, bare)
        found.append(Sought(edit, count, unmarked(decoded, spans)))
    return tuple(found)


def unmarked(decoded: Decoded, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return `spans` without a byte order mark at the start of a file that keeps its own: one is enough."""
    if not decoded.marked or not spans or spans[0].start or decoded.text.startswith(MARK):
        return tuple(spans)
    first = spans[0]
    return (Span(first.start, first.end, first.text.removeprefix(MARK)), *spans[1:])


def adopt(text: str, ending: Ending) -> str:
    """Return new text with the breaks of the file it goes into; in an `lf` file a lone carriage return is no break."""
    return text.replace("\r\n", "\n") if ending == "lf" else with_ending(text, ending)


def merge(found: Sequence[Sought]) -> tuple[Span, ...] | Overlap:
    """Return all spans in order, or the first two edits that overlap."""
    owned = sorted(((span, index) for index, each in enumerate(found) for span in each.spans), key=_place)
    for (one, first), (other, second) in pairwise(owned):
        if other.start < one.end or other.start == one.start:
            return Overlap(min(first, second), max(first, second), other.start)
    return tuple(span for span, _ in owned)


def apply(text: str, spans: Sequence[Span]) -> str:
    """Return `text` with `spans` (sorted, none overlapping) replaced."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += text[at : span.start], span.text
        at = span.end
    parts.append(text[at:])
    return "".join(parts)


def splice(data: bytes, spans: Sequence[Span], *, shift: int) -> bytes:
    """Return `data` with `spans` replaced, where position p of the text is byte p + `shift`; copies every byte once.

    Raises:
        UnicodeEncodeError: a span's text is no UTF-8.
    """
    whole = memoryview(data)
    parts: list[bytes | memoryview] = []
    at = 0
    for span in spans:
        parts += whole[at : span.start + shift], span.text.encode()
        at = span.end + shift
    parts.append(whole[at:])
    return b"".join(parts)


def line_of(text: str, at: int) -> int:
    """Return the 1-based line that holds position `at`."""
    return 1 + text.count("\n", 0, at) + text.count("\r", 0, at) - text.count("\r\n", 0, at)


def line_numbers(text: str, spans: Sequence[Span]) -> tuple[int, ...]:
    """Return the line on which each span starts, distinct and in order."""
    return tuple(dict.fromkeys(line_of(text, span.start) for span in spans))


def _place(owned: tuple[Span, int]) -> tuple[int, int]:
    return owned[0].start, owned[0].end


def _seek_plain(decoded: Decoded, edit: Edit) -> tuple[int, list[Span]]:
    """Look in a text of one line ending (or none), whose breaks `old` and `new` take."""
    old, new = with_ending(edit.old, decoded.ending), adopt(edit.new, decoded.ending)
    count, starts = _occurrences(decoded.text, old, every=edit.every)
    return count, [Span(start, start + len(old), new) for start in starts]


def _unmarked(decoded: Decoded, edit: Edit) -> Edit:
    """Return the edit without a byte order mark that the file keeps apart from its text."""
    if not decoded.marked or not edit.old.startswith(MARK) or len(edit.old) == 1:
        return edit
    return Edit(edit.old[1:], edit.new.removeprefix(MARK), edit.every)


def _occurrences(text: str, old: str, *, every: bool) -> tuple[int, list[int]]:
    """Return how often `old` occurs and where: all places for `every`, else the first `SHOWN`, overlapping ones too."""
    first = text.find(old)
    if first < 0:
        return 0, []
    if not every and text.find(old, first + 1) < 0:
        return 1, [first]  # the common case: the text was gone through once
    count = text.count(old)
    starts: list[int] = []
    if every and count > MOST:
        return count, starts
    step = len(old) if every else 1
    at = first
    while at >= 0 and (every or len(starts) < SHOWN):
        starts.append(at)
        at = text.find(old, at + step)
    return max(count, len(starts)), starts


class _Mixed:
    r"""A text with several line endings, seen with `\n` for each, and the way back to its own positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = with_ending(text, "lf")
        # each `\r\n` before a position makes the plain text one character shorter there
        self._pairs = [found.start() - index for index, found in enumerate(_CRLF.finditer(text))]

    def position(self, at: int) -> int:
        """Return the position in the text of position `at` in the plain text."""
        return at + bisect_right(self._pairs, at - 1)

    def apart(self, new: str, start: int, end: int) -> str:
        """Return `new` such that neither of its ends joins a break beside it to make one of two."""
        if new.endswith("\r") and self.text.startswith("\n", end):
            new += "\n"
        if new.startswith("\n") and self.text[start - 1 : start] == "\r":
            new = "\r" + new
        return new

    def ending_near(self, at: int) -> str:
        """Return the break of the line that holds `at`, or of the line before where it has none."""
        found = LINE_BREAK.search(self.text, at)
        if found is None:
            last = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at))
            found = LINE_BREAK.search(self.text, max(0, last - 1))
        return found.group() if found else "\n"


def _seek_mixed(finder: _Mixed, edit: Edit) -> tuple[int, list[Span]]:
    old = with_ending(edit.old, "lf")
    count, starts = _occurrences(finder.plain, old, every=edit.every)
    spans: list[Span] = []
    for at in starts:
        start, end = finder.position(at), finder.position(at + len(old))
        replaced = finder.text[start:end]
        literal = "\r" in edit.old and replaced == edit.old
        new = edit.new if literal else finder.apart(_taking(edit.new, replaced, finder.ending_near(start)), start, end)
        spans.append(Span(start, end, new))
    return count, spans


def _taking(new: str, replaced: str, default: str) -> str:
    """Give each line of `new` the break of the line it stands for; a line that is new takes the one before it."""
    was, now = _pieces(replaced), _pieces(new)
    if len(now) == 1:
        return new
    kept = [""] * len(now)
    start = to = 0
    changed = blocks([line for line, _ in was], [line for line, _ in now])
    for block in (*changed, Block(len(was), len(was), len(now), len(now))):
        same = block.start - start
        pairs = same + min(block.end - block.start, block.until - block.to)
        for step in range(pairs):
            kept[to + step] = was[start + step][1]
        start, to = block.end, block.until
    parts: list[str] = []
    for (line, has), keep in zip(now, kept, strict=True):
        if has:
            default = keep or default
        joins = default == "\n" and not line and bool(parts) and parts[-1].endswith("\r")
        parts.append(line + ("\r\n" if joins else default) if has else line)
    return "".join(parts)


def _pieces(text: str) -> list[tuple[str, str]]:
    """Split into (line, break); the last has no break."""
    parts = _SPLIT.split(text)
    return list(zip(parts[::2], [*parts[1::2], ""], strict=True))
