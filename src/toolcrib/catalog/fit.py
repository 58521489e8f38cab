"""Fits a schema to what a provider takes: pure, bounded, and refused by the name of the rule where it cannot fit.

What only narrows a value, or only annotates it, is left out where a provider does not take it: the line checks every
call against the tool's own model. What gives the arguments their form is never left out.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import SCALARS, Rule, Rules

NODES = 20_000
"""Most schemas inside one tool's schema, references followed."""

VALUES = 200_000
"""Most JSON values of one tool's schema as declared."""

NESTING = 200
"""Deepest nesting of its JSON."""


class Broken(Exception):  # noqa: N818 - a reading of one schema, named and told by `wire`
    """A rule that a tool fails by, and how."""

    def __init__(self, rule: Rule, message: str) -> None:
        super().__init__(message)
        self.rule: Rule = rule
        self.message = message


Node = Mapping[str, Any]
"""A schema."""

_TYPES = SCALARS | {"object", "array"}

_FORMING = frozenset({"allOf", "patternProperties", "prefixItems"})
"""Keywords that give a value its form: a provider that does not take them cannot take the schema."""

_SCHEMA = frozenset({"items", "not", "if", "then", "else", "contains", "propertyNames", "contentSchema"})
_SCHEMA_OR_FLAG = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DEEPER = frozenset({"items", "additionalProperties", "prefixItems", "properties", "patternProperties"})
"""Keywords whose schemas are about values one level further in."""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    kinds = cast("list[object]", value) if isinstance(value, list) else []
    return bool(kinds) and all(isinstance(each, str) and each in _TYPES for each in kinds) and _distinct(kinds)


def _is_names(value: object) -> bool:
    names = cast("list[object]", value) if isinstance(value, list) else [None]
    return all(isinstance(each, str) for each in names) and _distinct(names)


def _distinct(values: Sequence[object]) -> bool:
    return len(values) == len(set(values))


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


_VALUES: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "enum": lambda value: isinstance(value, list) and value != [],
    "const": lambda _value: True,
    "default": lambda _value: True,
    "examples": lambda value: isinstance(value, list),
    "required": _is_names,
    "pattern": _is_pattern,
    **dict.fromkeys(
        ("title", "description", "format", "contentEncoding", "contentMediaType"), lambda value: isinstance(value, str)
    ),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(
        (
            *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
            *("minContains", "maxContains"),
        ),
        _is_count,
    ),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    "multipleOf": lambda value: _is_number(value) and value > 0,
}
"""Keyword to the check of its value, for those that hold no schema. An unknown keyword is an annotation, by JSON Schema
2020-12, and is left out."""


def fit(schema: Node, rules: Rules, *, keywords: frozenset[str] | None) -> Fields:
    """Return `schema` in the keywords given, self-contained, as an object that a provider of these `rules` takes.

    The result shares nothing with `schema`.

    Raises:
        Broken: it cannot be; names the rule.
    """
    plain(schema)
    shown = _Fit(schema, rules, keywords).node(schema, depth=1, seen=())
    if shown.get("type", "object" if "properties" in shown or not shown else None) != "object":
        raise Broken("root-object", f"the arguments must be an object, found type {shown.get('type')!r}")
    unions = sorted({"anyOf", "oneOf", "allOf", "enum", "const", "not"} & set(shown))
    if unions and not rules.root_union:
        raise Broken("root-union", f"the arguments themselves may not have {', '.join(unions)}")
    return {"type": "object", "properties": {}, **shown}


@dataclass(slots=True)
class _Fit:
    """One schema on its way: what it may refer to, and what has been counted so far."""

    root: Node
    rules: Rules
    keywords: frozenset[str] | None
    nodes: int = 0
    properties: int = 0
    values: int = 0
    _parameter: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        self._parameter = re.compile(self.rules.parameter) if self.rules.parameter is not None else None

    def node(self, given: object, *, depth: int, seen: tuple[str, ...]) -> Fields:
        """Return one schema, its inner ones with it."""
        node, seen = self._resolved(given, seen)
        self.nodes += 1
        if self.nodes > NODES:
            raise Broken("properties", f"more than {NODES:,} schemas inside, references followed")
        if depth > self.rules.depth:
            raise Broken("depth", f"more than {self.rules.depth} levels of values inside values")
        found: Fields = {}
        for key, value in node.items():
            if key in _SCHEMA or (key in _SCHEMA_OR_FLAG and not isinstance(value, bool)):
                kept: Any = self.node(value, depth=depth + (key in _DEEPER), seen=seen)
            elif key in _SCHEMA_OR_FLAG:
                kept = value
            elif key in _SCHEMAS:
                kept = self._several(key, value, depth=depth + (key in _DEEPER), seen=seen)
            elif key in _NAMED:
                kept = self._named(key, value, depth=depth + (key in _DEEPER), seen=seen)
            elif key not in _VALUES:
                continue
            elif not _VALUES[key](value):
                raise Broken("schema", f"{key}: {_brief(value)} is no value for this keyword")
            else:
                kept = deepcopy(value)
            found[key] = kept
        return self._taken(self._checked(found))

    def _resolved(self, given: object, seen: tuple[str, ...]) -> tuple[Node, tuple[str, ...]]:
        """Return the schema with its reference, if any, replaced by what it refers to."""
        if given is True:
            return {}, seen
        node = _mapping(given)
        while "$ref" in node or "$dynamicRef" in node:
            reference = node.get("$ref")
            if not isinstance(reference, str) or "$dynamicRef" in node:
                raise Broken("reference", f"{_brief(node.get('$dynamicRef', reference))} cannot be followed")
            if reference in seen:
                raise Broken("reference", f"{_brief(reference)} refers to itself")
            target = _mapping(_follow(self.root, reference))
            seen = (*seen, reference)
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return node, seen

    def _several(self, key: str, value: object, *, depth: int, seen: tuple[str, ...]) -> list[Fields]:
        schemas = cast("list[object]", value) if isinstance(value, list) else []
        if not schemas:
            raise Broken("schema", f"{key}: expected a list of schemas, found {_brief(cast('object', value))}")
        return [self.node(each, depth=depth, seen=seen) for each in schemas]

    def _named(self, key: str, value: object, *, depth: int, seen: tuple[str, ...]) -> Fields:
        found: Fields = {}
        for name, each in _mapping(value).items():
            if key == "properties":
                self._count(name)
            found[name] = self.node(each, depth=depth, seen=seen)
        return found

    def _count(self, name: str) -> None:
        self.properties += 1
        if self.properties > self.rules.properties:
            raise Broken("properties", f"more than {self.rules.properties:,} properties")
        if self._parameter is not None and self._parameter.fullmatch(name) is None:
            raise Broken("parameter-name", f"{_brief(name)} does not match {self._parameter.pattern}")

    def _checked(self, found: Fields) -> Fields:
        """Refuse what is a schema but none that can be meant; count the values of enumerations."""
        declared = found.get("properties", {})
        missing = [name for name in found.get("required", ()) if name not in declared]
        if missing and self.rules.required_declared:
            raise Broken("required", f"{_brief(missing[0])} is required and not declared")
        self.values += len(found.get("enum", ()))
        if self.rules.enum_values is not None and self.values > self.rules.enum_values:
            raise Broken("enum-values", f"more than {self.rules.enum_values:,} values of enumerations")
        return found

    def _taken(self, found: Fields) -> Fields:
        """Return the schema in the keywords that the provider takes."""
        if self.keywords is None:
            return found
        if "const" in found and "const" not in self.keywords:
            found.setdefault("enum", [found["const"]])
        if "oneOf" in found and "oneOf" not in self.keywords:
            if "anyOf" in found:
                raise Broken("composition", "anyOf beside oneOf cannot be told in one union")
            found["anyOf"] = found["oneOf"]
        if forming := sorted(_FORMING & set(found) - self.keywords):
            raise Broken("composition", f"{', '.join(forming)} cannot be told in this form")
        return {key: value for key, value in found.items() if key in self.keywords}


def plain(schema: object) -> None:
    """Refuse what is no JSON of Unicode text, and what is too much of it. Walks without recursion.

    Raises:
        Broken: rule `json`, `text`, `depth` or `properties`.
    """
    stack: list[tuple[object, int]] = [(schema, 1)]
    count = 0
    while stack:
        value, depth = stack.pop()
        count += 1
        if depth > NESTING:
            raise Broken("depth", f"JSON nested more than {NESTING} levels deep")
        if count > VALUES:
            raise Broken("properties", f"more than {VALUES:,} JSON values")
        if isinstance(value, str):
            _text(value)
        elif isinstance(value, Mapping):
            for key, each in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise Broken("json", f"{_brief(key)} is no name of a JSON object")
                _text(key)
                stack.append((each, depth + 1))
        elif isinstance(value, list | tuple):
            stack.extend((each, depth + 1) for each in cast("Sequence[object]", value))
        elif value is not None and not isinstance(value, bool):
            _numeric(value)


def _text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Broken("text", f"{_brief(value)} is no Unicode text") from None


def _numeric(value: object) -> None:
    if isinstance(value, int) and value.bit_length() <= 64:
        return
    if isinstance(value, float) and math.isfinite(value):
        return
    raise Broken("json", f"{type(value).__name__} that no JSON number is: {_brief(value)}")


def _mapping(value: object) -> Node:
    if isinstance(value, Mapping):
        return cast("Node", value)
    raise Broken("schema", f"expected an object of JSON Schema, found {_brief(value)}")


def _follow(root: Node, reference: str) -> object:
    """Return what a reference inside the schema points to (RFC 6901, in a URI fragment)."""
    if not reference.startswith("#") or "%" in reference:
        raise Broken("reference", f"{_brief(reference)} leads out of the schema")
    found: object = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            raise Broken("reference", f"{_brief(reference)} leads nowhere")
        found = cast("object", found[name])
    return found


def _brief(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 64:
        return "an integer of more than 64 bits"
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
