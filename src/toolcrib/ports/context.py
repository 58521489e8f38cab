"""Who calls, how long there is, and how to say how far it got. Carries no powers."""

from typing import Protocol

from toolcrib.terms.call import Principal
from toolcrib.terms.facts import Facts


class Context(Protocol):
    """The circumstances of one call."""

    @property
    def call_id(self) -> str:
        """The call's id."""
        ...

    @property
    def principal(self) -> Principal:
        """Who makes the call."""
        ...

    @property
    def facts(self) -> Facts:
        """What the host knew of the named files at admit."""
        ...

    @property
    def takes_media(self) -> bool:
        """Whether the caller can show images and documents."""
        ...

    def remaining(self) -> float:
        """Return the seconds left before the deadline."""
        ...

    async def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        """Tell the caller how far the call got."""
        ...
