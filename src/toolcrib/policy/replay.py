"""What a standing yes would have allowed: past calls held against a grant that may have been there or not."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.policy.decide import Question, asking, weigh
from toolcrib.policy.grants import levels
from toolcrib.policy.rules import Rule
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Grant
from toolcrib.terms.settings import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A call as the tape has it. `asked` says that it needed a person's yes, `grant` which grant gave it instead."""

    call_id: str
    at: float
    tool: str
    tool_digest: str
    text_digest: str
    principal: str
    mode: Mode
    footprint: Footprint
    asked: bool
    grant: str = ""
    became: str = ""
    """What became of the question."""


def would_allow(grant: Grant, past: Past, *, rules: Sequence[Rule], further: Sequence[str] = ()) -> bool:
    """Tell whether `grant` would have let `past` run without asking, had it stood then and the rules been as now.

    Its expiry and its count do not matter. A call that it did let run counts.
    """
    if past.grant:
        return past.grant == grant.id
    if not past.asked or past.tool_digest != grant.tool_digest:
        return False
    if past.text_digest and past.text_digest != grant.text_digest:
        return False
    about = levels(grant.pattern, past.footprint)
    if about is None:
        return False
    question = Question(
        name=past.tool,
        descriptor=_ASKED,
        footprint=past.footprint,
        mode=past.mode,
        rules=rules,
        checkpointed=True,
        further=further,
    )
    weighed = weigh(question)
    if any(each.verdict == "deny" or each.always for each in weighed):
        return False
    return all(level > over for level, over in zip(about, asking(weighed), strict=True))


_ASKED = Descriptor(
    raw_name="asked",
    family="",
    title="",
    summary="",
    description="",
    schema={},
    kind="effect",
    effect="irreversible",
    approval="required",
)
"""Stands for the tool of a call that asked: rules are tried on its name and subject, and the mode asked already."""
