"""A loop over Anthropic's messages: Claude works with the tools of this directory, under the names it knows best.

usage: ANTHROPIC_API_KEY=... python examples/anthropic_messages.py "what to do"
"""

import asyncio
import os
import sys
from typing import Any

from anthropic import AsyncAnthropic

import toolcrib

TURNS = 20
DIALECT = "claude"


async def main(task: str) -> None:
    client = AsyncAnthropic()
    async with toolcrib.open_crib(".", mode="work") as crib:
        messages: list[Any] = [{"role": "user", "content": task}]
        tools: Any = crib.render("anthropic", dialect=DIALECT)
        for _ in range(TURNS):
            answer = await client.messages.create(
                model=os.environ.get("MODEL", "claude-sonnet-4-5"),
                max_tokens=4096,
                system=crib.overview(dialect=DIALECT),
                messages=messages,
                tools=tools,
            )
            messages.append({"role": "assistant", "content": answer.content})
            replies = await crib.replies("anthropic", answer.content, dialect=DIALECT)
            if not replies:
                print("".join(block.text for block in answer.content if block.type == "text"))
                return
            messages.append({"role": "user", "content": replies})


asyncio.run(main(" ".join(sys.argv[1:])))
