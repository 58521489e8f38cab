"""The tape: append-only, gapless, hash-chained. The only history."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.terms.records import Entry, Taped


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What verifying the chain found. `broken` is the first sequence number that does not hold, None when all do."""

    entries: int
    head: str
    broken: int | None = None
    why: str = ""


class Repeated(Exception):  # noqa: N818 - a reading of the tape, not an error of the product
    """A call id is received a second time, or a call is closed a second time. Nothing of the group was appended."""

    def __init__(self, call_id: str, message: str) -> None:
        super().__init__(message)
        self.call_id = call_id


class Tape(Protocol):
    """Appends and reads.

    Raises:
        Refusal: `store.unavailable`, `disk.full`. Nothing was appended then.
    """

    async def append(self, entries: Sequence[Entry], *, durable: bool = True) -> Sequence[Taped]:
        """Append as one group, durable when it returns, and update the jobs that the entries belong to.

        With `durable` False it is committed when it returns: a killed process loses nothing, a power cut may lose the
        last such groups, and only those. That is for readings, which change nothing.

        Raises:
            Repeated: another process received or closed the call before; its entries stand.
        """
        ...

    async def page(self, *, since: int = 0, limit: int = 100, call_id: str | None = None) -> Sequence[Taped]:
        """Return up to `limit` entries with a sequence number above `since`, in order."""
        ...

    async def latest(self, *, limit: int = 100) -> Sequence[Taped]:
        """Return the last `limit` entries, in order."""
        ...

    async def verify(self) -> Verdict:
        """Recompute the whole chain."""
        ...
