"""The strict twin of a schema: what a provider can hold a model to, meaning the same call as the schema itself."""

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.catalog import nulls
from toolcrib.catalog.fit import Broken
from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import Strict


def twin(schema: Mapping[str, Any], mode: Strict, *, whole: Mapping[str, Any]) -> Fields:
    """Return the twin of a fitted `schema`: objects closed, every property required or left to be left out.

    Where all are required, an optional one takes null, which the line takes for left out. A default stands in the
    description. `whole` is the same schema with the keywords that the mode does not take, defaults among them.

    Raises:
        Broken: `strict-object` where an object is open, `strict-type` where a value may be anything.
    """
    found = dict(schema)
    if "anyOf" in found:
        told = whole.get("anyOf") or whole.get("oneOf", ())
        found["anyOf"] = [twin(each, mode, whole=more) for each, more in zip(found["anyOf"], told, strict=True)]
    kinds = found.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if "array" in kinds:
        if not found.get("items"):
            raise Broken("strict-type", "a list whose items may be anything")
        found["items"] = twin(found["items"], mode, whole=whole.get("items", {}))
    if "object" in kinds or "properties" in found:
        return _closed(found, mode, whole=whole)
    if any(isinstance(each, list | dict) for each in (*found.get("enum", ()), found.get("const"))):
        raise Broken("strict-type", "an enumeration of lists or objects")
    if not kinds and not {"anyOf", "enum", "const"} & set(found):
        raise Broken("strict-type", "a value that may be anything")
    return found


def _closed(found: Fields, mode: Strict, *, whole: Mapping[str, Any]) -> Fields:
    properties: Mapping[str, Any] = found.get("properties", {})
    if found.get("additionalProperties", "properties" not in found) is not False:
        raise Broken("strict-object", "an object whose properties are not all declared")
    declared: Mapping[str, Any] = whole.get("properties", {})
    required = set(found.get("required", ()))
    shown: Fields = {}
    for name, each in properties.items():
        told = declared.get(name, {})
        strict = twin(each, mode, whole=told)
        if name in required:
            shown[name] = strict
        elif mode.all_required:
            shown[name] = _noted(nulls.nullable(strict), "Null", None if nulls.accepts(strict) else told.get("default"))
        else:
            alone = nulls.solid(strict) if told.get("default", ...) is None else strict
            shown[name] = _noted(alone, "Default", told.get("default"))
    found["properties"] = shown
    found["required"] = list(shown) if mode.all_required else [name for name in shown if name in required]
    found["additionalProperties"] = False
    return found


def _noted(schema: Fields, word: str, default: object) -> Fields:
    """Return `schema` with its default, which strict schemas have no keyword for, in the description."""
    if default is None:
        return schema
    note = f"{word}: {json.dumps(default, ensure_ascii=False)}."
    return {**schema, "description": f"{schema['description']} {note}" if "description" in schema else note}


def weigh(schema: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many parameters of a twin, inner ones included, are optional, and how many have several types."""
    optionals = unions = 0
    stack: list[Mapping[str, Any]] = [schema]
    while stack:
        node = stack.pop()
        properties: Mapping[str, Any] = node.get("properties", {})
        optionals += len(set(properties) - set(node.get("required", ())))
        unions += sum("anyOf" in each or isinstance(each.get("type"), list) for each in properties.values())
        stack.extend(properties.values())
        stack.extend(node.get("anyOf", ()))
        if "items" in node:
            stack.append(node["items"])
    return optionals, unions
