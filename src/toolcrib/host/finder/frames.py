"""Questions to a program that stays, and its answers, in frames; nothing it says is taken on trust."""

import json
import time
from dataclasses import dataclass
from typing import cast

from toolcrib.ports.run import Held

_MOST_BYTES = 256 << 20
_CHUNK = 1 << 20
_MOST_LATE = 5.0
"""Seconds after which a program that did not answer is held for stuck."""
_WRITE_SECONDS = 0.05


class BrokenError(ValueError):
    """The program is gone, stuck, or talks nonsense."""


class LateError(ValueError):
    """The answer is not there in time; it may still come."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The files it named, out of `total`; `whole` unless there may be more. `error` says why it could not answer."""

    files: list[str]
    total: int
    whole: bool
    error: str | None = None


class Frames:
    """One question at a time; see `fff_worker` for their form. For worker threads, one after another."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._number = 0
        self._buffer = bytearray()
        self._late_since: float | None = None

    def end(self) -> None:
        """End the program."""
        self._held.end()

    def ask(
        self, *, do: str = "find", text: str = "", regex: bool = False, most: int = 0, milliseconds: int, seconds: float
    ) -> Answer:
        """Ask, and wait so many seconds for the answer; the program itself is given the milliseconds.

        Raises:
            BrokenError: it is to be dropped.
            LateError: no answer now.
        """
        self._catch_up()
        self._number += 1
        asked = {"id": self._number, "do": do, "text": text, "regex": regex, "most": most, "milliseconds": milliseconds}
        data = json.dumps(asked).encode()
        try:
            self._held.write(len(data).to_bytes(4) + data, seconds=_WRITE_SECONDS)
        except OSError:  # a TimeoutError too: part of the question may have gone out
            raise BrokenError from None
        began = time.monotonic()
        try:
            return self._answer(began + seconds)
        except LateError:
            self._late_since = began
            raise

    def _catch_up(self) -> None:
        """Take in the answer that came too late."""
        if self._late_since is None:
            return
        try:
            self._answer(time.monotonic())
        except LateError:
            if time.monotonic() - self._late_since > _MOST_LATE:
                raise BrokenError from None
            raise
        self._late_since = None

    def _answer(self, deadline: float) -> Answer:
        self._fill(4, deadline)
        size = int.from_bytes(self._buffer[:4])
        if size > _MOST_BYTES:
            raise BrokenError
        self._fill(4 + size, deadline)
        data = bytes(self._buffer[4 : 4 + size])
        del self._buffer[: 4 + size]
        return _read(data, self._number)

    def _fill(self, size: int, deadline: float) -> None:
        while len(self._buffer) < size:
            try:
                data = self._held.read(_CHUNK, seconds=max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise LateError from None
            except OSError:
                data = b""
            if not data:
                raise BrokenError
            self._buffer += data


def _read(data: bytes, number: int) -> Answer:
    try:
        said = cast("object", json.loads(data))
    except (ValueError, RecursionError):
        raise BrokenError from None
    if not isinstance(said, dict):
        raise BrokenError
    fields = cast("dict[str, object]", said)
    error, files, total, whole = (fields.get(name) for name in ("error", "files", "total", "whole"))
    if fields.get("id") != number:
        raise BrokenError
    if isinstance(error, str):
        return Answer([], 0, whole=False, error=error)
    if not (isinstance(files, list) and isinstance(total, int) and isinstance(whole, bool)):
        raise BrokenError
    paths = cast("list[object]", files)
    if not all(isinstance(path, str) for path in paths):
        raise BrokenError
    return Answer(cast("list[str]", paths), total, whole)
