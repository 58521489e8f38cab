"""Regular expressions in linear time: the one place that names the library, typed.

RE2 has no look-around and no back-reference, and no pattern makes it run away. It lets other threads run meanwhile.
"""

from collections.abc import Iterator
from typing import Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs] - the library ships none; it is typed below

_MEMORY = 8 << 20
"""Bytes that one compiled expression may take, its automata included."""


class Hit(Protocol):
    """A match in bytes."""

    def span(self) -> tuple[int, int]:
        """Return where it begins and ends."""
        ...

    def group(self) -> bytes:
        """Return the bytes that matched."""
        ...


class Expression(Protocol):
    """A compiled expression over bytes."""

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Hit | None:
        """Return the leftmost match at `pos` or later; the text before `pos` still counts for anchors."""
        ...

    def fullmatch(self, text: bytes) -> Hit | None:
        """Return the match of the whole text."""
        ...

    def finditer(self, text: bytes) -> Iterator[Hit]:
        """Yield the matches that do not overlap, from left to right."""
        ...


class UnfitError(ValueError):
    """The library does not take an expression: it says why."""


class _Options(Protocol):
    never_capture: bool
    log_errors: bool
    max_mem: int
    encoding: object


class _Library(Protocol):
    def Options(self) -> _Options: ...  # noqa: N802 - the library's own name

    def compile(self, pattern: bytes, options: _Options) -> Expression: ...


_library = cast("_Library", re2)
_latin1 = cast("object", re2.Options.Encoding.LATIN1)  # pyright: ignore[reportUnknownMemberType]
_error = cast("type[Exception]", re2.error)  # pyright: ignore[reportUnknownMemberType]


def compiled(pattern: str, *, octets: bool = False) -> Expression:
    """Compile `pattern`; with `octets` every byte is a character of its own, else the text is UTF-8.

    Raises:
        UnfitError: the expression is too large, or not one of the library's.
    """
    options = _library.Options()
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MEMORY
    if octets:
        options.encoding = _latin1
    try:
        return _library.compile(pattern.encode("latin-1" if octets else "utf-8"), options)
    except _error as error:
        said = error.args[0] if error.args else ""
        raise UnfitError(said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)) from None
