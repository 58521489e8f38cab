"""Arguments from a caller to a tool's parameters model: every fault at once, each with its path."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from toolcrib.catalog.entry import Entry
from toolcrib.terms.digest import canonical
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import CallSettings

Lossy = tuple[tuple[str | int, ...], str]
"""Where an argument would lose something, and what is wrong with it."""

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", re.ASCII)

FAULTS = 20
"""Faults listed in one refusal; the rest are counted."""


def parse(entry: Entry, args: Mapping[str, Any], *, dialect: str) -> BaseModel:
    """Return the validated arguments of an entry, already converted from the caller's dialect.

    Raises:
        Refusal: `args.invalid` with every fault, in the caller's spelling.
    """
    lost = {entry.spell(path, dialect=dialect): fault for path, fault in lossy(dict(args), entry.descriptor.schema)}
    faults = [f"{path}: {fault}" for path, fault in lost.items()]
    try:
        parsed = entry.tool.parameters.model_validate(dict(args))
        if not faults:
            return parsed
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        told = [_fault(each, entry, dialect) for each in errors if not _follows(each, errors)]
        faults += [f"{path}: {fault}" for path, fault in told if path not in lost]
    except RecursionError:
        faults.append("arguments: nested too deeply to check")
    more = f"; and {len(faults) - FAULTS} more" if len(faults) > FAULTS else ""
    hint = f"parameters: {', '.join(entry.parameters(dialect))}"
    raise Refusal("args.invalid", "; ".join(faults[:FAULTS]) + more, hint=hint)


def shape_faults(args: Mapping[str, Any], *, limits: CallSettings) -> list[str]:
    """Return what is wrong with arguments before any model looks at them: not JSON, too deep, too large, bad text.

    Walks without recursion, so depth is counted and not survived by luck.
    """
    faults: list[str] = []
    stack: list[tuple[str, Any, int]] = [(str(key), value, 1) for key, value in args.items()]
    size = 0
    while stack and len(faults) <= FAULTS:
        path, value, depth = stack.pop()
        if depth > limits.args_depth:
            return [f"{path[:80]}: nested more than {limits.args_depth} levels deep"]
        if isinstance(value, str):
            size += len(value)
            if fault := _text_fault(value):
                faults.append(f"{path}: {fault}")
        elif isinstance(value, Mapping):
            stack.extend((f"{path}.{key}", each, depth + 1) for key, each in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            size += 2
        elif isinstance(value, list | tuple):
            stack.extend((f"{path}.{index}", each, depth + 1) for index, each in enumerate(value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            size += 2
        elif value is not None and not isinstance(value, bool | int | float):
            faults.append(f"{path}: expected JSON, found {type(value).__name__}")
        if size > limits.args_bytes:
            return [f"arguments: more than {limits.args_bytes:,} bytes in all"]
    if not faults:
        try:
            canonical(dict(args))
        except ValueError:
            faults.append("arguments: NaN and infinities are not JSON")
    return faults


def lossy(value: object, schema: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[Lossy]:
    """Yield what would only fit its parameter by losing something: true for a number, "yes" for a flag.

    "3" and 3.0 for 3, and "true" for true, are the same thing in another coat, and are taken.
    """
    if isinstance(value, Mapping):
        properties: Mapping[str, Any] = schema.get("properties", {})
        for key, each in cast("Mapping[str, object]", value).items():
            yield from lossy(each, properties.get(key, {}), (*path, key))
        return
    if isinstance(value, list):
        for index, each in enumerate(cast("list[object]", value)):
            yield from lossy(each, schema.get("items", {}), (*path, index))
        return
    kinds = {schema.get("type"), *(each.get("type") for each in schema.get("anyOf", ()))}
    if not isinstance(value, str | bool | int | float) or "string" in kinds:
        return
    numeric = kinds & {"integer", "number"}
    if numeric and (isinstance(value, bool) or (isinstance(value, str) and not _NUMBER.fullmatch(value))):
        yield path, f"expected a number, found {value!r}"
    elif "boolean" in kinds and not isinstance(value, bool) and value not in ("true", "false"):
        yield path, f"expected true or false, found {value!r}"


def _text_fault(value: str) -> str | None:
    if value.isascii():
        return None
    for index, letter in enumerate(value):
        if "\ud800" <= letter <= "\udfff" and not "\udc80" <= letter <= "\udcff":
            return f"lone surrogate {letter!r} at character {index + 1}; text must be valid Unicode"
    return None


def _follows(error: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a list was only called too short because what is in it has faults of its own."""
    loc = tuple(error["loc"])
    return error["type"] == "too_short" and any(
        tuple(other["loc"][: len(loc)]) == loc != other["loc"] for other in errors
    )


def _fault(error: Mapping[str, Any], entry: Entry, dialect: str) -> tuple[str, str]:
    path = entry.spell(tuple(error["loc"]), dialect=dialect) or "arguments"
    kind = str(error["type"])
    if kind == "missing":
        return path, "required, and missing"
    if kind == "extra_forbidden":
        return path, "unknown parameter"
    found = repr(error.get("input"))
    said = str(error["msg"]).removeprefix("Value error, ").replace("valid tuple", "valid list").replace("Tuple", "List")
    return path, f"{said[:200]}, found {found if len(found) <= 80 else found[:77] + '...'}"
