"""The family `meta`: tools about the tools."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.ports.toolbox import Toolbox
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.tool import tool
from toolcrib.tools.plain import counted
from toolcrib.tools.prose import load

_PROSE = load("meta")

NAMES = 100
"""Names of deferred tools that an answer without a hit lists."""


class ToolSearch(Arguments):
    """Parameters of `tool_search`."""

    query: str = Field(min_length=1, max_length=500, description="What the tool should do, or its name.")
    limit: int = Field(default=5, ge=1, le=20, description="How many tools at most.")


class FoundTool(BaseModel):
    """One tool that was found; `loaded` says that it was deferred until now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    parameters: dict[str, Any]
    loaded: bool


class FoundTools(Payload):
    """What `tool_search` answers: the tools, best first, and where there is none the names of the deferred ones."""

    query: str
    tools: tuple[FoundTool, ...]
    deferred: tuple[str, ...] = ()

    def text(self) -> str:
        """Return each tool with its parameters as JSON Schema, ready to be called."""
        if not self.tools:
            rest = f"; deferred tools: {', '.join(self.deferred)}" if self.deferred else ""
            return f"no tool for {self.query!r}{rest}"
        parts = [f"{each.name}\n{each.description}\nparameters: {_compact(each.parameters)}" for each in self.tools]
        loaded = sum(each.loaded for each in self.tools)
        head = f"{counted(len(self.tools), 'tool')} found, {loaded} loaded; each can be called now, by its name"
        return "\n\n".join([head, *parts])


def _compact(schema: dict[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


@tool(
    kind="read",
    effect="read",
    approval="never",
    summary="Find and load tools that are deferred, by what they do or by name.",
    description=_PROSE["tool_search"],
)
async def tool_search(args: ToolSearch, toolbox: Toolbox) -> Answer[FoundTools]:
    """Find and load tools that were deferred."""
    offered, deferred = await toolbox.search(args.query, limit=args.limit)
    tools = tuple(
        FoundTool(name=each.name, description=each.description, parameters=dict(each.schema), loaded=each.loaded)
        for each in offered
    )
    if tools:
        return Answer(FoundTools(query=args.query, tools=tools))
    cut = len(deferred) > NAMES
    return Answer(
        FoundTools(query=args.query, tools=(), deferred=tuple(deferred[:NAMES])), bounds=Bounds(truncated=cut)
    )
