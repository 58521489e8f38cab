"""A loop over OpenAI's chat completions, or any server that speaks them: a model works with this directory's tools.

usage: OPENAI_API_KEY=... python examples/openai_chat.py "what to do"
"""

import asyncio
import os
import sys
from typing import Any

from openai import AsyncOpenAI

import toolcrib

TURNS = 20


async def main(task: str) -> None:
    client = AsyncOpenAI()
    async with toolcrib.open_crib(".", mode="work") as crib:
        system = f"You work in one directory.\n\n{crib.overview()}"
        messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        tools: Any = crib.render("openai", strict=True)
        for _ in range(TURNS):
            model = os.environ.get("MODEL", "gpt-5")
            answer = await client.chat.completions.create(model=model, messages=messages, tools=tools)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                print(message.content)
                return
            messages += await crib.replies("openai", message.tool_calls)


asyncio.run(main(" ".join(sys.argv[1:])))
