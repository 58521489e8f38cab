"""A view as the `tools` field of a provider's request takes it. Takes nothing but the view."""

from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal, assert_never

from toolcrib.catalog.views import Shown, View
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.outcome import Fields

Provider = Literal["mcp", "openai", "anthropic", "gemini"]
"""Whose request it is; `openai` is the form of its chat completions."""


def render(view: View, provider: Provider = "mcp") -> list[Fields]:
    """Return the JSON tools of `view`, in its order. Symbols are left out: a program's tool lists them."""
    items = [replace(item, schema=deepcopy(item.schema)) for item in view.items if item.surface == "json"]
    match provider:
        case "mcp":
            return [_mcp(item) for item in items]
        case "openai":
            return [
                {
                    "type": "function",
                    "function": {"name": item.name, "description": item.description, "parameters": item.schema},
                }
                for item in items
            ]
        case "anthropic":
            return [{"name": item.name, "description": item.description, "input_schema": item.schema} for item in items]
        case "gemini":
            declared = [
                {"name": item.name, "description": item.description, "parametersJsonSchema": item.schema}
                for item in items
            ]
            return [{"functionDeclarations": declared}] if declared else []
        case _:
            assert_never(provider)


def annotations(*descriptors: Descriptor) -> Fields:
    """Return the hints of the Model Context Protocol for tools behind one name: the worst of them all.

    Every hint is given, since a missing one means its worst value to a client (specification, `ToolAnnotations`). A
    descriptor's own `annotations` are another server's claims and are not passed on; the effect class is what was
    believed of them.
    """
    return {
        "readOnlyHint": all(each.effect == "read" for each in descriptors),
        "destructiveHint": any(each.effect in {"reversible", "irreversible"} for each in descriptors),
        "idempotentHint": all(each.effect in {"read", "idempotent-write"} for each in descriptors),
        "openWorldHint": any(each.kind == "effect" or each.origin.kind in {"mcp", "pack"} for each in descriptors),
    }


def _mcp(item: Shown) -> Fields:
    descriptors = [entry.descriptor for entry in item.entries]
    returns: Any = descriptors[0].returns if len(descriptors) == 1 else None
    shown: Fields = {
        "name": item.name,
        "title": item.title,
        "description": item.description,
        "inputSchema": item.schema,
        "annotations": {"title": item.title, **annotations(*descriptors)},
    }
    if returns is not None:
        shown["outputSchema"] = deepcopy(dict(returns))
    return shown
