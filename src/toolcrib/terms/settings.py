"""Every setting and its default. Limits are stated in the outcome's bounds when they are hit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["locked", "ask", "work", "read-only"]
"""A preset of rules."""

MODES: tuple[Mode, ...] = ("locked", "ask", "work", "read-only")
"""Every mode, strictest reading first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """What the file tools hold to. Sizes in bytes."""

    read_lines: int = 2000
    read_bytes: int = 50_000
    line_chars: int = 2000
    edit_bytes: int = 64 << 20
    media_bytes: int = 5 << 20
    rebase: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What the search tools hold to. `max_file` is the largest file that grep opens, `seconds` a whole search."""

    max_limit: int = 10_000
    line_chars: int = 500
    max_file: int = 64 << 20
    max_paths: int = 1_000_000
    seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """What the line holds to. Seconds are monotonic."""

    seconds: float = 120.0
    args_bytes: int = 8 << 20
    args_depth: int = 64
    spill_bytes: int = 50_000
    reads_at_once: int = 8
    approval_seconds: float = 24 * 3600.0
    attended_seconds: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSettings:
    """What the list of tools may cost in a request, in tokens of o200k_base, estimated and rather too high."""

    budget_tokens: int = 6000
    """Above this, tools are deferred."""
    deferred_tokens: int = 1000
    """What the tools that then stay may cost together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole of the configuration, rules apart."""

    mode: Mode = "ask"
    files: FileSettings = field(default_factory=FileSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    call: CallSettings = field(default_factory=CallSettings)
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    protected: tuple[str, ...] = ()
    """Further paths, relative to the root, that are never written."""
    order: tuple[str, ...] | None = None
    """A configured order of tools with `<unlisted-tools>` exactly once."""
    order_place: str = field(default="tool order", compare=False)
    """Where the order stands, as a fault of it is told: `file:line:column: tools.order`."""
    approvers: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """MCP client name to whether the person marked it as one that may answer approvals."""
