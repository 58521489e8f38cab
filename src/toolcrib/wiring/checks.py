"""One line of what `doctor` found."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fail"]
"""Fine; worth knowing; does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: what was looked at, how it stands, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    next: str = ""
