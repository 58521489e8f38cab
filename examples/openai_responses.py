"""A loop over OpenAI's responses: the model works with the tools of this directory.

usage: OPENAI_API_KEY=... python examples/openai_responses.py "what to do"
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
        history: list[Any] = [{"role": "user", "content": task}]
        tools: Any = crib.render("openai-responses", strict=True)
        for _ in range(TURNS):
            model = os.environ.get("MODEL", "gpt-5")
            answer = await client.responses.create(
                model=model, instructions=crib.overview(), input=history, tools=tools, store=False
            )
            history += answer.output
            replies = await crib.replies("openai-responses", answer.output)
            if not replies:
                print(answer.output_text)
                return
            history += replies


asyncio.run(main(" ".join(sys.argv[1:])))
