"""Where the hunks of a patch fit in a text, and the spans they make. Exact: no line is ever skipped or guessed.

A hunk fits where all its old lines stand one after another, whatever break ends them. It must fit at one place alone.
The line number in its header only counts when the text is known to be the one that the patch was made for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.terms.text import LINE_BREAK, Decoded
from toolcrib.tools.difftext import Span
from toolcrib.tools.hunks import Hunk, Line

SHOWN = 20
"""Lines named for a hunk that fits in several places."""

_BREAKS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a hunk cannot be placed: `lines` are the 1-based places where it fits, none or several of them."""

    hunk: Hunk
    lines: tuple[int, ...] = ()
    anchor: str | None = None
    """The line to look after that is not there, or is there several times."""
    applied: bool = False
    """Whether what the hunk would make is there already, once."""
    overlaps: bool = False
    """Whether it only fits within or before the hunk that stands before it in the patch."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the hunks make of the text: spans in order, and whether one did not stand at the line it names."""

    spans: tuple[Span, ...]
    shifted: bool


class Sheet:
    """A text in lines, with where each starts and by what it ends."""

    def __init__(self, decoded: Decoded) -> None:
        self.text = decoded.text
        self.lines: list[str] = []
        self.starts: list[int] = []
        self.breaks: list[str] = []
        at = 0
        for found in LINE_BREAK.finditer(self.text):
            self._add(at, found.start(), found.group())
            at = found.end()
        if at < len(self.text):
            self._add(at, len(self.text), "")
        self.usual = _BREAKS.get(decoded.ending, self.breaks[0] if self.breaks and self.breaks[0] else "\n")
        self._places: dict[str, list[int]] | None = None

    @property
    def open(self) -> bool:
        """Whether the last line has no break."""
        return bool(self.breaks) and not self.breaks[-1]

    def start(self, line: int) -> int:
        """Return where the 0-based line starts; the end of the text for the one past the last."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def places(self, lines: Sequence[str]) -> Iterator[int]:
        """Yield each 0-based line at which `lines` (at least one) stand."""
        if self._places is None:
            self._places = {}
            for index, line in enumerate(self.lines):
                self._places.setdefault(line, []).append(index)
        rarest = min(range(len(lines)), key=lambda index: len((self._places or {}).get(lines[index], ())))
        wanted = list(lines)
        for index in self._places.get(lines[rarest], ()):
            first = index - rarest
            if first >= 0 and self.lines[first : first + len(wanted)] == wanted:
                yield first

    def _add(self, start: int, end: int, ending: str) -> None:
        self.lines.append(self.text[start:end])
        self.starts.append(start)
        self.breaks.append(ending)


def fit(sheet: Sheet, hunks: Sequence[Hunk], *, numbered: bool) -> Fitted | Misfit:
    """Return the spans of all hunks, or the first that cannot be placed.

    `numbered`: the line numbers of the hunks are those of this very text.
    """
    spans: list[Span] = []
    after, shifted = 0, False
    for hunk in hunks:
        found = _place(sheet, hunk, after, numbered=numbered)
        if isinstance(found, Misfit):
            return found
        shifted = shifted or (bool(hunk.first) and hunk.old != () and found != (hunk.first or 0) - 1)
        spans += _spans(sheet, hunk, found)
        after = found + len(hunk.old)
    return Fitted(tuple(spans), shifted)


def _place(sheet: Sheet, hunk: Hunk, after: int, *, numbered: bool) -> int | Misfit:
    if not hunk.old:
        return _insertion(sheet, hunk, after, numbered=numbered)
    floor = after
    if hunk.anchors:
        anchored = _anchored(sheet, hunk, after)
        if isinstance(anchored, Misfit):
            return anchored
        floor = anchored
    every = [line for line in sheet.places(hunk.old) if _ends(sheet, hunk, line)]
    found = [line for line in every if line >= floor]
    if numbered and hunk.first and hunk.first - 1 in found:
        return hunk.first - 1
    if hunk.anchors and found:
        return found[0]
    if len(found) == 1:
        return found[0]
    if found:
        return Misfit(hunk, tuple(line + 1 for line in found))
    return Misfit(hunk, applied=_applied(sheet, hunk), overlaps=bool(every) and floor == after)


def _anchored(sheet: Sheet, hunk: Hunk, after: int) -> int | Misfit:
    """Return the line after the anchors of a hunk; each must stand once after the one before it."""
    floor = after
    for anchor in hunk.anchors:
        wanted = anchor.strip()
        found = [line for line in range(floor, len(sheet.lines)) if sheet.lines[line].strip() == wanted]
        if len(found) != 1:
            return Misfit(hunk, tuple(line + 1 for line in found), anchor=anchor)
        floor = found[0] + 1
    return floor


def _insertion(sheet: Sheet, hunk: Hunk, after: int, *, numbered: bool) -> int | Misfit:
    """Return where a hunk without old lines goes: only where that is said beyond doubt."""
    if hunk.anchors:
        found = _anchored(sheet, hunk, after)
        if isinstance(found, Misfit) or not hunk.last:
            return found
    if not sheet.lines or hunk.last:
        return len(sheet.lines)
    if numbered and hunk.first is not None and after <= hunk.first <= len(sheet.lines):
        return hunk.first
    return Misfit(hunk, tuple(range(1, min(len(sheet.lines), SHOWN) + 2)))


def _ends(sheet: Sheet, hunk: Hunk, line: int) -> bool:
    """Tell whether the end of the file is where the hunk says that it is."""
    at_end = line + len(hunk.old) == len(sheet.lines)
    if hunk.last and not at_end:
        return False
    if any(each.open for each in hunk.lines) and not at_end:
        return False
    return sheet.open or not any(each.open for each in hunk.lines if each.sign != "+")


def _applied(sheet: Sheet, hunk: Hunk) -> bool:
    new = hunk.new
    return bool(new) and sum(1 for _ in zip(sheet.places(new), range(2), strict=False)) == 1


def _spans(sheet: Sheet, hunk: Hunk, at: int) -> Iterator[Span]:
    """Yield a span for each run of lines that go or come."""
    lines = list(hunk.lines)
    index = 0
    while index < len(lines):
        if lines[index].sign == " ":
            at, index = at + 1, index + 1
            continue
        end = index
        while end < len(lines) and lines[end].sign != " ":
            end += 1
        run = lines[index:end]
        gone = sum(1 for each in run if each.sign == "-")
        yield _span(sheet, hunk, at, gone, [each for each in run if each.sign == "+"])
        at, index = at + gone, end


def _span(sheet: Sheet, hunk: Hunk, at: int, gone: int, come: Sequence[Line]) -> Span:
    """Return the span of one run: `gone` lines from the 0-based line `at` become `come`."""
    start, end = sheet.start(at), sheet.start(at + gone)
    parts: list[str] = []
    before = sheet.text[start - 1 : start]
    if come and sheet.open and at == len(sheet.lines):
        parts.append(sheet.usual)
        before = sheet.usual
    for index, line in enumerate(come):
        ending = _ending(sheet, at, gone, index if index < len(come) - 1 else max(gone - 1, index))
        if line.ending == "\r" and sheet.usual == "\n":
            ending = "\r"
        joins = ending == "\n" and not line.text and before.endswith("\r")
        parts += line.text, "\r\n" if joins else ending
        before = ending
    if come and at + gone == len(sheet.lines) and _opens(sheet, hunk, come[-1]):
        parts[-1] = ""
    return Span(start, end, "".join(parts))


def _ending(sheet: Sheet, at: int, gone: int, index: int) -> str:
    """Return the break of the line that a new line stands for, or that of the line before it."""
    line = at + min(index, gone - 1) if gone else at - 1
    return (sheet.breaks[line] if 0 <= line < len(sheet.breaks) else "") or sheet.usual


def _opens(sheet: Sheet, hunk: Hunk, last: Line) -> bool:
    """Tell whether the new last line of the file has no break: as the patch says, else as it was."""
    if last.open or any(each.open for each in hunk.lines if each.sign == "-"):
        return last.open
    return sheet.open
