"""Grants: standing yeses, counted down in the transaction that uses them, every change on the tape."""

from collections.abc import Sequence
from dataclasses import replace

from toolcrib.ports.clock import Clock
from toolcrib.store import sealed
from toolcrib.store.chain import Coded
from toolcrib.store.database import Link, Row
from toolcrib.store.lanes import Reader
from toolcrib.store.ledger import Ledger
from toolcrib.store.tape import writable
from toolcrib.store.term import Term
from toolcrib.store.writer import Writer
from toolcrib.terms.records import Entry, Grant
from toolcrib.terms.refusals import Refusal

_COLUMNS = sealed.SEALED["grants"]
_SELECT = f"SELECT {_COLUMNS}, seal FROM grants"  # noqa: S608 - a constant
_INSERT = f"INSERT INTO grants ({_COLUMNS}, seal) VALUES (?, ?, ?, ?, ?)"  # noqa: S608 - a constant
_UPDATE = "UPDATE grants SET record = ?, seal = ? WHERE id = ? AND seal = ?"


class Grants:
    """The port over one store."""

    def __init__(self, writer: Writer | None, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def active(self, root: str) -> Sequence[Grant]:
        """Return the grants of `root` that have neither expired nor been used up, oldest first."""
        rows = await self._reader.submit(lambda link: link.all(f"{_SELECT} WHERE root = ? ORDER BY rowid", (root,)))
        return [grant for grant in map(self._grant, rows) if grant is not None]

    async def every(self, root: str) -> Sequence[Grant]:
        """Return the grants of `root`, those that have ended too, oldest first."""
        rows = await self._reader.submit(lambda link: link.all(f"{_SELECT} WHERE root = ? ORDER BY rowid", (root,)))
        return [_opened(row) for row in rows]

    async def add(self, grant: Grant) -> None:
        """Store a grant."""
        term = Term.until_wall(self._clock, grant.created, grant.expires)
        await writable(self._writer).submit(lambda ledger, _coded: insert(ledger, grant, term))

    async def use(self, grant_id: str) -> bool:
        """Count one use; False when none was left, or it expired or is gone. Without a count nothing is written."""
        grant = await self._reader.submit(lambda link: self._find(link, grant_id))
        if grant is None or grant[0].uses is None:
            return grant is not None

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> bool:
            found = self._find(ledger.link, grant_id)
            if found is None or found[0].uses is None:
                return found is not None
            left = replace(found[0], uses=found[0].uses - 1)
            row = found[1]
            columns = (*row[:3], sealed.text_of(left))
            ledger.link.run(_UPDATE, (columns[-1], sealed.seal(*columns), grant_id, row[-1]))
            if ledger.link.changes() != 1:
                return False
            ledger.add(_entry(left, "used", by=left.by))
            return True

        return await writable(self._writer).submit(task)

    async def revoke(self, grant_id: str, *, by: str) -> bool:
        """Remove a grant, on the word of `by`; False when there was none. A damaged one can be removed too."""

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> bool:
            row = ledger.link.one(f"{_SELECT} WHERE id = ?", (grant_id,))
            if row is None:
                return False
            ledger.link.run("DELETE FROM grants WHERE id = ?", (grant_id,))
            ledger.add(_revoked(row, by=by))
            return True

        return await writable(self._writer).submit(task)

    def _find(self, link: Link, grant_id: str) -> tuple[Grant, Row] | None:
        row = link.one(f"{_SELECT} WHERE id = ?", (grant_id,))
        grant = None if row is None else self._grant(row)
        return None if row is None or grant is None else (grant, row)

    def _grant(self, row: Row) -> Grant | None:
        grant = _opened(row)
        used_up = grant.uses is not None and grant.uses <= 0
        return None if used_up or Term.parse(str(row[2])).is_over(self._clock) else grant


def insert(ledger: Ledger, grant: Grant, term: Term) -> None:
    """Store a grant, inside a transaction of the ledger."""
    columns = (grant.id, grant.root, str(term), sealed.text_of(grant))
    ledger.link.run(_INSERT, (*columns, sealed.seal(*columns)))
    ledger.add(_entry(grant, "added", by=grant.by))


def _opened(row: Row) -> Grant:
    return Grant(**sealed.opened(row[:-1], row[-1], "grant"))


def _revoked(row: Row, *, by: str) -> Entry:
    try:
        return _entry(_opened(row), "revoked", by=by)
    except Refusal:
        return Entry(stage="config", data={"grant": str(row[0]), "change": "revoked", "by": by})


def _entry(grant: Grant, change: str, *, by: str) -> Entry:
    data = {
        "grant": grant.id,
        "change": change,
        "tool": grant.tool,
        "pattern": grant.pattern,
        "root": grant.root,
        "by": by,
        "approval": grant.approval,
        "expires": grant.expires,
        "uses": grant.uses,
    }
    return Entry(stage="config", data=data)
