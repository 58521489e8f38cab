"""Approve: only for Ask. A yes is bound to the digest of the exact effect, used once, and never made by waiting."""

import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

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
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.names import mint_id
from toolcrib.terms.records import Approval, Entry, Grant
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Previewed


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
        places, footprint = await resolve(admitted.tool.footprint(admitted.args), kit, digest=True)
    except Refusal as refusal:
        raise Stop(refusal) from refusal
    if footprint != admitted.footprint:
        raise Stop(moved(admitted.footprint.subject))
    return replace(judged, admitted=replace(admitted, facts=replace(admitted.facts, places=places)))


async def _preview(judged: Judged, kit: Kit) -> Previewed:
    admitted = judged.admitted
    tool, call = admitted.tool, admitted.flight.call
    if tool.preview is None:
        return Previewed(f"{call.tool} {admitted.footprint.subject}".strip())
    reading = Scope(may_read=judged.scope.may_read, reads=judged.scope.reads, call_id=call.id)
    deadline = kit.clock.monotonic() + kit.settings.call.seconds
    context = Circumstances(call.id, call.principal, admitted.facts, call.takes_media, kit.clock, deadline)
    try:
        return await tool.preview(
            admitted.args, **bind(tool, Binding(reading, context, call.dialect, call.without), kit.powers)
        )
    except Refusal as refusal:
        raise Stop(refusal) from refusal


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
        entries, flight.pending = [*flight.pending, asked], []
        await kit.approvals.ask(approval, entries)
    if attended:
        approval = await _wait(approval, desk)
    if approval.state == "denied":
        raise Stop(_denied(approval))
    if approval.state == "granted" and await _take(judged, desk, effect) is not None:
        return
    raise Stop(
        Refusal(
            "approval.unattended",
            f"{call.tool} needs a yes ({approval.reason}), and nobody gave one; it waits as approval {approval.id}",
            hint=f"a person runs `{_command(approval, call)}`, then the same call is repeated",
        )
    )


async def _take(judged: Judged, desk: Desk, effect: str) -> Approval | None:
    """Consume the yes to this effect, if there is one; an `always` makes its grant as it is taken."""
    principal = judged.admitted.flight.call.principal.id
    taken = await desk.kit.approvals.consume(effect=effect, principal=principal)
    if taken is not None and taken.decision == "always" and taken.grantable:
        await desk.kit.grants.add(_grant(taken, judged.admitted.footprint, desk.kit))
    return taken


async def _wait(approval: Approval, desk: Desk) -> Approval:
    if desk.asker is None:
        return await desk.kit.approvals.wait(approval.id, seconds=desk.kit.settings.call.attended_seconds)
    answered = cast("object", await desk.asker(approval))
    if answered is None:
        return approval
    if not isinstance(answered, Answered):
        raise TypeError(f"the approver must return toolcrib.Answered or None, found {answered!r}")
    return await desk.kit.approvals.answer(
        approval.id, decision=answered.decision, words=answered.words, by=answered.by
    )


def _approval(judged: Judged, desk: Desk, effect: str, preview: Previewed) -> Approval:
    admitted, kit = judged.admitted, desk.kit
    descriptor, call, now = admitted.tool.descriptor, admitted.flight.call, kit.clock.now()
    args, _ = kit.redact.value(dict(admitted.plain))
    diff, _ = kit.redact.text(preview.diff)
    headline, _ = kit.redact.text(preview.headline)
    subject, _ = kit.redact.text(admitted.footprint.subject)
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
        grantable=isinstance(judged.ruling, Ask) and not judged.ruling.always,
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


def _grant(approval: Approval, footprint: Footprint, kit: Kit) -> Grant:
    return Grant(
        id=mint_id(),
        tool=approval.tool,
        tool_digest=approval.tool_digest,
        text_digest=approval.text_digest,
        pattern=pattern_for(footprint),
        root=approval.root,
        by=approval.by,
        approval=approval.id,
        created=kit.clock.now(),
    )
