"""Searches of one workspace at the same time do not get in each other's way."""

from collections import Counter

import anyio
import pytest

import soak
from calling import ok, opened
from conftest import Workspace

pytestmark = [pytest.mark.anyio, pytest.mark.soak("finder")]

FILES = 300
CALLERS = 8


async def test_searches_at_the_same_time_each_find_every_file_once(workspace: Workspace) -> None:
    for number in range(FILES):
        workspace.write(f"d{number}/file.txt", "needle\n")
    wanted = Counter(f"d{number}/file.txt" for number in range(FILES))
    answers: list[Counter[str]] = []
    async with opened(workspace.ws) as crib:

        async def caller(tool: str) -> None:
            for _ in range(soak.count(1_000)):
                if tool == "glob":
                    answers.append(Counter((await ok(crib, "glob", pattern="**", limit=1000)).payload["paths"]))
                else:
                    found = await ok(crib, "grep", pattern="needle", output="files", limit=1000)
                    answers.append(Counter(each["path"] for each in found.payload["files"]))

        async with anyio.create_task_group() as callers:
            for number in range(CALLERS):
                callers.start_soon(caller, ("glob", "grep")[number % 2])
    wrong = [f"missed {len(wanted - each)}, too many {len(each - wanted)}" for each in answers if each != wanted]
    assert wrong == []
