"""What one turn or one child may use of the catalog. A profile can only take away."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`without` takes names away; `only`, where given, keeps no other. Both hold canonical or shown names."""

    without: frozenset[str] = field(default_factory=frozenset[str])
    only: frozenset[str] | None = None

    def allows(self, *names: str) -> bool:
        """Tell whether a tool that goes by all of `names` is left: none taken away, and one of them kept."""
        if not self.without.isdisjoint(names):
            return False
        return self.only is None or not self.only.isdisjoint(names)

    def narrowed(self, *, without: Iterable[str] = (), only: Iterable[str] | None = None) -> "Profile":
        """Return this profile with more taken away."""
        kept = self.only if only is None else frozenset(only) if self.only is None else self.only & frozenset(only)
        return Profile(without=self.without | frozenset(without), only=kept)


WHOLE = Profile()
"""Takes nothing away."""
