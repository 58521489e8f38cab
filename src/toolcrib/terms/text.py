"""Text as bytes: encoding, byte order mark, line endings. Never a guess written back."""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

Encoding = Literal["utf-8", "utf-8-bom", "utf-16-le", "utf-16-be", "bytes"]
"""`bytes` keeps every byte that is not UTF-8 as a surrogate escape, and says so."""

Ending = Literal["lf", "crlf", "cr", "mixed", "none"]
"""The line endings that a text uses."""

LINE_BREAK = re.compile(r"\r\n|\n|\r")
"""The breaks of an editor. Form feed, U+2028 and the like do not end a line."""

MARK = "\ufeff"
"""The byte order mark as a character."""

_MARKS: tuple[tuple[bytes, Encoding, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-bom", "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
_BREAKS: dict[Ending, str] = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
_SURROGATE = re.compile("[\ud800-\udfff]")
SNIFF = 8192
"""Bytes looked at to call a file binary."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text with what is needed to write it back byte for byte."""

    text: str
    encoding: Encoding
    ending: Ending

    @property
    def marked(self) -> bool:
        """Whether the file begins with a byte order mark, which `text` is without."""
        return self.encoding not in {"utf-8", "bytes"}


def encoding_of(head: bytes) -> Encoding | None:
    """Return the encoding that a byte order mark at the start of `head` announces.

    The mark of UTF-32 begins with that of UTF-16, but edits in units of two bytes would tear its text apart.
    """
    if head.startswith(codecs.BOM_UTF32_LE):
        return None
    return next((name for mark, name, _ in _MARKS if head.startswith(mark)), None)


def looks_binary(data: bytes) -> bool:
    """Tell whether `data` is not text: a NUL in its first 8 KiB, and no UTF-16 mark."""
    return encoding_of(data) not in {"utf-16-le", "utf-16-be"} and b"\0" in data[:SNIFF]


def decode(data: bytes) -> Decoded:
    """Decode a whole file: a mark decides, else strict UTF-8, else bytes kept as surrogate escapes.

    A UTF-16 file that does not decode is kept as `bytes` too, so that writing back is exact.
    """
    marked = encoding_of(data)
    for mark, name, codec in _MARKS:
        if name == marked:
            try:
                text = data[len(mark) :].decode(codec)
            except UnicodeDecodeError:
                break
            return Decoded(text, name, ending_of(text))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return Decoded(text, "bytes", ending_of(text))
    return Decoded(text, "utf-8", ending_of(text))


def encode(text: str, encoding: Encoding) -> bytes:
    """Return the bytes of `text` in `encoding`, mark included.

    Raises:
        UnicodeEncodeError: `text` holds a lone surrogate that the encoding cannot carry.
    """
    for mark, name, codec in _MARKS:
        if name == encoding:
            return mark + text.encode(codec)
    return text.encode("utf-8", "surrogateescape" if encoding == "bytes" else "strict")


def ending_of(text: str) -> Ending:
    """Return the one ending that `text` uses, `mixed` for several, `none` for a text of one line."""
    if "\r" not in text:
        return "lf" if "\n" in text else "none"
    crlf = text.count("\r\n")
    found = {"crlf": crlf, "lf": text.count("\n") - crlf, "cr": text.count("\r") - crlf}
    used: list[Ending] = [name for name in ("crlf", "lf", "cr") if found[name]]
    if not used:
        return "none"
    return used[0] if len(used) == 1 else "mixed"


def with_ending(text: str, ending: Ending) -> str:
    """Return `text` with every break made `ending`; unchanged for `mixed` and `none`."""
    wanted = _BREAKS.get(ending)
    return text if wanted is None else LINE_BREAK.sub(lambda _: wanted, text)


def split_lines(text: str) -> list[str]:
    r"""Split as an editor does: breaks are `\n`, `\r\n` and `\r`; a last break ends the last line."""
    lines = LINE_BREAK.split(text) if "\r" in text else text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return lines


def unicode_only(text: str) -> str:
    r"""Return `text` with each lone surrogate shown as `\xNN` (a byte that was no UTF-8) or `\uNNNN`."""
    return text if text.isascii() else _SURROGATE.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code & 0xFF:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
