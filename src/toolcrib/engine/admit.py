"""Admit: a name to a tool in the caller's view, arguments to its parameters, paths to places. No effect yet."""

from typing import Any

from pydantic import BaseModel

from toolcrib.catalog.entry import Entry, Missing
from toolcrib.engine.arguments import parse, shape_faults
from toolcrib.engine.kit import Kit
from toolcrib.engine.readings import Readings
from toolcrib.engine.stages import Admitted, Flight, Stop
from toolcrib.ports.scope import Scope
from toolcrib.terms.facts import Facts, Place
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Entry as TapeEntry
from toolcrib.terms.records import JobKind
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Tool


async def admit(flight: Flight, kit: Kit, readings: Readings) -> Admitted:
    """Return the admitted call.

    Raises:
        Stop: `tool.unknown`, `tool.disabled`, `tool.unavailable`, `tool.not_in_profile`, `args.invalid`, or a refusal
            of the membrane for a path that the call names.
    """
    call = flight.call
    found = kit.catalog().find(
        call.tool,
        dialect=call.dialect,
        without=call.without,
        person=call.principal.face in {"cli", "python", "http"},
        args=call.args,
    )
    if isinstance(found, Missing):
        received(flight, kit, kind="tool_call")
        raise Stop(Refusal(found.refusal, found.message, hint=found.hint))
    flight.tool, flight.canonical, flight.found = found.tool, found.name, found
    try:
        return await _resolved(flight, found, kit, readings)
    except Refusal as refusal:
        if not flight.received:
            received(flight, kit, kind=job_kind(found.tool))
        raise Stop(refusal) from refusal


async def _resolved(flight: Flight, found: Entry, kit: Kit, readings: Readings) -> Admitted:
    call, tool = flight.call, found.tool
    if faults := _faults(flight, kit):
        raise Refusal("args.invalid", "; ".join(faults))
    converted = found.convert(call.args, dialect=call.dialect)
    args = parse(found, converted.args, dialect=call.dialect)
    plain = args.model_dump(mode="json", exclude_defaults=True)
    received(flight, kit, kind=job_kind(tool))
    places, footprint = await resolve(tool, args, kit)
    cited = readings.cited(call.principal.thread, places)
    if tool.pins and not getattr(args, tool.pins, None) and not all(place.path in cited for place in places):
        places, footprint = await resolve(tool, args, kit, digest=True)
    facts = Facts(
        places=places,
        cited=cited,
        rebase=kit.settings.files.rebase and "no_rebase" not in converted.marks,
        limits=kit.settings.files,
    )
    return Admitted(flight, tool, args, plain, footprint, facts, converted.marks)


async def resolve(
    tool: Tool, args: BaseModel, kit: Kit, *, digest: bool = False
) -> tuple[tuple[Place, ...], Footprint]:
    """Resolve the paths of a call's footprint, and with `digest` hash the files that stand there.

    Raises:
        Refusal: the membrane's, for a path outside, through a bad link, and so on; what the tool says of arguments that
            name nothing it could do.
    """
    files = kit.files(Scope())
    named = tool.footprint(args)
    writes = named.writes if tool.spread is None else (*named.writes, *await tool.spread(args, files))
    places: dict[str, Place] = {}
    for path in (*writes, *named.reads):
        if path not in places:
            places[path] = await files.place(path, digest=digest, follow=tool.follows)
    footprint = Footprint(
        reads=tuple(dict.fromkeys(places[path].path for path in named.reads)),
        writes=tuple(dict.fromkeys(places[path].path for path in writes)),
        argv=named.argv,
        hosts=named.hosts,
    )
    return tuple(places.values()), footprint


def moved(subject: str) -> Refusal:
    """Return the refusal of a call whose files are no longer what it was judged on."""
    return Refusal(
        "approval.stale",
        f"{subject!r} changed while the call waited: it is not what was judged",
        hint="read it again and repeat the call",
    )


def received(flight: Flight, kit: Kit, *, kind: JobKind) -> None:
    """Put the receipt of the call on the flight's entries."""
    call = flight.call
    told: dict[str, Any] = {} if _faults(flight, kit) else dict(call.args)
    args, _ = kit.redact.value(told)
    flight.received = True
    flight.pending.append(
        TapeEntry(
            stage="received",
            call_id=call.id,
            data={
                "tool": call.tool[:200],
                "canonical": flight.canonical,
                "digest": flight.tool.descriptor.digest if flight.tool else None,
                **_text_digest(flight),
                "kind": kind,
                "args": args,
                "principal": call.principal.id,
                "face": call.principal.face,
                "thread": call.principal.thread,
                "owner": kit.owner,
            },
        )
    )


def _faults(flight: Flight, kit: Kit) -> list[str]:
    if flight.faults is None:
        flight.faults = shape_faults(flight.call.args, limits=kit.settings.call)
    return flight.faults


def _text_digest(flight: Flight) -> dict[str, str]:
    """Return what pins the words of a tool that is not built in, as grants do."""
    if flight.tool is None or flight.tool.descriptor.origin.kind == "builtin":
        return {}
    return {"text_digest": flight.tool.descriptor.text_digest}


def job_kind(tool: Tool) -> JobKind:
    """Return the class of the job, by vocabulary: file mutators, other built-in mutators, and plain calls."""
    descriptor = tool.descriptor
    if descriptor.origin.kind != "builtin" or descriptor.kind not in {"write", "effect"}:
        return "tool_call"
    return "file_mutate" if descriptor.raw_name in {"write_file", "edit_file"} else "system_tool"
