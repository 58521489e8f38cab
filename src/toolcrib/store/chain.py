"""One entry as bytes: what goes into the hash chain, and what is kept beside it so that it can be pruned."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, cast

from toolcrib.terms.digest import canonical
from toolcrib.terms.records import Entry, Taped

START = bytes(32)
"""The hash before the first entry."""

BODY_BYTES = 4096
"""Largest value, in canonical JSON, that an entry holds itself."""

BODY = "$body"
"""The key that stands for a value kept beside the chain: `{"$body": digest, "size": bytes}`."""

_MARK = '"$body"'
_FEW = (1, 2)
"""Numbers of values of the entries that are often large."""


@dataclass(frozen=True, slots=True)
class Coded:
    """An entry ready to be written: its data as canonical JSON, and the large values taken out of it by digest."""

    entry: Entry
    data: str
    bodies: tuple[tuple[bytes, bytes], ...]


def encode(entry: Entry) -> Coded:
    """Return `entry` ready to be written.

    Raises:
        ValueError: its data holds a number that JSON does not know.
        TypeError: its data holds what JSON cannot carry.
    """
    if len(entry.data) not in _FEW:
        # Most entries are small, and one encoding of the whole is cheaper than one of each value.
        whole = canonical(entry.data)
        if len(whole) <= BODY_BYTES and _MARK.encode() not in whole:
            return Coded(entry, whole.decode("ascii"), ())
    parts: list[str] = []
    bodies: list[tuple[bytes, bytes]] = []
    # Each value is encoded once, by itself: joined in key order they are the canonical JSON of the whole.
    for key in sorted(entry.data):
        value = entry.data[key]
        whole = canonical(value)
        # A caller's own value that looks like a stand-in is taken out too, so that it is never read as one.
        if len(whole) > BODY_BYTES or (isinstance(value, Mapping) and BODY in value):
            digest = sha256(whole)
            bodies.append((digest.digest(), whole))
            whole = canonical({BODY: digest.hexdigest(), "size": len(whole)})
        parts.append(f"{encode_basestring_ascii(key)}:{whole.decode('ascii')}")
    return Coded(entry, "{" + ",".join(parts) + "}", tuple(bodies))


def link_hash(previous: bytes, seq: int, at: float, stage: str, call_id: str, data: str) -> bytes:
    """Return the SHA-256 over the canonical JSON of the six, `data` being canonical JSON already."""
    text = f'["{previous.hex()}",{seq},{at!r},"{stage}",{encode_basestring_ascii(call_id)},{data}]'
    return sha256(text.encode("ascii")).digest()


def standing_in(data: str) -> dict[str, Any]:
    """Return the data of an entry as it is written, stand-ins included."""
    return json.loads(data)


def digests(data: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    """Return the key and digest of each value that is kept beside the chain."""
    return [
        (key, bytes.fromhex(cast("str", value[BODY])))
        for key, value in data.items()
        if isinstance(value, dict) and BODY in value
    ]


def whole(data: str, body: Callable[[bytes], bytes | None]) -> dict[str, Any]:
    """Return the data of an entry with every body put back, or marked `pruned` where it is gone."""
    found = standing_in(data)
    if _MARK not in data:
        return found
    for key, digest in digests(found):
        held = body(digest)
        found[key] = {**found[key], "pruned": True} if held is None else json.loads(held)
    return found


def tape(seq: int, at: float, entry: Entry, previous: bytes, link: bytes) -> Taped:
    """Return the entry as it now stands on the tape."""
    return Taped(
        seq=seq,
        at=at,
        stage=entry.stage,
        call_id=entry.call_id,
        data=entry.data,
        previous=previous.hex(),
        hash=link.hex(),
    )


def changed(outcome: object) -> bool:
    """Tell whether the wire form of an outcome says that something changed."""
    evidence = cast("Mapping[str, object]", outcome).get("evidence") if isinstance(outcome, Mapping) else None
    return isinstance(evidence, Mapping) and bool(cast("Mapping[str, object]", evidence).get("changed"))


def encode_all(entries: Sequence[Entry]) -> list[Coded]:
    """Return each entry ready to be written."""
    return [encode(entry) for entry in entries]
