"""The catalog: one immutable list with two projections, what a provider renders and what the line dispatches to."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from toolcrib.catalog import dialects
from toolcrib.catalog import order as ordering
from toolcrib.catalog.deferral import SEARCH, Budget, deferred
from toolcrib.catalog.dialects import DEFAULT
from toolcrib.catalog.entry import Entry, Missing, State
from toolcrib.catalog.naming import apart, mint, normal
from toolcrib.catalog.profile import Profile
from toolcrib.catalog.shapes import Dialect, Shape
from toolcrib.catalog.views import Teller, View
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.digest import of_json
from toolcrib.terms.names import nearest
from toolcrib.terms.outcome import Fields
from toolcrib.terms.tool import Tool

FullyDenied = Callable[[str, Descriptor], str | None]
"""Says why no call of a tool could be answered with anything but deny; None where one could."""

Unavailable = Mapping[str, str] | Callable[[str, Tool], str | None]
"""Name to why the tool cannot run ("needs a store"), or a function that says so."""

NOTHING_DEFERRED = "no tool is deferred: all are in the list"
"""Why there is nothing to search for."""

VIEWS = 64
"""Most views that a catalog keeps once made."""

Spoken = Mapping[str, tuple[tuple[Shape, Entry], ...]]
"""The shown names of one dialect in catalog order, each with the tools behind it in the order of their shapes."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Every declared tool, in order. A pure function of its declarations: same declarations, same order, same bytes."""

    entries: tuple[Entry, ...]
    budget: Budget | None = None
    """What the visible tools may cost before some are deferred; None: anything."""

    @staticmethod
    def build(
        tools: Sequence[Tool],
        *,
        order: Sequence[str] | None = None,
        order_place: str = "tool order",
        disabled: Collection[str] = frozenset(),
        unavailable: Unavailable | None = None,
        fully_denied: FullyDenied | None = None,
        servers: Collection[str] = (),
        budget: Budget | None = None,
    ) -> "Catalog":
        """Return the catalog of `tools`; `servers` are the configured MCP servers, up or down.

        Raises:
            ConfigError: two names meet (`naming.ClashError`, with the origins), or the order is not one.
        """
        minted = mint([(tool.descriptor.origin, tool.descriptor.raw_name) for tool in tools])
        named = {minted[tool.descriptor.origin, tool.descriptor.raw_name]: tool for tool in tools}
        if order is not None:
            ordering.check(order, known=named, servers=servers, place=order_place)
        why_not = _Reasons(disabled, unavailable, fully_denied, frozenset(named))
        entries = tuple(why_not.entry(name, named[name]) for name in ordering.arrange(named, order))
        return Catalog(entries=entries, budget=budget)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every entry: name, digests, state and order."""
        return of_json(
            [[each.name, each.descriptor.digest, each.descriptor.text_digest, each.state] for each in self.entries]
        )

    @cached_property
    def named(self) -> Mapping[str, Entry]:
        """Every entry by its minted name."""
        return {entry.name: entry for entry in self.entries}

    def is_read_only(self, name: str) -> bool:
        """Tell whether `name` is a built-in of kind read; only that lets calls run side by side."""
        entry = self.named.get(name)
        return entry is not None and entry.descriptor.origin.kind == "builtin" and entry.descriptor.kind == "read"

    def find(
        self,
        name: str,
        *,
        dialect: str = DEFAULT,
        without: Collection[str] = frozenset(),
        person: bool = False,
        args: Mapping[str, Any] | None = None,
        only: Collection[str] | None = None,
    ) -> Entry | Missing:
        """Return the tool that a caller means by `name`, or why it has none.

        `args` choose among tools that share a name. A tool for people is unknown to everyone who is not a `person`. A
        tool that the rules deny is found: judging it says which rule.

        Raises:
            ConfigError: there is no such dialect.
        """
        candidates = [
            (shape, entry) for shape, entry in self._spoken(dialect).get(name, ()) if person or not _is_personal(entry)
        ]
        if not candidates:
            return self._unknown(name, dialect, person=person)
        if any(shape.choice for shape, _ in candidates):
            taken = [pair for pair in candidates if pair[0].takes(args or {})]
            if not taken:
                return _unchosen(name, candidates)
            candidates = taken
        _, entry = candidates[0]
        if not Profile(without=frozenset(without), only=None if only is None else frozenset(only)).allows(
            name, entry.name
        ):
            return Missing(
                refusal="tool.not_in_profile",
                message=f"{name} is switched off for this turn",
                hint="do it another way, or ask the person to allow it",
            )
        if entry.name == SEARCH and name not in self.view(dialect=dialect, without=without, only=only).names:
            return Missing(refusal="tool.unavailable", message=f"{name} is unavailable: {NOTHING_DEFERRED}")
        return _usable(name, entry)

    def view(
        self,
        *,
        dialect: str = DEFAULT,
        without: Collection[str] = frozenset(),
        only: Collection[str] | None = None,
        loaded: Collection[str] = frozenset(),
    ) -> View:
        """Return the visible tools as `dialect` shows them, less what the profile takes away.

        Above the budget some are deferred; `loaded` are canonical names that stay all the same.

        Raises:
            ConfigError: there is no such dialect.
        """
        profile = Profile(without=frozenset(without), only=None if only is None else frozenset(only))
        made, key = self._views, (dialect, profile, frozenset(loaded))
        if key not in made:
            if len(made) >= VIEWS:
                made.clear()
            made[key] = deferred(self._view(dialect, profile), self.budget, loaded=key[2])
        return made[key]

    def _view(self, dialect: str, profile: Profile) -> View:
        offered = {
            name: [(shape, entry) for shape, entry in pairs if _offered(entry, name, profile)]
            for name, pairs in self._spoken(dialect).items()
        }
        names = {entry.name: name for name, pairs in offered.items() for _, entry in pairs}
        teller = Teller(dialects.dialect(dialect), names)
        items = tuple(teller.shown(name, pairs) for name, pairs in offered.items() if pairs)
        return View(dialect=dialect, items=items)

    def unknown(self, names: Collection[str], *, dialect: str = DEFAULT) -> tuple[str, ...]:
        """Return which of `names` name no tool, canonically or in the dialect: a typo in a profile narrows nothing."""
        spoken = self._spoken(dialect)
        return tuple(sorted(name for name in names if name not in self.named and name not in spoken))

    def roster(self, *, dialect: str = DEFAULT, without: Collection[str] = frozenset()) -> tuple[Fields, ...]:
        """Return every tool that the dialect has, visible or not: name, canonical, surface, state, why and digest."""
        teller = Teller(
            dialects.dialect(dialect), {entry.name: "" for entry in self.entries if entry.state == "visible"}
        )
        profile = Profile(without=frozenset(without))
        view = self.view(dialect=dialect, without=without)
        put_off = {item.name for item in view.deferred}
        rows: list[Fields] = []
        for name, pairs in self._spoken(dialect).items():
            for _, entry in pairs:
                state, why = entry.state, entry.why or ("deferred" if name in put_off else "")
                if state == "visible" and not profile.allows(name, entry.name):
                    state, why = "disabled", "not in the profile"
                elif state == "visible" and name not in view.names and name not in put_off:
                    state, why = "unavailable", NOTHING_DEFERRED
                rows.append(
                    {
                        "name": name,
                        "canonical": entry.name,
                        "surface": teller.surface(entry),
                        "state": state,
                        "why": why,
                        "digest": entry.descriptor.digest,
                    }
                )
        return tuple(rows)

    def _spoken(self, name: str) -> Spoken:
        """Return the shown names of a dialect in catalog order, each with its tools in the order of the shapes."""
        index: dict[str, Spoken] = self._indexes
        if name not in index:
            index[name] = _index(dialects.dialect(name), self.entries)
        return index[name]

    @cached_property
    def _indexes(self) -> dict[str, Spoken]:
        """Each dialect's index, made at its first use and a function of the entries alone."""
        return {}

    @cached_property
    def _views(self) -> dict[tuple[str, Profile, frozenset[str]], View]:
        """The views made so far, each a function of the entries and its key alone."""
        return {}

    def _unknown(self, name: str, dialect: str, *, person: bool) -> Missing:
        known = [
            shown
            for shown, pairs in self._spoken(dialect).items()
            if any(entry.state == "visible" or (person and _is_personal(entry)) for _, entry in pairs)
        ]
        near = nearest(name, known)
        return Missing(
            refusal="tool.unknown",
            message=f"no tool is called {name[:200]!r}",
            hint=f"did you mean {', '.join(near)}?" if near else f"known tools: {', '.join(known[:40])}",
        )


def _index(spoken: Dialect, entries: Sequence[Entry]) -> Spoken:
    rank = {id(shape): place for place, shape in enumerate(spoken.shapes)}
    kept = {normal(shape.name) for each in entries if _is_builtin(each) and (shape := _shape(spoken, each)) is not None}
    found: dict[str, list[tuple[Shape, Entry]]] = {}
    for entry in entries:
        shape = _shape(spoken, entry)
        if shape is not None:
            if not _is_builtin(entry) and normal(shape.name) in kept:
                # A built-in keeps the name that the dialect gives it, and the tool of the other origin is renamed.
                shape = replace(shape, name=apart(entry.descriptor.origin, entry.descriptor.raw_name))
            said = replace(entry, aliases=dict(spoken.aliases), details=dict(spoken.details), bounds=spoken.bounds)
            found.setdefault(shape.name, []).append((shape, said))
    return {name: tuple(sorted(pairs, key=lambda pair: rank.get(id(pair[0]), -1))) for name, pairs in found.items()}


def _shape(spoken: Dialect, entry: Entry) -> Shape | None:
    return spoken.shape_of(entry.name, builtin=_is_builtin(entry))


def _is_builtin(entry: Entry) -> bool:
    return entry.descriptor.origin.kind == "builtin"


def _is_personal(entry: Entry) -> bool:
    return entry.descriptor.person_only


def _offered(entry: Entry, name: str, profile: Profile) -> bool:
    return entry.state == "visible" and profile.allows(name, entry.name)


def _usable(name: str, entry: Entry) -> Entry | Missing:
    if entry.state == "disabled":
        return Missing(
            refusal="tool.disabled",
            message=f"{name} is disabled",
            hint=f"a person can run `toolcrib tools enable {entry.name}`",
        )
    if entry.state == "unavailable":
        return Missing(refusal="tool.unavailable", message=f"{name} is unavailable: it {entry.why}")
    return entry


def _unchosen(name: str, candidates: Sequence[tuple[Shape, Entry]]) -> Missing:
    choices: dict[str, list[str]] = {}
    for shape, _ in candidates:
        if shape.choice is not None and shape.choice[1] not in choices.setdefault(shape.choice[0], []):
            choices[shape.choice[0]].append(shape.choice[1])
    wanted = "; ".join(f"{argument}: expected one of {', '.join(values)}" for argument, values in choices.items())
    return Missing(refusal="args.invalid", message=wanted, hint=f"{name} does what that argument says")


@dataclass(frozen=True, slots=True)
class _Reasons:
    """Why a tool is not offered, the first reason that holds."""

    disabled: Collection[str]
    unavailable: Unavailable | None
    fully_denied: FullyDenied | None
    names: frozenset[str]

    def entry(self, name: str, tool: Tool) -> Entry:
        state, why = self._state(name, tool)
        return Entry(name=name, tool=tool, state=state, why=why)

    def _state(self, name: str, tool: Tool) -> tuple[State, str]:
        if name in self.disabled:
            return "disabled", "disabled"
        if (why := self._cannot(name, tool)) is not None:
            return "unavailable", why
        if self.fully_denied is not None and (why := self.fully_denied(name, tool.descriptor)) is not None:
            return "denied", why
        if tool.descriptor.person_only:
            return "person only", "called by people, offered to no model"
        return "visible", ""

    def _cannot(self, name: str, tool: Tool) -> str | None:
        if self.unavailable is None or callable(self.unavailable):
            return self.unavailable(name, tool) if self.unavailable else None
        raw = tool.descriptor.raw_name
        return self.unavailable.get(name, None if raw in self.names else self.unavailable.get(raw))
