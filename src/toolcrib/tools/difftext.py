"""Unified diffs built from what is known to have changed: their cost follows the change, not the file.

`of_spans` shows an edit from its spans. `of_texts` shows a replaced file: common first and last lines are cut off by
comparison, and the lines between are aligned within a budget of steps (`align`); past it they are one block, all old
lines and then all new ones. Lines are those of an editor; their breaks are not shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.terms.text import Ending, split_lines
from toolcrib.tools.align import Block, blocks
from toolcrib.tools.plain import counted, printable

CONTEXT = 3
"""Unchanged lines shown around a change."""

MOST = 16_000
"""Characters of a diff in an answer; more is cut at a line, and counted."""

MOST_PREVIEW = 1_000_000
"""Characters of a diff shown to a person before a yes."""

LINE = 400
"""Characters shown of one line; a longer one is shown around its first difference."""

NO_BREAK = "\n\\ No newline at end of file"
"""What a unified diff says after a last line without a break; part of the line here, so that it is compared too."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of the old text become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff, with how many lines it adds and removes in all, shown or not."""

    text: str
    added: int
    removed: int

    def __str__(self) -> str:
        return f"+{self.added:,} -{self.removed:,}"


@dataclass(slots=True)
class _Page:
    """Collects the lines of a diff up to `most` characters; counts on after that."""

    most: int
    lines: list[str] = field(default_factory=list[str])
    size: int = 0
    added: int = 0
    removed: int = 0
    dropped: int = 0

    @property
    def width(self) -> int:
        """Characters shown of a changed line: all of them where a person decides by the page."""
        return LINE if self.most < MOST_PREVIEW else self.most

    def put(self, line: str) -> None:
        if self.size + len(line) > self.most:
            self.size = self.most
            self.dropped += 1
            return
        self.lines.append(line)
        self.size += len(line) + 1

    def finished(self) -> Diff:
        if self.dropped:
            self.lines.append(f"[... {counted(self.dropped, 'more line')} of this diff not shown]")
        changed = self.added or self.removed
        return Diff("\n".join(self.lines) + "\n" if changed else "", self.added, self.removed)


def of_spans(
    path: str, old: str, spans: Sequence[Span], *, ending: Ending, most: int = MOST, was: str | None = None
) -> Diff:
    """Return the diff of applying `spans` (sorted, none overlapping) to `old`, whose line ending is `ending`.

    `was` is the name of the file before.
    """
    page = _Page(most)
    page.put(f"--- a/{printable(was or path)}")
    page.put(f"+++ b/{printable(path)}")
    ruler = _Ruler(old, ("\n", "\r") if ending in {"cr", "mixed"} else ("\n",))
    line, at, shift = 1, 0, 0
    for group in _groups(ruler, spans):
        start, end = ruler.start(group[0].start, back=CONTEXT), ruler.end(group[-1].end, ahead=CONTEXT)
        line, at = line + ruler.breaks(at, start), start
        before = _lines(old[start:end], last=end == len(old))
        after = _lines(_applied(old, group, start, end), last=end == len(old))
        _hunks(page, before, after, line=line, shift=shift)
        shift += len(after) - len(before)
    return page.finished()


def of_texts(path: str, old: str | None, new: str | None, *, most: int = MOST, was: str | None = None) -> Diff:
    """Return the diff from `old` (None: the file is new) to `new` (None: it goes), which was called `was` before."""
    page = _Page(most)
    page.put("--- /dev/null" if old is None else f"--- a/{printable(was or path)}")
    page.put("+++ /dev/null" if new is None else f"+++ b/{printable(path)}")
    _hunks(page, _lines(old or "", last=True), _lines(new or "", last=True), line=1, shift=0)
    return page.finished()


def _lines(text: str, *, last: bool) -> list[str]:
    lines = split_lines(text)
    if last and text and text[-1] not in "\r\n":
        lines[-1] += NO_BREAK
    return lines


def _applied(old: str, group: Sequence[Span], start: int, end: int) -> str:
    parts: list[str] = []
    for span in group:
        parts += old[start : span.start], span.text
        start = span.end
    parts.append(old[start:end])
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Ruler:
    """Finds lines in `text` from positions, without splitting it. `marks` are the characters that break lines."""

    text: str
    marks: tuple[str, ...]

    def start(self, at: int, *, back: int = 0) -> int:
        """Return where the line that holds `at` starts, or the one `back` lines before it."""
        at = self._after_break(at)
        while back and at:
            at = self._after_break(at - 2 if self.text.startswith("\r\n", at - 2) else at - 1)
            back -= 1
        return at

    def end(self, at: int, *, ahead: int = 0) -> int:
        """Return where the line that holds `at` ends, break included, or the one `ahead` lines after it."""
        for _ in range(ahead + 1):
            found = [stop for mark in self.marks if (stop := self.text.find(mark, at)) >= 0]
            if not found:
                return len(self.text)
            stop = min(found)
            at = stop + 2 if self.text.startswith("\r\n", stop) else stop + 1
        return at

    def breaks(self, start: int, end: int) -> int:
        """Return how many lines end between two starts of lines."""
        count = self.text.count("\n", start, end)
        return (
            count
            if len(self.marks) == 1
            else count + self.text.count("\r", start, end) - self.text.count("\r\n", start, end)
        )

    def _after_break(self, at: int) -> int:
        return max(self.text.rfind(mark, 0, at) for mark in self.marks) + 1


def _groups(ruler: _Ruler, spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield the spans that share a piece of the file: those whose lines of context meet."""
    group: list[Span] = []
    line_end = reach = 0
    for span in spans:
        if group and span.start > reach and ruler.start(span.start, back=CONTEXT) > reach:
            yield group
            group = []
        group.append(span)
        if span.end >= line_end:
            line_end = ruler.end(span.end)
            reach = ruler.end(line_end, ahead=CONTEXT - 1)
    if group:
        yield group


def _hunks(page: _Page, old: Sequence[str], new: Sequence[str], *, line: int, shift: int) -> None:
    """Put the hunks between two pieces of a file; the old one starts at `line`, the new one `shift` lines further."""
    hunk: list[Block] = []
    for block in blocks(old, new):
        if hunk and block.start - hunk[-1].end > 2 * CONTEXT:
            _hunk(page, old, new, hunk, line=line, shift=shift)
            hunk = []
        hunk.append(block)
    if hunk:
        _hunk(page, old, new, hunk, line=line, shift=shift)


def _hunk(page: _Page, old: Sequence[str], new: Sequence[str], hunk: Sequence[Block], *, line: int, shift: int) -> None:
    start, end = max(0, hunk[0].start - CONTEXT), min(len(old), hunk[-1].end + CONTEXT)
    to = hunk[0].to - (hunk[0].start - start)
    until = hunk[-1].until + (end - hunk[-1].end)
    page.put(f"@@ -{_range(start + line, end - start)} +{_range(to + line + shift, until - to)} @@")
    at = start
    for block in hunk:
        _context(page, old, at, block.start)
        _changed(page, old[block.start : block.end], new[block.to : block.until])
        at = block.end
    _context(page, old, at, end)


def _range(first: int, count: int) -> str:
    if count == 1:
        return str(first)
    return f"{first if count else first - 1},{count}"


def _context(page: _Page, lines: Sequence[str], start: int, end: int) -> None:
    for line in lines[start:end]:
        page.put(" " + _shown(line, 0, LINE))


def _changed(page: _Page, old: Sequence[str], new: Sequence[str]) -> None:
    page.removed += len(old)
    page.added += len(new)
    for sign, lines, others in (("-", old, new), ("+", new, old)):
        for index, line in enumerate(lines):
            near = 0
            if len(line) > page.width and index < len(others):
                near = _common(line, others[index])
            page.put(sign + _shown(line, near, page.width))


def _shown(line: str, near: int, width: int) -> str:
    """Return the line, or `width` characters of a longer one from shortly before `near`."""
    if len(line) <= width:
        return printable(line)
    start = max(0, min(near - width // 4, len(line) - width))
    head = f"[... {start:,} characters ...]" if start else ""
    rest = len(line) - start - width
    return head + printable(line[start : start + width]) + (f"[... {rest:,} characters ...]" if rest else "")


def _common(one: str, other: str) -> int:
    """Return the length of the common start, by bisection: a line may be millions of characters long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
