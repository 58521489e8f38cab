"""What a person is asked, as plain text: the facts of a call, the whole of it, and what `always` would cover.

Untrusted parts are as they came: whoever shows them makes them harmless (`terms.visible`).
"""

import json
from collections.abc import Iterator, Mapping

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.records import Approval
from toolcrib.terms.text import LINE_BREAK

LONG = 200
"""Texts up to this length, in characters, are never left out of a diff by their length."""

Facts = list[tuple[str, str]]
"""Names and what they stand for, in the order in which they are shown."""


def facts_of(approval: Approval, *, now: float) -> Facts:
    """Return who wants what, where and why it asks; `now` is wall time in seconds."""
    facts = [
        ("tool", approval.tool),
        ("subject", approval.subject),
        ("caller", approval.principal),
        ("workspace", approval.root),
        ("asks because", approval.reason),
        ("expires", f"in {span(approval.expires - now)}" if approval.expires > now else "now"),
        ("approval", approval.id),
    ]
    return [(name, value) for name, value in facts if value]


def always_of(approval: Approval) -> Facts:
    """Return what the answer `always` would allow from now on; nothing where there is no such answer."""
    if not approval.grantable:
        return []
    on = f" on exactly {approval.pattern}" if approval.pattern else ", whatever its arguments"
    return [
        ("would allow", f"every later {approval.tool}{on}, whoever calls it and whatever else it says, without asking"),
        ("in", f"{approval.root} and nowhere else"),
        ("as long as", f"the tool is what it is now (digest {approval.tool_digest[:12]})"),
        ("until", "somebody takes it back: toolcrib grants revoke"),
    ]


def body_of(approval: Approval) -> str:
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


def measure(body: str) -> str:
    """Say how much stands above, so that a part which scrolled away or hides is missed."""
    digest = of_bytes(body.encode("utf-8", "surrogatepass"))
    lines = body.count("\n") + 1
    return f"({lines:,} line{'s' if lines != 1 else ''}, {len(body):,} characters, sha256 {digest[:12]})"


def span(seconds: float) -> str:
    """Return a length of time in the two largest units."""
    whole = max(0, round(seconds))
    for name, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if whole >= size:
            below = {"d": ("h", 3600), "h": ("min", 60), "min": ("s", 1)}[name]
            rest = whole % size // below[1]
            return f"{whole // size} {name}" + (f" {rest} {below[0]}" if rest else "")
    return f"{whole} s"
