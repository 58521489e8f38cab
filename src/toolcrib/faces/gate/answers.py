"""Outcomes as results of the Model Context Protocol, and the list of tools with what they answer."""

from collections.abc import Mapping
from typing import Any

from toolcrib.terms.errors import ToolcribError
from toolcrib.terms.outcome import Fields, Outcome
from toolcrib.wiring.crib import Crib

_CALL: Fields = {"tool": {"type": "string"}, "call_id": {"type": "string"}}
_PROOF: Fields = {
    "bounds": {"type": "object", "description": "What was cut or skipped; empty when the answer is complete."},
    "evidence": {"type": "object", "description": "What proves the outcome: digest, diff, changed and so on."},
}
_ALL: Fields = {
    "kind": {"enum": ["ok", "refused"]},
    **_CALL,
    "name": {"type": "string", "description": "Of a refusal: its name."},
    "message": {"type": "string", "description": "Of a refusal: what was expected and what was found."},
    "hint": {"type": "string", "description": "Of a refusal: what to do next."},
    "happened": {"enum": ["no", "maybe", "yes"], "description": "Of a refusal: whether the effect took place."},
    **_PROOF,
}
"""Every outcome, payload apart."""

SPILLED = ("spilled", "size", "head", "tail")
"""The fields of a payload that stands for an answer too large to send: they are not those of the tool's own payload."""


async def result_of(outcome: Outcome, crib: Crib) -> Fields:
    """Return the tool result: what a model reads as text, the whole outcome as structured content, media beside it."""
    return outcome.render("mcp", media=await crib.media(outcome))


def failed(error: ToolcribError) -> Fields:
    """Return the tool result for a call that the product itself could not take, as when its configuration broke."""
    text = "\n".join(part for part in (error.message, error.hint and f"next: {error.hint}") if part)
    return {"content": [{"type": "text", "text": text}], "isError": True}


def tools_of(rendered: list[Fields]) -> list[Fields]:
    """Return the tools as `tools/list` has them: the schema of a payload becomes that of the outcome around it."""
    return [
        {**tool, "outputSchema": outcome_schema(tool["outputSchema"])} if "outputSchema" in tool else tool
        for tool in rendered
    ]


def outcome_schema(payload: Mapping[str, Any]) -> Fields:
    """Return the schema of the outcomes of a tool whose payload has the schema `payload`, refusals included.

    One flat object, and of the payload only its fields: clients check every answer against this, in Python at several
    milliseconds for a list of a hundred lines, and a refusal or a spilled answer has to fit it as well.
    """
    fields: Mapping[str, Any] = payload.get("properties", {})
    shallow = {name: said for name, each in fields.items() if name not in SPILLED and (said := _shallow(each))}
    told = {"type": ["object", "null"], "description": "What the call answers.", "properties": shallow}
    return {
        "type": "object",
        "properties": {**_ALL, "payload": told},
        "required": ["kind", "tool", "call_id", "payload", "bounds", "evidence"],
        "additionalProperties": False,
    }


def _shallow(schema: Mapping[str, Any]) -> Fields:
    return {key: value for key, value in schema.items() if key in {"type", "description", "enum", "const"}}
