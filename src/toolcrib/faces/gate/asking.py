"""Questions to the person behind an MCP client that was marked as an approver: asked as forms, answered once.

On revision 2025-11-25 the server asks while the call waits. On 2026-07-28 it cannot: the call ends asking for input,
and the client repeats it with the answer and a state that only this process can have made.
"""

import asyncio
import base64
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from toolcrib.faces.gate.sdk import MCPError, ServerRequestContext
from toolcrib.ports.ask import Answered, Asker
from toolcrib.terms.call import Decision
from toolcrib.terms.outcome import Fields, Outcome, Refused
from toolcrib.terms.question import Facts, always_of, body_of, facts_of, measure
from toolcrib.terms.records import Approval
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.visible import visible
from toolcrib.wiring.crib import Crib

LONGEST = 100_000
"""Most characters of a change that a form shows; a longer one waits for a terminal, where it can be paged."""

QUESTION = "approval"
"""The key of the one question in an answer that asks for input."""

_DECISIONS: dict[str, Decision] = {"once": "once", "always": "always", "deny": "deny"}

Request = ServerRequestContext[dict[str, Any], Any]
"""One request as the SDK hands it over."""


class Asking:
    """Asks by one client's forms. Made for one session; its states mean nothing to any other process."""

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._key = secrets.token_bytes(32)

    def may(self, request: Request) -> bool:
        """Tell whether the person marked this client as an approver, and it says that it can show a form."""
        params, capable = request.session.client_params, request.session.client_capabilities
        if params is None or capable is None or capable.elicitation is None:
            return False
        told = capable.elicitation.model_dump(exclude_none=True)
        return self._crib.settings.approvers.get(params.client_info.name, False) and (not told or "form" in told)

    def asker(self, request: Request, *, by: str) -> Asker:
        """Return what asks while the call waits. A client that cannot after all leaves the approval waiting."""

        async def ask(approval: Approval) -> Answered | None:
            form = form_of(approval)
            if form is None:
                return None
            asked = await _elicited(request, form, self._crib.settings.call.attended_seconds)
            return answered(asked, approval, by=by)

        return ask

    async def take(self, params: Mapping[str, Any], *, by: str) -> None:
        """Record the answer that a repeated call brings. Anything that is not an answer to our question is nothing."""
        approval = await self._asked_about(params.get("requestState"), by)
        replies = params.get("inputResponses")
        if approval is None or not isinstance(replies, Mapping):
            return
        answer = answered(cast("Mapping[str, Any]", replies).get(QUESTION), approval, by=by)
        if answer is None:
            return
        try:
            await self._crib.answer(approval.id, decision=answer.decision, words=answer.words, by=answer.by)
        except Refusal:
            return  # answered elsewhere, or over: the call that follows meets what stands

    async def question(self, outcome: Outcome, *, by: str) -> Fields | None:
        """Return the result that asks for a person's answer, where that is what the outcome waits for."""
        if not isinstance(outcome, Refused) or outcome.name != "approval.unattended" or outcome.payload is None:
            return None
        approval = await self._crib.approval(str(outcome.payload.get("approval", "")))
        form = form_of(approval) if approval is not None and approval.state == "pending" else None
        if approval is None or form is None:
            return None
        asked = {"method": "elicitation/create", "params": {"mode": "form", **form}}
        return {
            "resultType": "input_required",
            "inputRequests": {QUESTION: asked},
            "requestState": self._sealed({"approval": approval.id, "by": by}),
        }

    async def _asked_about(self, state: object, by: str) -> Approval | None:
        told = self._opened(state) if isinstance(state, str) else None
        if told is None or told.get("by") != by:
            return None
        return await self._crib.approval(str(told.get("approval", "")))

    def _sealed(self, told: Mapping[str, str]) -> str:
        body = base64.urlsafe_b64encode(json.dumps(told).encode()).decode("ascii")
        return f"{body}.{hmac.digest(self._key, body.encode(), 'sha256').hex()}"

    def _opened(self, state: str) -> dict[str, Any] | None:
        body, _, proof = state.partition(".")
        if not (body.isascii() and proof.isascii()):
            return None
        if not hmac.compare_digest(hmac.digest(self._key, body.encode(), "sha256").hex(), proof):
            return None
        return cast("dict[str, Any]", json.loads(base64.urlsafe_b64decode(body)))


async def _elicited(request: Request, form: Fields, seconds: float) -> object:
    """Return the client's raw answer to a form, None when there is none."""
    try:
        async with asyncio.timeout(seconds):
            result = await request.session.elicit_form(
                form["message"], form["requestedSchema"], related_request_id=request.request_id
            )
    except (MCPError, TimeoutError, ValidationError):
        return None
    return {"action": result.action, "content": result.content}


def form_of(approval: Approval) -> Fields | None:
    """Return message and schema of the form that asks about `approval`; None when it is too long to be read there.

    Everything in the message that the caller or a file wrote has its hidden characters written out.
    """
    message = message_of(approval)
    if len(message) > LONGEST:
        return None
    choices = ["once", "always", "deny"] if approval.grantable else ["once", "deny"]
    about = "once: this call only. " + ("always: what is said above. " if approval.grantable else "") + "deny: no."
    schema: Fields = {
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "description": about, "enum": choices},
            "words": {"type": "string", "title": "Words", "description": "What the caller is told; may stay empty."},
        },
        "required": ["decision"],
    }
    return {"message": message, "requestedSchema": schema}


def answered(reply: object, approval: Approval, *, by: str) -> Answered | None:
    """Return the answer that a client's raw reply is; None for a form that was dismissed, or is not filled in."""
    if not isinstance(reply, Mapping):
        return None
    told = cast("Mapping[str, Any]", reply)
    if told.get("action") == "decline":
        return Answered("deny", by=by)
    content = told.get("content")
    if told.get("action") != "accept" or not isinstance(content, Mapping):
        return None
    filled = cast("Mapping[str, Any]", content)
    decision, words = filled.get("decision"), filled.get("words")
    if not isinstance(decision, str) or decision not in _DECISIONS or (decision == "always" and not approval.grantable):
        return None
    return Answered(_DECISIONS[decision], words=words[:2000] if isinstance(words, str) else "", by=by)


def message_of(approval: Approval) -> str:
    """Return the whole question in plain text: who wants what and why, all of it, and what `always` would cover."""
    body = body_of(approval)
    lines = [visible(approval.headline, lines=False), *_listed(facts_of(approval, now=time.time()))]
    lines += ["", visible(body), "", measure(body)]
    if covered := always_of(approval):
        lines += ["", "Always", *_listed(covered)]
    return "\n".join(lines)


def _listed(facts: Facts) -> list[str]:
    return [f"{name}: {visible(value, lines=False)}" for name, value in facts]
