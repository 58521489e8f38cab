"""Jobs: where each call stands, kept by the transaction that appends to the tape and read back off the tape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from toolcrib.ports.tape import Repeated
from toolcrib.store import entries
from toolcrib.store.chain import Coded, changed
from toolcrib.store.database import Link, Row, Value
from toolcrib.store.lanes import Reader
from toolcrib.terms.records import Entry, Job, JobKind, Stage, Taped

MOST_MATCHES = 10
"""Most jobs that a prefix answers with."""

_COLUMNS = "call_id, first, seq, stage, started, changed, owner"
_FIND = f"SELECT {_COLUMNS} FROM jobs WHERE call_id = ?"  # noqa: S608 - a constant
_STRAY = "SELECT seq FROM entries WHERE call_id = ? AND call_id <> '' AND stage = 'received'"
_KEEP = f"INSERT OR REPLACE INTO jobs ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - a constant


@dataclass(slots=True)
class _Standing:
    """Where one call stands: `first` and `seq` are its `received` entry and the last one that moved it."""

    call_id: str
    first: int
    seq: int
    stage: str
    started: int
    changed: int
    owner: str

    def move(self, entry: Entry | Taped, seq: int) -> None:
        if self.stage == "closed":
            # An answer that comes late is on the tape, and leaves the closed job as it is.
            if entry.stage == "closed":
                raise Repeated(self.call_id, f"call {self.call_id!r} is closed already")
            return
        self.stage, self.seq = entry.stage, seq
        if entry.stage == "started":
            self.started = 1
        elif entry.stage == "closed":
            self.changed = int(changed(entry.data.get("outcome")))

    def row(self) -> tuple[Value, ...]:
        return (self.call_id, self.first, self.seq, self.stage, self.started, self.changed, self.owner)


def fold(link: Link, coded: Sequence[Coded], first: int) -> None:
    """Bring the jobs up to date with entries that take the numbers from `first` on.

    Raises:
        Repeated: a call is received twice or closed twice; nothing was changed.
    """
    standing: dict[str, _Standing | None] = {}
    for seq, each in enumerate(coded, first):
        entry = each.entry
        if not entry.call_id:
            continue
        if entry.call_id not in standing:
            row = link.one(_FIND, (entry.call_id,))
            standing[entry.call_id] = None if row is None else _Standing(*cast("Any", row))
        job = standing[entry.call_id]
        if entry.stage == "received":
            if job is not None:
                raise Repeated(entry.call_id, f"call {entry.call_id!r} is on the tape already")
            owner = str(entry.data.get("owner", ""))
            job = standing[entry.call_id] = _Standing(entry.call_id, seq, seq, "received", 0, 0, owner)
        if job is not None:
            job.move(entry, seq)
    for job in standing.values():
        if job is not None:
            link.run(_KEEP, job.row())


class Jobs:
    """The port over one store."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def find(self, call_id: str) -> Job | None:
        """Return the job of `call_id`, or None."""

        def task(link: Link) -> Job | None:
            row = link.one(_FIND, (call_id,))
            if row is not None:
                return _job(link, row)
            stray = link.one(_STRAY, (call_id,))
            if stray is not None:
                raise entries.broken(cast("int", stray[0]), f"is of call {call_id!r}, which has no job")
            return None

        return await self._reader.submit(task)

    async def matching(self, prefix: str) -> Sequence[Job]:
        """Return up to 10 jobs whose call id starts with `prefix`, newest first."""
        return await self._select(
            "WHERE substr(call_id, 1, ?) = ? ORDER BY first DESC LIMIT ?", (len(prefix), prefix, MOST_MATCHES)
        )

    async def changed(self, *, since: int = 0, limit: int = 1000) -> Sequence[Job]:
        """Return closed jobs whose outcome has `changed` evidence, with `seq` above `since`, newest first."""
        return await self._select("WHERE changed = 1 AND seq > ? ORDER BY seq DESC LIMIT ?", (since, limit))

    async def unfinished(self, *, dead: Sequence[str] | None = None) -> Sequence[Job]:
        """Return jobs that are not closed, oldest first; with `dead`, only those of the named owners."""
        if dead is None:
            return await self._select("WHERE stage <> 'closed' ORDER BY first", ())
        found: list[Job] = []
        for owner in dead:
            found += await self._select("WHERE stage <> 'closed' AND owner = ? ORDER BY first", (owner,))
        return sorted(found, key=lambda job: job.seq)

    async def _select(self, where: str, values: tuple[Value, ...]) -> list[Job]:
        sql = f"SELECT {_COLUMNS} FROM jobs {where}"  # noqa: S608 - no caller's text
        return await self._reader.submit(lambda link: [_job(link, row) for row in link.all(sql, values)])


def _job(link: Link, row: Row) -> Job:
    """Return the job of a row, read off the entries of its call; the row only says where they are."""
    held = _Standing(*cast("Any", row))
    found = entries.select(link, "WHERE call_id = ? AND call_id <> '' ORDER BY seq", (held.call_id,))
    first = next((each for each in found if each.stage == "received"), None)
    if first is None or first.seq != held.first:
        raise entries.broken(held.first, f"is not the start of call {held.call_id!r}")
    job = _Standing(held.call_id, first.seq, first.seq, "received", 0, 0, str(first.data.get("owner", "")))
    last = first
    for each in found:
        if each.seq > first.seq and job.stage != "closed":
            job.move(each, each.seq)
            last = each
    if job != held:
        raise entries.broken(held.seq, f"does not agree with the job of call {held.call_id!r}")
    outcome = last.data.get("outcome") if job.stage == "closed" else None
    return Job(
        call_id=job.call_id,
        kind=cast("JobKind", first.data.get("kind", "tool_call")),
        tool=str(first.data.get("tool", "")),
        principal=str(first.data.get("principal", "")),
        thread=str(first.data.get("thread", "")),
        stage=cast("Stage", job.stage),
        owner=job.owner,
        started=bool(job.started),
        seq=job.seq,
        outcome=cast("dict[str, Any]", outcome) if isinstance(outcome, dict) else None,
        text=str(last.data.get("text", "")) if job.stage == "closed" else "",
    )
