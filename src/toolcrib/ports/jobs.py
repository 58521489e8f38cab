"""Persisted calls: a reading of the tape, kept by the same transaction that appends to it."""

from collections.abc import Sequence
from typing import Protocol

from toolcrib.terms.records import Job


class Jobs(Protocol):
    """Look-ups over jobs."""

    async def find(self, call_id: str) -> Job | None:
        """Return the job of `call_id`, or None."""
        ...

    async def matching(self, prefix: str) -> Sequence[Job]:
        """Return up to 10 jobs whose call id starts with `prefix`, newest first."""
        ...

    async def changed(self, *, since: int = 0, limit: int = 1000) -> Sequence[Job]:
        """Return closed jobs whose outcome has `changed` evidence, with `seq` above `since`, newest first."""
        ...

    async def unfinished(self, *, dead: Sequence[str] | None = None) -> Sequence[Job]:
        """Return jobs that are not closed; with `dead`, only those of the named owners."""
        ...
