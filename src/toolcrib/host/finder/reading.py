"""Reading a file for a search: in blocks of whole lines, as UTF-8, and what is not searched told apart."""

import codecs
import os
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from toolcrib.host.finder.walk import beneath
from toolcrib.terms.text import SNIFF, Encoding, encoding_of, looks_binary

State = Literal["text", "binary", "large", "unreadable", "gone"]
"""Why a file is or is not searched. `gone`: removed, or no regular file any more."""

_LEAST_BLOCK = 16 << 10
_MOST_BLOCK = 1 << 20
_SLOW = 0.05
_FAST = 0.01


@dataclass(frozen=True, slots=True)
class Opened:
    """An open regular file and how to read it. `handle` is -1 unless the state is `text`."""

    state: State
    handle: int = -1
    encoding: Encoding | None = None


@contextmanager
def opened(root: int, path: str, *, most: int) -> Generator[Opened]:
    """Open the file at the canonical `path` without following a link, and tell whether it can be searched.

    Never waits: a FIFO is opened without blocking, and then left alone because it is no regular file.
    """
    try:
        handle = beneath(root, path, file=True)
    except PermissionError:
        yield Opened("unreadable")
        return
    except OSError:
        yield Opened("gone")
        return
    try:
        yield _looked_at(handle, most)
    finally:
        os.close(handle)


def _looked_at(handle: int, most: int) -> Opened:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        return Opened("gone")
    if status.st_size > most:
        return Opened("large")
    try:
        head = os.pread(handle, SNIFF, 0)
    except OSError:
        return Opened("unreadable")
    if looks_binary(head):
        return Opened("binary")
    return Opened("text", handle, encoding_of(head))


def blocks(file: Opened, *, whole: bool, most: int) -> Iterator[bytes]:
    """Yield the text in UTF-8, in blocks that end with a line, without its byte order mark.

    With `whole` there is one block. At most `most` bytes are read, should the file grow meanwhile. A block gets
    smaller when working on the last one took long, so that whoever works can look at the clock.
    """
    source = _Source(file, most)
    held: list[bytes] = []
    size = _MOST_BLOCK if whole else _LEAST_BLOCK
    while piece := source.read(size):
        cut = 0 if whole else piece.rfind(b"\n") + 1
        if not cut:
            held.append(piece)
            continue
        began = time.monotonic()
        yield b"".join((*held, piece[:cut]))
        held = [piece[cut:]] if cut < len(piece) else []
        spent = time.monotonic() - began
        size = max(size // 2, _LEAST_BLOCK) if spent > _SLOW else min(size * 2, _MOST_BLOCK) if spent < _FAST else size
    if held:
        yield b"".join(held)


class _Source:
    """The bytes of an open file from its start, made UTF-8."""

    def __init__(self, file: Opened, most: int) -> None:
        self._handle = file.handle
        self._left = most
        self._place = 3 if file.encoding == "utf-8-bom" else 2 if file.encoding in {"utf-16-le", "utf-16-be"} else 0
        codec = file.encoding if file.encoding in {"utf-16-le", "utf-16-be"} else None
        self._decoder = codecs.getincrementaldecoder(codec)("replace") if codec is not None else None

    def read(self, size: int) -> bytes:
        """Return up to about `size` bytes; nothing at the end."""
        while True:
            try:
                data = os.pread(self._handle, min(size, self._left), self._place) if self._left else b""
            except OSError:
                data = b""
            self._place += len(data)
            self._left -= len(data)
            if self._decoder is None:
                return data
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")
