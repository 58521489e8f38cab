"""The rules of providers, as data: what a tool, its schema, a call id and an answer may be. The checks are elsewhere.

Sources: the providers' public guides to function calling and structured outputs, their error messages where a guide is
silent, and the Model Context Protocol, revision 2026-07-28. Where two sources differ the tighter number stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Provider = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp"]
"""Whose request it is; `openai` is the form of its chat completions, which most local servers speak too."""

Rule = Literal[
    "name",
    "name-unique",
    "parameter-name",
    "tool-count",
    "request-size",
    "root-object",
    "root-union",
    "properties",
    "depth",
    "enum-values",
    "reference",
    "composition",
    "required",
    "schema",
    "json",
    "text",
    "strict-mode",
    "strict-object",
    "strict-type",
    "strict-tools",
    "strict-optionals",
    "strict-unions",
    "call-id",
]
"""What a tool or an answer can fail by. The names are told to people and stay."""

SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
"""The types of JSON Schema that hold no others."""

_CORE = frozenset({"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf"})
_CHECKS = frozenset({"format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})

ALL: frozenset[str] | None = None
"""Every keyword of JSON Schema 2020-12 that is known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strict:
    """A mode in which the provider holds the model to the schema. Counts are for all strict tools of a request."""

    keywords: frozenset[str]
    """The keywords taken; what only narrows a value is left out of the schema, and checked when the call arrives."""
    all_required: bool
    """Every property is required, and an optional one takes null in its place."""
    tools: int | None = None
    optionals: int | None = None
    unions: int | None = None
    """Most parameters with several types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one provider takes."""

    name: str
    """Expression for the name of a tool."""
    parameter: str | None = None
    """Expression for the name of a parameter, at any depth; None: any text."""
    tools: int | None = None
    request_bytes: int | None = None
    """Most bytes of all tools together, as JSON."""
    properties: int = 5000
    """Most properties of one tool, at all depths."""
    depth: int = 64
    """Most levels of values inside values, the arguments themselves being the first."""
    enum_values: int | None = None
    """Most values of all enumerations of one tool."""
    keywords: frozenset[str] | None = ALL
    root_union: bool = False
    """Whether the arguments themselves may be a union or an enumeration."""
    required_declared: bool = True
    """Whether every required property has to be declared."""
    call_id: str | None = None
    """Expression for the id of a call; None: any text."""
    media: frozenset[str] | None = frozenset()
    """Media types that an answer may hold; None: any."""
    strict: Strict | None = None


_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_PDF = frozenset({"application/pdf"})

# Strict mode: every property required, objects closed, optional = nullable; at most 5,000 properties, 10 levels and
# 1,000 values of enumerations in a schema. `default`, `minLength` and the like are not among its keywords.
_OPENAI_STRICT = Strict(keywords=_CORE | _CHECKS | {"const", "minItems", "maxItems"}, all_required=True)

_OPENAI = Rules(
    name=r"[A-Za-z0-9_-]{1,64}",
    tools=128,
    depth=10,
    enum_values=1000,
    call_id=r"(?s:.{1,64})",
    strict=_OPENAI_STRICT,
)


RULES: Mapping[Provider, Rules] = {
    "openai": _OPENAI,
    "openai-responses": Rules(
        name=_OPENAI.name,
        tools=_OPENAI.tools,
        depth=_OPENAI.depth,
        enum_values=_OPENAI.enum_values,
        call_id=_OPENAI.call_id,
        media=_IMAGES | _PDF,
        strict=_OPENAI_STRICT,
    ),
    "anthropic": Rules(
        name=r"[A-Za-z0-9_-]{1,128}",
        parameter=r"[A-Za-z0-9_.-]{1,64}",
        request_bytes=32_000_000,
        call_id=r"[A-Za-z0-9_-]+",
        media=_IMAGES | _PDF,
        strict=Strict(keywords=_CORE | {"const", "format"}, all_required=False, tools=20, optionals=24, unions=16),
    ),
    "gemini": Rules(
        name=r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}",
        parameter=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
        tools=128,
        keywords=_CORE | {"title", "default", "format", "minimum", "maximum", "minItems", "maxItems", "prefixItems"},
    ),
    "mcp": Rules(name=r"[A-Za-z0-9_.-]{1,128}", root_union=True, required_declared=False, media=None),
}
"""The rules of each provider."""
