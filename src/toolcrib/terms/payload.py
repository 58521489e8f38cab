"""What a tool answers with: a typed payload, its bounds and its evidence."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from toolcrib.terms.outcome import Bounds, Evidence


class Payload(BaseModel):
    """The body of an answer: JSON for programs, `text` for models. Subclasses add snake_case fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tells_bounds: ClassVar[bool] = False
    """Whether `text` itself says what was cut or skipped; else the outcome closes with a line of bounds."""

    @abstractmethod
    def text(self) -> str:
        """Return what a model reads: everything the payload says, in plain lines."""


class Arguments(BaseModel):
    """The parameters of a tool. Unknown names are errors; only lossless coercions are made ("3" to 3, 3.0 to 3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _some(text: str) -> str:
    if not text:
        raise PydanticCustomError("string_too_short", "String should have at least 1 character")
    return text


Name = Annotated[str, AfterValidator(_some), Field(json_schema_extra={"minLength": 1})]
"""A path, or a pattern over paths: not empty, and maybe with bytes that are not UTF-8, as surrogate escapes.

A length of pydantic's own lets no such byte through, so that a file that `glob` finds could not be read.
"""


P_co = TypeVar("P_co", bound=Payload, covariant=True)


@dataclass(frozen=True, slots=True)
class Answer(Generic[P_co]):
    """What a tool function returns: the payload, what was cut or skipped, and what proves it."""

    payload: P_co
    bounds: Bounds = field(default_factory=Bounds)
    evidence: Evidence = field(default_factory=Evidence)
