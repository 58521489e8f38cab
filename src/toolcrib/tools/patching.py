"""What a patch would make of each file it names, or why it cannot. Reads through `Files`, writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anyio import to_thread

from toolcrib.ports.files import Files, Loaded
from toolcrib.terms.digest import cites
from toolcrib.terms.facts import Facts, Place
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import MARK, Decoded, decode, encode, looks_binary
from toolcrib.tools.amending import NearestText, shown
from toolcrib.tools.difftext import Diff, Span, of_spans, of_texts
from toolcrib.tools.fitting import SHOWN, Fitted, Misfit, Sheet, fit
from toolcrib.tools.hunks import Hunk, Section, content
from toolcrib.tools.marks import refuse_marks
from toolcrib.tools.nearest import nearest
from toolcrib.tools.patchtext import sections
from toolcrib.tools.plain import clip, printable, short
from toolcrib.tools.spans import apply, unmarked
from toolcrib.tools.texts import text_of

BRIEF = 80
"""Characters of a line that a message quotes."""

ASIDE = 64 << 10
"""Bytes above which fitting is done beside the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """What becomes of one file: `path` is its name afterwards, `was` the one before, None for a new file."""

    path: str
    was: str | None
    action: Literal["updated", "added", "deleted", "moved"]
    before: Loaded | None
    before_digest: str | None
    decoded: Decoded | None
    spans: tuple[Span, ...]
    data: bytes | None
    mode: int | None = None
    shifted: bool = False

    @property
    def verb(self) -> str:
        """What is done, as a person is told."""
        return {"updated": "update", "added": "create", "deleted": "delete", "moved": "move"}[self.action]

    @property
    def renamed(self) -> str | None:
        """The name before, where it was another one."""
        return None if self.was == self.path else self.was

    @property
    def shown(self) -> str:
        """The name, or both names where there are two."""
        return self.path if self.renamed is None else f"{self.renamed} to {self.path}"

    async def diff(self, most: int) -> Diff:
        """Return the diff, of at most `most` characters."""
        size = len(self.data or b"") + (len(self.before.data) if self.before is not None else 0)
        return self._diff(most) if size < ASIDE else await to_thread.run_sync(self._diff, most)

    def _diff(self, most: int) -> Diff:
        old = None if self.decoded is None else self.decoded.text
        if self.action in {"updated", "moved"} and self.decoded is not None:
            name, was = self.path, self.was
            return of_spans(name, self.decoded.text, self.spans, ending=self.decoded.ending, most=most, was=was)
        new = None if self.data is None else decode(self.data).text
        return of_texts(self.path, old, new, most=most)


async def diffs(patched: Sequence[Patched], most: int) -> list[Diff]:
    """Return the diff of each file, of at most `most` characters in all."""
    found: list[Diff] = []
    for each in patched:
        found.append(await each.diff(most))
        most = max(0, most - len(found[-1].text))
    return found


async def prepare(patch: str, files: Files, facts: Facts) -> tuple[Patched, ...]:
    """Return what the patch would do, file by file.

    Raises:
        Refusal: what the call would end with; it names the file and the line of the patch.
    """
    return tuple([await _prepared(each, files, facts) for each in sections(patch)])


async def _prepared(section: Section, files: Files, facts: Facts) -> Patched:
    old = await _named(section.path, files, facts)
    new = old if section.to is None else await _named(section.to, files, facts)
    if section.action == "add":
        return _added(section, old)
    if not old.exists:
        raise Refusal(
            "file.missing",
            f"{section.path!r}, named at patch line {section.at}, does not exist",
            hint="glob finds where it may be; a new file is added from /dev/null or by '*** Add File: '",
        )
    if old.kind == "symlink" and section.action == "delete" and not section.hunks:
        return _without_text(section, old, facts)
    _refuse_special(section, old)
    if new is not old and new.exists:
        raise _exists(section.to or "", new)
    _refuse_directory(section.to or "")
    before = await files.load(section.path, most=facts.limits.edit_bytes)
    return await _changed(section, before, new, facts)


async def _named(path: str, files: Files, facts: Facts) -> Place:
    return facts.place(path) or await files.place(path, digest=True, follow=False)


def _refuse_special(section: Section, place: Place) -> None:
    if place.kind == "symlink":
        raise Refusal(
            "file.not_regular",
            f"{section.path!r} is a symbolic link; a patch changes files by their own names",
            hint="name the file that it leads to",
        )
    if place.kind != "file":
        raise Refusal("file.not_regular", f"expected a file at {section.path!r}, found a {place.kind}")


def _refuse_directory(path: str) -> None:
    if path.endswith(("/", "/.")):
        raise Refusal(
            "file.not_directory",
            f"expected a file name, found {path!r}, which asks for a directory",
            hint="name the file whole",
        )


def _exists(path: str, place: Place) -> Refusal:
    return Refusal(
        "file.exists",
        f"{path!r} exists ({place.size:,} bytes), and the patch would make it",
        hint="patch the file that is there, or delete it in a call of its own first",
    )


def _added(section: Section, place: Place) -> Patched:
    if place.exists:
        raise _exists(section.path, place)
    _refuse_directory(section.path)
    lines = [line for hunk in section.hunks for line in hunk.lines]
    if len(section.hunks) > 1 or any(line.sign != "+" for line in lines):
        raise Refusal("patch.invalid", f"patch line {section.at}: a new file has added lines only, in one hunk")
    text = content(lines)
    try:
        data = encode(text, "utf-8")
    except UnicodeEncodeError as error:
        raise _half(error) from error
    mode = 0o755 if section.executable else None
    return Patched(
        path=place.path,
        was=None,
        action="added",
        before=None,
        before_digest=None,
        decoded=None,
        spans=(),
        data=data,
        mode=mode,
    )


def _without_text(section: Section, place: Place, facts: Facts) -> Patched:
    """Return the deletion of a link, which is proven by its text."""
    digest = facts.cited.get(place.path) or place.digest
    return Patched(
        path=place.path,
        was=place.path,
        action="deleted",
        before=None,
        before_digest=digest,
        decoded=None,
        spans=(),
        data=None,
    )


async def _changed(section: Section, before: Loaded, new: Place, facts: Facts) -> Patched:
    cited = facts.cited.get(before.place.path)
    pinned = cited or (known.digest if (known := facts.place(section.path)) is not None else None)
    moved_on = pinned is not None and not cites(pinned, before.digest)
    if moved_on and (not facts.rebase or (section.action == "delete" and not section.whole)):
        raise Refusal(
            "file.stale",
            f"{section.path!r} has changed since digest {short(pinned)}; it is {short(before.digest)} now",
            hint="read it again, then patch what is there now",
        )
    if section.action == "delete" and not section.hunks:
        return _deleted(section, before)
    decoded = text_of(before, section.path) if section.hunks else decode(before.data)
    numbered = cited is not None and cites(cited, before.digest)
    fitted = await _fitted(section, decoded, numbered=numbered)
    if section.action == "delete":
        return _deleted(section, before, rest=apply(decoded.text, fitted.spans))
    refuse_marks([line.text for hunk in section.hunks for line in hunk.lines if line.sign == "+"], decoded.text)
    mode = _mode(section, before.place.mode)
    data = _made(decoded, fitted.spans)
    if data == before.data and new.path == before.place.path and mode in {None, before.place.mode}:
        raise Refusal("file.unchanged", f"the patch leaves {section.path!r} as it is")
    return Patched(
        path=new.path,
        was=before.place.path,
        action="updated" if new.path == before.place.path else "moved",
        before=before,
        before_digest=before.digest,
        decoded=decoded,
        spans=fitted.spans,
        data=data,
        mode=mode,
        shifted=fitted.shifted,
    )


def _deleted(section: Section, before: Loaded, rest: str = "") -> Patched:
    if rest or (section.whole and not section.hunks and before.data):
        raise Refusal(
            "file.no_match",
            f"{section.path!r} holds more than the lines that the patch at line {section.at} deletes",
            hint="read it again; a deletion lists every line of the file",
        )
    return Patched(
        path=before.place.path,
        was=before.place.path,
        action="deleted",
        before=before,
        before_digest=before.digest,
        decoded=None if looks_binary(before.data) else decode(before.data),
        spans=(),
        data=None,
    )


def _mode(section: Section, mode: int) -> int | None:
    """Return the permission bits with those of execution set where reading is, or taken; None where they stay."""
    if section.executable is None:
        return None
    return mode | (mode & 0o444) >> 2 if section.executable else mode & ~0o111


def _made(decoded: Decoded, spans: tuple[Span, ...]) -> bytes:
    try:
        return encode(apply(decoded.text, spans), decoded.encoding)
    except UnicodeEncodeError as error:
        raise _half(error) from error


def _half(error: UnicodeEncodeError) -> Refusal:
    letter = error.object[error.start : error.start + 1]
    return Refusal("args.invalid", f"patch: {letter!r} is half of a surrogate pair and no text")


async def _fitted(section: Section, decoded: Decoded, *, numbered: bool) -> Fitted:
    def work() -> tuple[Fitted | Misfit, NearestText | None]:
        found = fit(Sheet(decoded), hunks, numbered=numbered)
        near = None
        if isinstance(found, Misfit) and not found.lines and not found.applied and found.anchor is None:
            near = shown(hunks.index(found.hunk) + 1, nearest(decoded.text, "\n".join(found.hunk.old)))
        return found, near

    hunks = section.hunks
    if hunks and decoded.marked and not decoded.text.startswith(MARK):
        hunks = (hunks[0].unmarked(), *hunks[1:])

    small = len(decoded.text) < ASIDE
    found, near = work() if small else await to_thread.run_sync(work)
    if isinstance(found, Misfit):
        raise _misfit(section, found, near)
    return Fitted(unmarked(decoded, found.spans), found.shifted)


def _misfit(section: Section, found: Misfit, near: NearestText | None) -> Refusal:
    where = f"the hunk at patch line {found.hunk.at}"
    if found.anchor is not None:
        return _lost(section, found, where)
    if found.lines:
        lines = ", ".join(map(str, found.lines[:SHOWN])) + (" and more" if len(found.lines) > SHOWN else "")
        what = "names no line of the file" if not found.hunk.old else f"fits at {len(found.lines):,} places"
        return Refusal(
            "file.ambiguous",
            f"{where} {what}: {section.path!r}, lines {lines}",
            hint="give more lines of context, or read the file first so that the line numbers of the patch count",
        )
    if found.applied:
        return Refusal(
            "file.unchanged",
            f"{where} does not fit, and what it would make is in {section.path!r} already: the patch was applied "
            "before, or is the wrong way round",
            hint="read the file; nothing was changed",
        )
    if found.overlaps:
        return Refusal(
            "patch.invalid",
            f"{where} only fits before or within the one before it; hunks stand in the order of the file",
            hint="put the hunks in order, or join those that overlap",
        )
    message = f"{where} ({_quoted(found.hunk)}) is not in {section.path!r}"
    if near is not None and near.first_line is not None:
        last = near.first_line + len(near.lines) - 1
        differs = f"differ in {', '.join(near.differs)}" if near.differs else "are the nearest"
        message += f"; lines {near.first_line}-{last} {differs}"
    return Refusal("file.no_match", message, hint="read the lines again and quote them exactly", payload=near)


def _lost(section: Section, found: Misfit, where: str) -> Refusal:
    quoted = clip(printable(found.anchor or ""), BRIEF)
    if found.lines:
        lines = ", ".join(map(str, found.lines[:SHOWN]))
        return Refusal(
            "file.ambiguous",
            f"{where} is to be looked for after the line {quoted!r}, which {section.path!r} has on lines {lines}",
            hint="name a line that stands there once, or two of them: one '@@' line each",
        )
    return Refusal(
        "file.no_match",
        f"{where} is to be looked for after the line {quoted!r}, which is not in {section.path!r}",
        hint="after '@@' stands a whole line of the file, or nothing",
    )


def _quoted(hunk: Hunk) -> str:
    first = next((line for line in hunk.old if line.strip()), "")
    return repr(clip(printable(first), BRIEF))
