"""Finish: caps, spills, redacts, attaches evidence, and closes the job exactly once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.engine.kit import Kit
from toolcrib.engine.stages import Flight
from toolcrib.ports.tape import Repeated
from toolcrib.terms.call import Call
from toolcrib.terms.outcome import Bounds, Change, Evidence, Ok, Outcome, Refused, spelled
from toolcrib.terms.payload import Answer, Payload
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Happened, Refusal

HEAD = 2000
"""Characters of a spilled output shown from its start; the same from its end."""


@dataclass(frozen=True, slots=True)
class Body:
    """What an outcome says before it is closed: payload, the text of it, bounds and evidence."""

    payload: dict[str, Any] | None
    text: str
    bounds: Bounds
    evidence: Evidence


async def finish(flight: Flight, ending: Answer[Payload] | Refusal, kit: Kit) -> Outcome:
    """Close the call and return its outcome; when the tape refuses, the outcome says what is true all the same."""
    changed = await changes(flight, kit)
    try:
        body = await _body(flight, ending, changed, kit)
    except Refusal as refusal:
        ending, body = refusal, Body(None, "", Bounds(), Evidence(changed=changed))
    outcome = _outcome(flight, ending, body, kit)
    entries = [
        *flight.pending,
        Entry(
            stage="closed",
            call_id=flight.call.id,
            data={"outcome": outcome.to_json(canonical=True), "text": outcome.text},
        ),
    ]
    flight.pending = []
    try:
        await kit.tape.append(entries, durable=not _only_reads(flight, entries))
    except Refusal as refusal:
        return _untaped(flight.call, refusal, changed)
    except Repeated as repeated:
        message = f"{repeated}: another process recorded this call, and its entries stand"
        return _untaped(flight.call, Refusal("call.interrupted", message), changed)
    return outcome


def _only_reads(flight: Flight, entries: Sequence[Entry]) -> bool:
    """Tell whether nothing but a reading is recorded: no effect, no question, no answer."""
    tool = flight.tool
    if tool is None or tool.descriptor.kind != "read" or tool.descriptor.origin.kind != "builtin":
        return False
    return all(entry.stage in {"received", "judged", "started", "closed"} for entry in entries)


async def changes(flight: Flight, kit: Kit) -> tuple[Change, ...]:
    """Return what the call changed in its write footprint; nothing for a call that did not start."""
    if flight.checkpoint is None:
        return ()
    try:
        return await kit.snapshots.changes(flight.checkpoint)
    except Refusal:
        return ()


async def _body(flight: Flight, ending: Answer[Payload] | Refusal, changed: tuple[Change, ...], kit: Kit) -> Body:
    payload = ending.payload
    plain = payload.model_dump(mode="json") if payload is not None else None
    text = payload.text() if payload is not None else ""
    evidence = replace(ending.evidence, changed=changed) if changed else ending.evidence
    plain, taken = kit.redact.value(plain)
    text, again = kit.redact.text(text)
    diff, third = kit.redact.text(evidence.diff) if evidence.diff else (evidence.diff, 0)
    count = max(taken, again) + third
    if count:
        evidence = replace(evidence, redactions=count, diff=diff)
    bounds = ending.bounds
    spills = flight.tool is None or flight.tool.descriptor.spills
    if (
        spills
        and len(text) > kit.settings.call.spill_bytes // 4
        and len(text.encode("utf-8", "surrogatepass")) > kit.settings.call.spill_bytes
    ):
        raw = text.encode("utf-8", "surrogatepass")
        artifact = await kit.artifacts.put(raw, media="text/plain")
        bounds = replace(bounds, truncated=True, spilled=artifact.id)
        head, tail = text[:HEAD], text[-HEAD:]
        plain = {"spilled": artifact.id, "size": len(raw), "head": head, "tail": tail}
        text = f"{head}\n[... {len(raw):,} bytes in all; read the rest with artifact_read id={artifact.id} ...]\n{tail}"
    return Body(plain, text, bounds, evidence)


def _outcome(flight: Flight, ending: Answer[Payload] | Refusal, body: Body, kit: Kit) -> Outcome:
    call, found = flight.call, flight.found
    spelling: Mapping[str, str] = found.bounds if found is not None else {}
    if isinstance(ending, Refusal):
        name = found.aliases.get(ending.name, ending.name) if found is not None else ending.name
        details = found.details.get(ending.name) if found is not None else None
        happened: Happened = "yes" if body.evidence.changed else ending.happened
        message, hint = (_told(text, flight, kit) for text in (ending.message, ending.hint))
        return Refused(
            tool=call.tool[:200],
            call_id=call.id,
            name=name,
            message=message,
            hint=hint,
            happened=happened,
            payload={**(body.payload or {}), **details} if details else body.payload,
            bounds=body.bounds,
            evidence=body.evidence,
            text=refusal_text(name, message, hint, happened, body, spelling),
            spelling=spelling,
        )
    told = ending.payload.tells_bounds and body.bounds.spilled is None
    closing = "" if told else bounds_text(body.bounds, spelling)
    text = "\n".join(part for part in (body.text, closing) if part)
    return Ok(
        tool=call.tool,
        call_id=call.id,
        payload=body.payload or {},
        bounds=body.bounds,
        evidence=body.evidence,
        text=text,
        spelling=spelling,
    )


def _told(text: str, flight: Flight, kit: Kit) -> str:
    """Return what a refusal says, without secrets and in the caller's words."""
    said, _ = kit.redact.text(text)
    return flight.found.told(said, dialect=flight.call.dialect) if flight.found is not None else said


def refusal_text(
    name: str, message: str, hint: str, happened: Happened, body: Body, spelling: Mapping[str, str]
) -> str:
    """Return what a model reads of a refusal: name, message, hint, whether it happened, and what was read."""
    lines = [f"refused {name}: {message}"]
    if hint:
        lines.append(f"next: {hint}")
    if happened != "no":
        lines.append(f"the effect {'took place' if happened == 'yes' else 'may have taken place'}")
    lines.extend(part for part in (body.text, bounds_text(body.bounds, spelling)) if part)
    return "\n".join(lines)


def bounds_text(bounds: Bounds, spelling: Mapping[str, str]) -> str:
    """Return the bounds that were hit as one line, or nothing."""
    said = spelled(bounds, spelling)
    return f"[bounds: {', '.join(f'{key}={value}' for key, value in said.items())}]" if said else ""


def _untaped(call: Call, refusal: Refusal, changed: tuple[Change, ...]) -> Outcome:
    """The effect may stand, but its closing entry does not: say both."""
    happened: Happened = "yes" if changed else "no"
    evidence = Evidence(changed=changed)
    message = f"the tape could not be written ({refusal.message})"
    body = Body(None, "", Bounds(), evidence)
    return Refused(
        tool=call.tool[:200],
        call_id=call.id,
        name=refusal.name,
        message=message,
        hint=refusal.hint,
        happened=happened,
        evidence=evidence,
        text=refusal_text(refusal.name, message, refusal.hint, happened, body, {}),
    )
