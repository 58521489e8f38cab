"""Reading a file for a search: in blocks of whole lines, as UTF-8, and what is not searched told apart."""

import codecs
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from toolcrib.host.finder.walk import FILE, beneath
from toolcrib.terms.text import SNIFF, encoding_of, looks_binary

State = Literal["text", "binary", "large", "unreadable", "gone"]
"""Why a file is or is not searched. `gone`: removed, or no regular file any more."""

_HEAD = 64 << 10
_MOST_BLOCK = 1 << 20
_LEAST_BLOCK = 16 << 10
_SLOW = 0.05
_FAST = 0.01
_MOST_DIRECTORIES = 16
_SHIFTED = {"utf-8-bom": 3, "utf-16-le": 2, "utf-16-be": 2}
"""Length of the byte order mark."""


class Shelf:
    """Opens the files of one search beneath a root, by handles of their directories, never through a link.

    The last few directories stay open, because files of one directory follow each other. Close it at the end.
    """

    def __init__(self, root: int, most: int) -> None:
        self._root = root
        self._most = most
        self._directories: OrderedDict[str, int] = OrderedDict()

    def open(self, path: str) -> "Text | State":
        """Open the file at the canonical `path`, or say why it is not searched.

        Never waits: a FIFO is opened without blocking, and then left alone because it is no regular file.
        """
        parent, _, name = path.rpartition("/")
        try:
            handle = os.open(name, FILE, dir_fd=self._directory(parent))
        except PermissionError:
            return "unreadable"
        except OSError:
            return "gone"
        try:
            found = self._looked_at(handle)
        except OSError:
            found = "unreadable"
        if not isinstance(found, Text):
            os.close(handle)
        return found

    def close(self) -> None:
        """Close the directories."""
        while self._directories:
            os.close(self._directories.popitem()[1])

    def _directory(self, path: str) -> int:
        handle = self._directories.get(path)
        if handle is None:
            handle = self._directories[path] = beneath(self._root, path)
            if len(self._directories) > _MOST_DIRECTORIES:
                os.close(self._directories.popitem(last=False)[1])
        return handle

    def _looked_at(self, handle: int) -> "Text | State":
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return "gone"
        if status.st_size > self._most:
            return "large"
        head = os.pread(handle, _HEAD, 0)
        return "binary" if looks_binary(head[:SNIFF]) else Text(handle, head, self._most)


def binaries(root: int, paths: Iterable[str], most: int) -> set[str]:
    """Return which of the files beneath `root` are no text."""
    found: set[str] = set()
    shelf = Shelf(root, most)
    try:
        for path in paths:
            opened = shelf.open(path)
            if isinstance(opened, Text):
                opened.close()
            elif opened == "binary":
                found.add(path)
    finally:
        shelf.close()
    return found


class Text:
    """An open text file. At most `most` bytes are read, should it grow meanwhile. Close it at the end."""

    def __init__(self, handle: int, head: bytes, most: int) -> None:
        self._handle = handle
        self._head = head
        self._most = most
        self._encoding = encoding_of(head)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def blocks(self, *, whole: bool) -> Iterator[bytes]:
        """Yield the text in UTF-8 from its start, in blocks that end with a line, without its byte order mark.

        With `whole` there is one block. A block gets smaller when working on the last one took long, so that whoever
        works can look at the clock.
        """
        held: list[bytes] = []
        clock = _Clock()
        for piece in self._pieces(_Clock() if whole else clock):
            cut = 0 if whole else piece.rfind(b"\n") + 1
            if not cut:
                held.append(piece)
                continue
            clock.start()
            yield b"".join((*held, piece[:cut])) if held or cut < len(piece) else piece
            clock.stop()
            held = [piece[cut:]] if cut < len(piece) else []
        if held:
            yield b"".join(held)

    def _pieces(self, clock: "_Clock") -> Iterator[bytes]:
        if self._encoding in {"utf-16-le", "utf-16-be"}:
            decoder = codecs.getincrementaldecoder(self._encoding)("replace")
            for data in self._bytes(clock):
                yield decoder.decode(data).encode("utf-8", "replace")
            yield decoder.decode(b"", final=True).encode("utf-8", "replace")
        else:
            yield from self._bytes(clock)

    def _bytes(self, clock: "_Clock") -> Iterator[bytes]:
        mark = _SHIFTED.get(self._encoding or "", 0)
        yield self._head[mark:]
        place = len(self._head)
        short = place < _HEAD
        while not short and place < self._most:
            size = min(clock.size, self._most - place)
            data = os.pread(self._handle, size, place)
            yield data
            place += len(data)
            short = len(data) < size


@dataclass(slots=True)
class _Clock:
    """How much to read next, by how long the last block took."""

    size: int = _HEAD
    _began: float = 0.0

    def start(self) -> None:
        self._began = time.monotonic()

    def stop(self) -> None:
        spent = time.monotonic() - self._began
        if spent > _SLOW:
            self.size = max(self.size // 2, _LEAST_BLOCK)
        elif spent < _FAST:
            self.size = min(self.size * 2, _MOST_BLOCK)
