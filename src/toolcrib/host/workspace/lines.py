"""What a reader asks for, and the lines gathered for it within its limits."""

import re
from dataclasses import dataclass, field
from itertools import accumulate, islice

from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import LINE_BREAK

_DAMAGE = re.compile("[\0\udc80-\udcff]")
"""What a result cannot carry: NUL, and bytes that were not text."""

_STRIDE = 1 << 16  # counting is far faster than matching: match only where the wanted break is


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The window asked for: `limit` lines from `offset`, bytes of text, characters a line."""

    offset: int
    limit: int
    most_bytes: int
    line_chars: int

    def check(self) -> None:
        """Refuse `args.invalid` for numbers that name no window."""
        faults = [] if self.offset else ["offset: lines count from 1, or from the end with -1, found 0"]
        faults += [
            f"{name}: expected at least 1, found {value}"
            for name, value in (
                ("limit", self.limit),
                ("most_bytes", self.most_bytes),
                ("line_chars", self.line_chars),
            )
            if value < 1
        ]
        if faults:
            raise Refusal("args.invalid", "; ".join(faults))


@dataclass(slots=True)
class Sheet:
    """The lines gathered so far. `room` counts bytes of text, each line with one byte for its end."""

    view: View
    clean: bool = False
    """The text holds nothing that has to be marked."""
    lines: list[str] = field(default_factory=list[str])
    clipped: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    used: int = 0

    @property
    def full(self) -> bool:
        """Whether no further line can be added."""
        return len(self.lines) >= self.view.limit or self.used >= self.view.most_bytes

    def add(self, line: str, number: int, length: int | None = None) -> bool:
        """Add one line, clipped and with damage marked; False when it does not fit any more.

        `length` is the true length in characters where `line` is only the start of it. The first line always fits,
        cut to the bytes there are.
        """
        if self.full:
            return False
        true = len(line) if length is None else length
        kept = line[: self.view.line_chars]
        text = kept if self.clean else marked(kept)
        size = len(text) if text.isascii() else len(text.encode())
        room = self.view.most_bytes - self.used
        if size + 1 > room:
            if self.lines:
                self.used = self.view.most_bytes
                return False
            kept, text = _fitted(kept, room)
            size = room
        if true > len(kept):
            self.clipped.append((number, true))
        self.lines.append(text)
        self.used += size + 1
        return True


def breaks(text: str, start: int = 0, end: int | None = None) -> int:
    r"""Return how many line breaks `text` has between two positions, neither of them inside a `\r\n`."""
    end = len(text) if end is None else end
    returns = text.count("\r", start, end)
    return text.count("\n", start, end) + returns - (text.count("\r\n", start, end) if returns else 0)


def after_breaks(text: str, wanted: int, start: int = 0) -> int:
    """Return the position after the next `wanted` line breaks from `start`; the end of `text` when it has fewer."""
    while wanted and start < len(text):
        end = min(start + _STRIDE, len(text))
        end += text.startswith("\r\n", end - 1)
        found = breaks(text, start, end)
        if found >= wanted:
            each = LINE_BREAK.finditer(text, start, end)
            return next(islice(each, wanted - 1, None)).end()
        wanted -= found
        start = end
    return start


def marked(text: str) -> str:
    r"""Return `text` with every NUL and every byte that is not text written as `\xNN`."""
    return _DAMAGE.sub(lambda each: f"\\x{ord(each[0]) & 0xFF:02x}", text)


def _fitted(line: str, room: int) -> tuple[str, str]:
    """Return as much of `line` as fits into `room` bytes, plain and marked."""
    sizes = accumulate(len(marked(each).encode()) for each in line)
    kept = line[: sum(1 for size in sizes if size <= room)]
    return kept, marked(kept)
