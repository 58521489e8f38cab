r"""An expression over bytes that matches wherever a pattern does, and maybe elsewhere: for an engine without Unicode.

Ends of lines and words are left out, a count of repetitions becomes "some", and a character beyond ASCII in a set any
of them. What comes out is letters, digits, `\xHH`, sets, groups, alternatives, repetitions and the flag i: no blank,
brace, slash or anything else that an engine's own query language might take for something.
"""

import re
from functools import cache

from toolcrib.host.finder.linear import UnfitError, compiled
from toolcrib.host.finder.syntax import Parsed

_HIGH = r"(?:[\x80-\xff]+)"
_POINT = re.compile(r"\\x\{([0-9a-f]+)\}")
_COUNTED = re.compile(r"\{(\d+)[^}]*\}")


def octets(parsed: Parsed) -> str | None:
    """Return the expression, None where that cannot be told."""
    parts = ["(?i)"] if parsed.ignore_case else []
    for kind, text in parsed.tokens:
        if kind == "raw":
            parts.append(_COUNTED.sub(lambda found: "*" if int(found[1]) == 0 else "+", text))
        elif kind == "atom":
            part = _atom(text, parsed.folds)
            if part is None:
                return None
            parts.append(part)
        else:
            parts.append("(?:)")
    return f"(?:{''.join(parts)})"


@cache
def _atom(text: str, insensitive: bool) -> str | None:
    if len(text) == 1 and text.isascii() and text.isalnum():
        return text
    point = ord(text) if len(text) == 1 else int(found[1], 16) if (found := _POINT.fullmatch(text)) else None
    if point is not None and point < 0x80:
        return f"\\x{point:02x}"
    if point is not None and not insensitive:
        return f"(?:{''.join(f'{chr(92)}x{octet:02x}' for octet in chr(point).encode())})"
    try:
        expression = compiled(f"(?i:{text})" if insensitive else f"(?:{text})")
    except UnfitError:
        return None
    low = "".join(f"\\x{each:02x}" for each in range(0x80) if expression.fullmatch(bytes((each,))) is not None)
    return f"(?:[{low}]|{_HIGH})" if low else _HIGH
