"""The family `files`: reading a file in lines, and creating or replacing one whole."""

from typing import Annotated, Literal

from anyio import to_thread
from pydantic import AfterValidator, Field

from toolcrib.ports.artifacts import Artifacts
from toolcrib.ports.context import Context
from toolcrib.ports.files import Files
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.outcome import Change, Evidence
from toolcrib.terms.payload import Answer, Arguments, Name, Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings
from toolcrib.terms.text import Encoding, Ending, decode
from toolcrib.terms.tool import Previewed, paths, tool
from toolcrib.tools import notebook
from toolcrib.tools.difftext import MOST, MOST_PREVIEW, Diff
from toolcrib.tools.media import SUFFIXES, media_of
from toolcrib.tools.plain import DIGEST, short
from toolcrib.tools.prose import load
from toolcrib.tools.reading import FileRead, MediaContent, cells_of, lines_of
from toolcrib.tools.replacing import Replacement, Wanted, moved, prepare

_PROSE = load("files")


def _a_line(offset: int) -> int:
    if offset == 0:
        raise ValueError("lines count from 1, or from -1 at the end; there is no line 0")
    return offset


class ReadFile(Arguments):
    """Parameters of `read_file`."""

    path: Name = Field(description="File to read, relative to the workspace root.")
    offset: Annotated[int, AfterValidator(_a_line)] = Field(
        default=1,
        description="First line, counted from 1; a negative number counts from the end (-20: the last 20 lines).",
    )
    limit: int = Field(default=2000, ge=1, description="How many lines at most; more than 2000 is cut to 2000.")


@tool(
    kind="read",
    effect="read",
    reads=paths("path"),
    summary="Read a text file in numbered lines, with the digest that the next edit cites.",
    prefer_over="cat, head or tail in a shell",
    description=_PROSE["read_file"],
    spills=False,
    refusals=(
        "file.missing",
        "file.outside",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.binary",
        "file.too_large",
        "file.stale",
        "args.invalid",
        "workspace.gone",
        "disk.full",
        "store.unavailable",
    ),
)
async def read_file(args: ReadFile, files: Files, artifacts: Artifacts, context: Context) -> Answer[FileRead]:
    """Read lines of a file; see the family's page."""
    name, limits = args.path.lower(), context.facts.limits
    if name.endswith(SUFFIXES) and (context.takes_media or name.endswith(".pdf")):
        answer = await _media(args, files, artifacts, context)
        if answer is not None:
            return answer
    if name.endswith(".ipynb") and (answer := await _notebook(args, files, limits)) is not None:
        return answer
    try:
        window = await files.window(
            args.path,
            offset=args.offset,
            limit=min(args.limit, limits.read_lines),
            most_bytes=limits.read_bytes,
            line_chars=limits.line_chars,
        )
    except Refusal as refusal:
        if refusal.name != "file.binary" or not context.takes_media:
            raise
        answer = await _media(args, files, artifacts, context)
        if answer is None:
            raise
        return answer
    return lines_of(window)


async def _media(args: ReadFile, files: Files, artifacts: Artifacts, context: Context) -> Answer[FileRead] | None:
    """Return the file as media content, or None when its bytes are not one of the media types."""
    loaded = await files.load(args.path, most=context.facts.limits.media_bytes)
    media = media_of(loaded.data)
    if media is None:
        return None
    size = len(loaded.data)
    if not context.takes_media:
        raise Refusal(
            "file.binary",
            f"{args.path!r} is {media}, {size:,} bytes, and this caller shows no media",
            hint="convert it to text with another tool, or call from a client that takes images and documents",
        )
    stored = await artifacts.put(loaded.data, media=media)
    content = MediaContent(artifact=stored.id, media_type=media, size=size)
    payload = FileRead(path=loaded.place.path, form="media", digest=loaded.digest, size=size, media=content)
    return Answer(payload, evidence=Evidence(digest=loaded.digest))


async def _notebook(args: ReadFile, files: Files, limits: FileSettings) -> Answer[FileRead] | None:
    """Return the rendered cells, or None when the file is too large for that or is no notebook."""
    try:
        loaded = await files.load(args.path, most=notebook.MOST)
    except Refusal as refusal:
        if refusal.name == "file.too_large":
            return None
        raise
    lines = await to_thread.run_sync(notebook.render, loaded.data)
    if lines is None:
        return None
    return cells_of(loaded, lines, limits, offset=args.offset, limit=args.limit)


class WriteFile(Arguments):
    """Parameters of `write_file`."""

    path: Name = Field(description="File to create or replace, relative to the workspace root.")
    content: str = Field(description="The whole text of the file.")
    overwrite_existing: bool = Field(default=False, description="Must be true to replace a file that exists.")
    digest: str | None = Field(
        default=None,
        pattern=DIGEST,
        description="When replacing: the digest you last read, 12 hex characters or more; refused if it differs.",
    )


class FileWritten(Payload):
    """What `write_file` answers. `unchanged`: the file already had exactly this content, and was not touched."""

    path: str
    action: Literal["created", "replaced", "unchanged"]
    size: int
    digest: str
    encoding: Encoding
    ending: Ending
    added: int
    removed: int
    unread: bool = False
    created_directories: tuple[str, ...] = ()

    def text(self) -> str:
        """Return one line, and one more for each thing worth knowing."""
        lines = f" (+{self.added:,} -{self.removed:,})" if self.action != "unchanged" else ""
        about = f"{self.encoding}, {self.ending}, {self.size:,} bytes; digest {short(self.digest)}"
        said = [f"{self.action} {self.path}{lines}; {about}"]
        if self.created_directories:
            said.append(f"made {', '.join(self.created_directories)}")
        if self.unread:
            said.append("unread: this caller had not read what was replaced")
        return "\n".join(said)


async def _preview(args: WriteFile, files: Files, context: Context) -> Previewed:
    change = await _prepared(args, files, context)
    diff = await change.diff(MOST_PREVIEW)
    notes = ", not read before" if change.unread else ""
    if change.before is not None and change.binary:
        notes += f", replacing {len(change.before.data):,} bytes that are no text"
    return Previewed(f"{'update' if change.before else 'create'} {change.path} ({diff}){notes}", diff.text)


async def _prepared(args: WriteFile, files: Files, context: Context) -> Replacement:
    wanted = Wanted(path=args.path, content=args.content, overwrite=args.overwrite_existing, digest=args.digest)
    return await prepare(wanted, files, context.facts)


@tool(
    kind="write",
    effect="irreversible",
    reads=paths("path"),
    writes=paths("path"),
    pins="digest",
    preview=_preview,
    summary="Create a file, or replace a whole one; to change part of a file use edit_file.",
    description=_PROSE["write_file"],
    refusals=(
        "args.invalid",
        "approval.stale",
        "file.exists",
        "file.stale",
        "file.missing",
        "file.outside",
        "file.protected",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.too_large",
        "file.undecodable",
        "file.read_only",
        "file.linked",
        "workspace.gone",
        "disk.full",
    ),
)
async def write_file(args: WriteFile, files: Files, context: Context) -> Answer[FileWritten]:
    """Create or replace a file; see the family's page."""
    change = await _prepared(args, files, context)
    decoded = decode(change.data)
    if change.same:
        diff, after, directories = Diff("", 0, 0), of_bytes(change.data), ()
    else:
        diff = await change.diff(MOST)
        after, directories = await _put(args, files, change)
    payload = FileWritten(
        path=change.path,
        action="created" if change.before is None else "unchanged" if change.same else "replaced",
        size=len(change.data),
        digest=after,
        encoding=decoded.encoding,
        ending=decoded.ending,
        added=diff.added,
        removed=diff.removed,
        unread=change.unread,
        created_directories=directories,
    )
    changed = () if change.same else (Change(change.path, change.digest, after),)
    return Answer(payload, evidence=Evidence(digest=after, diff=diff.text or None, changed=changed))


async def _put(args: WriteFile, files: Files, change: Replacement) -> tuple[str, tuple[str, ...]]:
    try:
        written = await files.write(args.path, change.data, expect=change.digest)
    except Refusal as refusal:
        if refusal.name == "file.exists" and change.before is None:
            raise moved(args.path, "now exists") from refusal
        raise
    return written.after, written.created_parents
