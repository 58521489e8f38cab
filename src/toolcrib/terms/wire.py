"""Wire forms read back: what `to_json` wrote, as a value again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from toolcrib.terms.outcome import Bounds, Change, Evidence, Ok, Outcome, Refused
from toolcrib.terms.records import Checkpoint, Held


def outcome_from(wire: Mapping[str, Any], *, text: str = "") -> Outcome:
    """Return the outcome that `wire` is the JSON form of, with the text a model read.

    Raises:
        KeyError: `wire` is not the form of an outcome.
    """
    bounds, evidence = bounds_from(wire["bounds"]), evidence_from(wire["evidence"])
    if wire["kind"] == "ok":
        return Ok(
            tool=wire["tool"],
            call_id=wire["call_id"],
            payload=wire["payload"],
            bounds=bounds,
            evidence=evidence,
            text=text,
        )
    return Refused(
        tool=wire["tool"],
        call_id=wire["call_id"],
        name=wire["name"],
        message=wire["message"],
        hint=wire["hint"],
        happened=wire["happened"],
        payload=wire["payload"],
        bounds=bounds,
        evidence=evidence,
        text=text,
    )


def bounds_from(wire: Mapping[str, Any]) -> Bounds:
    """Return the bounds that `wire` is the JSON form of."""
    return Bounds(**_known(Bounds, wire))


def evidence_from(wire: Mapping[str, Any]) -> Evidence:
    """Return the evidence that `wire` is the JSON form of."""
    held = _known(Evidence, wire)
    if "changed" in held:
        held["changed"] = tuple(Change(each["path"], each["before"], each["after"]) for each in held["changed"])
    return Evidence(**held)


def checkpoint_from(wire: Mapping[str, Any]) -> Checkpoint:
    """Return the checkpoint that `wire`, as a `started` entry carries it, is the JSON form of."""
    return Checkpoint(id=wire["id"], held=tuple(Held(**held) for held in wire["held"]))


def _known(kind: type[Bounds | Evidence], wire: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in wire.items() if name in names}  # pyright: ignore[reportUnknownArgumentType]
