"""Keyset cursors: where an answer stopped, bound to the query it belongs to."""

import base64
import binascii
import json
from typing import Any, cast

from toolcrib.terms.digest import Json, of_json
from toolcrib.terms.refusals import Refusal

_BOUND = 16


def put(query: Json, key: Json) -> str:
    """Return a cursor that continues `query` behind `key`."""
    raw = json.dumps([of_json(query)[:_BOUND], key], ensure_ascii=True, separators=(",", ":"))
    return base64.urlsafe_b64encode(raw.encode("ascii")).rstrip(b"=").decode("ascii")


def take(query: Json, cursor: str | None) -> list[Any] | None:
    """Return the key that `cursor` continues behind, None without a cursor.

    Raises:
        Refusal: `cursor.invalid` for anything that this query did not give out.
    """
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        held = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, UnicodeError, ValueError, RecursionError):
        raise _invalid() from None
    if not isinstance(held, list):
        raise _invalid()
    parts = cast("list[Any]", held)
    if len(parts) != 2 or parts[0] != of_json(query)[:_BOUND] or not isinstance(parts[1], list):
        raise _invalid()
    return cast("list[Any]", parts[1])


def key_of(types: tuple[type, ...], key: list[Any] | None) -> list[Any] | None:
    """Check that `key` has exactly these types of parts.

    Raises:
        Refusal: `cursor.invalid`.
    """
    if key is None:
        return None
    if len(key) != len(types) or any(not isinstance(part, kind) for part, kind in zip(key, types, strict=True)):
        raise _invalid()
    return key


def _invalid() -> Refusal:
    return Refusal(
        "cursor.invalid",
        "this cursor does not belong to this query",
        hint="Repeat the query that gave it unchanged (the limit may differ), or call without a cursor.",
    )
