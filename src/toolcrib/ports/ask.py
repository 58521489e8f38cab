"""Asking a person: who is asked, what comes back, and who is told of progress."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toolcrib.terms.call import Decision
from toolcrib.terms.records import Approval


@dataclass(frozen=True, slots=True)
class Answered:
    """A person's answer, with words that go back to the model and who gave it."""

    decision: Decision
    words: str = ""
    by: str = ""


Asker = Callable[[Approval], Awaitable[Answered | None]]
"""Asks a person about one approval; None when nobody could be asked after all."""

Progress = Callable[[str, float | None, float | None], Awaitable[None]]
"""Takes a message, how much is done, and of how much."""
