"""Reads the calls that asked off the tape, and holds a grant against them."""

from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, replace
from typing import Any

from toolcrib.engine.kit import Kit
from toolcrib.policy.replay import Past, would_allow
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.outcome import Fields
from toolcrib.terms.records import Grant, Taped

PAGE = 1000
"""Entries read at once."""

_BECAME = {"deny": "denied", "once": "approved", "always": "approved"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a grant would have allowed. `asked` counts the calls of the tape that asked what a grant could answer."""

    grant: Grant
    calls: tuple[Past, ...]
    asked: int

    def to_json(self) -> Fields:
        """Return the wire form."""
        calls = [{**asdict(each), "footprint": each.footprint.to_json()} for each in self.calls]
        return {"grant": asdict(self.grant), "calls": calls, "asked": self.asked}


async def replayed(kit: Kit, grant: Grant) -> Replayed:
    """Return the calls of the tape that `grant` would have let run without asking, oldest first."""
    policy, calls, asked = kit.policy(), list[Past](), 0
    for past in await _asked(kit):
        asked += past.asked
        if would_allow(grant, past, rules=policy.rules, further=kit.settings.protected):
            calls.append(past)
    return Replayed(grant=grant, calls=tuple(calls), asked=asked)


async def _asked(kit: Kit) -> list[Past]:
    """Return the calls that asked, or that a grant let run."""
    received: dict[str, Taped] = {}
    found: dict[str, Past] = {}
    async for entry in _entries(kit):
        match entry.stage:
            case "received":
                received[entry.call_id] = entry
            case "judged":
                if (first := received.get(entry.call_id)) and (past := _past(first, entry.data)) is not None:
                    found[entry.call_id] = past
            case "answered" | "closed" if entry.call_id in found:
                past = found[entry.call_id]
                found[entry.call_id] = replace(past, became=_became(entry) or past.became)
            case _:
                pass
        if entry.stage == "closed":
            received.pop(entry.call_id, None)
    return list(found.values())


async def _entries(kit: Kit) -> AsyncGenerator[Taped]:
    since = 0
    while page := await kit.tape.page(since=since, limit=PAGE):
        for entry in page:
            yield entry
        since = page[-1].seq


def _past(first: Taped, judged: Any) -> Past | None:
    asked = judged.get("ruling") == "ask"
    if not asked and not judged.get("grant"):
        return None
    about = {name: tuple(parts) for name, parts in judged.get("footprint", {}).items()}
    return Past(
        call_id=first.call_id,
        at=first.at,
        tool=str(first.data.get("canonical", "")),
        tool_digest=str(first.data.get("digest", "")),
        text_digest=str(first.data.get("text_digest", "")),
        principal=str(first.data.get("principal", "")),
        mode=judged["mode"],
        footprint=Footprint(**about),
        asked=asked and not judged.get("always"),
        grant=str(judged.get("grant", "")),
        became="granted" if judged.get("grant") else "not answered",
    )


def _became(entry: Taped) -> str:
    if entry.stage == "answered":
        return _BECAME.get(str(entry.data.get("decision", "")), "")
    return "denied" if entry.data.get("outcome", {}).get("name") == "approval.denied" else ""
