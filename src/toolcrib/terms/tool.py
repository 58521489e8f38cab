"""A tool is one decorated async function: first its arguments, then one parameter for each power it asks for."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

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
    pins: bool
    """Whether admit hashes the files the call names, so that an approval and the execution bind to them."""
    preview: Preview | None

    def footprint(self, args: BaseModel) -> Footprint:
        """Return what the call names, not yet resolved."""
        return Footprint(reads=self.reads(args), writes=self.writes(args))


def paths(*fields: str) -> Pick:
    """Return a picker of the named argument fields, in order, as paths."""

    def pick(args: BaseModel) -> tuple[str, ...]:
        return tuple(str(getattr(args, field)) for field in fields)

    return pick


def nothing(_args: BaseModel) -> tuple[str, ...]:
    """Pick no path."""
    return ()


def tool(
    *,
    kind: Kind,
    effect: EffectClass = "irreversible",
    approval: ApprovalPolicy = "required",
    reads: Pick = nothing,
    writes: Pick = nothing,
    pins: bool = False,
    preview: Preview | None = None,
    refusals: Sequence[RefusalName] = (),
    summary: str = "",
    prefer_over: str | None = None,
    surface: Surface = "symbol",
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    family: str | None = None,
    origin: Origin | None = None,
    person_only: bool = False,
    spills: bool = True,
) -> Callable[[ToolFunction], Tool]:
    """Declare an async function as a tool: first its arguments (a pydantic model), then each power it asks for by type.

    An undeclared effect is `irreversible` and needs a yes; the description defaults to the docstring. `reads` and
    `writes` pick the paths out of the arguments that rules, locks and checkpoints are about.

    Raises:
        TypeError: the function is not async, or its first parameter is not one object of arguments.
    """

    def declare(body: ToolFunction) -> Tool:
        parameters, powers, returns = _signature(body)
        raw = name or body.__name__
        text = description if description is not None else inspect.cleandoc(body.__doc__ or "")
        return Tool(
            descriptor=Descriptor(
                origin=origin or origin_of(body),
                raw_name=raw,
                family=family or body.__module__.rpartition(".")[2],
                title=title or raw.replace("_", " ").capitalize(),
                summary=summary or first_sentence(text) or raw,
                description=text or summary or raw,
                schema=schema_of(parameters),
                returns=schema_of(returns, mode="serialization") if returns else None,
                kind=kind,
                effect=effect,
                approval=approval,
                surface=surface,
                prefer_over=prefer_over,
                powers=tuple(power.__name__ for _, power in powers),
                refusals=tuple(refusals),
                person_only=person_only,
                spills=spills,
            ),
            body=body,
            parameters=parameters,
            powers=powers,
            reads=reads,
            writes=writes,
            pins=pins,
            preview=preview,
        )

    return declare


def origin_of(body: ToolFunction) -> Origin:
    """Return the origin of a function: `builtin` for this package's own, else `custom:<module>`."""
    module = body.__module__
    return BUILTIN if module.startswith("toolcrib.tools.") else Origin("custom", module)


def first_sentence(text: str) -> str:
    """Return `text` up to its first full stop followed by a blank, on one line."""
    flat = " ".join(text.split())
    head, stop, _ = flat.partition(". ")
    return head + "." if stop else flat


def _signature(body: ToolFunction) -> tuple[type[BaseModel], tuple[tuple[str, type], ...], type[Payload] | None]:
    if not inspect.iscoroutinefunction(body):
        raise TypeError(f"{body.__qualname__} must be an async function")
    hints = get_type_hints(body)
    names = list(inspect.signature(body).parameters)
    returned = hints.pop("return", None)
    payloads = [each for each in get_args(returned) if isinstance(each, type) and issubclass(each, Payload)]
    returns = payloads[0] if payloads else None
    first = hints.get(names[0]) if names else None
    if isinstance(first, type) and issubclass(first, BaseModel):
        return first, tuple((each, hints[each]) for each in names[1:]), returns
    raise TypeError(f"{body.__qualname__}: the first parameter must be a model of the arguments, found {first!r}")
