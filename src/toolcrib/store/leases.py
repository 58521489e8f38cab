"""Approver leases: who watches for approvals now. A lease ends by itself, and with the process that took it."""

from collections.abc import Sequence
from typing import cast

from toolcrib.ports.clock import Clock
from toolcrib.store.chain import Coded
from toolcrib.store.database import Link
from toolcrib.store.lanes import Reader
from toolcrib.store.ledger import Ledger
from toolcrib.store.owners import Owners
from toolcrib.store.tape import writable
from toolcrib.store.term import BOOT
from toolcrib.store.writer import Writer

_KEEP = "INSERT OR REPLACE INTO leases (holder, owner, boot, since, until) VALUES (?, ?, ?, ?, ?)"


class Leases:
    """Kept on monotonic time within one boot, so that no jump of the wall clock prolongs one."""

    def __init__(self, writer: Writer | None, reader: Reader, owners: Owners, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._owners = owners
        self._clock = clock

    async def hold(self, holder: str, *, seconds: float) -> None:
        """Take or prolong the lease of `holder` for `seconds` from now; 0 ends it."""
        now = self._clock.monotonic()

        def task(ledger: Ledger, _coded: Sequence[Coded]) -> None:
            ledger.link.run("DELETE FROM leases WHERE holder = ? OR boot <> ?", (holder, BOOT))
            if seconds > 0:
                ledger.link.run(_KEEP, (holder, self._owners.me, BOOT, now, now + seconds))

        await writable(self._writer).submit(task)

    async def any(self) -> bool:
        """Tell whether a lease runs whose process lives."""

        def task(link: Link) -> bool:
            now = self._clock.monotonic()
            sql = "SELECT owner FROM leases WHERE boot = ? AND since <= ? AND until > ?"
            owners = {cast("str", row[0]) for row in link.all(sql, (BOOT, now, now))}
            return any(not self._owners.is_dead(owner) for owner in owners)

        return await self._reader.submit(task)
