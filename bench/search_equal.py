"""Whether grep and glob find what rg and fd find: 300 queries on one tree, every difference by a rule of the docs."""

import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from _finding import Peers, Queries, chosen, named, ours, peers, state
from _harness import Figure, Plan, main
from _trees import tree

import toolcrib
from toolcrib import Crib

QUERIES = 300
PAGE = 700
"""Results of one page; more of them may be put aside instead of being answered."""
REGEXES = (
    r"^def \w+\(self\b",
    r"\b[A-Z]{3,}_[A-Z]+\b",
    r"(?i)todo|fixme",
    r"^\s*#.*\bnot\b",
    r"\d{4}-\d{2}-\d{2}",
    r"[^\s@]+@[^\s@]+\.com",
    r"^class \w+(\(\w+\))?:$",
    r"0x[0-9a-fA-F]{4,8}",
    r"\"[^\"]{60,}\"",
    r"^(from|import) \w+",
    r"return\s+-?\d+$",
    r"x{3,5}",
    r"\.\w+\.\w+\.\w+\.\w+\(",
    r"^$",
    r"[\t ]+$",
    r"(un)?lock(ed|s)?\b",
)
GLOBS = (
    "**",
    "**/*",
    "*",
    "*/*",
    "**/test_*.py",
    "**/*[0-9].py",
    "**/[a-c]*/*.py",
    "**/__init__.py",
    "**/*.{py,txt,md}",
    "**/?.py",
    "**/??*.py",
    "**/.*",
    "**/*e*/**/*t*.py",
    "**/[!a-y]*",
    "**/*.so",
    "**/*/*/*/*/*.py",
)


@dataclass(frozen=True, slots=True)
class Differs:
    """One result that only one side has: the query, the path, and the rule that explains it (empty for none)."""

    query: str
    path: str
    rule: str


def rule_of_grep(path: Path, pattern: str) -> str:
    """Return which rule explains that a file's matches differ from rg's; empty for none."""
    data = path.read_bytes()
    if path.stat().st_size > 64 << 20:
        return "very large files are skipped and counted"
    if b"\0" in data:
        return "binary files are skipped and counted; rg looks into them up to the first NUL"
    if pattern.endswith("$") and b"\r\n" in data:
        return "the carriage return of a line's end belongs to the end"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "bytes that are not UTF-8 are characters of their own; rg has none there"
    return ""


async def counted(crib: Crib, **args: Any) -> dict[str, int]:
    """Return how many lines match in each file, all pages."""
    found: dict[str, int] = {}
    cursor: dict[str, str] = {}
    while True:
        page = await ours(crib, "grep", output="count", limit=PAGE, **args, **cursor)
        found |= {each["path"]: each["count"] for each in page.payload["files"]}
        if page.bounds.next_cursor is None:
            assert page.payload["total"] == len(found)
            return found
        cursor = {"cursor": page.bounds.next_cursor}


async def globbed(crib: Crib, pattern: str) -> set[str]:
    """Return all that a glob finds."""
    found: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = await ours(crib, "glob", pattern=pattern, limit=PAGE, **cursor)
        found |= set(page.payload["paths"])
        if page.bounds.next_cursor is None:
            assert page.payload["total"] == len(found)
            return found
        cursor = {"cursor": page.bounds.next_cursor}


def by_rg(programs: Peers, top: Path, *words: str) -> dict[str, int]:
    """Return how many lines match in each file by rg."""
    command = programs.grep("--count", "--null", "--with-filename", "--no-messages", *words)
    done = subprocess.run(command, cwd=top, stdout=subprocess.PIPE, check=False)
    assert done.returncode in {0, 1, 2}, words
    lines = [line.split(b"\0") for line in done.stdout.split(b"\n") if line]
    return {os.fsdecode(path).removeprefix("./"): int(number) for path, number in lines}


def by_fd(command: Sequence[str], top: Path) -> set[str]:
    """Return the paths that fd finds."""
    done = subprocess.run([*command, "--print0"], cwd=top, stdout=subprocess.PIPE, check=True)
    return {os.fsdecode(path).removeprefix("./") for path in done.stdout.split(b"\0") if path}


def greps(queries: Queries) -> Iterator[tuple[str, list[str], dict[str, Any]]]:
    """Yield pattern, words for rg and arguments for grep, without an end in sight."""
    dice = random.Random("equal")
    texts = [*queries.selective, *queries.common, *queries.absent]
    yield from ((each, ["--regexp", each], {"mode": "regex"}) for each in REGEXES)
    while True:
        text = dice.choice(texts)
        part = text[: dice.randrange(3, len(text) + 1)]
        kind = dice.randrange(5)
        if kind == 0:
            yield part, ["--fixed-strings", "--", part], {}
        elif kind == 1:
            yield part.upper(), ["-i", "--fixed-strings", "--", part.upper()], {"ignore_case": True}
        elif kind == 2:
            pattern = rf"\b{part}\w*\b"
            yield pattern, ["--regexp", pattern], {"mode": "regex"}
        elif kind == 3:
            pattern = rf"^.*{part}.?$"
            yield pattern, ["--regexp", pattern], {"mode": "regex"}
        else:
            yield part, ["--fixed-strings", "--glob=*.py", "--", part], {"glob": "*.py"}


def globs(queries: Queries) -> Iterator[str]:
    """Yield patterns without an end in sight."""
    dice = random.Random("equal")
    yield from GLOBS
    while True:
        path = dice.choice(queries.files)
        if not re.fullmatch(r"[\w./-]+", path):
            continue
        parts = path.split("/")
        at = dice.randrange(len(parts))
        name = parts[at]
        parts[at] = dice.choice(("*", f"{name[:2]}*", f"*{name[-3:]}", f"?{name[1:]}", f"[{name[0]}]{name[1:]}"))
        yield "/".join(parts) if dice.random() < 0.5 else f"**/{'/'.join(parts[at:])}"


async def differences(crib: Crib, top: Path, programs: Peers, queries: Queries, number: int) -> list[Differs]:
    """Ask both sides, and return each difference."""
    found: list[Differs] = []
    for _, (pattern, words, args) in zip(range(number // 2), greps(queries), strict=False):
        mine, theirs = await counted(crib, pattern=pattern, **args), by_rg(programs, top, *words)
        differ = sorted(path for path in mine.keys() | theirs.keys() if mine.get(path) != theirs.get(path))
        found += [Differs(f"grep {pattern}", path, rule_of_grep(top / path, pattern)) for path in differ]
    for _, pattern in zip(range(number // 2), globs(queries), strict=False):
        command = programs.find("--full-path", "--glob", f"{top}/{pattern}")
        if command is not None:
            found += [
                Differs(f"glob {pattern}", path, "")
                for path in sorted(await globbed(crib, pattern) ^ by_fd(command, top))
            ]
    return found


async def measure(name: str, plan: Plan) -> Sequence[Figure]:
    """Compare on one tree."""
    top = tree(name)
    programs = peers()
    queries = chosen(top, programs, number=10)
    number = 40 if plan.brief else QUERIES
    with state():
        async with toolcrib.open_crib(top, mode="work") as crib:
            found = await differences(crib, top, programs, queries, number)
    rules = Counter(each.rule for each in found if each.rule)
    return [
        Figure("queries compared", number if programs.fd else number // 2, ""),
        Figure("files that differ and no rule says why", told(each for each in found if not each.rule), "", 0),
        *(Figure(f"files that differ because {rule}", count, "") for rule, count in sorted(rules.items())),
    ]


def told(unexplained: Iterable[Differs]) -> int:
    """Print what no rule explains, and return how many there are."""
    number = 0
    for each in unexplained:
        number += 1
        if number <= 20:
            print(f"no rule for: {each.query!r}: {each.path!r}")
    return number


if __name__ == "__main__":
    which = named("--tree", "std")
    main(f"Equal results, tree {which} (`script/bench search_equal`)", partial(measure, which))
