"""Resources and prompts: what a session's own calls did and left, and words to start from; nothing of others."""

import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolcrib.faces.gate.sdk import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    MCPError,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ServerRequestContext,
)
from toolcrib.terms.outcome import Fields, Outcome, Refused
from toolcrib.terms.records import Taped
from toolcrib.terms.refusals import Refusal
from toolcrib.wiring.crib import MEDIA_BYTES, Crib

TAPE = "toolcrib:tape"
"""The session's calls; with `/` and a call id, one of them."""

ARTIFACT = "toolcrib:artifact/"
"""Start of the address of what was too large to answer with."""

LATEST = 1000
"""Entries of the tape that are looked through for those of the session."""

Call = Callable[[str, Fields], Awaitable[Outcome]]
"""Makes a call of this session."""

Request = ServerRequestContext[dict[str, Any], Any]

_RESOURCES: list[Fields] = [
    {
        "uri": TAPE,
        "name": "tape",
        "title": "What this session did",
        "description": "The tape entries of this session's calls, one JSON object a line, the latest 1,000 at most.",
        "mimeType": "application/jsonl",
    }
]
_TEMPLATES: list[Fields] = [
    {
        "uriTemplate": f"{TAPE}/{{call_id}}",
        "name": "call",
        "title": "One call of this session",
        "description": "The tape entries of one call, one JSON object a line.",
        "mimeType": "application/jsonl",
    },
    {
        "uriTemplate": f"{ARTIFACT}{{id}}",
        "name": "artifact",
        "title": "A stored output",
        "description": "What was too large to answer with, or a picture or document that an answer named.",
    },
]
_PROMPTS: list[Fields] = [
    {
        "name": "tools",
        "title": "How to work with these tools",
        "description": "Which tool is for what, and which one to reach for instead of a shell.",
    },
    {
        "name": "review",
        "title": "Review what this session changed",
        "description": "Asks for a review of every change that this session's calls made, with their diffs.",
    },
]


class Shelves:
    """The resources and prompts of one session."""

    def __init__(self, crib: Crib, *, dialect: str, thread: str, call: Callable[[Request], Call]) -> None:
        self._crib = crib
        self._dialect = dialect
        self._thread = thread
        self._call = call

    async def resources(self, _request: Request, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        """List what can be read without knowing an id."""
        return ListResourcesResult.model_validate({"resources": _RESOURCES})

    async def templates(self, _request: Request, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """List what can be read by an id."""
        return ListResourceTemplatesResult.model_validate({"resourceTemplates": _TEMPLATES})

    async def read(self, request: Request, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return a resource.

        Raises:
            MCPError: there is none at that address, or none that is this session's to read.
        """
        uri = str(params.uri)
        if uri == TAPE:
            return _text(uri, "application/jsonl", _lines(await self._own()))
        if uri.startswith(f"{TAPE}/"):
            entries = await self._crib.tape(call_id=uri.removeprefix(f"{TAPE}/"))
            if not any(self._is_own(entry) for entry in entries):
                raise _absent(uri)
            return _text(uri, "application/jsonl", _lines(entries))
        if uri.startswith(ARTIFACT):
            return await self._artifact(request, uri, uri.removeprefix(ARTIFACT))
        raise _absent(uri)

    async def prompts(self, _request: Request, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        """List the prompts."""
        return ListPromptsResult.model_validate({"prompts": _PROMPTS})

    async def prompt(self, _request: Request, params: GetPromptRequestParams) -> GetPromptResult:
        """Return a prompt.

        Raises:
            MCPError: there is none of that name.
        """
        if params.name == "tools":
            text = self._crib.overview(dialect=self._dialect)
        elif params.name == "review":
            text = _review(await self._own())
        else:
            names = ", ".join(prompt["name"] for prompt in _PROMPTS)
            raise MCPError(code=INVALID_PARAMS, message=f"no prompt is named {params.name[:80]!r}; there are: {names}")
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return GetPromptResult.model_validate({"messages": [message]})

    async def _artifact(self, request: Request, uri: str, artifact_id: str) -> ReadResourceResult:
        """Return a stored output, once the line lets this session read it: the call that says so is on the tape."""
        asked = await self._call(request)("artifact_read", {"id": artifact_id, "limit": 1})
        if isinstance(asked, Refused) and asked.name != "file.binary":
            raise MCPError(code=INVALID_PARAMS, message=f"{asked.name}: {asked.message}")
        try:
            held = await self._crib.artifact(artifact_id, limit=MEDIA_BYTES)
        except Refusal as refusal:
            raise MCPError(code=INVALID_PARAMS, message=f"{refusal.name}: {refusal.message}") from refusal
        if len(held.data) < held.artifact.size:
            said = f"the artifact has {held.artifact.size:,} bytes; artifact_read shows it in slices"
            raise MCPError(code=INVALID_PARAMS, message=said)
        media = held.artifact.media
        if not isinstance(asked, Refused):
            return _text(uri, media, held.data.decode("utf-8", "backslashreplace"))
        blob = base64.b64encode(held.data).decode("ascii")
        return ReadResourceResult.model_validate({"contents": [{"uri": uri, "mimeType": media, "blob": blob}]})

    async def _own(self) -> list[Taped]:
        entries = await self._crib.latest(limit=LATEST)
        calls = {entry.call_id for entry in entries if self._is_own(entry)}
        return [entry for entry in entries if entry.call_id in calls]

    def _is_own(self, entry: Taped) -> bool:
        return entry.stage == "received" and entry.data.get("thread") == self._thread


def _lines(entries: Sequence[Taped]) -> str:
    return "".join(
        json.dumps({"seq": each.seq, "at": each.at, "stage": each.stage, "call_id": each.call_id, "data": each.data})
        + "\n"
        for each in entries
    )


def _review(entries: Sequence[Taped]) -> str:
    diffs: list[str] = []
    for entry in entries:
        evidence: Fields = entry.data.get("outcome", {}).get("evidence", {}) if entry.stage == "closed" else {}
        if evidence.get("changed"):
            paths = ", ".join(str(change["path"]) for change in evidence["changed"])
            diffs.append(f"Call {entry.call_id} changed {paths}:\n{evidence.get('diff', '(no diff was kept)')}")
    if not diffs:
        return "This session has changed nothing so far: say so."
    ask = "Review the changes below, which this session made, in order. Name what is wrong, risky or unfinished."
    return "\n\n".join([ask, *diffs])


def _text(uri: str, media: str, text: str) -> ReadResourceResult:
    return ReadResourceResult.model_validate({"contents": [{"uri": uri, "mimeType": media, "text": text}]})


def _absent(uri: str) -> MCPError:
    return MCPError(
        code=INVALID_PARAMS,
        message=f"this session has no resource {uri[:200]!r}",
        data={"expected": [TAPE, f"{TAPE}/{{call_id}}", f"{ARTIFACT}{{id}}"]},
    )
