"""What a binary file seems to be, by its first bytes."""

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\x03\x04", "ZIP archive"),
    (0, b"PK\x05\x06", "empty ZIP archive"),
    (0, b"\x7fELF", "ELF program or library"),
    (0, b"%PDF-", "PDF document"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (8, b"WEBP", "WebP image"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"(\xb5/\xfd", "Zstandard archive"),
    (0, b"7z\xbc\xaf'\x1c", "7z archive"),
    (257, b"ustar", "tar archive"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"\xff\xfe\0\0", "UTF-32 text"),
    (0, b"\0\0\xfe\xff", "UTF-32 text"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"MZ", "Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (0, b"OggS", "Ogg media"),
    (0, b"ID3", "MP3 audio"),
    (0, b"fLaC", "FLAC audio"),
    (8, b"WAVE", "WAV audio"),
    (4, b"ftyp", "MP4 media"),
    (0, b"\x1aE\xdf\xa3", "Matroska media"),
    (0, b"wOFF", "WOFF font"),
    (0, b"wOF2", "WOFF2 font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
)
_SURE = 4
"""Bytes of magic that are not met by chance at the start of a text."""


def kind_of_content(head: bytes) -> str:
    """Return the kind of content that `head` announces, in words."""
    return next((name for at, magic, name in _MAGIC if head.startswith(magic, at)), "unknown kind")


def surely_binary(head: bytes) -> bool:
    """Tell whether `head` starts with the magic of a binary format, long enough not to be text."""
    return any(
        head.startswith(magic, at) and (len(magic) >= _SURE and not magic.isascii()) for at, magic, _ in _MAGIC
    ) or head.startswith((b"PK\x03\x04", b"\x7fELF", b"%PDF-", b"SQLite format 3\0"))
