"""What replacing or creating a whole file would do: the bytes to put, and what they would displace."""

from dataclasses import dataclass

from anyio import to_thread

from toolcrib.ports.files import Files, Loaded
from toolcrib.terms.digest import cites
from toolcrib.terms.facts import Facts, Place
from toolcrib.terms.outcome import Evidence
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import MARK, Encoding, decode, encode, looks_binary
from toolcrib.tools.difftext import Diff, of_texts
from toolcrib.tools.marks import refuse_marks, refuse_nul
from toolcrib.tools.plain import short
from toolcrib.tools.spans import adopt

ASIDE = 64 << 10
"""Bytes above which a diff is made beside the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller asks for: the text of `path`, and on what terms an existing file may go."""

    path: str
    content: str
    overwrite: bool
    digest: str | None


@dataclass(frozen=True, slots=True)
class Replacement:
    """A write that can be made: what stands there (None: nothing), and the bytes to put."""

    path: str
    before: Loaded | None
    data: bytes
    unread: bool

    @property
    def digest(self) -> str | None:
        """The digest of what stands there, None for nothing."""
        return None if self.before is None else self.before.digest

    @property
    def same(self) -> bool:
        """Whether exactly these bytes stand there already."""
        return self.before is not None and self.before.data == self.data

    @property
    def binary(self) -> bool:
        """Whether what would go is no text."""
        return self.before is not None and looks_binary(self.before.data)

    async def diff(self, most: int) -> Diff:
        """Return the diff to what stands there, of at most `most` characters; all new where that is no text."""
        if len(self.data) + (len(self.before.data) if self.before else 0) < ASIDE:
            return self._diff(most)
        return await to_thread.run_sync(self._diff, most)

    def _diff(self, most: int) -> Diff:
        old = None if self.before is None else "" if self.binary else decode(self.before.data).text
        return of_texts(self.path, old, decode(self.data).text, most=most)


async def prepare(wanted: Wanted, files: Files, facts: Facts) -> Replacement:
    """Return what the call would do.

    Raises:
        Refusal: what the call would end with.
    """
    known = facts.place(wanted.path) or await files.place(wanted.path, digest=True)
    if not known.exists:
        if wanted.digest is not None:
            raise Refusal("file.stale", f"{wanted.path!r} is cited as {short(wanted.digest)}, and nothing stands there")
        refuse_nul([wanted.content])
        return Replacement(known.path, None, _encoded(wanted.content, "utf-8"), unread=False)
    if not wanted.overwrite:
        _refuse_existing(wanted, known)
    try:
        before = await files.load(wanted.path, most=facts.limits.edit_bytes)
    except Refusal as refusal:
        if refusal.name == "file.missing" and known.kind == "file":
            raise moved(wanted.path, "is gone") from refusal
        raise
    unread = _held_to(wanted, before, known, facts)
    refuse_nul([wanted.content], before.data)
    refuse_marks([wanted.content], before.data.decode("utf-8", "surrogateescape"))
    return Replacement(before.place.path, before, _replacing(wanted, before), unread=unread)


def _refuse_existing(wanted: Wanted, known: Place) -> None:
    if known.kind != "file":
        found = "link to nothing" if known.kind == "symlink" else known.kind
        raise Refusal("file.not_regular", f"{wanted.path!r} is a {found}, not a file", hint="choose another path")
    raise Refusal(
        "file.exists",
        f"{wanted.path!r} exists ({known.size:,} bytes), and overwrite_existing is false",
        hint="change part of it with edit_file, or pass overwrite_existing=true to replace it whole",
    )


def _held_to(wanted: Wanted, before: Loaded, known: Place, facts: Facts) -> bool:
    """Hold the replaced bytes to the digest cited, last read, or pinned; tell whether none was read."""
    cited = wanted.digest or facts.cited.get(before.place.path)
    expected = cited or known.digest
    if expected is not None and not cites(expected, before.digest):
        since = "you cited" if wanted.digest else "you last read" if cited else "stood there when the call came in"
        raise Refusal(
            "file.stale",
            f"{wanted.path!r} has changed: digest {short(before.digest)} now, {short(expected)} is what {since}",
            hint="read it again, then write what should replace the file as it is now",
            evidence=Evidence(digest=before.digest),
        )
    return cited is None


def _replacing(wanted: Wanted, before: Loaded) -> bytes:
    """Return the bytes of the content in the encoding, mark and line ending of what it replaces."""
    if looks_binary(before.data):
        return _encoded(wanted.content, "utf-8")
    decoded = decode(before.data)
    if decoded.encoding == "bytes":
        raise Refusal(
            "file.undecodable",
            f"{wanted.path!r} is text in an encoding that is neither UTF-8 nor UTF-16 with a mark; it cannot be kept",
            hint="edit_file changes parts of it and keeps every other byte; or write to a new path",
        )
    content = wanted.content.removeprefix(MARK) if decoded.marked else wanted.content
    return _encoded(adopt(content, decoded.ending), decoded.encoding)


def _encoded(content: str, encoding: Encoding) -> bytes:
    try:
        return encode(content, encoding)
    except UnicodeEncodeError as error:
        letter = content[error.start : error.start + 1]
        raise Refusal(
            "args.invalid",
            f"content: character {error.start + 1} ({letter!r}) is half of a surrogate pair and no text in {encoding}",
            hint="send valid Unicode",
        ) from error


def moved(path: str, how: str) -> Refusal:
    """Return the refusal for a file that came or went between admission and the write."""
    return Refusal(
        "approval.stale",
        f"{path!r} {how}, unlike when the call came in; what was approved is not what would happen",
        hint="look at it and repeat the call",
    )
