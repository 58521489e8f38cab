"""The tools of this directory as a toolset of Pydantic AI.

usage: OPENAI_API_KEY=... python examples/pydantic_ai_toolset.py "what to do"
"""

import asyncio
import os
import sys
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

import toolcrib

# The line checks the arguments itself and tells the model every fault.
ANYTHING = SchemaValidator(core_schema.any_schema())


class CribToolset(AbstractToolset[object]):
    """Every tool of a crib; each call walks the crib's line."""

    def __init__(self, crib: toolcrib.Crib) -> None:
        self.crib = crib

    @property
    def id(self) -> str | None:
        """Name the toolset."""
        return "toolcrib"

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:
        """Return the tools that are visible now."""
        return {
            tool["name"]: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool["name"],
                    description=tool["description"],
                    parameters_json_schema=tool["inputSchema"],
                    sequential=not tool["annotations"]["readOnlyHint"],
                ),
                max_retries=1,
                args_validator=ANYTHING,
            )
            for tool in self.crib.render("mcp")
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[object], tool: ToolsetTool[object]
    ) -> str:
        """Run one call; a refusal is a reading like any other."""
        return str(await self.crib.submit(self.crib.make(name, tool_args)))


async def main(task: str) -> None:
    async with toolcrib.open_crib(".", mode="work") as crib:
        model = OpenAIChatModel(os.environ.get("MODEL", "gpt-5"))
        agent = Agent(model, instructions=crib.overview(), toolsets=[CribToolset(crib)])
        print((await agent.run(task)).output)


asyncio.run(main(" ".join(sys.argv[1:])))
