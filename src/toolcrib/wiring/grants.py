"""Standing yeses as a person sees them: which there are, how they stand, and taking one back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from toolcrib.engine.kit import Kit
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


def _state(grant: Grant, alive: set[str]) -> State:
    if grant.id in alive:
        return "active"
    return "used up" if grant.uses is not None and grant.uses < 1 else "expired"
