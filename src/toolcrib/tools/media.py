"""Which bytes are a picture or a document that some callers can show."""

from typing import Literal

Media = Literal["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]
"""The media types that are handed to a caller whole."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
"""Endings of names that are looked into first."""

_STARTS: tuple[tuple[bytes, Media], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def media_of(data: bytes) -> Media | None:
    """Return the media type by the first bytes, never by the name."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _STARTS if data.startswith(start)), None)
