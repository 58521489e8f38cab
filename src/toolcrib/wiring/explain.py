"""Explaining a ruling without making the call: what is judged, every rule that bears on it, and which one decides."""

from collections.abc import Mapping
from typing import Any

from toolcrib.catalog.catalog import Entry, Missing
from toolcrib.engine.admit import resolve
from toolcrib.engine.arguments import parse, shape_faults
from toolcrib.engine.kit import Kit
from toolcrib.policy.decide import Question
from toolcrib.policy.decide import judge as decide
from toolcrib.policy.explain import Explanation, explain
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.refusals import Refusal


async def explain_call(kit: Kit, tool: str, args: Mapping[str, Any] | None) -> Explanation:
    """Return the ruling that a person's call of `tool` would get now; without `args`, that of one that names nothing.

    Raises:
        Refusal: there is no such tool, or the arguments or the paths they name are refused before any judging.
    """
    found = kit.catalog().find(tool, person=True)
    if isinstance(found, Missing):
        raise Refusal(found.refusal, found.message, hint=found.hint)
    footprint = await _footprint(kit, found, args) if args is not None else Footprint()
    descriptor, policy = found.tool.descriptor, kit.policy()
    checkpointed = descriptor.kind == "write"
    question = Question(
        name=found.name,
        descriptor=descriptor,
        footprint=footprint,
        mode=policy.mode,
        rules=policy.rules,
        checkpointed=checkpointed,
        further=kit.settings.protected,
    )
    ruling = decide(
        descriptor,
        footprint,
        name=found.name,
        mode=policy.mode,
        rules=policy.rules,
        grants=await kit.grants.active(kit.root),
        now=kit.clock.now(),
        root=kit.root,
        checkpointed=checkpointed,
        protected=kit.settings.protected,
    )
    return explain(question, ruling)


async def _footprint(kit: Kit, found: Entry, args: Mapping[str, Any]) -> Footprint:
    if faults := shape_faults(args, limits=kit.settings.call):
        raise Refusal("args.invalid", "; ".join(faults))
    converted = found.convert(args)
    parsed = parse(found, converted.args, dialect="toolcrib")
    _, footprint = await resolve(found.tool, parsed, kit)
    return footprint
