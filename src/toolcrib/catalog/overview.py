"""The prompt's overview of the tools: one line each, taken from the same view as the schemas."""

from toolcrib.catalog.deferral import SEARCH
from toolcrib.catalog.shapes import retold
from toolcrib.catalog.views import Shown, View

HEADING = "## Tools"
"""First line of the overview."""

DEFERRED = "Deferred, to be loaded with {} before use:"
"""Heads the tools that are told by name only."""

CLOSING = "Call tools that do not depend on each other together, in one turn: reads among them run side by side."
"""Last line of the overview."""


def overview(view: View) -> str:
    """Return the overview of `view`: a heading, `name — summary` a tool, and a word on batching."""
    if not view.items:
        return f"{HEADING}\n\nNo tools are available."
    lines = [HEADING, "", *(_line(item, view) for item in view.items), ""]
    if view.deferred:
        lines += [DEFERRED.format(view.spoken[SEARCH]), "", *(_line(item, view) for item in view.deferred), ""]
    return "\n".join([*lines, CLOSING])


def _line(item: Shown, view: View) -> str:
    rival = item.entry.descriptor.prefer_over if len(item.entries) == 1 else None
    line = f"{item.name} — {' '.join(item.summary.split())}"
    return f"{line} (use this instead of {retold(rival, view.spoken)})" if rival else line
