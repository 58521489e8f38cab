"""The tape over one store: durable appends, checked reads, and verifying the whole chain."""

from collections.abc import Callable, Sequence
from typing import cast

import anyio

from toolcrib.ports.tape import Verdict
from toolcrib.store import chain, entries
from toolcrib.store.chain import Coded
from toolcrib.store.database import Fault, Link, Value, meaning
from toolcrib.store.lanes import Reader
from toolcrib.store.ledger import Ledger
from toolcrib.store.writer import Writer
from toolcrib.terms.records import Entry, Taped
from toolcrib.terms.refusals import Refusal

_ALL = f"SELECT {entries.COLUMNS} FROM entries ORDER BY seq"  # noqa: S608 - a constant


class Tape:
    """The port over one store."""

    def __init__(
        self, writer: Writer | None, reader: Reader, open_link: Callable[[], Link], known: Callable[[], int]
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._open_link = open_link
        self._known = known

    async def append(self, entries: Sequence[Entry], *, durable: bool = True) -> Sequence[Taped]:
        """Append as one group and update the jobs that the entries belong to; see the port.

        Raises:
            Refusal: `store.unavailable`, `disk.full`; nothing was appended then.
            Repeated: a call is received twice or closed twice; nothing was appended then.
        """
        return await writable(self._writer).submit(Ledger.append, entries, lazy=not durable)

    async def page(self, *, since: int = 0, limit: int = 100, call_id: str | None = None) -> Sequence[Taped]:
        """Return up to `limit` entries with a sequence number above `since`, in order."""
        if call_id is None:
            found = await self._read("WHERE seq > ? ORDER BY seq LIMIT ?", (since, limit))
            return _following(found, after=since)
        known = "AND call_id <> ''" if call_id else ""
        return await self._read(f"WHERE call_id = ? {known} AND seq > ? ORDER BY seq LIMIT ?", (call_id, since, limit))

    async def latest(self, *, limit: int = 100) -> Sequence[Taped]:
        """Return the last `limit` entries, in order."""
        found = await self._read("ORDER BY seq DESC LIMIT ?", (limit,))
        found.reverse()
        return _following(found, after=found[0].seq - 1 if found else 0)

    async def verify(self) -> Verdict:
        """Recompute the whole chain, and hold it against the jobs and the mark of what was durable."""

        def task() -> Verdict:
            link = self._open_link()
            try:
                return verify(link, self._known())
            except Fault as fault:
                raise meaning(fault, link.errno()) from fault
            finally:
                link.close()

        return await anyio.to_thread.run_sync(task)

    async def prune(self, through: int) -> int:
        """Drop the large values that no entry after `through` holds, and return how many; the chain still verifies."""

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> int:
            ledger.link.run("UPDATE bodies SET body = NULL WHERE last <= ? AND body IS NOT NULL", (through,))
            return ledger.link.changes()

        return await writable(self._writer).submit(task)

    async def _read(self, where: str, values: Sequence[Value]) -> list[Taped]:
        return await self._reader.submit(lambda link: entries.select(link, where, values))


def _following(found: list[Taped], *, after: int) -> list[Taped]:
    """Return entries that are read together once each is known to follow the one before it."""
    previous = None if after else chain.START.hex()
    for each in found:
        if each.seq != after + 1:
            raise entries.broken(after + 1, "is missing")
        if previous is not None and each.previous != previous:
            raise entries.broken(each.seq, "does not follow the one before it")
        after, previous = each.seq, each.hash
    return found


def writable(writer: Writer | None) -> Writer:
    """Return the writer of a store that has one.

    Raises:
        Refusal: `store.unavailable` for a store that was opened read-only.
    """
    if writer is None:
        raise Refusal(
            "store.unavailable",
            "the store is open read-only, because its file system cannot be written: nothing can be recorded",
            hint="Mount it writable, or point the state directory elsewhere, and start again.",
        )
    return writer


def verify(link: Link, known: int) -> Verdict:
    """Recompute the chain from its first entry. `known` is a number of entries that was once durable."""
    seq, head = 0, chain.START
    link.run("BEGIN")
    try:
        for row in link.each(_ALL):
            number, _, _, _, data, previous, held = cast("tuple[int, float, str, str, str, bytes, bytes]", row)
            why = ""
            if number != seq + 1:
                why = f"entry {seq + 1} is missing"
            elif previous != head:
                why = "it does not follow the entry before it"
            elif not entries.matches(row):
                why = "it no longer matches its hash"
            else:
                why = _bodies(link, data)
            if why:
                return Verdict(entries=seq, head=head.hex(), broken=seq + 1, why=why)
            seq, head = number, held
        last = max(known, link.number("SELECT max(seq) FROM jobs"))
    finally:
        link.rollback()
    if last > seq:
        return Verdict(entries=seq, head=head.hex(), broken=seq + 1, why=f"entries up to {last} are missing")
    return Verdict(entries=seq, head=head.hex())


def _bodies(link: Link, data: str) -> str:
    if chain.BODY not in data:
        return ""
    for key, digest in chain.digests(chain.standing_in(data)):
        row = link.one("SELECT body FROM bodies WHERE digest = ?", (digest,))
        if row is None:
            return f"the value of {key!r} is missing"
        if isinstance(row[0], bytes) and chain.sha256(row[0]).digest() != digest:
            return f"the value of {key!r} no longer matches its digest"
    return ""
