"""Windows of lines in files above the whole-file cap: only what is needed is scanned, in blocks, holes skipped."""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.host.workspace.base import Spot
from toolcrib.host.workspace.faults import shown
from toolcrib.host.workspace.kinds import kind_of_content, surely_binary
from toolcrib.host.workspace.lines import Sheet, View, after_breaks, breaks
from toolcrib.ports.files import Window
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import LINE_BREAK, SNIFF, Encoding, decode, encoding_of

_BLOCK = 1 << 20
_CODECS: dict[Encoding | None, tuple[str, str, int]] = {
    None: ("utf-8", "surrogateescape", 0),
    "utf-8-bom": ("utf-8", "surrogateescape", 3),
    "utf-16-le": ("utf-16-le", "replace", 2),
    "utf-16-be": ("utf-16-be", "replace", 2),
}
"""Codec, what is done with damage, and length of the mark in bytes."""


@dataclass(frozen=True, slots=True)
class Source:
    """A large file being read: its handle, size, and how its bytes become text."""

    handle: int
    size: int
    mark: Encoding | None

    @property
    def start(self) -> int:
        """Byte offset of the text, after the mark."""
        return _CODECS[self.mark][2]

    @property
    def wide(self) -> bool:
        """Whether a character takes two bytes or four."""
        return self.mark in {"utf-16-le", "utf-16-be"}

    def hole(self, at: int) -> int:
        """Return how many bytes from `at` on are a hole, which reads as NUL."""
        try:
            data = os.lseek(self.handle, at, os.SEEK_DATA)
        except OSError:
            return self.size - at if self._ends_in_hole(at) else 0
        return min(data, self.size) - at

    def _ends_in_hole(self, at: int) -> bool:
        try:
            return os.lseek(self.handle, at, os.SEEK_HOLE) == at
        except OSError:
            return False

    def pieces(self, at: int) -> Iterator[str | int]:
        r"""Yield the text from byte `at` on; a number stands for that many NULs. `\r\n` is never torn apart."""
        codec, errors, _ = _CODECS[self.mark]
        decoder = codecs.getincrementaldecoder(codec)(errors)
        held = ""
        while at < self.size:
            skipped = self.hole(at) & ~1
            if skipped >= _BLOCK:
                yield held + decoder.decode(b"", final=True)
                decoder.reset()
                held = ""
                yield skipped >> self.wide
                at += skipped
                continue
            block = os.pread(self.handle, min(_BLOCK, self.size - at), at)
            if not block:
                break
            at += len(block)
            text = held + decoder.decode(block)
            held = "\r" if text.endswith("\r") else ""
            yield text[: len(text) - len(held)]
        yield held + decoder.decode(b"", final=True)


def stream(handle: int, spot: Spot, view: View) -> Window:
    """Read the window `view` of the large file at `handle`.

    Lines counted from the end keep negative numbers, since the whole is not counted.

    Raises:
        Refusal: `file.binary` when the first bytes are not text.
    """
    size = os.fstat(handle).st_size
    head = os.pread(handle, SNIFF, 0)
    _refuse_binary(head, spot, size)
    source = Source(handle, size, encoding_of(head))
    if view.offset > 0:
        at, first, skip = source.start, view.offset, view.offset - 1
    else:
        at, first = _from_end(source, -view.offset)
        skip = 0
    sheet = Sheet(view)
    seen, more, damaged = _gather(source, at, skip, first, sheet)
    return Window(
        place=spot.place(),
        lines=tuple(sheet.lines),
        first=first if sheet.lines or view.offset < 0 else max(first, seen + 1),
        total_lines=None,
        digest=None,
        encoding=source.mark or ("bytes" if damaged else "utf-8"),
        ending=decode(head).ending,
        clipped=tuple(sheet.clipped),
        more=more,
    )


def _refuse_binary(head: bytes, spot: Spot, size: int) -> None:
    """Refuse what is not text by its first bytes. NULs up to their end pass: a hole may follow a text."""
    wide = encoding_of(head) in {"utf-16-le", "utf-16-be"}
    text = head.rstrip(b"\0")
    if surely_binary(head) or (not wide and (b"\0" in text or (head and not text))):
        raise Refusal(
            "file.binary",
            f"expected text at {shown(spot.asked)}, found binary content: {kind_of_content(head)}, {size:,} bytes",
            hint="Use a program that understands the format.",
        )


def _gather(source: Source, at: int, skip: int, first: int, sheet: Sheet) -> tuple[int, bool, bool]:
    """Fill `sheet` from byte `at`, `skip` lines later; return lines skipped, whether more follow, damage seen."""
    line = _Line(sheet, first)
    passed = 0
    for piece in source.pieces(at):
        if isinstance(piece, int):
            if line.closed_at is not None:
                return passed, True, line.damaged
            if passed == skip:
                line.extend("\0" * min(piece, sheet.view.line_chars), piece)
            continue
        start = 0
        if passed < skip:
            start, found = _skip(piece, skip - passed)
            passed += found
            if passed < skip:
                continue
        if line.closed_at is not None and start < len(piece):
            return passed, True, line.damaged
        end = line.feed(piece, start)
        if end is not None and end < len(piece):
            return passed, True, line.damaged
    return passed, not line.finish(), line.damaged


class _Line:
    """The line being gathered: its kept start and its true length so far."""

    def __init__(self, sheet: Sheet, first: int) -> None:
        self.sheet = sheet
        self.first = first
        self.kept = ""
        self.length = 0
        self.damaged = False
        self.closed_at: int | None = None

    def extend(self, text: str, length: int) -> None:
        """Take `length` more characters, of which `text` is the start."""
        if self.closed_at is not None:
            return
        self.kept += text[: self.sheet.view.line_chars - len(self.kept)]
        self.length += length

    def feed(self, piece: str, start: int) -> int | None:
        """Take the lines of `piece` from `start`; return where it stopped when the sheet was full, else None."""
        while start < len(piece):
            found = LINE_BREAK.search(piece, start) if "\n" in piece or "\r" in piece else None
            if found is None:
                self.extend(piece[start : start + self.sheet.view.line_chars], len(piece) - start)
                return None
            self.extend(piece[start : found.start()], found.start() - start)
            if not self._add():
                self.closed_at = start
                return start
            start = found.end()
            if self.sheet.full:
                self.closed_at = start
                return start
        return None

    def finish(self) -> bool:
        """Take what stands after the last break; False when it did not fit."""
        return self.closed_at is not None or not self.length or self._add()

    def _add(self) -> bool:
        self.damaged = self.damaged or any("\udc80" <= each <= "\udcff" for each in self.kept)
        added = self.sheet.add(self.kept, self.first + len(self.sheet.lines), self.length)
        self.kept, self.length = "", 0
        return added


def _skip(piece: str, wanted: int) -> tuple[int, int]:
    """Return where the line after the next `wanted` breaks starts, and how many breaks there were."""
    return after_breaks(piece, wanted), min(wanted, breaks(piece))


def _from_end(source: Source, wanted: int) -> tuple[int, int]:
    """Return the byte offset where the `wanted`-th line from the end starts, and its number: -wanted, or 1."""
    hi = source.size
    total = 0
    newline_follows = False
    while hi > source.start:
        lo = max(source.start, (hi - 1) // _BLOCK * _BLOCK)
        if source.hole(lo) >= hi - lo:
            hi, newline_follows = lo, False
            continue
        ends = _Block(source, lo, hi, newline_follows)
        found = ends.count()
        if total + found >= wanted:
            return ends.position(total + found - wanted), -wanted
        total += found
        hi, newline_follows = lo, ends.starts_with_newline
    return source.start, 1


class _Block:
    """One block looked at from behind: where lines start in it, the end of the file not counted as a start."""

    def __init__(self, source: Source, lo: int, hi: int, newline_follows: bool) -> None:
        data = os.pread(source.handle, hi - lo, lo)
        self.codec = str(source.mark) if source.wide else "latin-1"
        self.wide = source.wide
        self.text = data.decode(self.codec, "surrogatepass" if self.wide else "strict")
        if self.text.endswith("\r") and newline_follows:
            self.text = self.text[:-1]
        self.lo = lo
        self.last = hi == source.size
        self.starts_with_newline = self.text.startswith("\n")

    def count(self) -> int:
        """Return how many lines start after a break in this block."""
        return breaks(self.text) - (self.last and self.text.endswith(("\n", "\r")))

    def position(self, index: int) -> int:
        """Return the byte offset where the line after break number `index` starts."""
        at = after_breaks(self.text, index + 1)
        return self.lo + len(self.text[:at].encode(self.codec, "surrogatepass" if self.wide else "strict"))
