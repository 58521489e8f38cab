"""The states of one call on its way down the line: each made only from the one before, so none can be skipped."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from toolcrib.catalog.entry import Entry
from toolcrib.policy.rules import Ruling
from toolcrib.ports.scope import Scope
from toolcrib.terms.call import Call
from toolcrib.terms.facts import Facts
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Checkpoint
from toolcrib.terms.records import Entry as TapeEntry
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Tool


class Stop(Exception):  # noqa: N818 - control flow private to the line, caught once in it
    """Ends the line with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


@dataclass(slots=True)
class Flight:
    """What one call has gathered so far: entries not yet taped, and whether it ran. Owned by one run of the line."""

    call: Call
    tool: Tool | None = None
    canonical: str = ""
    pending: list[TapeEntry] = field(default_factory=list[TapeEntry])
    faults: list[str] | None = None
    """What is wrong with the shape of its arguments, once looked at."""
    received: bool = False
    started: bool = False
    closing: bool = False
    checkpoint: Checkpoint | None = None
    found: Entry | None = None
    """What the caller's name meant: the tool, and how the caller's dialect spells refusals and bounds."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A known tool with valid arguments, and what they name, resolved."""

    flight: Flight
    tool: Tool
    args: BaseModel
    plain: Mapping[str, Any]
    footprint: Footprint
    facts: Facts
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """An admitted call with the ruling on it."""

    admitted: Admitted
    ruling: Ruling
    scope: Scope


@dataclass(frozen=True, slots=True)
class Cleared:
    """A judged call that may run: allowed, or a person said yes to this exact effect."""

    judged: Judged
    asked: bool

    @property
    def footprint(self) -> Footprint:
        """What the call would touch."""
        return self.judged.admitted.footprint


@dataclass(frozen=True, slots=True)
class Guarded:
    """A cleared call whose pre-image is safe and whose start is taped (a read's start is taped with its close)."""

    cleared: Cleared
    facts: Facts
    checkpoint: Checkpoint | None
