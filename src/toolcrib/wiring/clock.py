"""The system's clocks, as the port `Clock` has them."""

import time


class SystemClock:
    """Wall and monotonic time of this machine."""

    def now(self) -> float:
        """Return wall time in seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return monotonic time in seconds."""
        return time.monotonic()
