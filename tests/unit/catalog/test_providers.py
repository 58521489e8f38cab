"""Whatever a catalog holds, a provider is handed what it takes, or nothing and the rule that stood against it."""

import json
from typing import Any, cast, get_args

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

import soak
from toolcrib.catalog import nulls
from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.dialects import DIALECTS
from toolcrib.catalog.entry import Entry
from toolcrib.catalog.views import View
from toolcrib.catalog.wire import render
from toolcrib.engine.arguments import parse
from toolcrib.terms.errors import RenderError
from toolcrib.terms.providers import RULES, Provider, Rule
from toolcrib.terms.refusals import Refusal
from toolcrib.tools import tools
from unit.catalog.hostile import CATALOGS, PROVIDERS, bomb, many, nested, taken, view, wide

CATALOG = Catalog.build(tools())
STRICT: tuple[Provider, ...] = ("openai", "openai-responses", "anthropic")
PLAIN: list[tuple[Provider, bool]] = [(each, False) for each in PROVIDERS]
STRICTLY: list[tuple[Provider, bool]] = [(each, True) for each in STRICT]
FORMS = [*PLAIN, *STRICTLY]


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def inner(schema: dict[str, Any]) -> dict[str, Any]:
    return obj(p=schema)


TEXT = {"type": "string"}
TREE = {**inner({"$ref": "#/$defs/t"}), "$defs": {"t": obj(again={"$ref": "#/$defs/t"})}}
NOBODY: tuple[Provider, ...] = PROVIDERS
NOT_MCP = PROVIDERS[:-1]
OPENAI = PROVIDERS[:2]

BREAKS: list[tuple[Rule, tuple[Provider, ...], bool, View]] = [
    ("name", NOBODY, False, view([("rm -rf /", obj())])),
    ("name", NOBODY, False, view([("", obj())])),
    ("name", ("openai", "openai-responses", "gemini"), False, view([("x" * 65, obj())])),
    ("name", ("openai", "openai-responses", "anthropic"), False, view([("a.b", obj())])),
    ("name", ("gemini",), False, view([("9lives", obj())])),
    ("name-unique", NOBODY, False, view([("a_b", obj()), ("A-b", obj())])),
    ("name-unique", NOBODY, False, view([("twice", obj()), ("twice", obj())])),
    ("parameter-name", ("anthropic", "gemini"), False, view([("t", obj(**{"a b": TEXT}))])),
    ("parameter-name", ("anthropic", "gemini"), False, view([("t", inner(obj(**{"x" * 65: TEXT})))])),
    ("parameter-name", ("gemini",), False, view([("t", obj(**{"-i": TEXT}))])),
    ("tool-count", ("openai", "openai-responses", "gemini"), False, view([(f"t{n}", obj()) for n in range(129)])),
    ("request-size", ("anthropic",), False, view([("t", obj())], description="x" * 32_000_000)),
    ("root-object", NOBODY, False, view([("t", {"type": "array", "items": TEXT})])),
    ("root-object", NOBODY, False, view([("t", {"type": ["object", "null"]})])),
    ("root-union", NOT_MCP, False, view([("t", {**obj(), "anyOf": [obj(a=TEXT), obj(b=TEXT)]})])),
    ("properties", NOBODY, False, view([("t", wide(5001))])),
    ("properties", ("anthropic", "gemini", "mcp"), False, view([("t", bomb(30))])),
    ("depth", OPENAI, False, view([("t", nested(11))])),
    ("depth", NOBODY, False, view([("t", nested(5000))])),
    ("enum-values", OPENAI, False, view([("t", many(1001))])),
    ("reference", NOBODY, False, view([("t", TREE)])),
    ("reference", NOBODY, False, view([("t", inner({"$ref": "http://elsewhere/schema"}))])),
    ("reference", NOBODY, False, view([("t", inner({"$ref": "#/$defs/none"}))])),
    ("composition", ("gemini",), False, view([("t", inner({"allOf": [TEXT]}))])),
    ("composition", STRICT, True, view([("t", inner({"allOf": [TEXT]}))])),
    ("required", NOT_MCP, False, view([("t", {**obj(), "required": ["ghost"]})])),
    ("schema", NOBODY, False, view([("t", inner({"type": "text"}))])),
    ("schema", NOBODY, False, view([("t", inner({"type": "string", "pattern": "("}))])),
    ("schema", NOBODY, False, view([("t", {"type": "object", "properties": [TEXT]})])),
    ("schema", NOBODY, False, view([("t", inner({"anyOf": []}))])),
    ("schema", NOBODY, False, view([("t", obj(p=False))])),
    ("json", NOBODY, False, view([("t", inner({"type": "number", "minimum": float("nan")}))])),
    ("json", NOBODY, False, view([("t", inner({"const": 10**5000}))])),
    ("json", NOBODY, False, view([("t", inner({"const": {1: 2}}))])),
    ("text", NOBODY, False, view([("t", inner({"type": "string", "description": "\ud800"}))])),
    ("text", NOBODY, False, view([("t", obj())], description="\udfff")),
    ("strict-mode", ("gemini", "mcp"), True, view([("t", obj())])),
    ("strict-object", STRICT, True, view([("t", inner({"type": "object"}))])),
    ("strict-object", STRICT, True, view([("t", inner({"type": "object", "additionalProperties": TEXT}))])),
    ("strict-type", STRICT, True, view([("t", inner({"description": "anything"}))])),
    ("strict-type", STRICT, True, view([("t", inner({"type": "array"}))])),
    ("strict-type", STRICT, True, view([("t", inner({"enum": [["a"]]}))])),
    ("strict-tools", ("anthropic",), True, view([(f"t{n}", obj()) for n in range(21)])),
    ("strict-optionals", ("anthropic",), True, view([("t", wide(25))])),
    (
        "strict-unions",
        ("anthropic",),
        True,
        view([("t", obj(**{f"p{n}": {"type": ["string", "null"]} for n in range(17)}))]),
    ),
]

IDS = [f"{number}-{rule}" for number, (rule, *_) in enumerate(BREAKS)]


@pytest.mark.promise("P-provider-rules")
@pytest.mark.parametrize(("rule", "providers", "strict", "hostile"), BREAKS, ids=IDS)
def test_a_broken_rule_stops_the_rendering_and_is_named(
    rule: Rule, providers: tuple[Provider, ...], strict: bool, hostile: View
) -> None:
    for provider in providers:
        with pytest.raises(RenderError) as caught:
            render(hostile, provider, strict=strict)
        assert (caught.value.provider, caught.value.rule) == (provider, rule)
        assert rule in str(caught.value)
        assert len(str(caught.value)) < 400
        if caught.value.tool:
            assert caught.value.tool in {item.name for item in hostile.items}


@pytest.mark.promise("P-provider-rules")
@pytest.mark.parametrize(("rule", "providers", "strict", "hostile"), BREAKS, ids=IDS)
def test_a_provider_without_that_rule_takes_the_same_catalog(
    rule: Rule, providers: tuple[Provider, ...], strict: bool, hostile: View
) -> None:
    for provider in STRICT if strict else PROVIDERS:
        if provider not in providers:
            try:
                taken(provider, render(hostile, provider, strict=strict), strict=strict)
            except RenderError as error:
                assert error.rule != rule, str(error)


def test_every_rule_has_a_catalog_that_breaks_it() -> None:
    # The call id is a rule about answers: see test_answers.py.
    assert {rule for rule, *_ in BREAKS} == set(get_args(Rule)) - {"call-id"}


@pytest.mark.promise("P-provider-rules")
@pytest.mark.parametrize(("provider", "strict"), FORMS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_our_own_tools_are_within_every_rule(provider: Provider, strict: bool, dialect: str) -> None:
    only = {"edit_file", "read_file", "list_dir"} if strict and provider == "anthropic" else None
    shown = CATALOG.view(dialect=dialect, only=only)
    if provider == "gemini" and dialect == "claude":
        with pytest.raises(RenderError, match="'-i' does not match"):
            render(shown, provider)
        return
    pairs = taken(provider, render(shown, provider, strict=strict), strict=strict)
    assert [name for name, _ in pairs] == list(shown.names)


@pytest.mark.soak("fuzz")
@pytest.mark.promise("P-provider-rules")
@settings(
    max_examples=soak.count(1000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(CATALOGS)
def test_a_hostile_catalog_renders_valid_or_not_at_all(hostile: View) -> None:
    for provider, strict in FORMS:
        try:
            rendered = render(hostile, provider, strict=strict)
        except RenderError as error:
            assert error.rule in get_args(Rule)
            assert error.provider == provider
        else:
            taken(provider, rendered, strict=strict)


def test_a_plain_reading_of_a_hostile_schema_would_be_broken() -> None:
    """The control: what the rules stop is what a rendering without them would have sent."""
    hostile = view([("rm -rf /", inner({"type": "text"}))])
    (item,) = hostile.items
    with pytest.raises(AssertionError):
        taken("mcp", [{"name": item.name, "inputSchema": item.schema}], strict=False)


def test_references_inside_a_schema_are_followed() -> None:
    shared = {**inner({"$ref": "#/$defs/t"}), "$defs": {"t": {"type": "string", "description": "Shared."}}}
    for provider in PROVIDERS:
        ((_, schema),) = taken(provider, render(view([("t", shared)]), provider), strict=False)
        assert schema["properties"]["p"] == {"type": "string", "description": "Shared."}


def test_what_a_provider_does_not_take_is_told_in_what_it_does() -> None:
    hostile = view([("t", obj(a={"const": 1}, b={"oneOf": [TEXT, {"type": "integer"}]}, c={"x-odd": 1, **TEXT}))])
    (tool,) = render(hostile, "gemini")[0]["functionDeclarations"]
    assert tool["parametersJsonSchema"]["properties"] == {
        "a": {"enum": [1]},
        "b": {"anyOf": [TEXT, {"type": "integer"}]},
        "c": TEXT,
    }


@pytest.mark.promise("P-provider-strict")
def test_in_strict_mode_an_optional_parameter_takes_null_and_says_what_that_means() -> None:
    for tool in render(CATALOG.view(), "openai", strict=True):
        assert tool["function"]["strict"] is True
    grep = next(each for each in render(CATALOG.view(), "openai", strict=True) if each["function"]["name"] == "grep")
    limit = grep["function"]["parameters"]["properties"]["limit"]
    assert limit["type"] == ["integer", "null"]
    assert limit["description"].endswith("Null: 100.")
    mode = grep["function"]["parameters"]["properties"]["mode"]
    assert mode["enum"] == ["plain", "regex", "fuzzy", None]


@pytest.mark.promise("P-provider-strict")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_arguments_of_the_strict_twin_mean_what_they_mean_without_their_nulls(dialect: str) -> None:
    shown = CATALOG.view(dialect=dialect)
    for item, tool in zip(shown.items, render(shown, "openai", strict=True), strict=True):
        schema = tool["function"]["parameters"]
        given = {name: _value(each) for name, each in schema["properties"].items()}
        for command in schema["properties"].get("command", {}).get("enum", [None]):
            args = given | ({"command": command, "path": "a"} if command else {})
            jsonschema.validate(args, schema)
            assert _meant(item.name, dialect, args) == _meant(item.name, dialect, _bare(args))


def _meant(name: str, dialect: str, args: dict[str, Any]) -> object:
    """Return the arguments as the tool gets them, or which of them it is refused for."""
    entry = CATALOG.find(name, dialect=dialect, args=args)
    assert isinstance(entry, Entry)
    try:
        return parse(entry, entry.convert(args, dialect=dialect).args, dialect=dialect)
    except Refusal as refusal:
        return str(refusal).split(": ")[:2]


def _bare(value: Any) -> Any:
    """Return a value without any null inside."""
    if isinstance(value, dict):
        told = cast("dict[str, Any]", value)
        return {name: _bare(each) for name, each in told.items() if each is not None}
    return [_bare(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _value(schema: dict[str, Any]) -> Any:
    """Return null where the twin takes it, else a value that fits."""
    if nulls.accepts(schema):
        return None
    kinds = {"string": schema.get("enum", ["a" * 12])[0], "integer": 1, "boolean": True}
    if schema.get("type") == "array":
        return [_value(schema["items"])]
    if schema.get("type") == "object":
        return {name: _value(each) for name, each in schema["properties"].items()}
    return kinds[schema["type"]]


def test_strict_can_be_asked_for_some_tools_alone() -> None:
    rendered = render(CATALOG.view(), "anthropic", strict={"edit_file"})
    assert {each["name"] for each in rendered if each.get("strict")} == {"edit_file"}
    with pytest.raises(RenderError, match="no tool of this name"):
        render(CATALOG.view(), "anthropic", strict={"edit_fiel"})


def test_the_responses_form_says_either_way_whether_it_is_strict() -> None:
    for strict in (False, True):
        assert {each["strict"] for each in render(CATALOG.view(), "openai-responses", strict=strict)} == {strict}


def test_rendering_changes_nothing_that_was_declared() -> None:
    before = json.dumps([dict(entry.descriptor.schema) for entry in CATALOG.entries])
    for provider, strict in FORMS:
        if (provider, strict) != ("anthropic", True):
            render(CATALOG.view(), provider, strict=strict)
    assert json.dumps([dict(entry.descriptor.schema) for entry in CATALOG.entries]) == before
    assert set(RULES) == set(PROVIDERS)
