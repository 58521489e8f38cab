"""The caller's tools: finding those that are told by name only, and loading them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One tool as the caller's dialect shows it; `loaded` says that its schema was not in the request before."""

    name: str
    description: str
    schema: Mapping[str, Any]
    loaded: bool


class Toolbox(Protocol):
    """The tools that are visible to one caller, in its dialect and profile."""

    async def search(self, query: str, *, limit: int) -> tuple[Sequence[Offered], Sequence[str]]:
        """Return the tools that `query` speaks of, best first, loading them, and the names of all deferred."""
        ...
