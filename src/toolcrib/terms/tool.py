"""A tool is one decorated async function: first its arguments, then one parameter for each power it asks for."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict, Unpack, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.effects import ApprovalPolicy, EffectClass, Kind, Surface
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.names import BUILTIN, Origin
from toolcrib.terms.payload import Answer, Payload
from toolcrib.terms.refusals import RefusalName
from toolcrib.terms.schema import schema_of

ToolFunction = Callable[..., Awaitable[Answer[Any]]]
"""The shape of a tool's body."""

Pick = Callable[[BaseModel], tuple[str, ...]]
"""Takes a part of the footprint out of the arguments."""

Spread = Callable[..., Awaitable[tuple[str, ...]]]
"""Called at admit with the arguments and the workspace's files, reading only; names further paths that are written."""

Preview = Callable[..., Awaitable["Previewed"]]
"""Called with the arguments and the tool's own powers, reading only; shows what the call would do, or refuses it."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """What a person is shown before saying yes: one line, and the diff where there is one."""

    headline: str
    diff: str = ""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A declared tool: descriptor, body, parameters model, powers and footprint."""

    descriptor: Descriptor
    body: ToolFunction
    parameters: type[BaseModel]
    powers: tuple[tuple[str, type], ...]
    reads: Pick
    writes: Pick
    pins: str
    """The argument that cites what the call is based on; empty where it is not bound to the content of its files."""
    preview: Preview | None
    spread: Spread | None = None
    """What the call writes besides the paths in its arguments, read off the workspace."""
    follows: bool = True
    """Whether a link at the end of a path means what it leads to; if not, the link itself."""
    replaces: Pick | None = None
    """The paths where what stands there is replaced; None: all that are written."""

    def footprint(self, args: BaseModel) -> Footprint:
        """Return what the call names, not yet resolved."""
        return Footprint(reads=self.reads(args), writes=self.writes(args))


def paths(*fields: str) -> Pick:
    """Return a picker of the named argument fields, in order, as paths."""
    return _Fields(fields)


@dataclass(frozen=True, slots=True)
class _Fields:
    """A picker that says which fields it picks, so that a slip of the pen shows where the tool is declared."""

    names: tuple[str, ...]

    def __call__(self, args: BaseModel) -> tuple[str, ...]:
        return tuple(str(getattr(args, name)) for name in self.names)


def nothing(_args: BaseModel) -> tuple[str, ...]:
    """Pick no path."""
    return ()


class Declaration(TypedDict, total=False):
    """What a tool declares of itself. Only `kind` is required; what is left out is assumed to be the worst."""

    kind: Required[Kind]
    effect: EffectClass
    """Default: `irreversible`."""
    approval: ApprovalPolicy
    """Default: `required`."""
    reads: Pick
    """Picks the paths out of the arguments that the call reads; rules are about them. Default: none."""
    writes: Pick
    """Picks the paths that the call may write: locked, checkpointed, and the only ones it can write. Default: none."""
    pins: str
    """The argument that cites what the call is based on (a digest). Approvals then bind to the content of the files it
    names, and a call that cites nothing, or has no such argument, is held to what stood there when it was admitted.
    Default: none."""
    preview: Preview
    """Shows what the call would do, with the same powers, reading only."""
    spread: Spread
    """Names, from the arguments and `ports.files.Files`, what else the call writes: all that lies in a directory that
    is moved. Called at admit, and again before the call runs. Default: nothing."""
    follows: bool
    """Whether a link at the end of a path means what it leads to (the default), or itself."""
    replaces: Pick
    """Picks those of the written paths whose content goes if there is any. Default: all of them."""
    refusals: Sequence[RefusalName]
    """The refusal names it may answer with."""
    summary: str
    """One line for a list. Default: the first sentence of the description."""
    description: str
    """What a model reads. Default: the docstring."""
    prefer_over: str
    """What this tool should be reached for instead of."""
    surface: Surface
    name: str
    """Default: the function's name."""
    title: str
    family: str
    """Default: the last part of the module's name."""
    origin: Origin
    person_only: bool
    spills: bool


def tool(**declared: Unpack[Declaration]) -> Callable[[ToolFunction], Tool]:
    """Declare an async function as a tool: first its arguments (a pydantic model), then each power it asks for by type.

    `@toolcrib.tool(kind="read", effect="read", reads=paths("path"))`; see `Declaration` for what may be declared.

    Raises:
        TypeError: what is declared is not one of what may be, or the function is not of the shape of a tool.
    """
    _check(declared)

    def declare(body: ToolFunction) -> Tool:
        parameters, powers, returns = _signature(body)
        _check_fields(body, declared, parameters)
        return Tool(
            descriptor=_descriptor(body, declared, parameters, powers, returns),
            body=body,
            parameters=parameters,
            powers=powers,
            reads=declared.get("reads", nothing),
            writes=declared.get("writes", nothing),
            pins=declared.get("pins", ""),
            preview=declared.get("preview"),
            spread=declared.get("spread"),
            follows=declared.get("follows", True),
            replaces=declared.get("replaces"),
        )

    return declare


_CHOICES: dict[str, tuple[str, ...]] = {
    "kind": get_args(Kind),
    "effect": get_args(EffectClass),
    "approval": get_args(ApprovalPolicy),
    "surface": get_args(Surface),
}


def _check(declared: Mapping[str, Any]) -> None:
    """Refuse a declaration that would be silently without effect, or worse than meant."""
    if unknown := sorted(set(declared) - set(Declaration.__annotations__)):
        known = ", ".join(sorted(Declaration.__annotations__))
        raise TypeError(f"a tool declares no {unknown[0]!r}; it may declare: {known}")
    for name, choices in _CHOICES.items():
        if (name in declared or name == "kind") and declared.get(name) not in choices:
            raise TypeError(f"{name} must be one of {', '.join(choices)}, found {declared.get(name)!r}")


def _check_fields(body: ToolFunction, declared: Declaration, parameters: type[BaseModel]) -> None:
    """Refuse a picker of fields that the arguments do not have: it would fail at every call."""
    for name in ("reads", "writes", "replaces"):
        pick = declared.get(name)
        missing = (
            [each for each in pick.names if each not in parameters.model_fields] if isinstance(pick, _Fields) else []
        )
        if missing:
            known = ", ".join(parameters.model_fields) or "none"
            raise TypeError(f"{body.__qualname__}: {name} picks {missing[0]!r}, and the arguments are: {known}")


def _descriptor(
    body: ToolFunction,
    declared: Declaration,
    parameters: type[BaseModel],
    powers: tuple[tuple[str, type], ...],
    returns: type[Payload],
) -> Descriptor:
    raw = declared.get("name", body.__name__)
    text = declared.get("description", inspect.cleandoc(body.__doc__ or ""))
    summary = declared.get("summary", "")
    return Descriptor(
        origin=declared.get("origin") or origin_of(body),
        raw_name=raw,
        family=declared.get("family", body.__module__.rpartition(".")[2]),
        title=declared.get("title", raw.replace("_", " ").capitalize()),
        summary=summary or first_sentence(text) or raw,
        description=text or summary or raw,
        schema=schema_of(parameters),
        returns=schema_of(returns, mode="serialization"),
        kind=declared["kind"],
        effect=declared.get("effect", "irreversible"),
        approval=declared.get("approval", "required"),
        surface=declared.get("surface", "symbol"),
        prefer_over=declared.get("prefer_over"),
        powers=tuple(power.__name__ for _, power in powers),
        refusals=tuple(declared.get("refusals", ())),
        person_only=declared.get("person_only", False),
        spills=declared.get("spills", True),
    )


def origin_of(body: ToolFunction) -> Origin:
    """Return the origin of a function: `builtin` for this package's own, else `custom:<module>`."""
    module = body.__module__
    return BUILTIN if module.startswith("toolcrib.tools.") else Origin("custom", module)


def first_sentence(text: str) -> str:
    """Return `text` up to its first full stop followed by a blank, on one line."""
    flat = " ".join(text.split())
    head, stop, _ = flat.partition(". ")
    return head + "." if stop else flat


def _payload_of(body: ToolFunction, returned: object) -> type[Payload]:
    payloads = [each for each in get_args(returned) if isinstance(each, type) and issubclass(each, Payload)]
    if get_origin(returned) is not Answer or not payloads:
        raise TypeError(f"{body.__qualname__} must be annotated to return Answer[a Payload], found {returned!r}")
    if payloads[0] is not Payload and getattr(payloads[0].text, "__isabstractmethod__", False):
        raise TypeError(f"{payloads[0].__qualname__} must define text(): what a model reads of it")
    return payloads[0]


def _signature(body: ToolFunction) -> tuple[type[BaseModel], tuple[tuple[str, type], ...], type[Payload]]:
    if not inspect.iscoroutinefunction(body):
        raise TypeError(f"{body.__qualname__} must be an async function")
    hints = get_type_hints(body)
    names = list(inspect.signature(body).parameters)
    returned = hints.pop("return", None)
    returns = _payload_of(body, returned)
    first = hints.get(names[0]) if names else None
    if isinstance(first, type) and issubclass(first, BaseModel):
        return first, tuple((each, hints[each]) for each in names[1:]), returns
    raise TypeError(f"{body.__qualname__}: the first parameter must be a model of the arguments, found {first!r}")
