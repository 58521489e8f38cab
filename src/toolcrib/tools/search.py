"""The family `search`: listing, exact names, contents and fuzzy names. Thin over `Find`; renders, decides nothing."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.ports.find import Find, GrepMode, GrepOutput, Listed, Match, Query
from toolcrib.terms.facts import PathKind
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.payload import Answer, Arguments, Name, Payload
from toolcrib.terms.refusals import RefusalName
from toolcrib.terms.settings import SearchSettings
from toolcrib.terms.tool import paths, tool
from toolcrib.tools.plain import clip, counted, one_line, printable
from toolcrib.tools.prose import load

_PROSE = load("search")
_LIMITS = SearchSettings()
_DEFAULT = 100
_REFUSALS: tuple[RefusalName, ...] = (
    "find.invalid",
    "cursor.invalid",
    "file.missing",
    "file.not_directory",
    "file.outside",
    "file.denied",
    "args.invalid",
    "workspace.gone",
)

_LIMIT = f"How many results at most, 1 to {_LIMITS.max_limit}."
_CURSOR = "Where an earlier answer of the same call said to continue."


class ListDir(Arguments):
    """Parameters of `list_dir`."""

    path: Name = Field(default=".", description="Directory to list, relative to the workspace root.")
    depth: int = Field(default=1, ge=1, le=20, description="How many levels deep; 1 is the directory alone.")
    limit: int = Field(default=_DEFAULT, ge=1, le=_LIMITS.max_limit, description=_LIMIT)
    cursor: str | None = Field(default=None, description=_CURSOR)


class Glob(Arguments):
    """Parameters of `glob`."""

    pattern: Name = Field(
        description="Glob over paths beneath cwd: **, *, ?, [ab], {a,b}, leading ! to exclude. E.g. src/**/*.py",
    )
    cwd: Name = Field(default=".", description="Directory the pattern starts from.")
    limit: int = Field(default=_DEFAULT, ge=1, le=_LIMITS.max_limit, description=_LIMIT)
    cursor: str | None = Field(default=None, description=_CURSOR)


class Grep(Arguments):
    """Parameters of `grep`."""

    pattern: str = Field(min_length=1, description="What to look for, read as mode says.")
    mode: GrepMode = Field(
        default="plain", description="plain: exactly this text. regex: RE2 syntax. fuzzy: lines like it, typos allowed."
    )
    path: Name = Field(default=".", description="File or directory to search.")
    glob: str | None = Field(default=None, description="Only open files whose path matches this glob, e.g. *.py")
    context: int = Field(default=0, ge=0, le=50, description="Lines of context around each match.")
    ignore_case: bool = Field(default=False, description="Match upper and lower case alike.")
    multiline: bool = Field(default=False, description="Let a regex match across lines.")
    output: GrepOutput = Field(
        default="lines", description="lines: each matching line. files: paths only. count: matching lines a file."
    )
    include_ignored: bool = Field(default=False, description="Search files that ignore files exclude, too.")
    limit: int = Field(default=_DEFAULT, ge=1, le=_LIMITS.max_limit, description=_LIMIT)
    cursor: str | None = Field(default=None, description=_CURSOR)


class FffSearch(Arguments):
    """Parameters of `fff_search`."""

    query: str = Field(min_length=1, description="Parts of a file's name or path, in any spelling.")
    cwd: Name = Field(default=".", description="Directory to search beneath.")
    limit: int = Field(default=50, ge=1, le=_LIMITS.max_limit, description=_LIMIT)
    cursor: str | None = Field(default=None, description=_CURSOR)


class Results(Payload):
    """What every search answers: how many results there are in all (null: counting was cut), and how to go on."""

    tells_bounds: ClassVar[bool] = True

    total: int | None = None
    # held for the text alone: the outcome carries the bounds beside the payload
    bounds: Bounds = Field(default_factory=Bounds, exclude=True, repr=False)

    def summary(self, shown: int, noun: str, where: str) -> str:
        """Return the closing line: how much of it this is, where it was looked for, and what was left out."""
        if self.total is None:
            said = f"{counted(shown, noun)} shown, an unknown number in all, {where}"
        elif self.total <= shown:
            said = f"{counted(self.total, noun)} {where}"
        else:
            said = f"{shown:,} of {counted(self.total, noun)} {where}"
        notes = [said, *_left_out(self.bounds)]
        if self.bounds.next_cursor:
            notes.append(f"continue with cursor={self.bounds.next_cursor}")
        return f"[{'; '.join(notes)}]"


def _left_out(bounds: Bounds) -> Iterator[str]:
    counts = {
        "binary": bounds.skipped_binary,
        "too large": bounds.skipped_large,
        "denied by a rule": bounds.skipped_denied,
        "ignored": bounds.skipped_ignored,
    }
    for why, count in counts.items():
        if count:
            yield f"{count:,} {why} skipped"
    if bounds.clipped_lines:
        yield f"{counted(bounds.clipped_lines, 'line')} clipped"
    if bounds.skipped_unreadable:
        yield f"not readable: {', '.join(map(printable, bounds.skipped_unreadable))}"
    if bounds.scan_capped:
        yield f"stopped early: {bounds.scan_capped}"


class Row(BaseModel):
    """One result of a search; part of a payload, never one by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DirEntry(Row):
    """One entry of a directory. `target` is the text of a symbolic link."""

    path: str
    kind: PathKind
    size: int = 0
    target: str | None = None
    ignored: bool = False
    hidden: bool = False

    def shown(self) -> str:
        """Return one line: `dir/`, `link -> target`, or the file with its size; then the marks."""
        name = one_line(self.path) + ("/" if self.kind == "directory" and self.target is None else "")
        if self.target is not None:
            name += f" -> {one_line(self.target)}"
        marks = [self.kind] if self.kind in {"fifo", "socket", "device"} else []
        if self.kind == "symlink":
            marks.append("broken link")
        if self.ignored:
            marks.append("ignored")
        size = f"  {self.size:,}" if self.kind == "file" else ""
        return f"{name}{size}  ({', '.join(marks)})" if marks else name + size


class Listing(Results):
    """What `list_dir` answers."""

    path: str
    entries: tuple[DirEntry, ...]

    def text(self) -> str:
        """Return one entry a line, then the totals."""
        if not self.entries and self.total == 0 and not self.bounds:
            return f"[{self.path} is an empty directory]"
        lines = [entry.shown() for entry in self.entries]
        return "\n".join([*lines, self.summary(len(lines), "entry", f"in {self.path}")])


class Paths(Results):
    """What `glob` answers."""

    pattern: str
    cwd: str
    paths: tuple[str, ...]

    def text(self) -> str:
        """Return one path a line, then the totals."""
        where = f"matching {self.pattern}{_under(self.cwd)}"
        return "\n".join([*map(one_line, self.paths), self.summary(len(self.paths), "file", where)])


class GrepLine(Row):
    """One line that matches, or with `column` null, one of its context."""

    path: str
    line: int
    column: int | None
    text: str

    def shown(self) -> str:
        """Return `path:line:column: text`, or `path-line- text` for context."""
        path = one_line(self.path)
        if self.column is None:
            return f"{path}-{self.line}- {self.text}"
        return f"{path}:{self.line}:{self.column}: {self.text}"


class FileCount(Row):
    """One file and how many of its lines match."""

    path: str
    count: int


class Matches(Results):
    """What `grep` answers: `matches` for lines, `files` for files and counts. `total` counts lines or files alike."""

    pattern: str
    mode: GrepMode
    path: str
    output: GrepOutput
    matches: tuple[GrepLine, ...] = ()
    files: tuple[FileCount, ...] = ()
    total_files: int | None = None

    def text(self) -> str:
        """Return one match a line, files apart from each other, then the totals."""
        where = f"for {self.mode} {clip(self.pattern, 200)!r}{_under(self.path)}"
        if self.output == "files":
            return "\n".join(
                [*(one_line(each.path) for each in self.files), self.summary(len(self.files), "file", where)]
            )
        if self.output == "count":
            lines = [f"{one_line(each.path)}: {each.count:,}" for each in self.files]
            return "\n".join([*lines, self.summary(len(lines), "file", where)])
        if self.total_files:
            where = f"in {counted(self.total_files, 'file')} {where}"
        shown = sum(each.column is not None for each in self.matches)
        return "\n".join([*_spaced(self.matches), self.summary(shown, "line", where)])


class ScoredPath(Row):
    """One file and how like its name is to the query, 0 to 100."""

    path: str
    score: float


class Ranked(Results):
    """What `fff_search` answers, best first."""

    query: str
    cwd: str
    files: tuple[ScoredPath, ...]

    def text(self) -> str:
        """Return one file a line with its score, then the totals."""
        lines = [f"{one_line(each.path)}  {each.score:.0f}" for each in self.files]
        return "\n".join([*lines, self.summary(len(lines), "file", f"like {self.query!r}{_under(self.cwd)}")])


def _under(path: str) -> str:
    return "" if path in {".", ""} else f" under {path}"


def _spaced(matches: Sequence[GrepLine]) -> Iterator[str]:
    """Yield the lines, with `--` where something lies between two of them and context is shown."""
    context = any(each.column is None for each in matches)
    before: GrepLine | None = None
    for each in matches:
        if context and before is not None and (each.path, each.line) != (before.path, before.line + 1):
            yield "--"
        yield each.shown()
        before = each


@tool(
    kind="read",
    effect="read",
    reads=paths("path"),
    summary="List a directory: entries with kind and size, hidden and ignored ones included.",
    prefer_over="ls or find in a shell",
    description=_PROSE["list_dir"],
    refusals=_REFUSALS,
)
async def list_dir(args: ListDir, find: Find) -> Answer[Listing]:
    """List a directory; see the family's page."""
    page = await find.listing(args.path, depth=args.depth, limit=args.limit, cursor=args.cursor)
    payload = Listing(path=args.path, entries=tuple(map(_entry, page.items)), total=page.total, bounds=page.bounds)
    return Answer(payload, page.bounds)


@tool(
    kind="read",
    effect="read",
    reads=paths("cwd"),
    summary="Find files by an exact glob over their paths.",
    prefer_over="find in a shell",
    description=_PROSE["glob"],
    refusals=_REFUSALS,
)
async def glob(args: Glob, find: Find) -> Answer[Paths]:
    """Enumerate paths; see the family's page."""
    page = await find.glob(args.pattern, under=args.cwd, limit=args.limit, cursor=args.cursor)
    shown = tuple(map(printable, page.items))
    payload = Paths(pattern=args.pattern, cwd=args.cwd, paths=shown, total=page.total, bounds=page.bounds)
    return Answer(payload, page.bounds)


@tool(
    kind="read",
    effect="read",
    reads=paths("path"),
    summary="Search file contents; returns path, line, column and the line.",
    prefer_over="grep or rg in a shell",
    description=_PROSE["grep"],
    refusals=(*_REFUSALS, "grep.invalid"),
)
async def grep(args: Grep, find: Find) -> Answer[Matches]:
    """Search contents; see the family's page."""
    found = await find.grep(
        Query(
            pattern=args.pattern,
            mode=args.mode,
            path=args.path,
            glob=args.glob,
            context=args.context,
            ignore_case=args.ignore_case,
            multiline=args.multiline,
            output=args.output,
            include_ignored=args.include_ignored,
            limit=args.limit,
            cursor=args.cursor,
        )
    )
    payload = Matches(
        pattern=args.pattern,
        mode=args.mode,
        path=args.path,
        output=args.output,
        matches=tuple(map(_line, found.matches)),
        files=tuple(FileCount(path=printable(each.path), count=each.count) for each in found.files),
        total=found.total_lines if args.output == "lines" else found.total_files,
        total_files=found.total_files,
        bounds=found.bounds,
    )
    return Answer(payload, found.bounds)


@tool(
    kind="read",
    effect="read",
    reads=paths("cwd"),
    summary="Find files by roughly their name; tolerates typos, best first.",
    description=_PROSE["fff_search"],
    refusals=_REFUSALS,
)
async def fff_search(args: FffSearch, find: Find) -> Answer[Ranked]:
    """Rank file names; see the family's page."""
    page = await find.fuzzy(args.query, under=args.cwd, limit=args.limit, cursor=args.cursor)
    files = tuple(ScoredPath(path=printable(each.path), score=each.score) for each in page.items)
    return Answer(
        Ranked(query=args.query, cwd=args.cwd, files=files, total=page.total, bounds=page.bounds), page.bounds
    )


def _entry(listed: Listed) -> DirEntry:
    return DirEntry(
        path=printable(listed.path),
        kind=listed.kind,
        size=listed.size,
        target=None if listed.target is None else printable(listed.target),
        ignored=listed.ignored,
        hidden=listed.hidden,
    )


def _line(match: Match) -> GrepLine:
    column = None if match.context else match.column
    return GrepLine(path=printable(match.path), line=match.line, column=column, text=printable(match.text))
