"""The tools of this directory as tools of LangChain, in its agent.

usage: OPENAI_API_KEY=... python examples/langchain_tools.py "what to do"
"""

# LangChain's own types are partly unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

import asyncio
import os
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_openai import ChatOpenAI

import toolcrib


def tools_of(crib: toolcrib.Crib) -> list[BaseTool]:
    """Return every visible tool of a crib; each call walks the crib's line."""

    def made(name: str, description: str, schema: dict[str, Any]) -> BaseTool:
        async def run(**args: Any) -> str:
            outcome = await crib.submit(crib.make(name, args))
            if isinstance(outcome, toolcrib.Refused):
                raise ToolException(str(outcome))  # the model reads it, marked as an error
            return str(outcome)

        return StructuredTool(
            name=name, description=description, args_schema=schema, coroutine=run, handle_tool_error=True
        )

    return [made(each["name"], each["description"], each["inputSchema"]) for each in crib.render("mcp")]


async def main(task: str) -> None:
    async with toolcrib.open_crib(".", mode="work") as crib:
        model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5"))
        agent = create_agent(model, tools=tools_of(crib), system_prompt=crib.overview())
        done = await agent.ainvoke({"messages": [{"role": "user", "content": task}]})
        print(done["messages"][-1].text)


asyncio.run(main(" ".join(sys.argv[1:])))
