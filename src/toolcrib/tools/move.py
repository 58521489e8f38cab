"""The family `move`: giving a file, a link or a directory another name, and deleting a file or a link."""

from typing import Literal

from pydantic import BaseModel, Field

from toolcrib.ports.context import Context
from toolcrib.ports.files import Files, Moved
from toolcrib.terms.facts import Facts, PathKind, Place
from toolcrib.terms.outcome import Change, Evidence
from toolcrib.terms.payload import Answer, Arguments, Name, Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import decode, looks_binary
from toolcrib.terms.tool import Previewed, paths, tool
from toolcrib.tools.difftext import MOST, MOST_PREVIEW, Diff, of_texts
from toolcrib.tools.plain import counted, one_line, short
from toolcrib.tools.prose import load

_PROSE = load("move")

MOST_ENTRIES = 1000
"""Files and directories that one move takes along; each is judged and kept for taking back."""

_WORDS: dict[PathKind, str] = {"file": "file", "directory": "directory", "symlink": "link"}


class MoveFile(Arguments):
    """Parameters of `move_file`."""

    old_path: Name = Field(description="What to move: a file, a link or a directory.")
    new_path: Name = Field(description="Its new path, whole.")
    overwrite_existing: bool = Field(default=False, description="Must be true to replace a file that exists.")


class FileMoved(Payload):
    """What `move_file` answers. `digest` is that of a moved file; `replaced` that of the file that it displaced."""

    path: str
    old_path: str
    moved: Literal["file", "directory", "link"]
    entries: int = 0
    digest: str | None = None
    replaced: str | None = None
    created_directories: tuple[str, ...] = ()

    def text(self) -> str:
        """Return one line, and one more for each thing worth knowing."""
        with_it = f" with {counted(self.entries, 'entry')} in it" if self.moved == "directory" else ""
        mark = f"; digest {short(self.digest)}" if self.digest else ""
        said = [f"moved {self.moved} {one_line(self.old_path)} to {one_line(self.path)}{with_it}{mark}"]
        if self.replaced:
            said.append(f"replaced the file that was there, digest {short(self.replaced)}")
        if self.created_directories:
            said.append(f"made {', '.join(map(one_line, self.created_directories))}")
        return "\n".join(said)


async def _spread(args: BaseModel, files: Files) -> tuple[str, ...]:
    """Return all that lies in a directory that is moved, as it is called before and after."""
    if not isinstance(args, MoveFile):
        return ()
    old = await files.place(args.old_path, follow=False)
    new = await files.place(args.new_path, follow=False)
    if old.kind != "directory" or old.path == "." or new.exists or f"{new.path}/".startswith(f"{old.path}/"):
        return ()
    found = [each.path for each in await files.entries(old.path, most=MOST_ENTRIES)]
    return (*found, *(new.path + path[len(old.path) :] for path in found))


async def _named(path: str, files: Files, facts: Facts) -> Place:
    """Return what the call found at a path, the link itself where one stands there."""
    return facts.place(path) or await files.place(path, digest=True, follow=False)


def _expected(place: Place, facts: Facts) -> str:
    """Return the digest that the caller last saw of a file, else the one it had when the call came in."""
    expected = facts.cited.get(place.path) or place.digest
    if expected is None:
        raise Refusal(
            "file.too_large",
            f"{place.asked!r} has {place.size:,} bytes; more than {facts.limits.edit_bytes:,} cannot be kept",
            hint="leave it, or change it outside of this program",
        )
    return expected


async def _text(place: Place, files: Files, facts: Facts) -> str | None:
    """Return the text of a file, None where there is none to show."""
    if place.kind != "file" or place.size > facts.limits.edit_bytes:
        return None
    data = (await files.load(place.path, most=facts.limits.edit_bytes)).data
    return None if looks_binary(data) else decode(data).text


async def _preview_move(args: MoveFile, files: Files, context: Context) -> Previewed:
    old, new = [await _named(path, files, context.facts) for path in (args.old_path, args.new_path)]
    _refuse_move(args, old, new)
    head = f"move {_WORDS.get(old.kind, old.kind)} {one_line(old.path)} to {one_line(new.path)}"
    if old.kind == "directory":
        return Previewed(
            f"{head}, with {counted(len(await files.entries(old.path, most=MOST_ENTRIES)), 'entry')} in it"
        )
    if not new.exists:
        return Previewed(head)
    was, now = await _text(new, files, context.facts), await _text(old, files, context.facts)
    diff = of_texts(new.path, was or "", now or "", most=MOST_PREVIEW)
    return Previewed(f"{head}, replacing the file there ({new.size:,} bytes, {diff})", diff.text)


def _refuse_move(args: MoveFile, old: Place, new: Place) -> None:
    """Refuse what can be told before trying; the rest is told by trying."""
    if not old.exists:
        raise Refusal("file.missing", f"{args.old_path!r} does not exist", hint="glob finds where it may be")
    if old.path == ".":
        raise Refusal("file.protected", "the workspace root itself is never moved", hint="name something beneath it")
    if old.path == new.path:
        raise Refusal("file.unchanged", f"{args.old_path!r} and {args.new_path!r} are the same name")
    if new.path.startswith(f"{old.path}/"):
        raise Refusal("args.invalid", f"{args.new_path!r} lies within {args.old_path!r}", hint="name a path outside it")
    if new.exists and (not args.overwrite_existing or new.kind != "file" or old.kind == "directory"):
        whole = f"{new.path}/{old.path.rpartition('/')[2]}"
        hint = {
            "directory": f"name the new path whole, such as {whole!r}",
            "file": "pass overwrite_existing=true to replace it, or choose another name",
        }
        raise Refusal(
            "file.exists",
            f"{args.new_path!r} exists (a {_WORDS.get(new.kind, new.kind)}), and "
            + ("a directory replaces nothing" if old.kind == "directory" else "would be replaced"),
            hint=hint.get(new.kind if old.kind != "directory" else "", "choose another name"),
        )


@tool(
    kind="write",
    effect="reversible",
    reads=paths("old_path"),
    writes=paths("old_path", "new_path"),
    replaces=paths("new_path"),
    spread=_spread,
    follows=False,
    pins="digest",
    preview=_preview_move,
    summary="Move or rename a file, a link or a whole directory; replaces nothing unless told to.",
    prefer_over="mv in a shell",
    description=_PROSE["move_file"],
    refusals=(
        "args.invalid",
        "call.limit",
        "file.exists",
        "file.unchanged",
        "file.stale",
        "file.missing",
        "file.outside",
        "file.protected",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.too_large",
        "file.read_only",
        "file.linked",
        "workspace.gone",
        "disk.full",
    ),
)
async def move_file(args: MoveFile, files: Files, context: Context) -> Answer[FileMoved]:
    """Move what stands at a path; see the family's page."""
    old, new = [await _named(path, files, context.facts) for path in (args.old_path, args.new_path)]
    _refuse_move(args, old, new)
    entries = len(await files.entries(old.path, most=MOST_ENTRIES)) if old.kind == "directory" else 0
    over = _expected(new, context.facts) if new.exists else None
    return await _told(await files.move(args.old_path, args.new_path, over=over), entries, files)


async def _told(moved: Moved, entries: int, files: Files) -> Answer[FileMoved]:
    kind = moved.place.kind
    digest = (await files.place(moved.place.path, digest=True)).digest if kind == "file" else None
    payload = FileMoved(
        path=moved.place.path,
        old_path=moved.old,
        moved="directory" if kind == "directory" else "link" if kind == "symlink" else "file",
        entries=entries,
        digest=digest,
        replaced=moved.displaced,
        created_directories=moved.created_parents,
    )
    return Answer(payload, evidence=Evidence(digest=digest))


class DeleteFile(Arguments):
    """Parameters of `delete_file`."""

    path: Name = Field(description="File or link to delete, relative to the workspace root.")


class FileDeleted(Payload):
    """What `delete_file` answers: what went, and its digest."""

    path: str
    deleted: Literal["file", "link"]
    size: int
    digest: str
    removed: int

    def text(self) -> str:
        """Return one line."""
        if self.deleted == "link":
            return f"deleted link {one_line(self.path)}; what it led to is untouched"
        return f"deleted {one_line(self.path)} (-{self.removed:,}); {self.size:,} bytes, digest {short(self.digest)}"


def _deletable(args: DeleteFile, place: Place) -> None:
    if not place.exists:
        raise Refusal("file.missing", f"{args.path!r} does not exist", hint="glob finds where it may be")
    if place.kind == "directory":
        raise Refusal(
            "file.not_regular",
            f"expected a file or a link at {args.path!r}, found a directory",
            hint="delete the files in it one by one, or remove it with a shell command",
        )
    if place.kind not in {"file", "symlink"}:
        raise Refusal("file.not_regular", f"expected a file or a link at {args.path!r}, found a {place.kind}")


async def _gone(place: Place, files: Files, facts: Facts, most: int) -> Diff:
    """Return the diff of a file that goes."""
    text = await _text(place, files, facts)
    return of_texts(place.path, text or "", None, most=most)


async def _preview_delete(args: DeleteFile, files: Files, context: Context) -> Previewed:
    place = await _named(args.path, files, context.facts)
    _deletable(args, place)
    if place.kind == "symlink":
        return Previewed(f"delete link {one_line(place.path)}, not what it leads to")
    diff = await _gone(place, files, context.facts, MOST_PREVIEW)
    return Previewed(f"delete {one_line(place.path)} ({place.size:,} bytes, {diff})", diff.text)


@tool(
    kind="write",
    effect="irreversible",
    reads=paths("path"),
    writes=paths("path"),
    follows=False,
    pins="digest",
    preview=_preview_delete,
    summary="Delete a file or a link; a person can take it back.",
    prefer_over="rm in a shell",
    description=_PROSE["delete_file"],
    refusals=(
        "args.invalid",
        "file.stale",
        "file.missing",
        "file.outside",
        "file.protected",
        "file.not_regular",
        "file.not_directory",
        "file.denied",
        "file.too_large",
        "file.read_only",
        "workspace.gone",
        "disk.full",
    ),
)
async def delete_file(args: DeleteFile, files: Files, context: Context) -> Answer[FileDeleted]:
    """Delete a file or a link; see the family's page."""
    place = await _named(args.path, files, context.facts)
    _deletable(args, place)
    expected = _expected(place, context.facts)
    diff = await _gone(place, files, context.facts, MOST) if place.kind == "file" else Diff("", 0, 0)
    await files.remove(args.path, expect=expected)
    digest = place.digest or expected
    payload = FileDeleted(
        path=place.path,
        deleted="link" if place.kind == "symlink" else "file",
        size=place.size,
        digest=digest,
        removed=diff.removed,
    )
    return Answer(payload, evidence=Evidence(diff=diff.text or None, changed=(Change(place.path, digest, None),)))
