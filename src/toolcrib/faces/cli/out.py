"""The two output streams: text with undecodable names kept, JSON escaped, a closed pipe taken in silence."""

import json
import os
import sys
from functools import cache
from typing import Any, TextIO


class UnwritableError(Exception):
    """An output that takes nothing more, such as a file on a full disk. Says why."""


class Stream:
    """One of the two outputs. After its reader has gone away, writing does nothing and `gone` is true."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self.gone = file is None
        self.terminal = file is not None and file.isatty()

    def write(self, text: str) -> None:
        """Write `text` as UTF-8 and flush; bytes that were not UTF-8 come out as they came in.

        Raises:
            UnwritableError: standard output takes nothing more, for another reason than a reader that went away.
        """
        if self._file is None or self.gone:
            return
        try:
            self._file.buffer.write(_bytes(text))
            self._file.flush()
        except OSError as error:
            self.gone = True
            # What the interpreter still holds goes nowhere when it flushes at its end, instead of failing once more.
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError) and self._file is not sys.stderr:
                raise UnwritableError(error.strerror) from error

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.write(text + "\n")

    def json(self, value: Any) -> None:
        """Write `value` as one line of ASCII JSON, which carries lone surrogates and steers no terminal."""
        self.write(json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n")


@cache
def stdout() -> Stream:
    """Return the standard output."""
    return Stream(sys.stdout)


@cache
def stderr() -> Stream:
    """Return the standard error."""
    return Stream(sys.stderr)


def terminal() -> bool:
    """Tell whether a person sits here: standard input and output are both terminals."""
    return sys.stdin is not None and sys.stdin.isatty() and stdout().terminal


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(_letter(letter) for letter in text)


def _letter(letter: str) -> bytes:
    try:
        return letter.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return letter.encode("ascii", "backslashreplace")
