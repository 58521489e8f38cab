"""Content-addressed bytes outside the workspace: pre-images. Not readable by any tool."""

from typing import Protocol


class Blobs(Protocol):
    """Durable bytes by digest.

    Raises:
        Refusal: `disk.full`, `store.unavailable`.
    """

    async def put(self, data: bytes, *, digest: str | None = None) -> str:
        """Store `data` durably and return its digest; storing again costs nothing.

        `digest` is that of `data`, where the caller has just taken it.
        """
        ...

    async def get(self, digest: str) -> bytes:
        """Return the bytes, checked against the digest.

        Raises:
            Refusal: `snapshot.missing`, or `snapshot.damaged` when they no longer match.
        """
        ...
