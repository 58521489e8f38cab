"""What a person is shown before deciding: who wants what, why it asks, the diff, and what `always` would cover."""

import json
from collections.abc import Iterator, Mapping

from toolcrib.faces.cli.look import diff, paint, shown
from toolcrib.faces.cli.out import Stream
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.records import Approval
from toolcrib.terms.text import LINE_BREAK

LONG = 200
"""Texts up to this length, in characters, are never left out of a diff by their length."""


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
    body = _body(approval)
    lines += ["", diff(body, stream), "", paint(_measure(body), "dim", stream)]
    return "\n".join(lines) + "\n"


def _body(approval: Approval) -> str:
    """Return the diff, with all the arguments below it where it leaves out a part of them; without one, only these."""
    whole = json.dumps(dict(approval.args), indent=2, ensure_ascii=False)
    change = approval.diff.rstrip("\n")
    if not change:
        return whole
    lines = (line for text in _texts(approval.args) if len(text) > LONG for line in LINE_BREAK.split(text))
    if all(line in change for line in lines):
        return change
    return f"{change}\n\nThe diff leaves out a part of this call. The arguments in full:\n{whole}"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType] - JSON
            yield from _texts(each)  # pyright: ignore[reportUnknownArgumentType] - JSON
    elif isinstance(value, list | tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType] - JSON
            yield from _texts(each)  # pyright: ignore[reportUnknownArgumentType] - JSON


def _measure(body: str) -> str:
    """Say how much stands above, so that a part which scrolled away or hides is missed."""
    digest = of_bytes(body.encode("utf-8", "surrogatepass"))
    lines = body.count("\n") + 1
    return f"({lines:,} line{'s' if lines != 1 else ''}, {len(body):,} characters, sha256 {digest[:12]})"


def about(approval: Approval) -> str:
    """Return what a call is about in one line: its subject, or its arguments where it names none."""
    return approval.subject or (json.dumps(dict(approval.args), ensure_ascii=False) if approval.args else "")


def always(approval: Approval, stream: Stream) -> str:
    """Return what the answer `always` would allow from now on, in lines."""
    if not approval.grantable:
        return "There is no always: a call like this one asks every time.\n"
    on = f" on exactly {approval.pattern}" if approval.pattern else ", whatever its arguments"
    facts = [
        ("would allow", f"every later {approval.tool}{on}, whoever calls it and whatever else it says, without asking"),
        ("in", f"{approval.root} and nowhere else"),
        ("as long as", f"the tool is what it is now (digest {approval.tool_digest[:12]})"),
        ("until", "somebody takes it back: toolcrib grants revoke"),
    ]
    lines = [paint("Always", "bold", stream)]
    lines += [f"  {paint(name.ljust(13), 'dim', stream)} {_flat(value, stream)}" for name, value in facts]
    return "\n".join(lines) + "\n\n"


def span(seconds: float) -> str:
    """Return a length of time in the two largest units."""
    whole = max(0, round(seconds))
    for name, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if whole >= size:
            below = {"d": ("h", 3600), "h": ("min", 60), "min": ("s", 1)}[name]
            rest = whole % size // below[1]
            return f"{whole // size} {name}" + (f" {rest} {below[0]}" if rest else "")
    return f"{whole} s"


def _flat(text: str, stream: Stream) -> str:
    return shown(text.replace("\n", "\\n").replace("\t", "\\t"), stream)
