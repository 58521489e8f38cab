"""What a person is shown before deciding: who wants what, why it asks, the diff, and what `always` would cover."""

import json

from toolcrib.faces.cli.look import diff, paint, shown
from toolcrib.faces.cli.out import Stream
from toolcrib.terms.question import Facts, always_of, body_of, facts_of, measure
from toolcrib.terms.records import Approval


def request(approval: Approval, stream: Stream, *, now: float) -> str:
    """Return the whole view of an approval, every untrusted part of it made harmless."""
    lines = [paint(_flat(approval.headline, stream), "bold", stream), *_listed(facts_of(approval, now=now), stream)]
    body = body_of(approval)
    lines += ["", diff(body, stream), "", paint(measure(body), "dim", stream)]
    return "\n".join(lines) + "\n"


def about(approval: Approval) -> str:
    """Return what a call is about in one line: its subject, or its arguments where it names none."""
    return approval.subject or (json.dumps(dict(approval.args), ensure_ascii=False) if approval.args else "")


def always(approval: Approval, stream: Stream) -> str:
    """Return what the answer `always` would allow from now on, in lines."""
    if not approval.grantable:
        return "There is no always: a call like this one asks every time.\n"
    lines = [paint("Always", "bold", stream), *_listed(always_of(approval), stream)]
    return "\n".join(lines) + "\n\n"


def _listed(facts: Facts, stream: Stream) -> list[str]:
    return [f"  {paint(name.ljust(13), 'dim', stream)} {_flat(value, stream)}" for name, value in facts]


def _flat(text: str, stream: Stream) -> str:
    return shown(text.replace("\n", "\\n").replace("\t", "\\t"), stream)
