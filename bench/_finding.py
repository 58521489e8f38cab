"""What the measurements of searching share: the programs beside ours, and queries chosen by a fixed seed."""

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _harness import CACHE, p50, workspace
from _trees import files_of

from toolcrib import Crib, Ok
from toolcrib.host.finder import remembered
from toolcrib.wiring import build

IDENTIFIER = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]{4,40}\b")
SAME = ("--hidden", "--no-ignore-parent")
"""What makes rg and fd search the files that we search: hidden ones, and those that no file above the root ignores."""
FEW, MANY = 30, 0.02
"""A query is selective in at most so many files, and common in more than this share of them."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The programs that ours are measured beside. `fd` is None where it is not installed."""

    rg: str
    fd: str | None

    def grep(self, *words: str) -> list[str]:
        """Return a search by rg as a person would run it, over what we search."""
        return [self.rg, "--no-config", *SAME, "--glob=!.git", "--line-number", *words, "."]

    def find(self, *words: str) -> list[str] | None:
        """Return a search by fd over what we search."""
        return (
            None if self.fd is None else [self.fd, *SAME, "--exclude=.git", "--type=file", "--case-sensitive", *words]
        )


def peers() -> Peers:
    """Find the programs: rg of the wheel, fd as `script/setup --bench` puts it, or from the path.

    Raises:
        SystemExit: there is no rg.
    """
    rg = shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")
    if rg is None:
        raise SystemExit("finder: rg is missing; run script/setup")
    fd = next((each for each in (CACHE / "fd" / "fd",) if os.access(each, os.X_OK)), None)
    found = str(fd) if fd else shutil.which("fd") or shutil.which("fdfind")
    if found is None:
        print("not with fd: run script/setup --bench", file=sys.stderr)
    return Peers(rg, found)


@contextmanager
def state() -> Generator[None]:
    """Give configuration and state of our own, for a crib over a tree that stays."""
    with workspace():
        yield


def output(command: Sequence[str], tree: Path) -> str:
    """Run a program in a tree and return what it says; finding nothing is no failure."""
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "surrogateescape")


async def spawned(command: Sequence[str], tree: Path) -> None:
    """Run a program as a session would: started, all of its output read, waited for."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, limit=1 << 20
    )
    await process.communicate()


async def ours(crib: Crib, tool: str, **args: Any) -> Ok:
    """Search, and demand an answer."""
    outcome = await crib.call(tool, **args)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


@dataclass(frozen=True, slots=True)
class Pair:
    """Medians of one query in milliseconds: ours and the peer's, measured in turns."""

    name: str
    ours: float
    theirs: float

    @property
    def faster(self) -> float:
        """How many times as long the peer takes."""
        return self.theirs / self.ours


async def side_by_side(
    name: str, mine: Callable[[], Awaitable[object]], theirs: Callable[[], Awaitable[object]], *, times: int
) -> Pair:
    """Measure both in turns after one run each."""
    await mine()
    await theirs()
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for call, samples in ((mine, took[0]), (theirs, took[1])):
            began = time.perf_counter()
            await call()
            samples.append((time.perf_counter() - began) * 1000)
    return Pair(name, p50(took[0]), p50(took[1]))


@dataclass(frozen=True, slots=True)
class Queries:
    """What is searched for in one tree."""

    files: list[str]
    selective: list[str]
    common: list[str]
    absent: list[str]

    def expressions(self) -> list[str]:
        """Return a regular expression for each selective text that finds at least that."""
        return [rf"\b{text[:-5]}\w+{text[-2:]}\b" for text in self.selective]

    def names(self, number: int) -> list[str]:
        """Return base names of files."""
        return [path.rpartition("/")[2] for path in random.Random("names").sample(self.files, number)]

    def fuzzy(self, number: int) -> list[str]:
        """Return what a person may type for a file: parts of its path, with a slip now and then."""
        dice = random.Random("fuzzy")
        return [typed(dice, path) for path in dice.sample(self.files, number)]


def typed(dice: random.Random, path: str) -> str:
    """Return a query for a path."""
    parts = path.split("/")
    stem = parts[-1].partition(".")[0] or parts[-1]
    if len(stem) > 4 and dice.random() < 0.3:
        at = dice.randrange(1, len(stem) - 1)
        stem = stem[:at] + stem[at + 1 :]
    return f"{dice.choice(parts[:-1])} {stem}" if len(parts) > 1 and dice.random() < 0.5 else stem


def chosen(tree: Path, programs: Peers, *, number: int) -> Queries:
    """Choose queries by looking into files at random, and have rg count in how many files each is."""
    dice = random.Random("queries")
    files = sorted(os.fspath(path.relative_to(tree)) for path in files_of(tree))
    selective: list[str] = []
    common: list[str] = []

    def holding(text: str) -> int:
        return output(programs.grep("--fixed-strings", "--files-with-matches", text), tree).count("\n")

    for path in dice.sample(files, min(len(files), 20 * number)):
        names = identifiers(tree / path)
        if len(selective) < number and names and names[-1] not in selective and 0 < holding(names[-1]) <= FEW:
            selective.append(names[-1])
        elif (
            len(common) < max(2, number // 4)
            and names
            and names[0] not in common
            and holding(names[0]) > MANY * len(files)
        ):
            common.append(names[0])
    absent = [f"zq{dice.randrange(1 << 40):x}_{each}" for each in ("absent", "nowhere", "q")]
    return Queries(files, selective, common or ["return"], absent)


def identifiers(path: Path) -> list[str]:
    """Return the identifiers of a text file, the shortest first: those are everywhere, the longest nearly nowhere."""
    with path.open("rb") as file:
        text = file.read(20_000)
    if b"\0" in text:
        return []
    return sorted(set(IDENTIFIER.findall(text.decode("utf-8", "replace"))), key=lambda name: (len(name), name))


def worst(pairs: Iterable[Pair]) -> Pair:
    """Return the query that compares worst."""
    return min(pairs, key=lambda pair: pair.faster)


def named(option: str, usual: str) -> str:
    """Take `option` with its value out of the command line, and return the value."""
    if option not in sys.argv:
        return usual
    at = sys.argv.index(option)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


def take(engine: str) -> None:
    """Have cribs of this process use the accelerator that `script/setup --bench` installed, or none."""
    beneath = sorted((CACHE / "fff").rglob("libfff_c.so")) if engine == "fff" else []
    library = str(beneath[0]) if beneath else None
    if engine == "fff" and library is None:
        sys.exit("finder: fff is not installed; script/setup --bench does that")

    def found(*_places: object, **_rest: object) -> str | None:
        return library

    build.find_accelerator = found


@contextmanager
def forgetful() -> Generator[None]:
    """Have engines forget what they proposed, so that each question is asked as for the first time."""
    usual, remembered.MOST_ANSWERS = remembered.MOST_ANSWERS, 0
    try:
        yield
    finally:
        remembered.MOST_ANSWERS = usual
