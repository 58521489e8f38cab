"""Records as canonical JSON with a digest over the whole row, so that a damaged one is refused and never believed."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from toolcrib.store.database import Link, Value
from toolcrib.terms.digest import canonical
from toolcrib.terms.records import Approval, Grant
from toolcrib.terms.refusals import Refusal

SEALED = {
    "approvals": "id, effect, principal, state, created, term, record",
    "grants": "id, root, term, record",
}
"""The tables of sealed rows, each with the columns that its seal covers."""


def text_of(record: Approval | Grant) -> str:
    """Return the record as canonical JSON."""
    return canonical(asdict(record)).decode("ascii")


def seal(*parts: Value) -> bytes:
    """Return the digest over the columns of a row."""
    return sha256(canonical(list(parts))).digest()


def broken(link: Link) -> str:
    """Return which row of the sealed tables no longer matches its seal, empty for none."""
    for table, columns in SEALED.items():
        for row in link.each(f"SELECT {columns}, seal FROM {table}"):  # noqa: S608 - constants
            if seal(*row[:-1]) != row[-1]:
                return f"the row {row[0]!r} of {table} no longer matches its seal"
    return ""


def opened(columns: Sequence[Value], held: Value, what: str) -> dict[str, Any]:
    """Return the record in the last of `columns` once the seal over all of them holds.

    Raises:
        Refusal: `store.unavailable` when it does not.
    """
    if seal(*columns) != held:
        raise Refusal(
            "store.unavailable",
            f"{what} {columns[0]!r} no longer matches its seal: the store is damaged",
            hint="Run `toolcrib doctor`, and restore the store from a backup.",
        )
    return json.loads(str(columns[-1]))
