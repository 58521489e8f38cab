"""Finding plain text in a stream of bytes, line by line, in bounded memory."""

from collections.abc import Iterable

from toolcrib.ports.artifacts import Hit

CLIP = 500
"""Most characters of a line that a hit shows."""

LONG = 1 << 20
"""A line longer than this is not held whole: its head is kept, and the rest is searched as it passes."""


class _Search:
    """The state between two blocks: where the unfinished line began, and what is held of it."""

    def __init__(self, needle: bytes, limit: int, long: int) -> None:
        self.needle = needle
        self.long = long
        self.limit = limit
        self.hits: list[Hit] = []
        self.total = 0
        self.line = 1
        self.start = 0
        self.held = b""
        self.head = b""
        self.passed = 0
        self.found = False

    def take(self, block: bytes) -> None:
        window = self.held + block
        done = window.rfind(b"\n") + 1
        if done and self.head:
            end = window.find(b"\n") + 1
            self.end_long(window[:end])
            window, done = window[end:], done - end
        self.whole(window[:done])
        self.held = window[done:]
        if len(self.held) > self.long:
            self.pass_over()

    def finish(self) -> None:
        if self.head:
            self.end_long(self.held)
        elif self.held:
            self.whole(self.held)

    def whole(self, text: bytes) -> None:
        """Search complete lines: from match to match, counting the breaks between."""
        at, line, before = 0, self.line, 0
        while (match := text.find(self.needle, at)) >= 0 and match < len(text):
            line += text.count(b"\n", before, match)
            begin = text.rfind(b"\n", 0, match) + 1
            end = text.find(b"\n", match)
            end = len(text) if end < 0 else end
            if match + len(self.needle) <= end:
                self.hit(line, self.start + begin, text[begin:end])
                at = end + 1
                before = match
            else:
                at, before = match + 1, match
        self.line += text.count(b"\n")
        self.start += len(text)

    def pass_over(self) -> None:
        """Search what is held of a long line and keep only what a match could begin in."""
        self.head = self.head or self.held[: 4 * CLIP]
        self.found = self.found or self.needle in self.held
        keep = len(self.needle) - 1
        self.passed += len(self.held) - keep
        self.held = self.held[len(self.held) - keep :]

    def end_long(self, rest: bytes) -> None:
        if self.found or self.needle in rest.rstrip(b"\n"):
            self.hit(self.line, self.start, self.head)
        self.line += rest.count(b"\n")
        self.start += self.passed + len(rest)
        self.head, self.passed, self.found = b"", 0, False

    def hit(self, line: int, offset: int, text: bytes) -> None:
        self.total += 1
        if len(self.hits) < self.limit:
            shown = text[: 4 * CLIP].decode("utf-8", "replace").rstrip("\r")[:CLIP]
            self.hits.append(Hit(line=line, offset=offset, text=shown))


def find_lines(blocks: Iterable[bytes], needle: bytes, limit: int, *, long: int = LONG) -> tuple[list[Hit], int]:
    """Return the first `limit` lines that hold `needle`, and how many do. No line holds one with a break in it."""
    search = _Search(needle, limit, long)
    for block in blocks:
        search.take(block)
    search.finish()
    return search.hits, search.total
