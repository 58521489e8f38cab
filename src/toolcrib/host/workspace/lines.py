"""What a reader asks for, and the lines gathered for it within its limits."""

import re
from dataclasses import dataclass, field

from toolcrib.terms.refusals import Refusal

_DAMAGE = re.compile("[\0\udc80-\udcff]")
"""What a result cannot carry: NUL, and bytes that were not text."""


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
        text = marked(kept)
        size = len(text.encode())
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


def marked(text: str) -> str:
    r"""Return `text` with every NUL and every byte that is not text written as `\xNN`."""
    return _DAMAGE.sub(lambda each: f"\\x{ord(each[0]) & 0xFF:02x}", text)


def _fitted(line: str, room: int) -> tuple[str, str]:
    kept = line[:room]
    while kept and len(marked(kept).encode()) > room:
        kept = kept[: len(kept) * 3 // 4]
    return kept, marked(kept)
