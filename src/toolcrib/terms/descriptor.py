"""What is declared of one tool, and the digests that pin it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcrib.terms.digest import of_json
from toolcrib.terms.effects import ApprovalPolicy, EffectClass, Kind, Surface
from toolcrib.terms.names import BUILTIN, Origin
from toolcrib.terms.refusals import RefusalName


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One tool as declared. `schema` is the JSON Schema of its parameters, `returns` of its payload."""

    origin: Origin = BUILTIN
    raw_name: str
    family: str
    title: str
    summary: str
    description: str
    schema: Mapping[str, Any]
    returns: Mapping[str, Any] | None = None
    kind: Kind
    effect: EffectClass = "irreversible"
    approval: ApprovalPolicy = "required"
    surface: Surface = "symbol"
    prefer_over: str | None = None
    powers: tuple[str, ...] = ()
    refusals: tuple[RefusalName, ...] = ()
    person_only: bool = False
    """Callable by a person's face only, and offered to no model (`rewind`)."""
    spills: bool = True
    """Large answers go to an artifact; False where the tool bounds its own answer."""
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def digest(self) -> str:
        """SHA-256 over (origin, raw name, schema, effect): a material change is a different tool."""
        return of_json([str(self.origin), self.raw_name, dict(self.schema), self.effect])

    @cached_property
    def text_digest(self) -> str:
        """SHA-256 over title, description and annotations: bound too for every origin but `builtin`."""
        return of_json([self.title, self.description, dict(self.annotations)])
