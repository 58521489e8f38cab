"""What the line is made of: the ports and values that wiring hands it. One value, no globals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from toolcrib.catalog.catalog import Catalog
from toolcrib.policy.rules import Rule
from toolcrib.ports.approvals import Approvals, Grants
from toolcrib.ports.artifacts import Artifacts
from toolcrib.ports.clock import Clock
from toolcrib.ports.context import Context
from toolcrib.ports.files import Files
from toolcrib.ports.jobs import Jobs
from toolcrib.ports.scope import Scope
from toolcrib.ports.snapshots import Snapshots
from toolcrib.ports.tape import Tape
from toolcrib.terms.settings import Mode, Settings


@dataclass(frozen=True, slots=True)
class Binding:
    """What an adapter is bound to for one call: the part of the workspace it may touch, and its circumstances."""

    scope: Scope
    context: Context
    dialect: str = "toolcrib"
    """How the caller spells the tools."""
    without: frozenset[str] = frozenset()
    """Names that the caller's turn may not use."""


Factory = Callable[[Binding], object]
"""Makes a power for one call."""


class Redact(Protocol):
    """The redaction set: returns the cleaned value and how many secrets were taken out."""

    def text(self, text: str) -> tuple[str, int]:
        """Clean a text."""
        ...

    def value(self, value: Any) -> tuple[Any, int]:
        """Clean every string of a JSON value."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules in force, the mode and the digest of both."""

    rules: tuple[Rule, ...]
    mode: Mode
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Everything the line uses. `catalog` and `policy` are cells: read once a call."""

    root: str
    owner: str
    settings: Settings
    catalog: Callable[[], Catalog]
    policy: Callable[[], Policy]
    clock: Clock
    tape: Tape
    jobs: Jobs
    approvals: Approvals
    grants: Grants
    artifacts: Artifacts
    snapshots: Snapshots
    files: Callable[[Scope], Files]
    powers: Mapping[type, Factory]
    redact: Redact

    def attached(self, catalog: Callable[[], Catalog]) -> "Kit":
        """Return the kit with its catalog cell, which can only be built once the powers are known."""
        return replace(self, catalog=catalog)
