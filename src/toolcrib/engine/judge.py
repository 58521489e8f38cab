"""Judge: footprint, rules, grants and mode to a ruling. Pure but for reading the stored grants."""

from collections.abc import Sequence

from toolcrib.engine.kit import Kit, Policy
from toolcrib.engine.stages import Admitted, Judged, Stop
from toolcrib.policy.decide import PROTECTED, denial, reader
from toolcrib.policy.decide import judge as decide
from toolcrib.policy.rules import Allow, Ask, Deny, Ruling
from toolcrib.ports.scope import Scope
from toolcrib.terms.records import Entry, Grant
from toolcrib.terms.refusals import Refusal


async def judge(admitted: Admitted, kit: Kit, policy: Policy) -> Judged:
    """Return the call with its ruling. Stored grants are read only where one could turn an Ask into a yes.

    Raises:
        Stop: `policy.denied` with the rule and its reason, or `file.protected`.
    """
    call, tool = admitted.flight.call, admitted.tool
    ruling = _rule(admitted, kit, policy, ())
    if isinstance(ruling, Ask) and not ruling.always and (grants := await kit.grants.active(kit.root)):
        ruling = _rule(admitted, kit, policy, grants)
    data = {**ruling.to_json(), "mode": policy.mode, "footprint": admitted.footprint.to_json()}
    if tool.descriptor.kind == "write":
        data["existed"] = {place.path: place.exists for place in admitted.facts.places}
    told, _ = kit.redact.value(data)
    admitted.flight.pending.append(Entry(stage="judged", call_id=call.id, data=told))
    if isinstance(ruling, Deny):
        raise Stop(_denied(ruling, call.tool, admitted.footprint.subject))
    named = (*admitted.footprint.reads, *admitted.footprint.writes)
    scope = Scope(
        may_read=reader(
            policy.rules,
            name=admitted.flight.canonical,
            descriptor=tool.descriptor,
            cleared=() if isinstance(ruling, Allow) else named,
        ),
        reads=named,
        writes=frozenset(admitted.footprint.writes),
        call_id=call.id,
    )
    return Judged(admitted, ruling, scope)


def _rule(admitted: Admitted, kit: Kit, policy: Policy, grants: Sequence[Grant]) -> Ruling:
    return decide(
        admitted.tool.descriptor,
        admitted.footprint,
        name=admitted.flight.canonical,
        mode=policy.mode,
        rules=policy.rules,
        grants=grants,
        now=kit.clock.now(),
        root=kit.root,
        checkpointed=admitted.tool.descriptor.kind == "write",
        always_ask="always_ask" in admitted.marks and _replaces(admitted),
        protected=kit.settings.protected,
    )


def _replaces(admitted: Admitted) -> bool:
    """Tell whether something stands where the call would put something else."""
    pick, places = admitted.tool.replaces, admitted.facts.places
    named = None if pick is None else frozenset(pick(admitted.args))
    return any(place.exists for place in places if named is None or place.asked in named)


def _denied(ruling: Deny, shown: str, subject: str) -> Refusal:
    if ruling.rule != PROTECTED:
        return denial(ruling, shown=shown, subject=subject)
    hint = "no yes can lift this: .git, .toolcrib and what policy.protected names are for a person to change by hand"
    return Refusal("file.protected", f"{subject!r} is protected: {ruling.reason}", hint=hint)
