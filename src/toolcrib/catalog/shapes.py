"""How a dialect shows one tool: names, arguments, constants and text, and the way back to the canonical arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast

from toolcrib.catalog import nulls
from toolcrib.catalog.faults import MISSING, UNKNOWN
from toolcrib.terms.outcome import Fields
from toolcrib.terms.refusals import RefusalName

Mark = Literal["always_ask", "no_rebase"]
"""What a dialect says of a call beside its arguments: replacing a file always asks; no digest moves on."""

Path = Sequence[str | int]
"""The place of a value inside arguments."""


class Unfit(Exception):  # noqa: N818 - a reading of one argument, collected by `convert`
    """A converter's word that an argument cannot be converted. `path` is in the caller's spelling."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


Converter = Callable[[Fields], Fields]
"""A named pure function from half-canonical arguments to canonical ones. It raises `Unfit`."""

Selector = Callable[[Mapping[str, Any]], bool]
"""A named pure function that tells whether the arguments of a shared name mean this tool."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the arguments: where, in the caller's spelling, and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Converted:
    """Canonical arguments, the dialect's marks, and what could not be converted."""

    args: Fields
    marks: frozenset[Mark] = frozenset()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One tool in one dialect. Without any field but `tool` and `name` it is the canonical tool under that name."""

    tool: str
    name: str
    keep: tuple[str, ...] | None = None
    """The canonical parameters that are shown; None for all."""
    rename: Mapping[str, str] = field(default_factory=dict[str, str])
    """Canonical parameter to the name shown."""
    extra: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Further parameters shown, with their schemas; `converter` takes them."""
    required: tuple[str, ...] = ()
    """Shown names that this dialect requires beside those that the tool itself requires."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Shown name to the text that replaces the canonical one."""
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Canonical arguments that this dialect always sets."""
    converter: Converter | None = None
    marks: frozenset[Mark] = frozenset()
    camel: bool = False
    """Whether names are shown in camelCase, nested ones too."""
    text: str | None = None
    """The description, where the canonical one does not fit."""
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])
    """Dotted canonical place to the name of the shown argument that it comes from."""
    choice: tuple[str, str] | None = None
    """The argument and the value that choose this tool where several share a name."""
    selector: Selector | None = None
    """Decides among tools with the same choice; the first that takes the arguments wins."""

    @property
    def plain(self) -> bool:
        """Whether the arguments are the canonical ones as they stand."""
        told = (self.rename, self.extra, self.required, self.fixed, self.converter, self.camel)
        return self.keep is None and not any(told)

    def takes(self, args: Mapping[str, Any]) -> bool:
        """Tell whether arguments for the shared name mean this tool."""
        if self.choice is not None and args.get(self.choice[0]) != self.choice[1]:
            return False
        return self.selector is None or self.selector(args)

    def shown(self, parameter: str) -> str:
        """Return the name that a canonical parameter is shown under."""
        return self.rename.get(parameter) or (camel(parameter) if self.camel else parameter)

    def spell(self, place: Path) -> str:
        """Return a place inside the canonical arguments as the caller would write it."""
        dotted = ".".join(map(str, place))
        if dotted in self.spelling:
            return self.spelling[dotted]
        head, *rest = (str(part) for part in place) if place else ("arguments",)
        return ".".join([self.shown(head), *(camel(part) if self.camel else part for part in rest)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way to spell the catalog. A tool without a shape keeps its canonical form, where it is shown at all."""

    name: str
    shapes: tuple[Shape, ...] = ()
    others: bool = False
    """Whether built-in tools without a shape are shown."""
    foreign: bool = True
    """Whether tools of other origins are shown, under their canonical names."""
    camel: bool = False
    aliases: Mapping[RefusalName, RefusalName] = field(default_factory=dict[RefusalName, RefusalName])
    """Refusal name to the one that this dialect says instead."""
    details: Mapping[RefusalName, Mapping[str, str]] = field(default_factory=dict[RefusalName, Mapping[str, str]])
    """Refusal name, before the alias, to what its payload carries besides."""
    bounds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of a bound to its spelling."""
    json: frozenset[str] | None = None
    """Canonical built-ins that stay JSON tools once programs are offered; None: all of them."""
    group: Mapping[str, str] = field(default_factory=dict[str, str])
    """Description of each name that several tools share."""

    def shape_of(self, tool: str, *, builtin: bool) -> Shape | None:
        """Return the first shape of a canonical tool in this dialect, None where it is left out."""
        if not builtin:
            return _canonical(tool, camelled=False) if self.foreign else None
        listed = next((shape for shape in self.shapes if shape.tool == tool), None)
        if listed is not None or not self.others:
            return listed
        return _canonical(tool, camelled=self.camel)


@lru_cache(maxsize=4096)
def _canonical(tool: str, *, camelled: bool) -> Shape:
    return Shape(tool=tool, name=tool, camel=camelled)


def camel(name: str) -> str:
    """Return a snake_case name in camelCase."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


# The schema that is shown ------------------------------------------------------------------------------------------


def schema_of(shape: Shape, canonical: Mapping[str, Any]) -> Fields:
    """Return the JSON Schema of the arguments as `shape` shows them."""
    properties: Mapping[str, Any] = canonical.get("properties", {})
    needed: Sequence[str] = canonical.get("required", ())
    shown: Fields = {}
    for name, schema in properties.items():
        if (shape.keep is None or name in shape.keep) and name not in shape.fixed:
            label = shape.shown(name)
            each = _camelled(schema) if shape.camel else dict(schema)
            shown[label] = _never_null(each) if label in shape.required else each
    shown.update({name: dict(schema) for name, schema in shape.extra.items()})
    for name, note in shape.notes.items():
        shown[name] = {**shown[name], "description": note}
    wanted = [*(shape.shown(name) for name in needed), *shape.required]
    required = [name for name in shown if name in wanted]
    result: Fields = {"type": "object", "properties": shown}
    if required:
        result["required"] = required
    result["additionalProperties"] = canonical.get("additionalProperties", False)
    return result


def _never_null(schema: Fields) -> Fields:
    """Return `schema` without its null variant and default: the argument is required here."""
    kept = {key: value for key, value in schema.items() if key != "default"}
    variants: Sequence[Mapping[str, Any]] = kept.get("anyOf", ())
    solid = [dict(each) for each in variants if each.get("type") != "null"]
    if len(solid) == 1:
        del kept["anyOf"]
        return {**solid[0], **kept}
    return kept


def _camelled(node: Any) -> Any:
    """Return a schema with every declared property name in camelCase; free-form maps keep their keys."""
    if isinstance(node, list):
        return [_camelled(each) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Fields", node)
    found = {key: _camelled(value) for key, value in schema.items() if key not in {"properties", "required"}}
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {camel(name): _camelled(value) for name, value in schema["properties"].items()}
    if isinstance(schema.get("required"), list):
        found["required"] = [camel(name) for name in schema["required"]]
    return found


_NAME = re.compile(r"(?<![\w./-])(?:[a-z]+(?:_[a-z]+)+|cwd|[a-z]+\.[a-z_]+)(?![\w/-])|(?<=`)[a-z]+(?=`)")


def retold(text: str, names: Mapping[str, str]) -> str:
    """Return `text` with each name that `names` knows replaced by what it is shown as.

    Names of one plain word are taken for names only between backticks.
    """
    return _NAME.sub(lambda found: names.get(found[0], found[0]), text)


def retold_schema(node: Any, names: Mapping[str, str]) -> Any:
    """Return a schema with every description in it retold."""
    if isinstance(node, list):
        return [retold_schema(each, names) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Fields", node)
    return {
        key: retold(value, names) if key == "description" and isinstance(value, str) else retold_schema(value, names)
        for key, value in schema.items()
    }


# The way back --------------------------------------------------------------------------------------------------------


def convert(shape: Shape, args: Mapping[str, Any], canonical: Mapping[str, Any]) -> Converted:
    """Return the canonical arguments that `args` mean, with every fault that only this dialect can see.

    Unknown names are faults, hidden and fixed parameters among them: a caller cannot reach what its dialect leaves out.
    Null for an optional parameter that does not take it means that it was left out. Where nothing is spelt differently
    the arguments stand as they are. Values are not checked against the canonical
    schema; the tool's own model does that.
    """
    if shape.plain:
        return Converted(nulls.without(args, canonical), shape.marks)
    args = nulls.without(args, schema_of(shape, canonical))
    properties: Mapping[str, Any] = canonical.get("properties", {})
    names = {
        shape.shown(name): name
        for name in properties
        if (shape.keep is None or name in shape.keep) and name not in shape.fixed
    }
    found: Fields = {}
    faults: list[Fault] = []
    for label, value in args.items():
        if label in names:
            name = names[label]
            found[name] = _snaked(value, properties[name]) if shape.camel else value
        elif label in shape.extra:
            found[label] = _checked(value, shape.extra[label], label, faults)
        elif value is None and shape.choice is not None:
            continue  # a parameter of another tool that shares the name, left out
        else:
            faults.append(Fault(label, _unknown(label, (*names, *shape.extra))))
    faults.extend(
        Fault(label, MISSING + (f" ({shape.notes[label]})" if label in shape.notes else ""))
        for label in shape.required
        if found.get(names.get(label, label)) is None and label not in {fault.path for fault in faults}
    )
    found.update(shape.fixed)
    if shape.converter is not None and not faults:
        try:
            return Converted(shape.converter(dict(found)), shape.marks)
        except Unfit as unfit:
            faults.append(Fault(unfit.path, unfit.message))
    if faults:
        found = {name: value for name, value in found.items() if name in properties and name not in shape.extra}
    return Converted(found, shape.marks, tuple(faults))


def _unknown(label: str, known: Sequence[str]) -> str:
    return f"{UNKNOWN}; known: {', '.join(known)}" if len(label) < 200 else UNKNOWN


_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "array": (list, tuple),
}


def _checked(value: Any, schema: Mapping[str, Any], label: str, faults: list[Fault]) -> Any:
    """Return `value` as `schema` wants it, lossless coercions made ("3" and 3.0 are 3)."""
    kind = str(schema.get("type"))
    if kind == "integer" and not isinstance(value, bool):
        value = _whole(value)
    right = isinstance(value, _TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))
    if right and "enum" in schema and value not in schema["enum"]:
        faults.append(Fault(label, f"expected one of {', '.join(schema['enum'])}, found {_brief(value)}"))
    elif right and "minimum" in schema and value < schema["minimum"]:
        faults.append(Fault(label, f"expected at least {schema['minimum']}, found {_brief(value)}"))
    elif not right:
        faults.append(Fault(label, f"expected {kind}, found {_brief(value)}"))
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    return value


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def _snaked(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value whose declared property names were in camelCase with the canonical names, led by its schema."""
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        named: Mapping[str, Any] = schema.get("properties", {})
        back = {camel(name): name for name in named}
        spelled = {back.get(key, key): each for key, each in given.items()}
        return {name: _snaked(each, named.get(name, {})) for name, each in spelled.items()}
    if isinstance(value, list | tuple):
        return [_snaked(each, schema.get("items", {})) for each in cast("Sequence[Any]", value)]
    return value
