"""Catalogs that nobody means well by, and an independent reading of what each provider takes.

The readings are written from the providers' rules once more, by hand: a slip in the product's data or checks shows.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolcrib.catalog.entry import Entry
from toolcrib.catalog.views import Shown, View
from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import Provider
from unit.catalog.declared import declared

Json = Any

PROVIDERS: tuple[Provider, ...] = ("openai", "openai-responses", "anthropic", "gemini", "mcp")
LABELS = st.sampled_from(
    ["path", "limit", "_ok", "type", "$ref", "a b", "-i", "é", "9", "a.b", "", "x" * 64, "x" * 65, "\ud800"]
)
NAMES = st.one_of(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.sampled_from(
        ["A-B", "a_b", "a.b", "a:b", "9lives", "", "näme", "rm -rf /", "a\nb", "\ud800", "x" * 65, "x" * 129]
    ),
    st.text(max_size=70),
)
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null"])
ODD: st.SearchStrategy[Json] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "text",
        [],
        [1, 1],
        {},
        {"a": [1]},
        10**400,
        "\udfff",
    ]
)
LEAVES: st.SearchStrategy[Json] = st.one_of(
    st.fixed_dictionaries({"type": KINDS}),
    st.fixed_dictionaries(
        {"type": KINDS},
        optional={
            "description": st.text(max_size=8),
            "default": ODD,
            "enum": st.lists(ODD, max_size=3),
            "const": ODD,
            "pattern": st.sampled_from(["^a$", "(", "[", "a{2,1}", 3]),
            "minimum": ODD,
            "maxLength": ODD,
            "format": st.sampled_from(["date", 3]),
        },
    ),
    st.sampled_from(
        [{"$ref": "#"}, {"$ref": "#/$defs/a"}, {"$ref": "http://x/y"}, {"$ref": 3}, {"$dynamicRef": "#a"}, {}]
    ),
    ODD,
)


def _objects(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    named = st.dictionaries(LABELS, inner, max_size=4)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": named},
        optional={
            "required": st.lists(LABELS, max_size=3),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": named,
            "x-vendor": ODD,
        },
    )


def _wider(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        _objects(inner),
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner, "minItems": ODD}),
        st.fixed_dictionaries({}, optional={"anyOf": several, "oneOf": several, "allOf": several, "not": inner}),
        st.fixed_dictionaries({"type": st.lists(KINDS, max_size=3)}, optional={"if": inner, "prefixItems": several}),
    )


SCHEMAS: st.SearchStrategy[Json] = st.recursive(LEAVES, _wider, max_leaves=6)


def nested(levels: int) -> Fields:
    """Return a schema of objects inside objects, `levels` of them."""
    schema: Fields = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"p": schema}, "required": ["p"], "additionalProperties": False}
    return schema


def wide(count: int) -> Fields:
    """Return a schema of `count` properties."""
    return {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(count)}}


def many(count: int) -> Fields:
    """Return a schema with an enumeration of `count` values."""
    return {"type": "object", "properties": {"p": {"enum": [f"v{number}" for number in range(count)]}}}


def bomb(levels: int) -> Fields:
    """Return a small schema whose references unfold to two to the power of `levels` schemas."""
    made: Fields = {
        f"d{each}": {"type": "object", "properties": {n: {"$ref": f"#/$defs/d{each + 1}"} for n in ("a", "b")}}
        for each in range(levels)
    }
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": {**made, f"d{levels}": {}}}


def _defined(root: Fields, inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Fields]:
    return st.dictionaries(st.just("a"), inner, min_size=1).map(lambda named: {**root, "$defs": named})


ROOTS: st.SearchStrategy[Fields] = st.one_of(
    _objects(LEAVES),
    _objects(SCHEMAS),
    _objects(SCHEMAS).flatmap(lambda root: _defined(root, SCHEMAS)),
    SCHEMAS.filter(lambda each: isinstance(each, dict)),
    st.integers(1, 300).map(nested),
    st.sampled_from([1, 30]).map(wide),
    st.sampled_from([1, 999, 1001]).map(many),
    st.integers(1, 40).map(bomb),
)


def view(tools: Sequence[tuple[str, Json]], *, description: str = "Does it.") -> View:
    """Return a view of tools by these names with these schemas."""
    return View(dialect="toolcrib", items=tuple(_shown(name, schema, description) for name, schema in tools))


def _shown(name: str, schema: Json, description: str) -> Shown:
    tool = declared("x")
    entry = Entry(name=name, tool=replace(tool, descriptor=replace(tool.descriptor, schema=schema)))
    return Shown(
        name=name,
        title=name,
        summary=description,
        description=description,
        schema=schema,
        surface="json",
        entries=(entry,),
    )


TOOLS = st.lists(st.tuples(NAMES, ROOTS), min_size=1, max_size=4)
CATALOGS = st.one_of(
    TOOLS.map(view),
    st.integers(1, 300).map(lambda count: view([(f"t{each}", nested(1)) for each in range(count)])),
)


# What each provider takes, read again -------------------------------------------------------------------------------

NAME = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_\-.:]{0,63}",
    "mcp": r"[a-zA-Z0-9_.-]{1,128}",
}
LABEL = {"anthropic": r"[a-zA-Z0-9_.-]{1,64}", "gemini": r"[a-zA-Z_]\w{0,63}"}
LEVELS = {"openai": 10, "openai-responses": 10}
ABSENT = {"gemini": {"allOf", "oneOf", "const", "not", "patternProperties", "if", "pattern", "$ref", "$defs"}}
ABSENT_STRICT = {
    *("allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "default"),
    *("minLength", "maxLength", "uniqueItems", "$ref", "$defs", "prefixItems", "contains", "propertyNames"),
}


def taken(provider: Provider, rendered: list[Fields], *, strict: bool) -> list[tuple[str, Fields]]:
    """Return name and schema of each rendered tool, having asserted that the provider takes all of it."""
    json.dumps(rendered, allow_nan=False, ensure_ascii=False).encode()
    pairs = list(_pairs(provider, rendered))
    assert provider in {"anthropic", "mcp"} or len(pairs) <= 128
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names)
    for name, schema in pairs:
        assert re.fullmatch(NAME[provider], name, re.ASCII), name
        _is_schema(json.dumps(schema))
        assert schema["type"] == "object"
        assert isinstance(schema["properties"], dict)
        if provider != "mcp":
            assert not {"anyOf", "oneOf", "allOf", "enum", "not", "const"} & set(schema)
        nodes = list(_nodes(schema, 1))
        assert max(level for _, level in nodes) <= LEVELS.get(provider, 100)
        assert sum(len(node.get("properties", {})) for node, _ in nodes) <= 5000
        if provider.startswith("openai"):
            assert sum(len(node.get("enum", [])) for node, _ in nodes) <= 1000
        for node, _ in nodes:
            _node(provider, node, strict=strict)
    if strict and provider == "anthropic":
        _budgets([schema for _, schema in pairs])
    return pairs


@lru_cache(maxsize=1000)
def _is_schema(text: str) -> None:
    Draft202012Validator.check_schema(json.loads(text))


def _pairs(provider: Provider, rendered: list[Fields]) -> Iterator[tuple[str, Fields]]:
    for tool in rendered:
        match provider:
            case "openai":
                yield tool["function"]["name"], tool["function"]["parameters"]
            case "openai-responses":
                yield tool["name"], tool["parameters"]
            case "anthropic":
                yield tool["name"], tool["input_schema"]
            case "gemini":
                yield from ((each["name"], each["parametersJsonSchema"]) for each in tool["functionDeclarations"])
            case "mcp":
                yield tool["name"], tool["inputSchema"]


_SINGLE = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}


def _nodes(node: Fields, level: int) -> Iterator[tuple[Fields, int]]:
    yield node, level
    for key, value in node.items():
        inner = level + (key in {"items", "prefixItems", "additionalProperties", "properties", "patternProperties"})
        if key in {"properties", "patternProperties", "dependentSchemas"}:
            for each in value.values():
                yield from _nodes(each, inner)
        elif key in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            for each in value:
                yield from _nodes(each, inner)
        elif key in {"items", "additionalProperties", "not", "if", "then", "else", "contains"} and isinstance(
            value, dict
        ):
            yield from _nodes(cast("Fields", value), inner)


def _node(provider: Provider, node: Fields, *, strict: bool) -> None:
    for label in node.get("properties", {}):
        assert provider not in LABEL or re.fullmatch(LABEL[provider], label, re.ASCII), label
    if provider != "mcp":
        assert set(node.get("required", ())) <= set(node.get("properties", {}))
    assert not ABSENT.get(provider, set[str]()) & set(node)
    if strict:
        assert not ABSENT_STRICT & set(node)
        assert {"type", "anyOf", "enum", "const"} & set(node)
        if "properties" in node or node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert provider == "anthropic" or set(node["required"]) == set(node["properties"])
        assert node.get("type") != "array" or node["items"]


def _budgets(schemas: list[Fields]) -> None:
    nodes = [node for schema in schemas for node, _ in _nodes(schema, 1)]
    assert len(schemas) <= 20
    assert sum(len(set(node.get("properties", {})) - set(node.get("required", ()))) for node in nodes) <= 24
    inner = [each for node in nodes for each in node.get("properties", {}).values()]
    assert sum("anyOf" in each or isinstance(each.get("type"), list) for each in inner) <= 16
