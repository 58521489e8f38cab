"""The diff of what a rewind would change: bounded in time and size whatever the files hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from toolcrib.terms.text import decode, looks_binary, split_lines

MOST_CHARS = 200_000
"""Characters of a whole diff; what follows is counted, not shown."""
LINE_CHARS = 400
"""Characters shown of one line."""
CONTEXT = 3
ALIGNED = 2_000
"""Most differing lines, old and new together, that are aligned with one another. More are shown as one block: all old
lines, then all new ones."""

_Block = tuple[int, int, int, int]


@dataclass(slots=True)
class Page:
    """The lines of a diff, at most `most` characters of them; what follows is only counted."""

    most: int = MOST_CHARS
    lines: list[str] = field(default_factory=list[str])
    size: int = 0
    dropped: int = 0

    def put(self, line: str) -> None:
        """Add a line, if it and all before it fit."""
        self.size += len(line) + 1
        if self.dropped or self.size > self.most:
            self.dropped += 1
        else:
            self.lines.append(line)

    def run(self, sign: str, lines: Sequence[str], start: int, end: int) -> None:
        """Add the lines `start` to `end`, each after its sign."""
        for at in range(start, end):
            if self.dropped:
                self.dropped += end - at
                return
            self.put(sign + _shown(lines[at]))

    def text(self) -> str:
        """Return the lines as one text; says how many were left out."""
        more = [f"[... {self.dropped:,} more lines of this diff not shown]"] if self.dropped else []
        return "".join(f"{line}\n" for line in (*self.lines, *more))


def difference(page: Page, path: str, old: bytes | None, new: bytes | None) -> None:
    """Put the unified diff from `old` to `new` on the page; None stands for no file.

    Common lines at both ends are cut off first, in time linear in the files.
    """
    page.put(f"--- a/{_safe(path)}" if old is not None else "--- /dev/null")
    page.put(f"+++ b/{_safe(path)}" if new is not None else "+++ /dev/null")
    if looks_binary(old or b"") or looks_binary(new or b""):
        page.put(f"Binary files differ: {_size(old)} become {_size(new)}")
        return
    before, after = _lines(old), _lines(new)
    group: list[_Block] = []
    for block in _blocks(before, after):
        if group and block[0] - group[-1][1] > 2 * CONTEXT:
            _hunk(page, before, after, group)
            group = []
        group.append(block)
    if group:
        _hunk(page, before, after, group)


def directory(page: Page, path: str, what: str) -> None:
    """Put what becomes of the directory at `path` on the page."""
    page.put(f"directory {_safe(path)} {what}")


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[_Block]:
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail, most = 0, most - head
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end, until = len(old) - tail, len(new) - tail
    if end - head + until - head > ALIGNED:
        yield head, end, head, until
        return
    matcher = SequenceMatcher(None, old[head:end], new[head:until], autojunk=False)
    for tag, start, stop, to, upto in matcher.get_opcodes():
        if tag != "equal":
            yield start + head, stop + head, to + head, upto + head


def _hunk(page: Page, old: Sequence[str], new: Sequence[str], group: Sequence[_Block]) -> None:
    start, end = max(0, group[0][0] - CONTEXT), min(len(old), group[-1][1] + CONTEXT)
    to = group[0][2] - (group[0][0] - start)
    until = group[-1][3] + (end - group[-1][1])
    page.put(f"@@ -{_range(start, end)} +{_range(to, until)} @@")
    at = start
    for first, last, other, upto in group:
        page.run(" ", old, at, first)
        page.run("-", old, first, last)
        page.run("+", new, other, upto)
        at = last
    page.run(" ", old, at, end)


def _range(start: int, end: int) -> str:
    count = end - start
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"


def _lines(data: bytes | None) -> list[str]:
    text = decode(data or b"").text
    lines = split_lines(text)
    if text and text[-1] not in "\r\n":
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _shown(line: str) -> str:
    rest = len(line) - LINE_CHARS
    return _safe(line, keep="\n\t") if rest <= 0 else f"{_safe(line[:LINE_CHARS])}[... {rest:,} characters ...]"


def _safe(text: str, keep: str = "") -> str:
    """Return `text` with what cannot be shown written out: control characters, and bytes that are not text."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else _escaped(each) for each in text)


def _escaped(each: str) -> str:
    return f"\\x{ord(each) & 0xFF:02x}" if each < "\x80" or "\udc80" <= each <= "\udcff" else repr(each)[1:-1]


def _size(data: bytes | None) -> str:
    return "no file" if data is None else f"{len(data):,} bytes"
