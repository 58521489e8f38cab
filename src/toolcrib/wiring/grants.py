"""Standing yeses as a person sees them: which there are, how they stand, and taking one back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from toolcrib.engine.kit import Kit
from toolcrib.policy.grants import check
from toolcrib.policy.lint import Finding, Surroundings, lint
from toolcrib.policy.match import PatternError
from toolcrib.terms.names import nearest
from toolcrib.terms.outcome import Fields
from toolcrib.terms.records import Grant
from toolcrib.terms.refusals import Refusal

State = Literal["active", "expired", "used up"]
"""How a stored grant stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A stored grant and how it stands now."""

    grant: Grant
    state: State

    def to_json(self) -> Fields:
        """Return the wire form."""
        return {**asdict(self.grant), "state": self.state}


async def standings(kit: Kit) -> tuple[Standing, ...]:
    """Return every grant of this workspace, those that have ended too, oldest first."""
    alive = {grant.id for grant in await kit.grants.active(kit.root)}
    return tuple(Standing(grant=each, state=_state(each, alive)) for each in await kit.grants.every(kit.root))


async def grant_named(kit: Kit, text: str) -> Grant:
    """Return the one grant of this workspace whose id is, starts with or ends with `text`.

    Raises:
        Refusal: `approval.stale`: there is none, or more than one.
    """
    every = await kit.grants.every(kit.root)
    found = [grant for grant in every if grant.id == text]
    if not found and text:
        found = [grant for grant in every if grant.id.startswith(text) or grant.id.endswith(text)]
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"expected the id of a grant of this workspace, or its start or end; none is {text[:80]!r}"
        raise Refusal("approval.stale", message, hint="toolcrib grants lists them")
    ids = ", ".join(grant.id for grant in found[:10])
    raise Refusal("approval.stale", f"{text[:80]!r} is part of {len(found)} ids: {ids}", hint="give more of the id")


async def revoke(kit: Kit, texts: Sequence[str], *, by: str) -> tuple[Grant, ...]:
    """Take back the grants that `texts` name, and return those that were there.

    Raises:
        Refusal: `approval.stale`: a text names no grant, or more than one. Nothing is taken back then.
    """
    named = {grant.id: grant for grant in [await grant_named(kit, each) for each in texts]}
    return tuple([grant for grant in named.values() if await kit.grants.revoke(grant.id, by=by)])


async def findings(kit: Kit) -> tuple[Finding, ...]:
    """Return what is worth a look in the grants of this workspace, as its tools, rules and mode are now."""
    policy, named = kit.policy(), kit.catalog().named
    around = Surroundings(rules=policy.rules, mode=policy.mode, further=kit.settings.protected)
    found: list[Finding] = []
    for each in await standings(kit):
        entry = named.get(each.grant.tool)
        descriptor = entry.descriptor if entry is not None else None
        ended = "" if each.state == "active" else each.state
        found += lint(each.grant, descriptor=descriptor, ended=ended, now=kit.clock.now(), around=around)
    return tuple(found)


def imagined(kit: Kit, tool: str, pattern: str) -> Grant:
    """Return the grant that there could be for `tool` as it is now and `pattern`, without making it.

    Raises:
        Refusal: `tool.unknown`, or `args.invalid` for a pattern that is none.
    """
    entry = kit.catalog().named.get(tool)
    if entry is None:
        near = ", ".join(nearest(tool, kit.catalog().named))
        hint = f"did you mean {near}?" if near else "toolcrib tools --all lists every tool"
        raise Refusal("tool.unknown", f"no tool is called {tool[:80]!r}", hint=hint)
    try:
        check(pattern)
    except PatternError as error:
        raise Refusal("args.invalid", f"expected a pattern over paths, found {pattern[:200]!r}: {error}") from error
    return Grant(
        id="",
        tool=entry.name,
        tool_digest=entry.descriptor.digest,
        text_digest=entry.descriptor.text_digest,
        pattern=pattern,
        root=kit.root,
        by="",
        approval="",
        created=kit.clock.now(),
    )


def _state(grant: Grant, alive: set[str]) -> State:
    if grant.id in alive:
        return "active"
    return "used up" if grant.uses is not None and grant.uses < 1 else "expired"
