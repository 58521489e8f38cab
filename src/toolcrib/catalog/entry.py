"""One tool under its minted name, and what a dialect makes of a call to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from toolcrib.catalog import shapes
from toolcrib.catalog.dialects import DEFAULT, dialect
from toolcrib.catalog.faults import faults_of
from toolcrib.catalog.shapes import Converted, Fault, Shape
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.refusals import Refusal, RefusalName
from toolcrib.terms.tool import Tool

State = Literal["visible", "disabled", "unavailable", "denied", "person only"]
"""Whether a model is offered the tool, and if not, why not."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One tool of the catalog under its minted name, with its state and the reason for it."""

    name: str
    tool: Tool
    state: State = "visible"
    why: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Refusal names that the dialect it was found in says differently."""
    details: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Refusal name, before the alias, to what the payload carries besides in that dialect."""
    bounds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of bounds that the dialect spells differently."""

    @property
    def descriptor(self) -> Descriptor:
        """What is declared of the tool."""
        return self.tool.descriptor

    def convert(self, args: Mapping[str, Any], *, dialect: str = DEFAULT) -> Converted:
        """Return the canonical arguments that the caller's `args` mean, with the dialect's marks.

        Raises:
            Refusal: `args.invalid` with every fault, in the caller's spelling, those of the tool's own model included.
        """
        shape = self._shape(dialect, args)
        converted = shapes.convert(shape, args, self.descriptor.schema)
        if not converted.faults:
            return converted
        faults = [*converted.faults, *self._model_faults(shape, converted)]
        raise Refusal(
            "args.invalid",
            "; ".join(map(str, faults[:20])) + (f"; and {len(faults) - 20} more" if len(faults) > 20 else ""),
            hint=f"parameters: {', '.join(self.parameters(dialect))}",
        )

    def spell(self, place: shapes.Path, *, dialect: str = DEFAULT) -> str:
        """Return a place inside the canonical arguments, such as `("edits", 0, "old")`, as the caller writes it."""
        return self._shape(dialect).spell(place)

    def told(self, text: str, *, dialect: str = DEFAULT) -> str:
        """Return a message with the parameters it names as the caller writes them."""
        for name in self.tool.parameters.model_fields:
            # Only a name that no sentence has by chance.
            if "_" in name and name in text and (spelled := self.spell((name,), dialect=dialect)):
                text = re.sub(rf"\b{name}\b", spelled, text)
        return text

    def parameters(self, dialect: str = DEFAULT) -> tuple[str, ...]:
        """Return the names of the parameters as the dialect shows them."""
        return tuple(shapes.schema_of(self._shape(dialect), self.descriptor.schema)["properties"])

    def _shape(self, name: str, args: Mapping[str, Any] | None = None) -> Shape:
        spoken = dialect(name)
        of_tool = [shape for shape in spoken.shapes if shape.tool == self.name]
        if args is not None and self.descriptor.origin.kind == "builtin":
            taken = next((shape for shape in of_tool if shape.takes(args)), None)
            if taken is not None:
                return taken
        shape = spoken.shape_of(self.name, builtin=self.descriptor.origin.kind == "builtin")
        return shape or Shape(tool=self.name, name=self.name)

    def _model_faults(self, shape: Shape, converted: Converted) -> list[Fault]:
        """Return what the tool's own model finds wrong with the arguments that did convert."""
        try:
            self.tool.parameters.model_validate(converted.args)
        except ValidationError as error:
            known = {fault.path for fault in converted.faults}
            return [
                fault
                for place, kind, said in faults_of(error)
                if place and (kind != "missing" or shape.converter is None)
                for fault in [Fault(shape.spell(place), said)]
                if fault.path not in known
            ]
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Why a name does not lead to a tool: a refusal to be given to the caller."""

    refusal: RefusalName
    message: str
    hint: str = ""
