"""Search over one shared view of the workspace: listing, exact globs, content search, fuzzy names.

Answers agree with the file system at the time of the call, are sorted, and are paged by keyset cursors: a cursor is
bound to its query, and any other is `cursor.invalid`. Paths are workspace-relative, `/`-separated.
"""

from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from toolcrib.terms.facts import PathKind
from toolcrib.terms.outcome import Bounds

T_co = TypeVar("T_co", covariant=True)

GrepMode = Literal["plain", "regex", "fuzzy"]
GrepOutput = Literal["lines", "files", "count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T_co]):
    """Some results in order. `total` counts all of them, None where the count was cut (`bounds.scan_capped`)."""

    items: tuple[T_co, ...]
    total: int | None
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One directory entry. `target` is the text of a symbolic link; `ignored` and `hidden` are marks, not filters."""

    path: str
    kind: PathKind
    size: int = 0
    target: str | None = None
    ignored: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One matching (or context) line. `column` is 1-based in characters, None for context; `text` may be clipped."""

    path: str
    line: int
    column: int | None
    text: str
    context: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One file and how many matching lines it has."""

    path: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One file by fuzzy name: `score` from 0 to 100, best first, ties by path."""

    path: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One content search. `glob` only constrains which files are opened."""

    pattern: str
    mode: GrepMode = "plain"
    path: str = "."
    glob: str | None = None
    context: int = 0
    ignore_case: bool = False
    multiline: bool = False
    output: GrepOutput = "lines"
    include_ignored: bool = False
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a content search answers: `matches` for lines, `files` for files and counts; totals of the whole search."""

    matches: tuple[Match, ...] = ()
    files: tuple[Counted, ...] = ()
    total_lines: int | None = None
    total_files: int | None = None
    bounds: Bounds = field(default_factory=Bounds)


class Find(Protocol):
    """The search power of one workspace.

    Raises:
        Refusal: `find.invalid`, `grep.invalid` (with the place), `cursor.invalid`, `file.missing`,
            `file.not_directory`, `file.outside`, `workspace.gone`.
    """

    async def listing(self, path: str, *, depth: int, limit: int, cursor: str | None) -> Page[Listed]:
        """List the directory `path`, `depth` levels deep, hidden and ignored entries marked."""
        ...

    async def glob(self, pattern: str, *, under: str, limit: int, cursor: str | None) -> Page[str]:
        """Enumerate the files whose path beneath `under` matches `pattern`.

        A pattern that is an existing path matches that path too, ignored or not.
        """
        ...

    async def grep(self, query: Query) -> Found:
        """Search file contents."""
        ...

    async def fuzzy(self, query: str, *, under: str, limit: int, cursor: str | None) -> Page[Scored]:
        """Rank file names by likeness to `query`."""
        ...
