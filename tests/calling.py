"""Opening a crib in a test and calling it: the public interface only."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from toolcrib import Crib, Ok, Outcome, Refused, open_crib
from toolcrib.ports.ask import Asker
from toolcrib.terms.settings import Mode


@asynccontextmanager
async def opened(directory: Path, *, mode: Mode | None = "work", approver: Asker | None = None) -> AsyncGenerator[Crib]:
    """Open a crib in mode `work`, so that file calls need no person, within a bounded time."""
    with anyio.fail_after(18):
        async with open_crib(directory, mode=mode, approver=approver) as crib:
            yield crib


async def ok(crib: Crib, tool: str, /, **args: Any) -> Ok:
    """Call and demand an Ok."""
    outcome = await crib.call(tool, **args)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


async def refused(crib: Crib, tool: str, name: str, /, **args: Any) -> Refused:
    """Call and demand a refusal of this name, whose effect did not happen."""
    outcome = await crib.call(tool, **args)
    assert isinstance(outcome, Refused), str(outcome)
    assert outcome.name == name, str(outcome)
    assert outcome.message
    assert outcome.happened == "no"
    return outcome


async def edit(
    crib: Crib, path: str, *edits: tuple[str, str] | tuple[str, str, bool], digest: str | None = None
) -> Outcome:
    """Read the file for its digest, then edit it citing that digest."""
    cited = digest or (await ok(crib, "read_file", path=path)).evidence.digest
    changes = [{"old": each[0], "new": each[1], "replace_all": len(each) > 2 and each[2]} for each in edits]
    return await crib.call("edit_file", path=path, digest=cited, edits=changes)


async def lines(crib: Crib, path: str, **args: Any) -> list[str]:
    """Return the lines of a reading."""
    return list((await ok(crib, "read_file", path=path, **args)).payload["lines"])


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run an async body in a process that has no loop yet."""
    anyio.run(body)
