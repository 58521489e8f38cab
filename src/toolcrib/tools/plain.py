"""Text that any reader can take: valid Unicode without NUL, bounded, with what was changed or cut said in place."""

import re
from collections.abc import Sequence

from toolcrib.terms.digest import CITE

DIGEST = r"^[0-9a-fA-F]{12,64}$"
"""What cites a digest: 12 hex characters or more."""

_UNFIT = re.compile("[\ud800-\udfff\0]")


def printable(text: str) -> str:
    r"""Return `text` with bytes that are not UTF-8 (surrogate escapes) and NUL shown as `\xNN`."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNFIT.sub(_escape, text)


def printable_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Return `printable` of every line."""
    whole = "\n".join(lines)
    return tuple(lines) if whole.isascii() and "\0" not in whole else tuple(map(printable, lines))


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == 0 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}"


def clip(text: str, most: int) -> str:
    """Return at most `most` characters of `text`; what was cut is said by its true length."""
    return text if len(text) <= most else f"{text[:most]}[... {len(text):,} characters in all]"


def short(digest: str | None) -> str:
    """Return as much of a digest as is enough to cite it."""
    return digest[:CITE] if digest else "none"


def counted(number: int, noun: str) -> str:
    """Return `number` with its noun, in the plural unless it is one: "1 line", "2 lines"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun of ours."""
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def one_line(path: str) -> str:
    """Return a path for a list of lines: no name can look like a further line of it."""
    return path if path.isprintable() else path.translate(_CONTROLS)
