"""Searching beside rg and fd: warm, cold, fresh; memory. `--tree std` or `100k`, `--engine ripgrep` or `fff`."""

import asyncio
import json
import os
import re
import resource
import shutil
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from _finding import (
    Pair,
    Peers,
    Queries,
    chosen,
    forgetful,
    named,
    ours,
    peers,
    side_by_side,
    spawned,
    state,
    take,
    worst,
)
from _harness import Figure, Plan, main, p50, p95, timed
from _trees import tree

import toolcrib
from toolcrib import Crib

PLAIN = ("--fixed-strings", "--")
IDLE = 3.0
"""Seconds of idleness over which the processor time is counted."""
SETTLE = 8.0
"""Seconds in which a table, or an index, is made of the largest tree."""
FRESH = "fresh~"


async def greps(crib: Crib, top: Path, programs: Peers, queries: Queries, times: int) -> dict[str, list[Pair]]:
    """Measure every kind of content search beside rg."""

    async def pair(text: str, *words: str, **args: Any) -> Pair:
        mine = partial(ours, crib, "grep", pattern=text, **args)
        theirs = partial(spawned, programs.grep(*words, text), top)
        return await side_by_side(text, mine, theirs, times=times)

    return {
        "plain": [await pair(text, *PLAIN) for text in queries.selective],
        "regex": [await pair(text, "--regexp", mode="regex") for text in queries.expressions()],
        "absent": [await pair(text, *PLAIN) for text in queries.absent],
        "any case": [
            await pair(text.upper(), "--ignore-case", *PLAIN, ignore_case=True) for text in queries.selective[:3]
        ],
        "common": [await pair(text, *PLAIN) for text in queries.common],
    }


async def globs(crib: Crib, top: Path, programs: Peers, queries: Queries, times: int) -> dict[str, list[Pair]]:
    """Measure exact globs beside fd."""

    async def pair(pattern: str, *words: str) -> Pair:
        command = programs.find(*words)
        assert command is not None
        theirs = partial(spawned, command, top)
        return await side_by_side(pattern, partial(ours, crib, "glob", pattern=pattern), theirs, times=times)

    def whole(pattern: str) -> tuple[str, ...]:
        return ("--full-path", "--glob", f"{top}/{pattern}")

    others = ("**/*er*/*.{py,md}", "**/[a-c]*/**/*.json", "**/*e*t*.py", f"{top_of(queries)}/**")
    names = [name for name in queries.names(4) if re.fullmatch(r"[\w.-]+", name)]
    return {
        "extension": [await pair(f"**/*{each}", "--extension", each[1:]) for each in (".py", ".md", ".json")],
        "base name": [await pair(f"**/{name}", "--glob", name) for name in names],
        "other": [await pair(pattern, *whole(pattern)) for pattern in others],
    }


def top_of(queries: Queries) -> str:
    """Return a directory at the top."""
    return next(path.partition("/")[0] for path in queries.files if "/" in path)


def against(title: str, pairs: Sequence[Pair], peer: str, demand: float | None) -> list[Figure]:
    """Return what ours and the peer take, and how much faster ours is in the middle and at its worst."""
    bad = worst(pairs)
    return [
        Figure(f"{title}, p50", p50([pair.ours for pair in pairs]), "ms"),
        Figure(f"{title}, {peer}, p50", p50([pair.theirs for pair in pairs]), "ms"),
        Figure(f"{title}, times as fast as {peer}", p50([pair.faster for pair in pairs]), "x", demand, most=False),
        Figure(f"{title}, the worst query ({bad.name[:40]})", bad.faster, "x"),
    ]


async def warm(top: Path, programs: Peers, queries: Queries, plan: Plan, engine: str) -> list[Figure]:
    """Measure an open crib."""
    times = plan.times(10)
    async with toolcrib.open_crib(top, mode="work") as crib:
        small = next(path for path in queries.files if (top / path).suffix in {".py", ".md"})
        bare = await timed(partial(ours, crib, "read_file", path=small, limit=1), times=60)
        figures = [Figure("a bare call: read_file of one line, p50", p50(bare), "ms")]
        await settled(crib, queries.absent[0])
        with forgetful():
            found = await greps(crib, top, programs, queries, times)
        quick = 5.0 if engine == "fff" else None
        for kind, demand in {"plain": quick, "regex": quick, "absent": None, "any case": None, "common": None}.items():
            figures += against(f"grep, {kind}", found[kind], "rg", demand)
        slowest = worst([pair for pairs in found.values() for pair in pairs])
        figures += [
            Figure(
                f"grep, the slowest beside rg ({slowest.name[:40]})",
                1 / slowest.faster,
                "x the time of rg",
                1.3 if engine == "fff" else 1.1,
            ),
            Figure(
                "grep, one selective query again and again, times as fast as rg",
                (await again(crib, top, programs, queries.selective[0], times)).faster,
                "x",
                1.5,
                most=False,
            ),
        ]
        if programs.fd is not None:
            shown = await globs(crib, top, programs, queries, times)
            for kind, demand in {"extension": 10.0, "base name": 10.0, "other": 3.0}.items():
                figures += against(f"glob, {kind}", shown[kind], "fd", demand)
        figures += await fuzzy(crib, queries, plan)
        figures += await fresh(crib, top, plan)
    return figures


async def settled(crib: Crib, absent: str) -> None:
    """Search until the table is grown and the accelerator has its index: each begins when it is first of use."""
    for text in (absent, f"{absent}1", f"{absent}2"):
        await ours(crib, "grep", pattern=text)
        await asyncio.sleep(SETTLE)


async def again(crib: Crib, top: Path, programs: Peers, text: str, times: int) -> Pair:
    """Measure one query repeated on a tree that does not change."""
    mine = partial(ours, crib, "grep", pattern=text)
    return await side_by_side(text, mine, partial(spawned, programs.grep(*PLAIN, text), top), times=times * 2)


async def fuzzy(crib: Crib, queries: Queries, plan: Plan) -> list[Figure]:
    """Measure fuzzy names."""
    took: list[float] = []
    for query in queries.fuzzy(plan.times(100)):
        took += await timed(partial(ours, crib, "fff_search", query=query), times=1)
    return [Figure("fff_search, p50", p50(took), "ms"), Figure("fff_search, p95", p95(took), "ms", 10)]


async def fresh(crib: Crib, top: Path, plan: Plan) -> list[Figure]:
    """Measure a glob at once after a file was written, which has to wait until the index knows of it."""
    place = top / FRESH
    place.mkdir(exist_ok=True)
    try:
        after: list[float] = []
        still: list[float] = []
        for number in range(plan.times(60)):
            name = f"n{number}.fresh"
            (place / name).write_text("fresh\n")
            for samples in (after, still):
                began = time.perf_counter()
                found = await crib.call("glob", pattern=f"**/n{number}.fres[h]")
                samples.append((time.perf_counter() - began) * 1000)
                assert found.kind == "ok"
                assert list(found.payload["paths"]) == [f"{FRESH}/{name}"]
    finally:
        shutil.rmtree(place)
    return [
        Figure("glob of a file just written, p50", p50(after), "ms"),
        Figure("the same again, unchanged, p50", p50(still), "ms"),
        Figure("what the barrier costs: the one less the other", max(0.0, p50(after) - p50(still)), "ms", 3),
    ]


async def alone(top: Path, text: str, *, whole: bool) -> None:
    """Print what a process of its own measures: its first grep; with `whole` also its memory and its idleness."""
    async with toolcrib.open_crib(top, mode="work") as crib:
        (first,) = await timed(partial(ours, crib, "grep", pattern=text), times=1)
        told: dict[str, float] = {"first": first}
        if whole:
            for tool, args in (("glob", {"pattern": "**/*.py"}), ("fff_search", {"query": "init"})):
                await ours(crib, tool, **args)
            await settled(crib, "zqxj")
            for pattern in (text, "return", "e"):
                await ours(crib, "grep", pattern=pattern)
            told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            # Whatever is still being indexed ends before the idleness begins.
            await asyncio.sleep(IDLE)
            before = everyone()
            await asyncio.sleep(IDLE)
            told |= {"idle": everyone() - before, "resident": resident()}
    print(json.dumps(told))


def family() -> list[int]:
    """Return this process and its children."""
    task = Path(f"/proc/self/task/{os.getpid()}/children")
    return [os.getpid(), *(int(each) for each in task.read_text().split())]


def everyone() -> float:
    """Return the seconds of processor time of this process and its children."""
    ticks = 0
    for pid in family():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident() -> float:
    """Return the MiB that are resident in this process and its children."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in family())
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


async def own_process(top: Path, text: str, engine: str, *, whole: bool) -> dict[str, float]:
    """Have a process of its own measure."""
    words = ["whole" if whole else "first", str(top), text, engine]
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).resolve()), "--alone", *words, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(said)


async def cold(top: Path, programs: Peers, queries: Queries, plan: Plan, engine: str) -> list[Figure]:
    """Measure first greps in fresh processes beside rg, and one process in full."""
    mine: list[float] = []
    theirs: list[float] = []
    for text in queries.selective[: plan.times(7)]:
        theirs += await timed(partial(spawned, programs.grep(*PLAIN, text), top), times=1)
        mine.append((await own_process(top, text, engine, whole=False))["first"])
    full = await own_process(top, queries.selective[0], engine, whole=True)
    return [
        Figure("the first grep of a fresh process, p50", p50(mine), "ms"),
        Figure("the same by rg, p50", p50(theirs), "ms"),
        Figure("the first grep beside rg", p50(mine) / p50(theirs), "x the time of rg", 1.2),
        Figure("resident after searching", full["resident"], "MiB", 250),
        Figure("at the most", full["peak"], "MiB"),
        Figure(f"processor time in {IDLE:g} idle seconds", full["idle"], "s", 0.01),
    ]


async def measure(name: str, engine: str, plan: Plan) -> Sequence[Figure]:
    """Measure all on one tree."""
    top = tree(name)
    programs = peers()
    queries = chosen(top, programs, number=4 if plan.brief else 8)
    with state():
        return [*await warm(top, programs, queries, plan, engine), *await cold(top, programs, queries, plan, engine)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        take(sys.argv[5])
        asyncio.run(alone(Path(sys.argv[3]), sys.argv[4], whole=sys.argv[2] == "whole"))
    else:
        which = named("--tree", "std")
        engine = named("--engine", "ripgrep")
        take(engine)
        words = f"--tree {which} --engine {engine}"
        main(
            f"Searching, tree {which}, engine {engine} (`script/bench finder {words}`)", partial(measure, which, engine)
        )
