"""Reading entries off the database, each held against its own hash before anyone sees it."""

from collections.abc import Sequence
from typing import Any, cast

from toolcrib.store import chain
from toolcrib.store.database import Link, Row, Value
from toolcrib.terms.records import Stage, Taped
from toolcrib.terms.refusals import Refusal

COLUMNS = "seq, at, stage, call_id, data, previous, hash"

_BODY = "SELECT body FROM bodies WHERE digest = ?"
_BY_SEQ = f"SELECT {COLUMNS} FROM entries WHERE seq = ?"  # noqa: S608 - a constant


def select(link: Link, where: str, values: Sequence[Value]) -> list[Taped]:
    """Return the entries that the constant clause `where` chooses.

    Raises:
        Refusal: `store.unavailable` when one no longer matches its hash.
    """
    return [taped(link, row) for row in link.all(f"SELECT {COLUMNS} FROM entries {where}", values)]  # noqa: S608 - no caller's text


def load(link: Link, seq: int) -> Taped:
    """Return the entry `seq`.

    Raises:
        Refusal: `store.unavailable` when it is missing or no longer matches its hash.
    """
    row = link.one(_BY_SEQ, (seq,))
    if row is None:
        raise broken(seq, "is missing")
    return taped(link, row)


def taped(link: Link, row: Row) -> Taped:
    """Return one row of `COLUMNS` as an entry with its bodies put back."""
    seq, at, stage, call_id, data, previous, held = cast("tuple[int, float, Stage, str, str, bytes, bytes]", row)
    if not matches(row):
        raise broken(seq, "no longer matches its hash")
    return Taped(
        seq=seq,
        at=at,
        stage=stage,
        call_id=call_id,
        data=_whole(link, seq, data),
        previous=previous.hex(),
        hash=held.hex(),
    )


def matches(row: Row) -> bool:
    """Tell whether one row of `COLUMNS` has the types and the hash that it should have."""
    seq, at, stage, call_id, data, previous, held = row
    return (
        isinstance(seq, int)
        and isinstance(at, float)
        and isinstance(stage, str)
        and isinstance(call_id, str)
        and isinstance(data, str)
        and isinstance(previous, bytes)
        and chain.link_hash(previous, seq, at, stage, call_id, data) == held
    )


def broken(seq: int, why: str) -> Refusal:
    """Return the refusal for an entry that cannot be trusted."""
    return Refusal(
        "store.unavailable",
        f"entry {seq} of the tape {why}: the store is damaged",
        hint="Run `toolcrib tape --verify`, and restore the store from a backup.",
    )


def _whole(link: Link, seq: int, data: str) -> dict[str, Any]:
    def body(digest: bytes) -> bytes | None:
        row = link.one(_BODY, (digest,))
        if row is None:
            raise broken(seq, "lost a part of its data")
        held = row[0]
        if isinstance(held, bytes) and chain.sha256(held).digest() != digest:
            raise broken(seq, "has a part that no longer matches its digest")
        return held if isinstance(held, bytes) else None

    return chain.whole(data, body)
