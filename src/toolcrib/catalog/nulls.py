"""Null in arguments: which parameters take it, how an optional one is made to, and what it means where one does not."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import SCALARS


def accepts(schema: Mapping[str, Any]) -> bool:
    """Tell whether null is a value of its own in `schema`."""
    kind = schema.get("type")
    if kind is not None and kind != "null" and not (isinstance(kind, list) and "null" in kind):
        return False
    if "enum" in schema and None not in schema["enum"]:
        return False
    if "const" in schema and schema["const"] is not None:
        return False
    return all(
        any(accepts(each) for each in _variants(schema, union)) for union in ("anyOf", "oneOf") if union in schema
    )


def nullable(schema: Mapping[str, Any]) -> Fields:
    """Return `schema` widened by null."""
    if accepts(schema):
        return dict(schema)
    kind = schema.get("type")
    if isinstance(kind, str) and kind in SCALARS and not {"anyOf", "oneOf", "const"} & set(schema):
        wider: Fields = {**schema, "type": [kind, "null"]}
        if "enum" in schema:
            wider["enum"] = [*schema["enum"], None]
        return wider
    if kind is None and "anyOf" in schema and not {"oneOf", "enum", "const"} & set(schema):
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    inner = {key: value for key, value in schema.items() if key != "description"}
    wrapped: Fields = {"anyOf": [inner, {"type": "null"}]}
    return {**wrapped, "description": schema["description"]} if "description" in schema else wrapped


def solid(schema: Mapping[str, Any]) -> Fields:
    """Return `schema` without the variant that is only null, where one other is left."""
    variants = _variants(schema, "anyOf")
    left = [each for each in variants if each.get("type") != "null"]
    if len(left) != 1 or len(left) == len(variants):
        return dict(schema)
    return {**left[0], **{key: value for key, value in schema.items() if key != "anyOf"}}


def without(args: Mapping[str, Any], schema: Mapping[str, Any]) -> Fields:
    """Return `args` less every null that stands for an optional parameter left out, inner ones included.

    A model in strict mode has to name every parameter, and says null for those it does not use. Null stays where it is
    a value of its own, and where the parameter is required.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return dict(args)
    declared = cast("Mapping[str, Mapping[str, Any]]", properties)
    required: Sequence[str] = schema.get("required", ())
    kept: Fields = {}
    for name, value in args.items():
        each = declared.get(name)
        if each is None:
            kept[name] = value
        elif value is not None:
            kept[name] = _inside(value, each)
        elif name in required or accepts(each):
            kept[name] = value
    return kept


def _inside(value: Any, schema: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping | list):
        return value
    kind = "properties" if isinstance(value, Mapping) else "items"
    holders = (each for each in (schema, *_variants(schema, "anyOf")) if isinstance(each.get(kind), Mapping))
    inner = next(holders, None)
    if inner is None:
        return cast("Any", value)
    if isinstance(value, Mapping):
        return without(cast("Mapping[str, Any]", value), inner)
    return [_inside(each, inner["items"]) for each in cast("list[Any]", value)]


def _variants(schema: Mapping[str, Any], union: str) -> Sequence[Mapping[str, Any]]:
    return schema.get(union, ())
