"""What a person is shown before deciding: who wants what, why it asks, the diff, and what `always` would cover."""

import json

from toolcrib.faces.cli.look import diff, paint, shown
from toolcrib.faces.cli.out import Stream
from toolcrib.terms.records import Approval


def request(approval: Approval, stream: Stream, *, now: float) -> str:
    """Return the whole view of an approval, every untrusted part of it made harmless."""
    facts = [
        ("tool", approval.tool),
        ("subject", approval.subject),
        ("caller", approval.principal),
        ("workspace", approval.root),
        ("asks because", approval.reason),
        ("expires", f"in {span(approval.expires - now)}" if approval.expires > now else "now"),
        ("approval", approval.id),
    ]
    lines = [paint(_flat(approval.headline, stream), "bold", stream)]
    lines += [f"  {paint(name.ljust(13), 'dim', stream)} {_flat(value, stream)}" for name, value in facts if value]
    lines += ["", diff(approval.diff.rstrip("\n"), stream) if approval.diff else _arguments(approval, stream), ""]
    return "\n".join(lines) + "\n"


def covers(approval: Approval) -> str:
    """Return what the answer `always` would allow from now on."""
    if not approval.grantable:
        return "no more than this call: one like it asks every time"
    on = f" on {approval.subject!r}" if approval.subject else ""
    return (
        f"every later {approval.tool}{on} in this workspace, whatever else it says and whoever calls it, without asking"
    )


def span(seconds: float) -> str:
    """Return a length of time in the two largest units."""
    whole = max(0, round(seconds))
    for name, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if whole >= size:
            below = {"d": ("h", 3600), "h": ("min", 60), "min": ("s", 1)}[name]
            rest = whole % size // below[1]
            return f"{whole // size} {name}" + (f" {rest} {below[0]}" if rest else "")
    return f"{whole} s"


def _arguments(approval: Approval, stream: Stream) -> str:
    text = json.dumps(dict(approval.args), indent=2, ensure_ascii=False)
    return "\n".join("  " + shown(line, stream) for line in text.split("\n"))


def _flat(text: str, stream: Stream) -> str:
    return shown(text.replace("\n", "\\n").replace("\t", "\\t"), stream)
