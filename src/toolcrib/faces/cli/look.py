"""How things look: colour where the terminal wants it, diffs, and tables of one line a row where nobody looks."""

from collections.abc import Sequence
from importlib import import_module
from typing import Literal

from toolcrib.faces.cli.out import Stream
from toolcrib.terms.visible import one_line, visible
from toolcrib.wiring.load import wants_colour

Style = Literal["plain", "bold", "dim", "red", "green", "yellow", "cyan", "escape"]

_CODES: dict[Style, str] = {
    "plain": "",
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "escape": "7",
}


def coloured(stream: Stream) -> bool:
    """Tell whether `stream` is a terminal that wants colour."""
    return stream.terminal and wants_colour()


def paint(text: str, style: Style, stream: Stream) -> str:
    """Return `text` in a style, where the stream shows colour. The text must be harmless already."""
    if style == "plain" or not text or not coloured(stream):
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def shown(text: str, stream: Stream, *, style: Style = "plain") -> str:
    """Return untrusted text for `stream`: raw for a program, escaped (escapes in reverse video) for a terminal."""
    if not stream.terminal:
        return text
    if not coloured(stream):
        return visible(text)
    code, back = _CODES[style], "\x1b[0m"
    start = f"\x1b[{code}m" if code else ""
    body = visible(text, mark=lambda escape: f"\x1b[7m{escape}{back}{start}")
    return f"{start}{body}{back}" if start else body


def diff(text: str, stream: Stream) -> str:
    """Return a unified diff with added lines green and removed ones red, every hidden character written out."""
    if not stream.terminal:
        return text
    return "\n".join(shown(line, stream, style=_line_style(line)) for line in text.split("\n"))


def _line_style(line: str) -> Style:
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "plain")  # pyright: ignore[reportReturnType] - the values are styles


def table(rows: Sequence[Sequence[str]], *, heads: Sequence[str], stream: Stream) -> str:
    """Return a table: drawn by the terminal library for a person, else one unwrapped aligned line a row, without heads.

    Columns are two spaces apart or more; the last one is not padded. Every cell is made one harmless line.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    if stream.terminal:
        return import_module("toolcrib.faces.cli.grid").grid(cells, heads=heads, colour=coloured(stream))
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(len(heads))]
    return "".join(aligned(row, widths) + "\n" for row in cells)


def aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return one row as a line, its cells padded to `widths`."""
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
