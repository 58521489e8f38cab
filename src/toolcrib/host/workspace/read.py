"""Reading whole files: bytes, digests, and windows of lines below the whole-file cap."""

import hashlib
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Literal

from toolcrib.host.workspace.base import Base, Spot, placed, resolve
from toolcrib.host.workspace.faults import fault, not_regular, shown
from toolcrib.host.workspace.kinds import kind_of_content
from toolcrib.host.workspace.lines import Sheet, View, after_breaks, breaks
from toolcrib.host.workspace.near import missing
from toolcrib.host.workspace.stream import stream
from toolcrib.ports.files import Loaded, Window
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import of_bytes, of_link
from toolcrib.terms.facts import Place
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import LINE_BREAK, decode, looks_binary

BLOCK = 1 << 18
"""Bytes read at once."""
_TRIES = 5  # a file that is written at every look is not worth more


Fresh = Literal["known", "own", "always"]
"""Which digests are taken again: those that are not known, all but those of our own last writes, all."""


def place(
    base: Base,
    scope: Scope,
    path: str,
    *,
    digest: bool,
    most: int | None,
    fresh: Fresh = "known",
    follow: bool = True,
) -> Place:
    """Resolve `path`; with `digest`, hash a regular file of at most `most` bytes (None: of any size).

    The text of a link is always hashed.
    """
    with resolve(base, path, follow=follow) as spot:
        if spot.path not in scope.writes:
            permit_read(scope, spot)
        found = spot.place()
        if found.kind == "symlink":
            return spot.place(of_link(link_text(spot)))
        if not digest or found.kind != "file" or (most is not None and found.size > most):
            return found
        known = _known(base, spot, fresh)
        if known is not None:
            return spot.place(known)
        with opened(base, spot) as handle:
            return _hashed_place(base, spot, handle)


def _known(base: Base, spot: Spot, fresh: Fresh) -> str | None:
    if spot.status is None or fresh == "always":
        return None
    return base.known.written(spot.status) if fresh == "own" else base.known.find(spot.status)


def link_text(spot: Spot) -> str:
    """Return the text of the link that a spot is.

    Raises:
        Refusal: as reading a file.
    """
    try:
        return os.fsdecode(os.readlink(b"", dir_fd=spot.handle))
    except OSError as error:
        raise fault(error, spot.asked, "read") from None


def _hashed_place(base: Base, spot: Spot, handle: int) -> Place:
    for _ in range(_TRIES):
        began = time.time_ns()
        before = os.fstat(handle)
        value = hashed(handle)
        after = os.fstat(handle)
        if _same(before, after):
            base.known.note(after, value, began=began)
            return placed(spot.asked, spot.path, after, value)
    raise _restless(spot.asked)


def load(base: Base, scope: Scope, path: str, *, most: int, keep_for: str | None = None) -> Loaded:
    """Read a whole regular file of at most `most` bytes; keep them for the reading of the call `keep_for`, if any."""
    with readable(base, scope, path) as (spot, handle):
        status = os.fstat(handle)
        held = base.known.held(scope.call_id, status) if keep_for is None else None
        if held is not None and len(held[0]) <= most:
            data, digest = held
        else:
            status, data, digest = _whole(base, handle, path, most)
        if keep_for:
            base.known.hold(keep_for, status, data, digest)
        return Loaded(place=placed(path, spot.path, status, digest), data=data, digest=digest)


def window(base: Base, scope: Scope, path: str, view: View) -> Window:
    """Read some lines of a text file; above the whole-file cap only what is needed is scanned."""
    with readable(base, scope, path) as (spot, handle):
        cap = base.settings.edit_bytes
        if os.fstat(handle).st_size > cap:
            return stream(handle, spot, view)
        status, data, digest = _whole(base, handle, path, cap)
    if looks_binary(data):
        raise binary(path, len(data), data[:512])
    text = decode(data)
    total = _count(text.text)
    first = view.offset if view.offset > 0 else max(1, total + view.offset + 1)
    sheet = Sheet(view, clean=text.encoding != "bytes" and "\0" not in text.text)
    whole = _short_lines(text.text, len(data), view) if sheet.clean else None
    if whole is not None:
        sheet.lines = whole[first - 1 : first - 1 + view.limit]
    else:
        for line in _lines(text.text, after_breaks(text.text, first - 1)):
            if not sheet.add(line, first + len(sheet.lines)):
                break
    return Window(
        place=placed(path, spot.path, status, digest),
        lines=tuple(sheet.lines),
        first=first,
        total_lines=total,
        digest=digest,
        encoding=text.encoding,
        ending=text.ending,
        clipped=tuple(sheet.clipped),
        more=first - 1 + len(sheet.lines) < total,
    )


@contextmanager
def readable(base: Base, scope: Scope, path: str) -> Generator[tuple[Spot, int]]:
    """Yield the spot of a regular file that may be shown, and a handle to read it.

    A FIFO, socket or device is refused by its `O_PATH` handle, so it is never opened.
    """
    with resolve(base, path) as spot:
        permit_read(scope, spot)
        if spot.status is None:
            raise missing(base, scope, spot)
        kind = spot.place().kind
        if kind != "file":
            raise not_regular(path, kind)
        with opened(base, spot) as handle:
            yield spot, handle


@contextmanager
def opened(base: Base, spot: Spot) -> Generator[int]:
    """Yield a handle to read the regular file at `spot`."""
    try:
        handle = base.calls.again(spot.handle, os.O_RDONLY)
    except OSError as error:
        raise fault(error, spot.asked, "read") from None
    try:
        yield handle
    except OSError as error:
        raise fault(error, spot.asked, "read") from None
    finally:
        base.calls.release(handle)


def permit_read(scope: Scope, spot: Spot) -> None:
    """Refuse `file.denied` when the path may not be shown to the caller."""
    if not scope.shows(spot.path):
        raise Refusal(
            "file.denied",
            f"a rule does not allow reading {shown(spot.asked)}",
            hint="Work without it, or ask the person to change the rule.",
        )


def hashed(handle: int) -> str:
    """Return the digest of the file from its start, read in blocks into one buffer."""
    total = hashlib.sha256()
    block = memoryview(bytearray(BLOCK))
    at = 0
    while count := os.preadv(handle, [block], at):
        total.update(block[:count])
        at += count
    return total.hexdigest()


def binary(path: str, size: int, head: bytes) -> Refusal:
    """Return the refusal of a file that is not text."""
    return Refusal(
        "file.binary",
        f"expected text at {shown(path)}, found binary content: {kind_of_content(head)}, {size:,} bytes",
        hint="Use a program that understands the format.",
    )


def _whole(base: Base, handle: int, path: str, most: int) -> tuple[os.stat_result, bytes, str]:
    for _ in range(_TRIES):
        began = time.time_ns()
        before = os.fstat(handle)
        if before.st_size > most:
            raise Refusal(
                "file.too_large",
                f"expected at most {most:,} bytes at {shown(path)}, found {before.st_size:,}",
                hint="Read it in windows of lines, or search it.",
            )
        data = _read(handle, before.st_size)
        after = os.fstat(handle)
        if _same(before, after) and len(data) == after.st_size:
            digest = of_bytes(data)
            base.known.note(after, digest, began=began)
            return after, data, digest
    raise _restless(path)


def _read(handle: int, size: int) -> bytes:
    data = os.pread(handle, size + 1, 0)
    if len(data) >= size:
        return data
    parts = [data]
    at = len(data)
    while at <= size and (block := os.pread(handle, size + 1 - at, at)):
        parts.append(block)
        at += len(block)
    return b"".join(parts)


def _same(before: os.stat_result, after: os.stat_result) -> bool:
    return before.st_size == after.st_size and before.st_mtime_ns == after.st_mtime_ns


def _restless(path: str) -> Refusal:
    return Refusal(
        "file.stale",
        f"{shown(path)} kept changing while it was read, {_TRIES} times",
        hint="Wait until whatever writes it is done, then repeat the call.",
    )


def _count(text: str) -> int:
    return breaks(text) + (bool(text) and not text.endswith(("\n", "\r")))


def _short_lines(text: str, size: int, view: View) -> list[str] | None:
    """Return all lines of a small text of which none has to be cut, None for any other: most readings are of one."""
    if size >= view.most_bytes or "\r" in text:
        return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines if max(map(len, lines), default=0) <= view.line_chars else None


def _lines(text: str, start: int) -> Iterator[str]:
    for each in LINE_BREAK.finditer(text, start):
        yield text[start : each.start()]
        start = each.end()
    if start < len(text):
        yield text[start:]
