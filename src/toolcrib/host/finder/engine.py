"""What a search engine may say of files, and how it is asked: it proposes, and our own scanner decides.

A proposal is never wrong: a file with a match is in `counts` or `doubtful`, or the proposal does not speak of the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.syntax import Parsed

_USUAL = 6e-6
"""Seconds that ripgrep needs for a file in memory, on two cores."""
_TELLING = 1_000
"""Files below which a search is mostly the starting of a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to look for, and in which files, by canonical path. Sizes in bytes.

    `expression` is written for RE2 and ripgrep alike, letter case included; `parsed` is what it was written from.
    `literal` is the very text where the search is for one. `directories` are those of the files that may be given to a
    program, of `places` in all. Files larger than `most_file` are the caller's own affair: an engine says nothing of
    them.
    """

    expression: str
    parsed: Parsed | None = None
    literal: str | None = None
    ignore_case: bool = False
    multiline: bool
    directories: Sequence[str]
    places: int
    files: frozenset[str]
    most_file: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is known of the files: matching lines by path; a path in neither part has none, if `rest` says so."""

    counts: dict[str, int]
    doubtful: frozenset[str]
    """Files to be searched by our own scanner."""
    binary: frozenset[str] = frozenset()
    """Files without a match because they are no text, when `rest` is true."""
    rest: bool
    read: bool = False
    """Whether the files were read for this proposal. Else a change that gives no event may not be in it."""


NOTHING = Proposal(counts={}, doubtful=frozenset(), rest=False)


class Engine(Protocol):
    """Something that narrows a content search."""

    @property
    def name(self) -> str:
        """What `doctor` calls it."""
        ...

    async def propose(self, job: Job, budget: Budget) -> Proposal:
        """Say what is known of the job's files; `NOTHING` where it cannot, for whatever reason.

        Exact counts are of lines that a match begins in, as the file was at some time of this call.
        """
        ...

    async def close(self) -> None:
        """Give back what it holds; afterwards it proposes nothing. More than once is fine."""
        ...


class Truth(Protocol):
    """What is known of changes beneath a root, as an engine sees it."""

    @property
    def version(self) -> int:
        """Grows with each change that became known."""
        ...

    def changed_since(self, version: int) -> frozenset[str] | None:
        """Return the canonical paths of files created, modified or removed after `version`; None where not known.

        With a directory that was moved, made or removed come all files beneath it, at its old place and its new.
        """
        ...


class Pace:
    """How fast the reference engine is here and now, so that a faster one knows when to give up."""

    def __init__(self) -> None:
        self._seconds_a_file = _USUAL

    def note(self, seconds: float, files: int) -> None:
        """Take in how long a search through so many files took."""
        if files >= _TELLING:
            self._seconds_a_file += (seconds / files - self._seconds_a_file) / 4

    def expected(self, files: int) -> float:
        """Return how many seconds a search through so many files may take."""
        return self._seconds_a_file * files


def doubting(proposal: Proposal, job: Job, paths: frozenset[str]) -> Proposal:
    """Return the proposal with some paths left to our own scanner."""
    more = paths & job.files
    if not more or not proposal.rest:
        return proposal
    counts = {path: count for path, count in proposal.counts.items() if path not in more}
    return replace(proposal, counts=counts, doubtful=proposal.doubtful | more, binary=proposal.binary - more)
