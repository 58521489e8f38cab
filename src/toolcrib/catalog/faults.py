"""What is wrong with arguments, in the words of JSON: the model's own speak of Python's types."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

Place = tuple[str | int, ...]
"""Where a value stands in the arguments, under the tool's own names."""

MISSING = "required, and missing"
UNKNOWN = "unknown parameter"

_KINDS: Mapping[str, str] = {
    "string_type": "expected text",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
}

LONGEST = 200
"""Characters told of a message of the model's own."""


def faults_of(error: ValidationError) -> Iterator[tuple[Place, str, str]]:
    """Yield each fault of a model: its place, its kind as pydantic names it, and what to tell.

    A list is not too short because what stands in it is wrong: that is told of the entries alone.
    """
    every = error.errors(include_url=False)
    places = [each["loc"] for each in every]
    for each in every:
        if each["type"] == "too_short" and _holds_another(each["loc"], places):
            continue
        yield each["loc"], each["type"], _said(each["type"], each["msg"], each.get("ctx", {}), each["input"])


def _holds_another(place: Place, places: Sequence[Place]) -> bool:
    return any(len(other) > len(place) and other[: len(place)] == place for other in places)


def _said(kind: str, message: str, context: Mapping[str, Any], given: object) -> str:
    if kind == "missing":
        return MISSING
    if kind == "extra_forbidden":
        return UNKNOWN
    if kind == "too_short":
        return f"expected at least {context['min_length']}, found {context['actual_length']}"
    if kind == "too_long":
        return f"expected at most {context['max_length']}"
    if kind == "string_pattern_mismatch":
        told = f"expected text that matches {context['pattern']}"
    else:
        told = _KINDS.get(kind) or message.removeprefix("Value error, ").replace("Input should be ", "expected ", 1)
    found = repr(given)
    return f"{told[:LONGEST]}, found {found if len(found) <= 80 else found[:77] + '...'}"
