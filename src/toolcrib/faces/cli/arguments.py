"""Arguments of a tool from the command line: `key=value`, or one JSON object.

A value is text unless the tool's schema says otherwise; one that does not convert stays text, for the line to refuse.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import click

from toolcrib.catalog.entry import Entry
from toolcrib.wiring.crib import Crib

DEPTH = 5_000
"""Deepest JSON read from the command line; the line refuses anything near it by its own bound."""


def for_tool(crib: Crib, tool: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that `words` spell for `tool`; for a name that is no tool every value is text.

    Raises:
        click.UsageError: see `arguments`.
    """
    found = crib.catalog.find(tool, person=True)
    return arguments(words, found.descriptor.schema if isinstance(found, Entry) else {})


def arguments(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that `words` spell.

    Raises:
        click.UsageError: a word is neither `key=value` nor the only JSON object, or a key stands twice.
    """
    if words and words[0].startswith("{"):
        if len(words) > 1:
            raise click.UsageError("a JSON object is the whole of the arguments; nothing may follow it")
        return _object(words[0])
    found: dict[str, Any] = {}
    properties: Mapping[str, Any] = schema.get("properties", {})
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            first = next(iter(schema.get("required", properties)), "")
            meant = f"; for example {first}=..." if first and first not in found else ""
            raise click.UsageError(f"expected key=value or one JSON object, found {word[:200]!r}{meant}")
        if key in found:
            raise click.UsageError(f"argument {key[:200]!r} stands twice")
        found[key] = converted(value, properties.get(key, {}))
    return found


def converted(value: str, schema: Mapping[str, Any]) -> Any:
    """Return `value` as the schema of its parameter takes it: parsed as JSON where text is not one of its types."""
    kinds = _kinds(schema)
    if not kinds or "string" in kinds:
        return value
    try:
        parsed = _parse(value)
    except ValueError:
        return value
    return parsed if _kind(parsed) & kinds else value


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    said = schema.get("type")
    kinds.update([said] if isinstance(said, str) else said or ())
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kinds |= _kinds(choice)
    for value in (*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())):
        kinds |= _kind(value)
    return kinds


def _kind(value: Any) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"integer", "number"}
    if isinstance(value, str):
        return {"string"}
    return {"array"} if isinstance(value, list) else {"object"}


def _object(text: str) -> dict[str, Any]:
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        raise click.UsageError(
            f"the JSON object does not parse: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except ValueError as error:
        raise click.UsageError(f"the JSON object does not parse: {error}") from error
    assert isinstance(value, dict)
    return value  # pyright: ignore[reportUnknownVariableType] - JSON objects have text keys


def _parse(text: str) -> Any:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError(f"nested more than {DEPTH:,} levels deep") from error
    finally:
        sys.setrecursionlimit(limit)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
