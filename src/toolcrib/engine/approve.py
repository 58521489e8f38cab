"""Approve: only for Ask. A yes is bound to the digest of the exact effect, used once, and never made by waiting."""

import asyncio
import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from toolcrib.engine.admit import moved, resolve
from toolcrib.engine.kit import Binding, Kit, Policy
from toolcrib.engine.powers import Circumstances, bind
from toolcrib.engine.stages import Cleared, Judged, Stop
from toolcrib.policy.decide import DIALECT, child_refusal
from toolcrib.policy.grants import pattern_for
from toolcrib.policy.rules import Allow, Ask
from toolcrib.ports.ask import Answered, Asker
from toolcrib.ports.scope import Scope
from toolcrib.terms.call import Call, Decision
from toolcrib.terms.digest import of_json
from toolcrib.terms.names import mint_id
from toolcrib.terms.payload import Payload
from toolcrib.terms.records import Approval, Entry
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Previewed

HEADLINE = 200
"""Characters of the arguments that a headline takes in where a call has no subject."""


class Waiting(Payload):
    """The payload of `approval.unattended`: the approval that the call waits for."""

    approval: str

    def text(self) -> str:
        """Return nothing: the message names the approval."""
        return ""


@dataclass(frozen=True, slots=True)
class Desk:
    """What approving uses besides the kit: the policy of this call and the person at hand, if any."""

    kit: Kit
    policy: Policy
    asker: Asker | None


async def approve(judged: Judged, desk: Desk) -> Cleared:
    """Return the cleared call once it is allowed.

    Raises:
        Stop: `approval.child_unattended`, `approval.denied`, `approval.expired`, `approval.unattended`, or what the
            preview refuses: a person is never asked about a call that cannot work.
    """
    flight, call = judged.admitted.flight, judged.admitted.flight.call
    if isinstance(judged.ruling, Allow):
        if judged.ruling.grant is not None and not await desk.kit.grants.use(judged.ruling.grant):
            raise Stop(Refusal("approval.expired", "the grant that covered this call was used up", hint="call again"))
        return Cleared(judged, asked=False)
    if (refusal := child_refusal(judged.ruling, call.principal, shown=call.tool)) is not None:
        raise Stop(refusal)
    judged = await _pinned(judged, desk.kit)
    effect = effect_digest(judged, desk)
    preview = await _preview(judged, desk.kit)
    cleared = Cleared(judged, asked=True)
    if call.given is not None:
        await _take_flag(judged, desk, effect)
        return cleared
    if taken := await _take(judged, desk, effect):
        flight.pending.append(
            Entry(
                stage="answered",
                call_id=call.id,
                data={"approval": taken.id, "decision": taken.decision, "consumed": True},
            )
        )
        return cleared
    await _ask(judged, desk, effect, preview)
    return cleared


def effect_digest(judged: Judged, desk: Desk) -> str:
    """Return the digest that a yes is bound to: tool, whole arguments, pinned files, root, caller and policy."""
    admitted, kit = judged.admitted, desk.kit
    descriptor = admitted.tool.descriptor
    return of_json(
        [
            descriptor.digest,
            "" if descriptor.origin.kind == "builtin" else descriptor.text_digest,
            dict(admitted.plain),
            admitted.facts.pins(),
            admitted.footprint.to_json(),
            kit.root,
            admitted.flight.call.principal.id,
            desk.policy.version,
        ]
    )


async def _pinned(judged: Judged, kit: Kit) -> Judged:
    """Bind the question to the content of the files it is about."""
    admitted = judged.admitted
    if not admitted.tool.pins:
        return judged
    try:
        places, footprint = await resolve(admitted.tool, admitted.args, kit, digest=True)
    except Refusal as refusal:
        raise Stop(refusal) from refusal
    if footprint != admitted.footprint:
        raise Stop(moved(admitted.footprint.subject))
    return replace(judged, admitted=replace(admitted, facts=replace(admitted.facts, places=places)))


async def _preview(judged: Judged, kit: Kit) -> Previewed:
    admitted = judged.admitted
    tool, call = admitted.tool, admitted.flight.call
    if tool.preview is None:
        return Previewed(f"{call.tool} {admitted.footprint.subject or _said(admitted.plain)}".strip())
    reading = Scope(may_read=judged.scope.may_read, reads=judged.scope.reads, call_id=call.id)
    deadline = kit.clock.monotonic() + kit.settings.call.seconds
    context = Circumstances(call.id, call.principal, admitted.facts, call.takes_media, kit.clock, deadline)
    try:
        return await tool.preview(
            admitted.args, **bind(tool, Binding(reading, context, call.dialect, call.without), kit.powers)
        )
    except Refusal as refusal:
        raise Stop(refusal) from refusal


def _said(args: Mapping[str, Any]) -> str:
    """Return arguments in a few words: what a call that names no path, command or host is about."""
    words = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items())
    return words if len(words) <= HEADLINE else f"{words[: HEADLINE - 1]}…"


async def _take_flag(judged: Judged, desk: Desk, effect: str) -> None:
    """Let a flag answer, and settle the question that an earlier try of the same call left behind."""
    call = judged.admitted.flight.call
    decision: Decision = "deny" if call.given == "deny" else "once"
    known = await desk.kit.approvals.standing(effect=effect, principal=call.principal.id)
    if known is not None and known.state == "pending":
        with suppress(Refusal):  # whoever answered it meanwhile was first; the flag still answers this call
            await desk.kit.approvals.answer(known.id, decision=decision, words="", by="flag")
            await _take(judged, desk, effect)
    judged.admitted.flight.pending.append(
        Entry(stage="answered", call_id=call.id, data={"decision": decision, "by": "flag"})
    )
    if decision == "deny":
        raise Stop(Refusal("approval.denied", f"{call.tool} was denied by flag"))


async def _ask(judged: Judged, desk: Desk, effect: str, preview: Previewed) -> None:
    """Store the Ask and wait for whoever can answer it; returns only on a yes that was taken."""
    kit, flight = desk.kit, judged.admitted.flight
    call = flight.call
    known = await kit.approvals.standing(effect=effect, principal=call.principal.id)
    if known is not None and known.state == "denied":
        if desk.asker is None:
            raise Stop(_denied(known))
        known = None
    attended = desk.asker is not None or await kit.approvals.attended()
    if not attended and known is None and judged.ruling.rule == DIALECT:
        raise Stop(_exists(judged))
    approval = known or _approval(judged, desk, effect, preview)
    if known is None:
        asked = Entry(stage="asked", call_id=call.id, data={"approval": approval.id, "headline": approval.headline})
        entries, flight.pending = flight.pending, []
        try:
            await kit.approvals.ask(approval, [*entries, asked])
        except Refusal:
            flight.pending = entries
            raise
    if attended:
        approval = await _wait(approval, desk)
    if approval.state == "denied":
        raise Stop(_denied(approval))
    if approval.state == "granted" and await _take(judged, desk, effect) is not None:
        return
    raise Stop(_unanswered(approval, call))


def _unanswered(approval: Approval, call: Call) -> Refusal:
    """Return the refusal of a call that has no yes: it waits still, its time is over, or another call took the yes."""
    if approval.state == "expired":
        message = f"{call.tool} needs a yes ({approval.reason}), and nobody gave one in time"
        return Refusal("approval.expired", message, hint="repeat the call to ask again")
    if approval.state != "pending":
        message = f"the yes to {call.tool} was used by another call of the same"
        return Refusal("approval.stale", message, hint="repeat the call to ask again")
    return Refusal(
        "approval.unattended",
        f"{call.tool} needs a yes ({approval.reason}), and nobody gave one; it waits as approval {approval.id}",
        hint=f"a person runs `{_command(approval, call)}`, then the same call is repeated",
        payload=Waiting(approval=approval.id),
    )


async def _take(judged: Judged, desk: Desk, effect: str) -> Approval | None:
    """Consume the yes to this effect, if there is one; an `always` makes its grant as it is taken."""
    return await desk.kit.approvals.consume(effect=effect, principal=judged.admitted.flight.call.principal.id)


async def _wait(approval: Approval, desk: Desk) -> Approval:
    """Return the approval as it stands once it was answered here or elsewhere, or nobody was there to answer."""
    approvals = desk.kit.approvals
    if desk.asker is None:
        return await approvals.wait(approval.id, seconds=desk.kit.settings.call.attended_seconds)
    answered = await _first(approval, desk, desk.asker)
    if answered is None or isinstance(answered, Approval):
        return answered or approval
    if not isinstance(answered, Answered):
        raise TypeError(f"the approver must return toolcrib.Answered or None, found {answered!r}")
    decision, words, by = answered.decision, answered.words, answered.by
    try:
        return await approvals.answer(approval.id, decision=decision, words=words, by=by)
    except Refusal:
        found = await approvals.find(approval.id)
        if found is None or found.state in {"pending", "expired"}:
            raise
        return found


async def _first(approval: Approval, desk: Desk, asker: Asker) -> object:
    """Ask the person at hand, and return the answer, or the approval where it was settled elsewhere meanwhile."""
    seconds = desk.kit.settings.call.approval_seconds
    asking: asyncio.Future[object] = asyncio.ensure_future(_asked(asker, approval))
    settling: asyncio.Future[Approval] = asyncio.ensure_future(desk.kit.approvals.wait(approval.id, seconds=seconds))
    try:
        await asyncio.wait({asking, settling}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        settled = settling.result()
        asking.cancel(f"answered elsewhere: {settled.settled}" if settled.settled else None)
        return settled
    finally:
        asking.cancel()
        settling.cancel()
        await asyncio.gather(asking, settling, return_exceptions=True)


async def _asked(asker: Asker, approval: Approval) -> object:
    return cast("object", await asker(approval))


def _approval(judged: Judged, desk: Desk, effect: str, preview: Previewed) -> Approval:
    admitted, kit = judged.admitted, desk.kit
    descriptor, call, now = admitted.tool.descriptor, admitted.flight.call, kit.clock.now()
    args, _ = kit.redact.value(dict(admitted.plain))
    diff, _ = kit.redact.text(preview.diff)
    headline, _ = kit.redact.text(preview.headline)
    subject, _ = kit.redact.text(admitted.footprint.subject)
    pattern, hides = kit.redact.text(pattern_for(admitted.footprint))
    return Approval(
        id=mint_id(),
        call_id=call.id,
        tool=admitted.flight.canonical,
        tool_digest=descriptor.digest,
        text_digest=descriptor.text_digest,
        effect=effect,
        principal=call.principal.id,
        root=kit.root,
        subject=subject,
        headline=headline,
        diff=diff,
        args=args,
        reason=judged.ruling.reason,
        grantable=isinstance(judged.ruling, Ask) and not judged.ruling.always and not hides,
        pattern=pattern,
        created=now,
        expires=now + kit.settings.call.approval_seconds,
    )


def _command(approval: Approval, call: Call) -> str:
    """Return what answers the question; a caller elsewhere than in the workspace's own shell is told where, too."""
    where = "" if call.principal.face == "cli" else f" -C {shlex.quote(approval.root)}"
    return f"toolcrib approve{where} {approval.id[-8:]}"


def _exists(judged: Judged) -> Refusal:
    subject = judged.admitted.footprint.subject
    return Refusal(
        "file.exists",
        f"{subject!r} exists, and this dialect has no way to say that replacing it is meant",
        hint="change it with an edit, or write to another path; nobody is there to ask",
    )


def _denied(approval: Approval) -> Refusal:
    words = f": {approval.words}" if approval.words else ""
    return Refusal(
        "approval.denied",
        f"a person said no to {approval.tool} on {approval.subject!r}{words}",
        hint="this answer stands for the same call until it expires; do something else, or ask the person",
    )
