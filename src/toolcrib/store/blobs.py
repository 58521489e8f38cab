"""Content-addressed bytes: small ones in the database, larger ones a file each, durable when the digest is given."""

import anyio

from toolcrib.store.lanes import Reader
from toolcrib.store.shelf import Shelf
from toolcrib.store.tape import writable
from toolcrib.store.writer import Writer
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal

SMALL = 16 << 10
"""Largest blob kept in the database, bytes: one flush there is cheaper than the two of a file."""

_KEEP = "INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
_FIND = "SELECT data FROM blobs WHERE digest = ?"


class Blobs:
    """The port over one store."""

    def __init__(self, writer: Writer | None, reader: Reader, shelf: Shelf) -> None:
        self._writer = writer
        self._reader = reader
        self._shelf = shelf

    async def put(self, data: bytes, *, digest: str | None = None) -> str:
        """Store `data` durably and return its digest (given, where it was just taken); storing again costs nothing.

        Raises:
            Refusal: `disk.full`, `store.unavailable`; nothing was stored then.
        """
        writer = writable(self._writer)
        if len(data) > SMALL:
            return await anyio.to_thread.run_sync(self._shelf.put, data, digest)
        digest = digest or of_bytes(data)
        if await self._reader.submit(lambda link: link.one(_FIND, (digest,))) is None:
            await writer.submit(lambda ledger, _coded: ledger.link.run(_KEEP, (digest, data)))
        return digest

    async def get(self, digest: str) -> bytes:
        """Return the bytes, checked against the digest.

        Raises:
            Refusal: `snapshot.missing`, or `snapshot.damaged` when they no longer match.
        """
        row = await self._reader.submit(lambda link: link.one(_FIND, (digest,)))
        if row is not None and isinstance(row[0], bytes):
            return _proven(row[0], digest)
        return _proven(await anyio.to_thread.run_sync(self._shelf.get, digest), digest)


def _proven(data: bytes, digest: str) -> bytes:
    if of_bytes(data) != digest:
        raise Refusal(
            "snapshot.damaged",
            f"the stored bytes {digest[:12]} no longer match their digest",
            hint="Check the disk; restore the store from a backup.",
        )
    return data
