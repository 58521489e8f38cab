"""The tool calls in a model's answer, read from each provider's form."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never, cast

from toolcrib.terms.providers import Provider

NOT_AN_OBJECT = "arguments (expected an object)"
"""Stands as the name of a parameter for arguments that are no object: the line refuses it, as it does any unknown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call that a model asks for; `call_id` is the provider's, where it gives one."""

    call_id: str | None
    name: str
    args: Mapping[str, Any]


def asked(provider: Provider, items: Iterable[object]) -> list[Asked]:
    """Return the calls among `items`, in order: plain JSON or the objects of an SDK. Other items are passed over.

    `items` are `message.tool_calls` (openai), `response.output` (openai-responses), `response.content` (anthropic),
    `content.parts` (gemini), or the parameters of `tools/call` (mcp).
    """
    return [found for item in items for found in _read(provider, _plain(item))]


def _read(provider: Provider, item: Mapping[str, Any]) -> Iterator[Asked]:
    match provider:
        case "openai":
            if isinstance(function := item.get("function"), Mapping):
                told = cast("Mapping[str, Any]", function)
                yield Asked(_id(item.get("id")), _name(told.get("name")), _decoded(told.get("arguments")))
        case "openai-responses":
            if item.get("type") == "function_call":
                yield Asked(_id(item.get("call_id")), _name(item.get("name")), _decoded(item.get("arguments")))
        case "anthropic":
            if item.get("type") == "tool_use":
                yield Asked(_id(item.get("id")), _name(item.get("name")), arguments(item.get("input")))
        case "gemini":
            called = item.get("functionCall") or item.get("function_call")
            if isinstance(called, Mapping):
                told = cast("Mapping[str, Any]", called)
                yield Asked(_id(told.get("id")), _name(told.get("name")), arguments(told.get("args")))
        case "mcp":
            yield Asked(None, _name(item.get("name")), arguments(item.get("arguments")))
        case _:
            assert_never(provider)


def arguments(given: object) -> Mapping[str, Any]:
    """Return the arguments of a call as the line takes them, whatever stands in their place."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in cast("Mapping[object, Any]", given).items()}
    return {NOT_AN_OBJECT: given}


def _decoded(text: object) -> Mapping[str, Any]:
    """Return arguments that come as a text of JSON; one that is none is the line's to refuse, with the text in view."""
    if not isinstance(text, str):
        return arguments(text)
    try:
        return arguments(json.loads(text)) if text.strip() else {}
    except (ValueError, RecursionError):
        return {NOT_AN_OBJECT: text}


def _plain(item: object) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item)
    dump = getattr(item, "model_dump", None)
    found: object = dump() if callable(dump) else None
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _id(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _name(value: object) -> str:
    return value if isinstance(value, str) else ""
