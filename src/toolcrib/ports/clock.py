"""Time as a power: wall time for records, monotonic time for deadlines."""

from typing import Protocol


class Clock(Protocol):
    """Both clocks, in seconds."""

    def now(self) -> float:
        """Return wall time since the epoch. It may jump."""
        ...

    def monotonic(self) -> float:
        """Return monotonic time. Deadlines run on it."""
        ...
