"""What reading a file answers, and its window of lines as a model reads it."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from toolcrib.ports.files import Loaded, Window
from toolcrib.terms.outcome import Bounds, Evidence
from toolcrib.terms.payload import Answer, Payload
from toolcrib.terms.settings import FileSettings
from toolcrib.terms.text import Encoding, Ending, decode
from toolcrib.tools.plain import counted, printable, printable_lines, short


class MediaContent(Payload):
    """A picture or document stored for callers that can show it."""

    artifact: str
    media_type: str
    size: int

    def text(self) -> str:
        """Return one line."""
        return f"{self.media_type}, {self.size:,} bytes, artifact {self.artifact}"


class ClippedLine(Payload):
    """A line that was cut: its number and its true length in characters."""

    line: int
    characters: int

    def text(self) -> str:
        """Return one line."""
        return f"line {self.line} has {self.characters:,} characters"


class FileRead(Payload):
    """What `read_file` answers. Of a notebook `lines` are its rendered cells; of media `lines` is empty."""

    tells_bounds: ClassVar[bool] = True

    path: str
    form: Literal["text", "notebook", "media"] = "text"
    first_line: int = 1
    lines: tuple[str, ...] = ()
    total_lines: int | None = None
    digest: str | None = None
    encoding: Encoding | None = None
    ending: Ending | None = None
    size: int = 0
    clipped: tuple[ClippedLine, ...] = ()
    next_offset: int | None = None
    media: MediaContent | None = None

    def text(self) -> str:
        """Return a heading, then each line behind its right-aligned number and a tab."""
        if self.media is not None:
            return f"{self.path}: {self.media.text()}; digest {short(self.digest)}"
        last = self.first_line + len(self.lines) - 1
        width = max(len(str(self.first_line)), len(str(last)))
        numbers = range(self.first_line, last + 1)
        rows = [f"{str(number).rjust(width)}\t{line}" for number, line in zip(numbers, self.lines, strict=True)]
        for each in self.clipped:
            rows[each.line - self.first_line] += f"[... clipped, {each.characters:,} characters in all]"
        shown = [self._heading(last), *rows]
        if self.next_offset is not None:
            rest = "more lines follow" if self.total_lines is None else counted(self.total_lines - last, "more line")
            shown.append(f"[{rest}; continue with offset={self.next_offset}]")
        return "\n".join(shown)

    def _heading(self, last: int) -> str:
        total = "an unknown number of lines" if self.total_lines is None else counted(self.total_lines, "line")
        if self.lines:
            range_ = f"lines {self.first_line}-{last} of {total}"
        elif self.total_lines == 0:
            range_ = "empty file" if self.form == "text" else "no cells"
        else:
            range_ = f"line {self.first_line} is past the end; the file has {total} in all"
        about = [f"{self.path}: {range_}", f"{self.encoding}, {self.ending}, {self.size:,} bytes"]
        about.append(f"digest {short(self.digest)}" if self.digest else "too large for a digest, and for edit_file")
        if self.form == "notebook":
            about.append("notebook shown as cells; edit_file works on its JSON text")
        if self.encoding == "bytes":
            about.append("bytes that are not UTF-8 are shown as \\xNN")
        return "; ".join(about)


def lines_of(window: Window) -> Answer[FileRead]:
    """Return the answer for a window of a text file."""
    payload = FileRead(
        path=window.place.path,
        first_line=window.first,
        lines=printable_lines(window.lines),
        total_lines=window.total_lines,
        digest=window.digest,
        encoding=window.encoding,
        ending=window.ending,
        size=window.place.size,
        clipped=tuple(ClippedLine(line=line, characters=length) for line, length in window.clipped),
        next_offset=_next(window.first, len(window.lines), more=window.more),
    )
    capped = None if window.total_lines is not None else "too large a file: lines not counted, no digest"
    bounds = Bounds(truncated=window.more, clipped_lines=len(window.clipped), scan_capped=capped)
    return Answer(payload, bounds, Evidence(digest=window.digest))


def cells_of(
    loaded: Loaded, lines: Sequence[str], limits: FileSettings, *, offset: int, limit: int
) -> Answer[FileRead]:
    """Cut rendered lines to the window asked for, by the same limits as a text file."""
    decoded = decode(loaded.data)
    first = offset if offset > 0 else max(1, len(lines) + offset + 1)
    shown: list[str] = []
    clipped: list[ClippedLine] = []
    left = limits.read_bytes
    for number, line in enumerate(lines[first - 1 : first - 1 + min(limit, limits.read_lines)], first):
        if len(line) > limits.line_chars:
            clipped.append(ClippedLine(line=number, characters=len(line)))
        shown.append(printable(line[: limits.line_chars]))
        left -= len(shown[-1].encode()) + 1
        if left < 0:
            break
    more = first - 1 + len(shown) < len(lines)
    payload = FileRead(
        path=loaded.place.path,
        form="notebook",
        first_line=first,
        lines=tuple(shown),
        total_lines=len(lines),
        digest=loaded.digest,
        encoding=decoded.encoding,
        ending=decoded.ending,
        size=len(loaded.data),
        clipped=tuple(clipped),
        next_offset=_next(first, len(shown), more=more),
    )
    return Answer(payload, Bounds(truncated=more, clipped_lines=len(clipped)), Evidence(digest=loaded.digest))


def _next(first: int, count: int, *, more: bool) -> int | None:
    """Return the offset to continue from; lines counted from the end of a large file keep their negative numbers."""
    following = first + count
    return following if more and count and (first > 0 or following < 0) else None
