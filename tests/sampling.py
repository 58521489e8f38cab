"""Calls made up from what a tool's schema says: for tests that go over every tool there is, whatever it takes."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

WORDS: Mapping[str, Any] = {"digest": "0" * 12, "id": "a" + "0" * 24, "command": "view"}
"""Values for arguments by name, where any text would be refused before the call is judged."""

TEXTS = ("a.txt", "sub/")
"""What every other text is, a path and a pattern among them: each call is made up with one, then with the other."""

MOST_MORE = 2
"""Arguments that are given at most besides what is required."""

SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "apply_patch": {"patch": "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"},
}
"""Canonical tool to arguments that stand in place of made-up ones, where only a text of a certain form is admitted."""


def calls_of(shown: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield arguments for a tool as it is rendered: what it requires, with a few of the others, then with all.

    Of a closed list of values each has its turn.
    """
    schema = shown["inputSchema"]
    defs = schema.get("$defs", {})
    properties, required = schema.get("properties", {}), schema.get("required", [])
    closed = [name for name in required if _values(properties[name], defs)]
    for chosen in itertools.product(*(_values(properties[name], defs) for name in closed)):
        fixed = dict(zip(closed, chosen, strict=True))
        others = [name for name in properties if name not in required]
        some = (each for many in range(MOST_MORE + 1) for each in itertools.combinations(others, many))
        for text, more in itertools.product(TEXTS, [*some, tuple(others)]):
            yield {name: _value(name, properties[name], defs, text) for name in (*required, *more)} | fixed


def filled(args: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with what a tool as it is rendered requires besides."""
    schema = shown["inputSchema"]
    defs, properties = schema.get("$defs", {}), schema.get("properties", {})
    wanted = schema.get("required", [])
    return {**{name: _value(name, properties[name], defs, TEXTS[0]) for name in wanted}, **args}


def _values(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Sequence[Any]:
    return cast("Sequence[Any]", _followed(schema, defs).get("enum", ()))


def _followed(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in schema:
        return _followed(defs[schema["$ref"].rpartition("/")[2]], defs)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _followed(next(each for each in schema[union] if each.get("type") != "null"), defs)
    return schema


def _value(name: str, schema: Mapping[str, Any], defs: Mapping[str, Any], text: str) -> Any:
    plain = _followed(schema, defs)
    if "const" in plain:
        return plain["const"]
    if "enum" in plain:
        return plain["enum"][0]
    match plain.get("type"):
        case "array":
            return [_value(name, plain.get("items", {}), defs, text)] * max(1, int(plain.get("minItems", 1)))
        case "object":
            wanted = plain.get("required", [])
            return {each: _value(each, plain.get("properties", {})[each], defs, text) for each in wanted}
        case "integer" | "number":
            return max(1, int(plain.get("minimum", 1)))
        case "boolean":
            return False
        case _:
            return WORDS.get(name, text)
