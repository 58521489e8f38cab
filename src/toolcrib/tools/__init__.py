"""The built-in tools: one tuple of families. A family's tools are the functions that its module declares."""

from types import ModuleType

from toolcrib.terms.tool import Tool
from toolcrib.tools import artifacts, edit, files, meta, move, patch, rewind, search

FAMILIES: tuple[ModuleType, ...] = (files, edit, patch, move, search, artifacts, meta, rewind)
"""Every family, in the order of the documentation."""


def tools() -> tuple[Tool, ...]:
    """Return every built-in tool: families in order, and within a family in the order of its module."""
    return tuple(each for family in FAMILIES for each in vars(family).values() if isinstance(each, Tool))
