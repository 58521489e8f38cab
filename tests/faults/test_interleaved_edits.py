"""Edits of several sessions woven together: what nobody touched is never called stale, and no change is lost."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count as counting
from pathlib import Path

import anyio
import pytest

import soak
from conftest import Workspace
from toolcrib import Crib, Ok, Outcome, Principal, Refused, open_crib

pytestmark = [pytest.mark.anyio, pytest.mark.soak("edits")]

EDITS = 10_000
FILES = ("src/a.py", "src/b.py", "notes.md")
LINES = 12
ENDINGS = {"src/a.py": "\n", "src/b.py": "\r\n", "notes.md": "\n"}


@dataclass
class Session:
    """One caller: a thread of its own on one of the cribs, and what it knows of each file."""

    name: str
    crib: Crib
    known: dict[str, tuple[str, list[str]]] = field(default_factory=dict[str, tuple[str, list[str]]])
    """Path to the digest it cites and the lines that it believes in."""

    async def call(self, tool: str, **args: object) -> Outcome:
        """Call in this session's thread."""
        who = Principal(id=f"test:{self.name}", face="python", thread=self.name)
        return await self.crib.submit(self.crib.make(tool, args, principal=who))

    async def read(self, path: str) -> None:
        """Read the file and remember it."""
        outcome = await self.call("read_file", path=path)
        assert isinstance(outcome, Ok), str(outcome)
        assert outcome.evidence.digest
        self.known[path] = (outcome.evidence.digest, list(outcome.payload["lines"]))

    async def edit(self, path: str, at: int, new: str) -> Outcome:
        """Replace one line as this session knows it, citing what it read or wrote last."""
        digest, lines = self.known[path]
        outcome = await self.call("edit_file", path=path, digest=digest, edits=[{"old": lines[at], "new": new}])
        if isinstance(outcome, Ok):
            assert outcome.evidence.digest
            lines[at] = new
            self.known[path] = (outcome.evidence.digest, lines)
        return outcome


@asynccontextmanager
async def sessions(directory: Path) -> AsyncGenerator[list[Session]]:
    """Open two sessions on one crib, and two on another that knows nothing of the first."""
    async with AsyncExitStack() as stack:
        one, other = [await stack.enter_async_context(open_crib(directory, mode="work")) for _ in range(2)]
        yield [Session("one", one), Session("two", one), Session("three", other), Session("four", other)]


def filled(workspace: Workspace) -> dict[str, list[str]]:
    """Write the files and return their lines; every line is unlike any other."""
    lines = {path: [f"{path} line {number:02d} turn 000000" for number in range(LINES)] for path in FILES}
    for path, each in lines.items():
        workspace.write(path, "".join(line + ENDINGS[path] for line in each))
    return lines


def content(path: str, lines: list[str]) -> bytes:
    """Return the bytes that a file with these lines has."""
    return "".join(line + ENDINGS[path] for line in lines).encode()


@pytest.mark.promise("P-edits-staleness")
@pytest.mark.parametrize("share", range(4))
async def test_an_edit_of_untouched_text_is_never_stale_and_one_of_touched_text_always_is(
    workspace: Workspace, share: int
) -> None:
    dice = random.Random(f"interleaved {share}")
    now = filled(workspace)
    turns = counting(1)
    counts = {"same": 0, "moved on": 0, "touched": 0}
    async with sessions(workspace.ws) as callers:
        for _ in range(max(1, soak.count(EDITS) // 4)):
            caller, path = dice.choice(callers), dice.choice(FILES)
            if path not in caller.known or dice.random() < 0.2:
                await caller.read(path)
            if dice.random() < 0.1:
                # Another program, not through any crib.
                now[path][dice.randrange(LINES)] = f"{path} outside turn {next(turns):06d}"
                workspace.write(path, content(path, now[path]))
            at, new = dice.randrange(LINES), f"{path} by {caller.name} turn {next(turns):06d}"
            digest, believed = caller.known[path]
            old = believed[at]
            # A rebased edit answers with the digest of lines that the caller has not all seen: what it cites counts.
            current = digest == sha256(content(path, now[path])).hexdigest()
            kind = "touched" if old not in now[path] else "same" if current else "moved on"
            outcome = await caller.edit(path, at, new)
            counts[kind] += 1
            if kind == "touched":
                assert isinstance(outcome, Refused), f"lost update: {outcome}"
                assert outcome.name == ("file.no_match" if current else "file.stale")
                assert outcome.happened == "no"
                await caller.read(path)
            else:
                assert isinstance(outcome, Ok), f"false staleness: {outcome}"
                assert outcome.payload["rebased"] == (kind == "moved on")
                now[path][now[path].index(old)] = new
            assert workspace.read(path) == content(path, now[path])
    assert counts["same"]
    assert counts["moved on"]
    assert counts["touched"] or not soak.running()


@pytest.mark.promise("P-edits-staleness")
async def test_sessions_that_edit_at_the_same_time_each_keep_what_they_wrote(workspace: Workspace) -> None:
    filled(workspace)
    rounds = max(2, soak.count(EDITS) // (4 * len(FILES)))
    async with sessions(workspace.ws) as callers:

        async def work(caller: Session, owned: range) -> None:
            dice = random.Random(caller.name)
            for path in FILES:
                await caller.read(path)
            for turn in range(rounds):
                for path in FILES:
                    outcome = await caller.edit(path, dice.choice(owned), f"{path} by {caller.name} turn {turn:06d}")
                    assert isinstance(outcome, Ok), f"false staleness: {outcome}"

        share = LINES // len(callers)
        async with asyncio.TaskGroup() as group:
            for number, caller in enumerate(callers):
                group.create_task(work(caller, range(number * share, (number + 1) * share)))
    for path in FILES:
        found = workspace.read(path).decode().split(ENDINGS[path])[:-1]
        for number, caller in enumerate(callers):
            owned = slice(number * share, (number + 1) * share)
            assert found[owned] == caller.known[path][1][owned]
    left = [each.name async for each in anyio.Path(workspace.ws).rglob("*") if each.name.startswith(".toolcrib-tmp")]
    assert left == []
