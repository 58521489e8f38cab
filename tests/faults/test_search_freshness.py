"""Whatever changes in a tree, and whoever changes it, the next search tells of it: none missing, none that is gone."""

import os
import random
import re
import subprocess
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count as counting
from pathlib import Path

import pytest
from anyio import to_thread

import soak
from calling import ok
from churning import WORD, Dice, Hands, Other, Step, other_process
from conftest import Workspace
from oracle import Truth, truth
from toolcrib import Crib, open_crib
from toolcrib.tools.plain import printable

pytestmark = [pytest.mark.anyio, pytest.mark.soak("finder")]

STEPS = 10_000 if soak.running() else 500
SHARES = 5
SEED = 1
"""Another number gives other steps."""
TOKEN = re.compile(rb"t\d{5}x")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place: its root, a directory beside it, and the person's git excludes."""

    root: Path
    outside: Path
    excludes: Path
    git: bool

    def truth(self) -> Truth:
        """Look at the disk."""
        return truth(self.root, self.excludes, git=self.git)


@contextmanager
def place(base: Path, *, git: bool) -> Generator[Place]:
    """Make an empty place; the excludes are those of the test's own home, and are gone afterwards."""
    found = Place(base / "root", base / "outside", Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "ignore", git)
    found.root.mkdir(parents=True)
    found.outside.mkdir()
    if git:
        subprocess.run(["git", "init", "-q"], cwd=found.root, check=True)
    try:
        yield found
    finally:
        found.excludes.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Run:
    """An open crib over a place, and those who change it."""

    crib: Crib
    at: Place
    hands: Hands
    other: Other

    async def do(self, step: Step, who: str) -> None:
        """Have somebody carry out a step."""
        if who == "tool" and step[0] == "write" and step[1].isprintable():
            # Its refusals are right or wrong elsewhere: here it is one more that writes.
            await self.crib.call("write_file", path=step[1], content=step[2], overwrite_existing=True)
        elif who == "process":
            await to_thread.run_sync(self.other.do, step)
        elif who == "thread":
            await to_thread.run_sync(self.hands.do, step)
        else:
            self.hands.do(step)


@asynccontextmanager
async def running(at: Place) -> AsyncGenerator[Run]:
    """Open a crib and start the other process."""
    with other_process(at.root, at.outside, at.excludes) as other:
        async with open_crib(at.root, mode="work") as crib:
            yield Run(crib, at, Hands(at.root, at.outside, at.excludes), other)


async def globbed(crib: Crib, pattern: str) -> set[str]:
    """Return every path of a glob, all pages."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = await ok(crib, "glob", pattern=pattern, limit=1000, **({"cursor": cursor} if cursor else {}))
        found += page.payload["paths"]
        cursor = page.bounds.next_cursor
        if cursor is None:
            assert page.payload["total"] == len(found) == len(set(found))
            return set(found)


async def holding(crib: Crib, **args: object) -> set[str]:
    """Return every file that a grep finds."""
    page = await ok(crib, "grep", output="files", limit=1000, **args)
    assert page.bounds.next_cursor is None
    found = [each["path"] for each in page.payload["files"]]
    assert page.payload["total"] == len(found) == len(set(found))
    return set(found)


async def matching(crib: Crib, **args: object) -> set[tuple[str, int]]:
    """Return path and number of every line that a grep finds."""
    page = await ok(crib, "grep", limit=1000, **args)
    assert page.bounds.next_cursor is None
    found = [(each["path"], each["line"]) for each in page.payload["matches"]]
    assert page.payload["total"] == len(found) == len(set(found))
    return set(found)


Found = set[str] | set[tuple[str, int]]


async def asked(crib: Crib, kind: str, text: str) -> Found:
    """Search for one thing in one of the ways."""
    if kind == "all":
        return await globbed(crib, "**")
    if kind == "ending":
        return await globbed(crib, "**/*.py")
    if kind == "common":
        return await holding(crib, pattern=WORD)
    if kind == "regex":
        return await matching(crib, pattern=numbered(text), mode="regex")
    return await matching(crib, pattern=text)


def expected(seen: Truth, kind: str, text: str) -> Found:
    """Return what the search has to find."""
    if kind == "all":
        return set(map(printable, seen.files))
    if kind == "ending":
        return {printable(path) for path in seen.files if path.endswith(".py")}
    if kind == "common":
        return set(map(printable, seen.holding(WORD)))
    wanted = [each for each in tokens(seen) if re.fullmatch(numbered(text), each)] if kind == "regex" else [text]
    return {(printable(path), line) for each in wanted for path, line in seen.lines(each)}


def numbered(text: str) -> str:
    """Return an expression for a text of a file's own and for its nearest numbers."""
    return rf"{text[:5]}\dx"


def tokens(seen: Truth) -> set[str]:
    """Return every text of its own that a file holds."""
    return {each.decode() for data in seen.files.values() for each in TOKEN.findall(data)}


WAYS = (
    ("all", "plain"),
    ("plain", "all"),
    ("common", "all"),
    ("all", "common"),
    ("regex", "ending"),
    ("plain", "ending"),
)


async def fault(run: Run, dice: random.Random, text: str) -> tuple[str, Truth]:
    """Search in two ways, one at once after the other, and look at the disk; return what is wrong, and the truth."""
    ways = dice.choice(WAYS)
    answers = [await asked(run.crib, kind, text) for kind in ways]
    seen = run.at.truth()
    for kind, found in zip(ways, answers, strict=True):
        wanted = expected(seen, kind, text)
        if found != wanted:
            missed, ghosts = sorted(wanted - found, key=str), sorted(found - wanted, key=str)
            return f"{kind} {text}: missed {missed[:9]} ({len(missed)}), ghosts {ghosts[:9]} ({len(ghosts)})", seen
    return "", seen


@dataclass(frozen=True, slots=True)
class Done:
    """One step with who made it, and the text that was searched for after it."""

    step: Step
    who: str
    text: str


async def first_fault(at: Place, seed: str, *, steps: int) -> tuple[str, list[Done]]:
    """Make random steps until a search is wrong; return what is wrong, empty after all steps, and what was done."""
    dice = random.Random(seed)
    chooses = Dice(seed, git=at.git)
    done: list[Done] = []
    async with running(at) as run:
        seen = at.truth()
        for number in range(steps):
            token = f"t{number:05d}x"
            step = chooses.step(token, seen.directories, seen.names)
            # Half the time for what was written, else for what this step may have taken away.
            lost = [each.decode() for each in TOKEN.findall(seen.files.get(step[1], b""))]
            text = dice.choice(lost) if lost and dice.random() < 0.5 else token
            done.append(Done(step, dice.choice(("self", "thread", "process", "process", "tool")), text))
            await run.do(step, done[-1].who)
            wrong, seen = await fault(run, dice, text)
            if wrong:
                return wrong, done
    return "", done


async def replayed(at: Place, done: Sequence[Done]) -> bool:
    """Make the steps in a new place and search after each; say whether a search was wrong."""
    dice = random.Random(0)
    async with running(at) as run:
        for each in done:
            await run.do(each.step, each.who)
            wrong, _ = await fault(run, dice, each.text)
            if wrong:
                return True
    return False


async def shrunk(base: Path, done: list[Done], *, git: bool, seconds: float) -> list[Done]:
    """Return fewer steps that still go wrong, as few as are found in time."""
    ends = time.monotonic() + seconds
    numbers = counting()
    size = len(done) // 2
    while size and time.monotonic() < ends:
        for start in range(0, len(done), size):
            fewer = done[:start] + done[start + size :]
            with place(base / f"fewer{next(numbers)}", git=git) as at:
                if time.monotonic() < ends and fewer and await replayed(at, fewer):
                    done = fewer
                    break
        else:
            size //= 2
    return done


@pytest.mark.promise("P-search-fresh")
@pytest.mark.parametrize("git", [True, False], ids=["git", "plain"])
@pytest.mark.parametrize("share", range(SHARES))
async def test_after_any_change_by_anybody_the_next_search_is_exact(
    workspace: Workspace, share: int, git: bool
) -> None:
    seed = f"fresh {SEED} {share} {git}"
    with place(workspace.base / "run", git=git) as at:
        wrong, done = await first_fault(at, seed, steps=STEPS // (2 * SHARES))
    if wrong:
        fewer = await shrunk(workspace.base, done, git=git, seconds=600 if soak.running() else 8)
        steps = "\n".join(f"  {each.who:<8}{each.step!r} then {each.text}" for each in fewer)
        pytest.fail(f"seed {seed!r}, step {len(done)} of the run: {wrong}\nfewer steps that go wrong:\n{steps}")


async def test_the_check_itself_finds_a_search_that_is_behind(workspace: Workspace) -> None:
    with place(workspace.base / "run", git=False) as at:
        async with running(at) as run:
            before = at.truth()
            await run.do(["write", "a/f0.py", f"{WORD}\nt00001x\n"], "process")
            answer = {kind: await asked(run.crib, kind, "t00001x") for kind in ("all", "plain", "common", "regex")}
            assert answer["plain"] == {("a/f0.py", 2)}
            for kind, found in answer.items():
                assert found == expected(at.truth(), kind, "t00001x")
                assert found != expected(before, kind, "t00001x")
