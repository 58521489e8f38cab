"""The family `edit`: exact replacements in a file, bound to the digest of its reading. Matching is in `spans`."""

from typing import Annotated

from pydantic import AfterValidator, Field

from toolcrib.ports.context import Context
from toolcrib.ports.files import Files
from toolcrib.terms.outcome import Change, Evidence
from toolcrib.terms.payload import Answer, Arguments, Name, Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import Encoding, Ending
from toolcrib.terms.tool import Previewed, paths, tool
from toolcrib.tools.amending import Amendment, Request, amend
from toolcrib.tools.difftext import MOST_PREVIEW
from toolcrib.tools.plain import DIGEST, counted, short
from toolcrib.tools.prose import load
from toolcrib.tools.spans import Edit

_PROSE = load("edit")

ATTEMPTS = 5
"""How often an edit starts over because another writer came first."""


def _some(old: str) -> str:
    if not old:
        raise ValueError("quote the text to replace; it cannot be empty (write_file creates files)")
    return old


class Replacement(Arguments):
    """One exact replacement."""

    old: Annotated[str, AfterValidator(_some)] = Field(
        description="Text to replace, exactly as it stands in the file, without line numbers.",
        json_schema_extra={"minLength": 1},
    )
    new: str = Field(description="Text to put there; may be empty.")
    replace_all: bool = Field(default=False, description="Replace every occurrence; otherwise old must occur once.")


class EditFile(Arguments):
    """Parameters of `edit_file`."""

    path: Name = Field(description="File to edit, relative to the workspace root.")
    digest: str | None = Field(
        default=None,
        pattern=DIGEST,
        description="Digest of your last reading, 12 hex characters or more; by default that of your last call on it.",
    )
    edits: tuple[Replacement, ...] = Field(
        min_length=1,
        max_length=1000,
        description="Replacements, all made or none. Each matches the file as it was before the call.",
    )


class FileEdited(Payload):
    """What `edit_file` answers. `replacements` has one count for each edit."""

    path: str
    replacements: tuple[int, ...]
    digest: str
    size: int
    encoding: Encoding
    ending: Ending
    added: int
    removed: int
    rebased: bool = False
    unread: bool = False
    diff: str = Field(default="", exclude=True)

    def text(self) -> str:
        """Return one line, what is worth knowing, and the diff."""
        made = counted(sum(self.replacements), "replacement")
        if len(self.replacements) > 1:
            made += f" ({', '.join(f'edit {index}: {count}' for index, count in enumerate(self.replacements, 1))})"
        about = f"{self.encoding}, {self.ending}, {self.size:,} bytes; digest {short(self.digest)}"
        said = [f"edited {self.path}: {made} (+{self.added:,} -{self.removed:,}); {about}"]
        if self.rebased:
            said.append("rebased: the file is not what the digest names any more; the text to replace was there, once")
        if self.unread:
            said.append("unread: this caller had not read the file")
        return "\n".join([*said, self.diff.rstrip("\n")] if self.diff else said)


def _request(args: EditFile) -> Request:
    edits = tuple(Edit(each.old, each.new, each.replace_all) for each in args.edits)
    return Request(path=args.path, digest=args.digest, edits=edits)


async def _preview(args: EditFile, files: Files, context: Context) -> Previewed:
    amendment = await amend(_request(args), files, context.facts)
    diff = await amendment.diff(MOST_PREVIEW)
    notes = ", rebased onto a newer version" if amendment.rebased else ""
    notes += ", not read before" if amendment.unread else ""
    return Previewed(f"update {amendment.path} ({diff}){notes}", diff.text)


@tool(
    kind="write",
    effect="reversible",
    reads=paths("path"),
    writes=paths("path"),
    pins="digest",
    preview=_preview,
    summary="Replace exact text in a file, all edits or none; returns the diff and the new digest.",
    prefer_over="write_file for part of a file, or sed in a shell",
    description=_PROSE["edit_file"],
    refusals=(
        "args.invalid",
        "call.limit",
        "file.stale",
        "file.ambiguous",
        "file.no_match",
        "file.unchanged",
        "file.missing",
        "file.outside",
        "file.protected",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.too_large",
        "file.binary",
        "file.read_only",
        "file.linked",
        "workspace.gone",
        "disk.full",
    ),
)
async def edit_file(args: EditFile, files: Files, context: Context) -> Answer[FileEdited]:
    """Edit a file; see the family's page."""
    request = _request(args)
    amendment = await amend(request, files, context.facts)
    for attempt in range(ATTEMPTS):
        try:
            written = await files.write(args.path, amendment.data, expect=amendment.before.digest)
        except Refusal as refusal:
            if refusal.name != "file.stale" or attempt == ATTEMPTS - 1:
                raise
            amendment = await amend(request, files, context.facts, since=amendment.before.digest)
        else:
            return await _answer(amendment, written.after)
    raise AssertionError("the last attempt returns or raises")


async def _answer(amendment: Amendment, after: str) -> Answer[FileEdited]:
    diff = await amendment.diff()
    payload = FileEdited(
        path=amendment.path,
        replacements=tuple(each.count for each in amendment.found),
        digest=after,
        size=len(amendment.data),
        encoding=amendment.decoded.encoding,
        ending=amendment.ending,
        added=diff.added,
        removed=diff.removed,
        rebased=amendment.rebased,
        unread=amendment.unread,
        diff=diff.text,
    )
    changed = (Change(amendment.path, amendment.before.digest, after),)
    return Answer(payload, evidence=Evidence(digest=after, diff=diff.text, changed=changed))
