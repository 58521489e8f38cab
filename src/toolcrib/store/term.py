"""How long something stored holds: expiry that a jump of the wall clock can only bring forward.

Within one boot both clocks must agree that there is time left. After a restart of the machine only the wall clock is
known; one that stands before the beginning was turned back, and counts as expired.
"""

from dataclasses import dataclass
from typing import Self

from toolcrib.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class Term:
    """From when until when, in wall seconds, and until when in the monotonic seconds of boot `boot`."""

    boot: str
    begins: float
    ends: float | None
    until: float | None

    @classmethod
    def until_wall(cls, clock: Clock, begins: float, ends: float | None) -> Self:
        """Return the term that begins at `begins` and ends at the wall time `ends`, None for never."""
        until = None if ends is None else clock.monotonic() + (ends - clock.now())
        return cls(BOOT, begins, ends, until)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the term that `text` says."""
        boot, begins, ends, until = text.split()
        return cls(boot, float(begins), _number(ends), _number(until))

    def is_over(self, clock: Clock) -> bool:
        """Tell whether the time is up."""
        if self.ends is None:
            return False
        now = clock.now()
        if now >= self.ends:
            return True
        if self.boot == BOOT:
            return self.until is not None and clock.monotonic() >= self.until
        return now < self.begins

    def __str__(self) -> str:
        return f"{self.boot} {self.begins!r} {self.ends!r} {self.until!r}"


def _number(text: str) -> float | None:
    return None if text == "None" else float(text)


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123 - no path of ours
            return file.read().strip()
    except OSError:
        return "unknown"


BOOT = _boot()
"""The kernel's id of this boot (`proc_sys_kernel(5)`): monotonic times of different boots cannot be compared."""
