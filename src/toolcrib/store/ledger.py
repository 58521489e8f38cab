"""The open transaction of the one writing thread: the head of the chain, and appending to it."""

from collections.abc import Sequence
from typing import cast

from toolcrib.ports.clock import Clock
from toolcrib.store import chain
from toolcrib.store.chain import Coded
from toolcrib.store.database import Link
from toolcrib.store.jobs import fold
from toolcrib.terms.records import Entry, Taped

_HEAD = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1"
_ENTRY = "INSERT INTO entries (seq, at, stage, call_id, data, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
_BODY = """INSERT INTO bodies (digest, last, body) VALUES (?1, ?2, ?3)
ON CONFLICT (digest) DO UPDATE SET last = ?2, body = ?3"""


class Ledger:
    """Begins, appends, commits. Used by the writing thread alone."""

    def __init__(self, link: Link, clock: Clock) -> None:
        self.link = link
        self.clock = clock
        self.seq = 0
        """Number of the last entry, as of the transaction that is open or was last committed."""
        self._hash = chain.START

    def begin(self) -> None:
        """Open a transaction that nobody else writes beside, and read the head of the chain."""
        self.link.run("BEGIN IMMEDIATE")
        row = self.link.one(_HEAD)
        self.seq, self._hash = (0, chain.START) if row is None else cast("tuple[int, bytes]", row)

    def commit(self) -> None:
        """Make the transaction durable."""
        self.link.run("COMMIT")

    def append(self, coded: Sequence[Coded]) -> list[Taped]:
        """Add entries to the chain and bring their jobs up to date.

        Raises:
            Repeated: a call is received twice or closed twice.
        """
        if not coded:
            return []
        fold(self.link, coded, self.seq + 1)
        at = float(self.clock.now())
        seq, previous = self.seq, self._hash
        rows: list[tuple[int, float, str, str, str, bytes, bytes]] = []
        found: list[Taped] = []
        for each in coded:
            seq += 1
            entry = each.entry
            link = chain.link_hash(previous, seq, at, entry.stage, entry.call_id, each.data)
            rows.append((seq, at, entry.stage, entry.call_id, each.data, previous, link))
            found.append(chain.tape(seq, at, entry, previous, link))
            previous = link
            for digest, body in each.bodies:
                self.link.run(_BODY, (digest, seq, body))
        self.link.many(_ENTRY, rows)
        self.seq, self._hash = seq, previous
        return found

    def add(self, *entries: Entry) -> list[Taped]:
        """Add entries that were made inside the transaction."""
        return self.append(chain.encode_all(entries))
