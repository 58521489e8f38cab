"""Content digests: SHA-256 over bytes, or over the canonical JSON of a value."""

import hashlib
import json
from collections.abc import Mapping, Sequence

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""A JSON value: what arguments, payloads and tape entries are made of."""

CITE = 12
"""Fewest hex characters that cite a digest."""


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
"""Made once: making the encoder costs more than most values do."""


def of_bytes(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex characters."""
    return hashlib.sha256(data).hexdigest()


DIRECTORY = of_bytes(b"directory\0")
"""What stands for the content of a directory where one is moved, made or removed: no file has this digest."""


def of_link(target: str) -> str:
    """Return the digest of a symbolic link with the text `target`; no file has the same one but by design."""
    return of_bytes(b"link\0" + target.encode("utf-8", "surrogateescape"))


def canonical(value: Json) -> bytes:
    """Return the one byte form of `value`: sorted keys, no blanks, ASCII escapes, so lone surrogates survive."""
    return _encode(value).encode("ascii")


def of_json(value: Json) -> str:
    """Return the SHA-256 of the canonical JSON of `value`."""
    return of_bytes(canonical(value))


def cites(cited: str, actual: str) -> bool:
    """Tell whether `cited` (12 hex characters or more) names the digest `actual`."""
    return len(cited) >= CITE and actual.startswith(cited.lower())
