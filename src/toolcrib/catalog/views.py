"""The visible tools as one dialect shows them. Everything that is rendered is taken from a view."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from toolcrib.catalog import shapes
from toolcrib.catalog.entry import Entry
from toolcrib.catalog.shapes import Dialect, Shape
from toolcrib.terms.effects import Surface
from toolcrib.terms.outcome import Fields
from toolcrib.terms.tool import first_sentence

Pairs = Sequence[tuple[Shape, Entry]]
"""The tools behind one shown name, each with its shape."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One tool as a dialect shows it; several canonical tools where they share a name."""

    name: str
    title: str
    summary: str
    description: str
    schema: Fields
    surface: Surface
    entries: tuple[Entry, ...]

    @property
    def entry(self) -> Entry:
        """The first canonical tool behind the name."""
        return self.entries[0]


@dataclass(frozen=True, kw_only=True)
class View:
    """The visible tools of one turn in one dialect, in catalog order."""

    dialect: str
    items: tuple[Shown, ...]
    deferred: tuple[Shown, ...] = ()
    """Visible too, and told by name only: see `deferral`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names shown, in order."""
        return tuple(item.name for item in self.items)

    @cached_property
    def spoken(self) -> Mapping[str, str]:
        """Canonical name to the name shown."""
        return {entry.name: item.name for item in (*self.items, *self.deferred) for entry in item.entries}


@dataclass(frozen=True, slots=True)
class Teller:
    """Renders entries in one dialect; `names` are the canonical names that are visible, and what each is called."""

    dialect: Dialect
    names: Mapping[str, str]

    def surface(self, entry: Entry) -> Surface:
        """Return how the tool is shown: as JSON until programs are offered, then as the dialect and the tool say."""
        if self.dialect.json is None or "scheme_repl" not in self.names:
            return "json"
        if entry.descriptor.origin.kind == "builtin":
            return "json" if entry.name in self.dialect.json else "symbol"
        return entry.descriptor.surface

    def shown(self, name: str, pairs: Pairs) -> Shown:
        """Return what is shown under `name`."""
        shape, entry = pairs[0]
        schemas = [self._schema(each, behind) for each, behind in pairs]
        shared = self.dialect.group.get(name)
        words = self._words(shape, entry)
        text = shared or shape.text or shapes.retold(entry.descriptor.description, words)
        return Shown(
            name=name,
            title=entry.descriptor.title if shared is None else name.replace("_", " ").capitalize(),
            summary=first_sentence(shared) if shared else shapes.retold(entry.descriptor.summary, words),
            description=text,
            schema=schemas[0] if shared is None else _merged([each for each, _ in pairs], schemas),
            surface=self.surface(entry),
            entries=tuple(behind for _, behind in pairs),
        )

    def _schema(self, shape: Shape, entry: Entry) -> Fields:
        return shapes.retold_schema(shapes.schema_of(shape, entry.descriptor.schema), self._words(shape, entry))

    def _words(self, shape: Shape, entry: Entry) -> Mapping[str, str]:
        """Return what this dialect calls things: tools, the parameters of this one, and refusals."""
        parameters = {name: shape.shown(name) for name in entry.descriptor.schema.get("properties", {})}
        return {**self.dialect.aliases, **parameters, **self.names}


def _merged(behind: Sequence[Shape], schemas: Sequence[Fields]) -> Fields:
    """Return one schema for tools that share a name: the choices that are left, and every parameter of theirs."""
    properties: Fields = {}
    needed: list[set[str]] = []
    choosers: dict[str, list[str]] = {}
    for shape, schema in zip(behind, schemas, strict=True):
        properties = {**schema["properties"], **properties}
        needed.append(set(schema.get("required", ())))
        if shape.choice is not None:
            argument, value = shape.choice
            needed[-1].add(argument)
            choosers.setdefault(argument, []).append(value)
    for argument, values in choosers.items():
        properties[argument] = {**properties[argument], "enum": list(dict.fromkeys(values))}
    order = sorted(properties, key=lambda name: (name not in choosers, not all(name in each for each in needed)))
    return {
        "type": "object",
        "properties": {name: properties[name] for name in order},
        "required": [name for name in order if all(name in each for each in needed)],
        "additionalProperties": False,
    }
