"""Outcomes as results of the Model Context Protocol, and the list of tools with what they answer."""

import base64
from collections.abc import Mapping
from typing import Any

from toolcrib.terms.errors import ToolcribError
from toolcrib.terms.outcome import Fields, Ok, Outcome
from toolcrib.terms.refusals import Refusal
from toolcrib.wiring.crib import Crib

MEDIA_BYTES = 16 << 20
"""Largest picture or document sent along, bytes."""

_CALL: Fields = {"tool": {"type": "string"}, "call_id": {"type": "string"}}
_PROOF: Fields = {
    "bounds": {"type": "object", "description": "What was cut or skipped; empty when the answer is complete."},
    "evidence": {"type": "object", "description": "What proves the outcome: digest, diff, changed and so on."},
}
SPILLED: Fields = {
    "type": "object",
    "description": "Stands for an answer too large to send: its start, its end, and the artifact that holds all of it.",
    "properties": {
        "spilled": {"type": "string"},
        "size": {"type": "integer"},
        "head": {"type": "string"},
        "tail": {"type": "string"},
    },
    "required": ["spilled", "size", "head", "tail"],
    "additionalProperties": False,
}
"""Schema of the payload that the line puts in the place of a spilled one."""

REFUSED: Fields = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["refused"]},
        **_CALL,
        "name": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": "string"},
        "happened": {"enum": ["no", "maybe", "yes"]},
        "payload": {"description": "What was read all the same, or null."},
        **_PROOF,
    },
    "required": ["kind", "name", "message", "happened"],
    "additionalProperties": False,
}
"""Schema of any refusal."""


async def result_of(outcome: Outcome, crib: Crib) -> Fields:
    """Return the tool result: what a model reads as text, the whole outcome as structured content, media beside it."""
    content: list[Fields] = [{"type": "text", "text": str(outcome)}]
    if isinstance(outcome, Ok) and isinstance(outcome.payload.get("media"), dict):
        content.extend(await _media(outcome.payload["media"], crib))
    return {"content": content, "structuredContent": outcome.to_json(), "isError": outcome.kind == "refused"}


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

    A refusal is an error and its structured content need not match (specification, "Output Schema"), but the
    TypeScript client checks it all the same.
    """
    done = {"kind": {"enum": ["ok"]}, **_CALL, "payload": {"anyOf": [dict(payload), SPILLED]}, **_PROOF}
    return {"type": "object", "anyOf": [_closed(done), REFUSED]}


def _closed(properties: Fields) -> Fields:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


async def _media(media: Mapping[str, Any], crib: Crib) -> list[Fields]:
    """Return the picture or document that a payload names; nothing when it is gone or no media after all."""
    artifact, kind = media.get("artifact"), media.get("media_type")
    if not isinstance(artifact, str) or not isinstance(kind, str):
        return []
    try:
        held = await crib.artifact(artifact, limit=MEDIA_BYTES)
    except Refusal:
        return []
    if len(held.data) < held.artifact.size:
        return []
    data = base64.b64encode(held.data).decode("ascii")
    if kind.startswith("image/"):
        return [{"type": "image", "data": data, "mimeType": kind}]
    return [{"type": "resource", "resource": {"uri": f"toolcrib:artifact/{artifact}", "mimeType": kind, "blob": data}}]
