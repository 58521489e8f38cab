"""The part of the workspace that one call may touch. Adapters are bound to it; they never decide it."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """`may_read` judges a canonical path that a search would show (None: all may be shown); `writes` is exact."""

    may_read: Callable[[str], bool] | None = None
    reads: tuple[str, ...] = ()
    writes: frozenset[str] = field(default_factory=frozenset[str])
    call_id: str = ""

    def shows(self, path: str) -> bool:
        """Tell whether `path` may be shown to the caller."""
        return self.may_read is None or path in self.reads or self.may_read(path)
