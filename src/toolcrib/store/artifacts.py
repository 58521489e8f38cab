"""Artifacts: large outputs kept whole, read and searched in slices, each 64 KiB piece held against its own digest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar, cast

import anyio

from toolcrib.ports.artifacts import Artifact, Hit, Slice
from toolcrib.store.blobs import Blobs
from toolcrib.store.database import Link
from toolcrib.store.lanes import Reader
from toolcrib.store.lines import find_lines
from toolcrib.store.shelf import Shelf, read_exactly
from toolcrib.store.tape import writable
from toolcrib.store.writer import Writer
from toolcrib.terms.refusals import Refusal

T = TypeVar("T")

PIECE = 64 << 10
"""Bytes that share one digest."""

ID_DIGITS = 24
"""Hex characters of the content digest in an id."""

_COLUMNS = "id, digest, size, media, pieces"
_FIND = f"SELECT {_COLUMNS} FROM artifacts WHERE id = ?"  # noqa: S608 - a constant
_KEEP = f"INSERT INTO artifacts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"  # noqa: S608 - a constant
_SMALL = "SELECT data FROM blobs WHERE digest = ?"


@dataclass(frozen=True, slots=True)
class _Kept:
    """One artifact and how to read it: `data` where it is small, else its file on the shelf."""

    artifact: Artifact
    digest: str
    pieces: bytes
    data: bytes | None


class Artifacts:
    """The port over one store. An id is `a` and 24 hex digits of the content's digest; the first media type stays."""

    def __init__(self, writer: Writer | None, reader: Reader, blobs: Blobs, shelf: Shelf) -> None:
        self._writer = writer
        self._reader = reader
        self._blobs = blobs
        self._shelf = shelf

    async def put(self, data: bytes, *, media: str) -> Artifact:
        """Store `data` durably.

        Raises:
            Refusal: `disk.full`, `store.unavailable`; nothing was stored then.
        """
        writer = writable(self._writer)
        digest = await self._blobs.put(data)
        name = "a" + digest[:ID_DIGITS]
        kept = await self._reader.submit(lambda link: link.one(_FIND, (name,)))
        if kept is None:
            pieces = await anyio.to_thread.run_sync(_pieces, data)
            row = (name, digest, len(data), media, pieces)
            await writer.submit(lambda ledger, _coded: ledger.link.run(_KEEP, row))
            return Artifact(id=name, size=len(data), media=media)
        return Artifact(id=name, size=len(data), media=str(kept[3]))

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> Slice:
        """Return up to `limit` bytes from `offset`; of text whole characters, the one that `offset` is inside of too.

        Raises:
            Refusal: `artifact.missing`, also for one that is damaged.
        """
        kept = await self._kept(artifact_id)
        size, start = kept.artifact.size, max(0, offset)
        end = min(size, start + max(0, limit))
        if start >= end:
            return Slice(artifact=kept.artifact, offset=min(start, size), data=b"")
        # A character has at most 4 bytes: three more on each side decide where the slice is cut.
        before, most = max(0, start - 3), min(size, end + 3)
        window = await self._with(kept, lambda read: read(before, most))
        first, last = start - before, end - before
        if _is_text(kept.artifact.media):
            first, last = cut(window, first, last - first)
        return Slice(artifact=kept.artifact, offset=before + first, data=window[first:last])

    async def search(self, artifact_id: str, pattern: str, *, limit: int) -> tuple[Sequence[Hit], int]:
        """Return the first `limit` lines that hold `pattern` as plain text, and how many lines do.

        Raises:
            Refusal: `artifact.missing`, also for one that is damaged.
        """
        kept = await self._kept(artifact_id)
        needle = pattern.encode("utf-8", "surrogatepass")

        def task(read: Callable[[int, int], bytes]) -> tuple[Sequence[Hit], int]:
            blocks = (
                read(at, min(kept.artifact.size, at + 16 * PIECE)) for at in range(0, kept.artifact.size, 16 * PIECE)
            )
            return find_lines(blocks, needle, limit)

        return await self._with(kept, task)

    async def _kept(self, artifact_id: str) -> _Kept:
        def task(link: Link) -> _Kept | None:
            row = link.one(_FIND, (artifact_id,))
            if row is None:
                return None
            name, digest, size, media, pieces = cast("tuple[str, str, int, str, bytes]", row)
            small = link.one(_SMALL, (digest,))
            data = small[0] if small is not None and isinstance(small[0], bytes) else None
            return _Kept(Artifact(id=name, size=size, media=media), digest, pieces, data)

        kept = await self._reader.submit(task) if is_id(artifact_id) else None
        if kept is None:
            raise Refusal(
                "artifact.missing",
                f"there is no artifact {artifact_id[:80]!r}",
                hint="An id is `a` and 24 hex digits, as `bounds.spilled` of an outcome names it.",
            )
        return kept

    async def _with(self, kept: _Kept, use: Callable[[Callable[[int, int], bytes]], T]) -> T:
        """Run `use` in a thread with a reader of checked bytes from one offset to another."""

        def task() -> T:
            data = kept.data
            if data is not None:
                _prove(kept, 0, data)
                return use(lambda start, end: data[start:end])
            try:
                with self._shelf.opened(kept.digest) as file:
                    return use(lambda start, end: _checked(kept, file, start, end))
            except Refusal as refusal:
                if refusal.name.startswith("snapshot."):
                    raise _damaged(kept) from refusal
                raise

        return await anyio.to_thread.run_sync(task)


def is_id(text: str) -> bool:
    """Tell whether `text` has the form of an artifact's id."""
    return len(text) == 1 + ID_DIGITS and text[0] == "a" and not text[1:].strip("0123456789abcdef")


def cut(window: bytes, at: int, want: int) -> tuple[int, int]:
    """Return where whole characters begin and end that make about `want` bytes of `window` from `at`, one at least.

    A character that `at` is inside of is given whole. Bytes that are not UTF-8 are characters of their own.
    """
    first = _begin(window, at)
    last = _begin(window, min(at + want, len(window)))
    if last <= first:
        last = first + 1
        while last < len(window) and _begin(window, last) == first:
            last += 1
    return first, last


def _begin(data: bytes, at: int) -> int:
    """Return where the character begins that the byte `at` belongs to."""
    if at >= len(data) or not _continues(data[at]):
        return at
    for back in range(1, min(3, at) + 1):
        byte = data[at - back]
        if not _continues(byte):
            length = 1 if not 0xC2 <= byte <= 0xF4 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return at - back if length > back else at
    return at


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _is_text(media: str) -> bool:
    kind = media.partition(";")[0].strip().lower()
    return (
        kind.startswith("text/")
        or kind.endswith(("json", "xml"))
        or kind in {"application/javascript", "application/toml"}
    )


def _pieces(data: bytes) -> bytes:
    view = memoryview(data)
    return b"".join(sha256(view[at : at + PIECE]).digest() for at in range(0, len(data), PIECE))


def _checked(kept: _Kept, file: int, start: int, end: int) -> bytes:
    first = start // PIECE * PIECE
    last = min(kept.artifact.size, -(-end // PIECE) * PIECE)
    data = read_exactly(file, first, last - first)
    if len(data) != last - first:
        raise _damaged(kept)
    _prove(kept, first, data)
    return data[start - first : end - first]


def _prove(kept: _Kept, first: int, data: bytes) -> None:
    at = first // PIECE * 32
    proof = _pieces(data)
    if kept.pieces[at : at + len(proof)] != proof:
        raise _damaged(kept)


def _damaged(kept: _Kept) -> Refusal:
    return Refusal(
        "artifact.missing",
        f"artifact {kept.artifact.id} is damaged: its stored bytes are gone or no longer match their digest",
        hint="Repeat the call that made it; check the disk.",
    )
