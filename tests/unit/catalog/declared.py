"""Declared tools for tests of the catalog: bodies that are never run, under any origin and name."""

from typing import Any

from pydantic import Field

from toolcrib.terms.names import BUILTIN, Origin
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.tool import Tool, tool


class Path(Arguments):
    """One path."""

    path: str = Field(description="Where.")


class Nested(Arguments):
    """An argument in an argument."""

    keep_all: bool = False
    name: str


class Deep(Arguments):
    """Arguments with multi-word names, nested ones too."""

    dry_run: bool = False
    some_items: list[Nested] = Field(default_factory=list[Nested])
    free_form: dict[str, int] = Field(default_factory=dict[str, int])


def declared(raw: str, origin: Origin = BUILTIN, *, parameters: type[Arguments] = Path, **options: Any) -> Tool:
    """Return a tool that nobody runs."""

    async def body(args: Arguments) -> Answer[Payload]:
        raise AssertionError(f"{raw} ran with {args!r}")

    body.__annotations__["args"] = parameters
    options.setdefault("kind", "read")
    options.setdefault("effect", "read")
    return tool(name=raw, origin=origin, description=f"Does {raw}. More of it.", **options)(body)


def custom(label: str, raw: str, **options: Any) -> Tool:
    """Return a custom tool."""
    return declared(raw, Origin("custom", label), **options)


def served(server: str, raw: str, **options: Any) -> Tool:
    """Return a tool of an MCP server."""
    return declared(raw, Origin("mcp", server), kind="effect", **options)
