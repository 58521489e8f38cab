"""JSON Schema of a model, flat and self-contained: no `$ref`, no titles, so every provider can take it."""

from typing import Any, Literal

from pydantic import BaseModel


def schema_of(model: type[BaseModel], *, mode: Literal["validation", "serialization"] = "validation") -> dict[str, Any]:
    """Return the schema of `model` with references inlined and generated titles dropped.

    Raises:
        ValueError: the model refers to itself, which no provider can take.
    """
    raw = model.model_json_schema(mode=mode)
    definitions: dict[str, Any] = raw.pop("$defs", {})
    flat = _inline(raw, definitions, ())
    flat.pop("description", None)
    return flat


def _inline(node: Any, definitions: dict[str, Any], seen: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(each, definitions, seen) for each in node]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = dict(node)  # pyright: ignore[reportUnknownArgumentType]
    reference = found.pop("$ref", None)
    if reference is not None:
        name = str(reference).rpartition("/")[2]
        if name in seen:
            raise ValueError(f"schema refers to itself through {name!r}")
        target = _inline(definitions[name], definitions, (*seen, name))
        return {**target, **_inline(found, definitions, seen)}
    if isinstance(found.get("title"), str):
        del found["title"]
    properties = found.get("properties")
    flat = {key: _inline(value, definitions, seen) for key, value in found.items() if key != "properties"}
    if isinstance(properties, dict):
        named: dict[str, Any] = properties  # pyright: ignore[reportUnknownVariableType]
        flat["properties"] = {key: _inline(value, definitions, seen) for key, value in named.items()}
    return flat
