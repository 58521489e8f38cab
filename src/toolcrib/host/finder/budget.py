"""What one search may cost: time, entries, and a switch that ends it at once."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
from anyio import to_thread

T = TypeVar("T")


@dataclass(slots=True)
class Budget:
    """The bounds of one call."""

    seconds: float
    entries: int
    _until: float = field(init=False)
    _seen: int = 0
    _stopped: bool = False
    _ended: str | None = None
    _noted: str | None = None

    def __post_init__(self) -> None:
        self._until = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._until - time.monotonic())

    @property
    def capped(self) -> str | None:
        """Why the answer is partial, in words; None when it is whole."""
        return self._ended or self._noted

    def stop(self) -> None:
        """End the scan from another thread, because nobody waits for it any more."""
        self._stopped = True

    def spent(self, entries: int = 0) -> bool:
        """Count `entries` more, and tell whether the scan has to end."""
        self._seen += entries
        if self._ended is None:
            if self._stopped:
                self._ended = "cancelled"
            elif self._seen > self.entries:
                self._ended = f"stopped after {self.entries} entries"
            elif time.monotonic() > self._until:
                self._ended = f"stopped after {self.seconds:g} s"
        return self._ended is not None

    def note(self, why: str) -> None:
        """Say that the answer is partial for a reason that does not end the scan."""
        self._noted = self._noted or why


async def hop(budget: Budget, work: Callable[[], T]) -> T:
    """Run `work` in a worker thread; when nobody waits any more, the thread is told to end."""
    try:
        return await to_thread.run_sync(work, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        budget.stop()
        raise
