"""Narrowing a content search with the accelerator `fff`: an index of the root, held by a program of ours that may die.

One program makes one index, of the tree as it was at a version of the truth; what changed since is left to our own
scanner, and when that is much, the next program takes over. So are the files that the library does not list or does
not look into. Whatever goes wrong, nothing is proposed.
"""

import os
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import partial

from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.engine import NOTHING, Job, Pace, Proposal, Truth
from toolcrib.host.finder.frames import Answer, BrokenError, Frames, LateError
from toolcrib.host.finder.octets import octets
from toolcrib.host.finder.reading import binaries
from toolcrib.ports.run import Hold, Program

LEAST_FILES = 2_000
"""Below this, reading and ripgrep are fast enough, and an index is not worth its memory."""
MOST_CHANGED = 500
"""Files changed since the index was made, above which another one is made."""
_MOST_FOUND = 2_000
_SHARE = 16
_LEAST_FOUND = 64
"""Files for our own scanner, above which ripgrep is sooner done: this part of all, within bounds."""
LEAST_MILLISECONDS = 8
_MOST_MILLISECONDS = 2000
_PACE_SHARE = 0.6
"""The library may search for this part of what the reference would take; it gives up early when that is too short."""
_GRACE = 0.01
_SCAN_SECONDS = 60.0
_MOST_FAILURES = 3
PAUSE = 1.0
"""Seconds before an index is made again; doubled with each failure, and many times what the last one took."""
_PAUSE_SHARE = 20
_MOST_TEXT = 100_000
_MOST_UNSEEN = 4_000
_NOT_LITERAL = ("\n", "\0", "\\n")
"""What the library would take for the end of a line, or of the text."""
_MARK = "\ufffd"
_LONG = 60.0
"""Seconds after which a program that dies did not fail at once."""
_FOLDING = "ſ\n\u212a"
"""Characters beyond ASCII that are letters of ASCII in the other case, as lines."""


@dataclass(slots=True)
class _Index:
    """A program with its index, and what is known of the files it does not look into."""

    frames: Frames
    version: int
    files: frozenset[str]
    total: int
    folding: frozenset[str] | None
    made: float
    using: threading.Lock = field(default_factory=threading.Lock)
    binary: dict[str, bool] = field(default_factory=dict[str, bool])
    """Whether a file that the index does not look into is binary, as far as it was found out."""
    unseen: "_Unseen | None" = None


@dataclass(frozen=True, slots=True)
class _Unseen:
    """Which files of a job the index does not look into: those to be searched, those that are binary."""

    job: frozenset[str]
    blind: frozenset[str]
    binary: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Question:
    """What to ask the program; `folds` says that a letter of ASCII may stand for one beyond it."""

    text: str
    regex: bool
    folds: bool


class Fff:
    """Searches by the library at the path `library`. Implements `engine.Engine`.

    `root` is a handle of the root directory, of which a copy is kept until `close`; `pace` that of the reference.
    """

    name = "fff"

    def __init__(self, hold: Hold, library: str, root: int, truth: Truth, pace: Pace | None = None) -> None:
        self._hold = hold
        self._library = library
        self._root = os.dup(root)
        self._truth = truth
        self._pace = pace or Pace()
        self._index: _Index | None = None
        self._frames: Frames | None = None
        self._making: threading.Thread | None = None
        self._failures = 0
        self._not_before = 0.0
        self._closed = False
        self._lock = threading.Lock()

    @property
    def state(self) -> str:
        """Say in a word how it is: `ready`, `making` an index, `idle`, or `failed` for good."""
        if self._failures >= _MOST_FAILURES or self._closed:
            return "failed"
        making = self._making is not None and self._making.is_alive()
        return "ready" if self._index is not None else "making" if making else "idle"

    async def propose(self, job: Job, budget: Budget) -> Proposal:
        """Return the files to be searched; nothing when there is no index, or there are too many."""
        if len(job.files) < LEAST_FILES or budget.spent():
            return NOTHING
        index = self._index
        changed = None if index is None else self._truth.changed_since(index.version)
        if index is None or changed is None or len(changed) > MOST_CHANGED:
            self._make(self._truth.version)
        if index is None or changed is None:
            return NOTHING
        question = _question(job)
        if question is None:
            return NOTHING
        found = await hop(budget, partial(self._find, index, job, question))
        changed = self._truth.changed_since(index.version)
        if found is None or changed is None:
            return NOTHING
        candidates, binary = found
        doubtful = candidates | (changed & job.files)
        if len(doubtful) > _most(job):
            return NOTHING
        return Proposal(counts={}, doubtful=doubtful, binary=binary - changed, rest=True)

    async def settle(self, seconds: float) -> None:
        """Wait until no index is being made, at most so long."""
        making = self._making
        if making is not None:
            await hop(Budget(seconds=seconds, entries=1), partial(making.join, seconds))

    async def close(self) -> None:
        """End the program and wait for whoever uses it, a second at most."""
        self._closed = True
        await hop(Budget(seconds=1, entries=1), self._end)

    def _end(self) -> None:
        with self._lock:
            frames, making = self._frames, self._making
            self._index = self._frames = None
        if frames is not None:
            frames.end()
        if making is not None:
            making.join(1.0)
        with self._lock:
            if self._root >= 0 and (making is None or not making.is_alive()):
                os.close(self._root)
                self._root = -1

    def _drop(self, index: _Index) -> None:
        """Forget an index that went wrong; its program is killed."""
        with self._lock:
            if self._index is index:
                self._index = self._frames = None
                self._failed(lived=time.monotonic() - index.made)
        index.frames.end()

    def _failed(self, *, lived: float = 0.0) -> None:
        self._failures = 1 if lived > _LONG else self._failures + 1
        self._not_before = time.monotonic() + PAUSE * 2**self._failures

    def _make(self, version: int) -> None:
        """Have an index made, unless that is under way, or failed too often, or was done a moment ago."""
        with self._lock:
            busy = self._making is not None and self._making.is_alive()
            early = time.monotonic() < self._not_before
            if busy or early or self._closed or self._failures >= _MOST_FAILURES:
                return
            self._making = threading.Thread(target=self._made, args=(version,), name="toolcrib-fff", daemon=True)
            self._making.start()

    def _made(self, version: int) -> None:
        began = time.monotonic()
        with self._lock:
            old, self._index, self._frames = self._frames, None, None
        if old is not None:
            old.end()
        index = self._scanned(version)
        with self._lock:
            if index is None:
                self._failed()
            elif not self._closed:
                took = time.monotonic() - began
                self._not_before = time.monotonic() + PAUSE + _PAUSE_SHARE * took
                self._index = index
                return
        if index is not None:
            index.frames.end()

    def _scanned(self, version: int) -> _Index | None:
        worker = os.path.join(os.path.dirname(__file__), "fff_worker.py")
        argv = [sys.executable, "-I", "-S", worker, self._library]
        try:
            frames = Frames(self._hold.hold(Program(argv=argv, directory=self._root)))
        except OSError:
            return None
        with self._lock:
            self._frames = frames
        try:
            return _made_by(frames, version)
        except (BrokenError, LateError):
            frames.end()
            return None

    def _find(self, index: _Index, job: Job, question: _Question) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return the files for our own scanner and those known to be binary; None when there is no telling."""
        if not index.using.acquire(blocking=False):
            return None
        try:
            unseen = self._unseen(index, job)
            if unseen is None or (question.folds and index.folding is None):
                return None
            expected = int(self._pace.expected(len(job.files)) * 1000 * _PACE_SHARE)
            milliseconds = max(LEAST_MILLISECONDS, min(_MOST_MILLISECONDS, expected))
            answer = index.frames.ask(
                text=question.text,
                regex=question.regex,
                most=_most(job),
                milliseconds=milliseconds,
                seconds=1.2 * milliseconds / 1000 + _GRACE,
            )
            if answer.error is not None:
                return None
            _check(index, answer)
            if not answer.whole:
                return None
            found = set(answer.files)
            if question.folds and index.folding is not None:
                found |= index.folding
            return unseen.blind | (found & job.files), unseen.binary
        except LateError:
            return None
        except (OSError, BrokenError):
            self._drop(index)
            return None
        finally:
            index.using.release()

    def _unseen(self, index: _Index, job: Job) -> _Unseen | None:
        """Return the files of the job that the index does not look into; None when they are too many."""
        if index.unseen is None or index.unseen.job is not job.files:
            unseen = job.files - index.files
            if len(unseen) > _MOST_UNSEEN:
                return None
            new = [path for path in unseen if path not in index.binary]
            found = binaries(self._root, new, job.most_file)
            index.binary.update((path, path in found) for path in new)
            binary = frozenset(path for path in unseen if index.binary[path])
            index.unseen = _Unseen(job.files, unseen - binary, binary)
        return index.unseen if len(index.unseen.blind) <= _most(job) else None


def _made_by(frames: Frames, version: int) -> _Index:
    """Have the program make its index.

    Raises:
        BrokenError: it could not.
        LateError: it took too long.
    """
    listed = frames.ask(do="scan", milliseconds=int(_SCAN_SECONDS * 1000), seconds=_SCAN_SECONDS + 5)
    folding = frames.ask(text=_FOLDING, most=_MOST_FOUND, milliseconds=5000, seconds=_SCAN_SECONDS)
    if listed.error is not None or folding.error is not None:
        raise BrokenError
    return _Index(
        frames=frames,
        version=version,
        # What the library could not read of a name is a mark in it; such a name may stand for several.
        files=frozenset(path for path in listed.files if _MARK not in path),
        total=listed.total,
        folding=frozenset(folding.files) if folding.whole else None,
        made=time.monotonic(),
    )


def _check(index: _Index, answer: Answer) -> None:
    """Refuse an answer that does not fit the index.

    Raises:
        BrokenError: the index is another one now, or files are named that it does not hold.
    """
    if answer.total != index.total or any(path not in index.files and _MARK not in path for path in answer.files):
        raise BrokenError


def _most(job: Job) -> int:
    return max(_LEAST_FOUND, min(_MOST_FOUND, len(job.files) // _SHARE))


def _question(job: Job) -> _Question | None:
    """Return the job in the library's terms; None where it has none for it."""
    if job.multiline or job.parsed is None:
        return None
    text = job.literal
    if text is not None and not job.ignore_case and not any(each in text for each in _NOT_LITERAL):
        return _Question(text, regex=False, folds=False)
    expression = octets(job.parsed)
    if expression is None or len(expression) > _MOST_TEXT:
        return None
    return _Question(expression, regex=True, folds=job.parsed.folds)
