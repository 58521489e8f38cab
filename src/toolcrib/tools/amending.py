"""What the edits of a call would make of a file, or why they cannot be made. Reads through `Files`, writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from anyio import to_thread
from pydantic import ConfigDict

from toolcrib.ports.files import Files, Loaded
from toolcrib.terms.digest import cites
from toolcrib.terms.facts import Facts
from toolcrib.terms.outcome import Evidence
from toolcrib.terms.payload import Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import Decoded, Ending, encode, ending_of, split_lines
from toolcrib.tools.difftext import MOST, Diff, Span, of_spans
from toolcrib.tools.marks import refuse_marks, refuse_nul
from toolcrib.tools.nearest import Nearest, nearest
from toolcrib.tools.plain import clip, counted, printable, short
from toolcrib.tools.spans import MOST as MOST_PLACES
from toolcrib.tools.spans import Edit, Overlap, Sought, apply, line_numbers, line_of, merge, seek, splice
from toolcrib.tools.texts import text_of

QUOTED = 2000
"""Characters quoted of one text in a refusal."""

BRIEF = 80
"""Characters of the text sought that name it in a message."""

SIDES = 5
"""Edits shown in a three-way view."""

ASIDE = 64 << 10
"""Characters above which long searches leave the event loop."""

MANY = 500
"""Places from which on their diff is made beside the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The edits a caller asks for, and the digest it cites."""

    path: str
    digest: str | None
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """Edits that can be made: the bytes they are made to, and the bytes they make."""

    before: Loaded
    decoded: Decoded
    found: tuple[Sought, ...]
    spans: tuple[Span, ...]
    data: bytes
    ending: Ending
    rebased: bool
    unread: bool

    @property
    def path(self) -> str:
        """The canonical path."""
        return self.before.place.path

    async def diff(self, most: int = MOST) -> Diff:
        """Return the diff, of at most `most` characters."""
        if len(self.spans) < MANY:
            return self._diff(most)
        return await to_thread.run_sync(self._diff, most)

    def _diff(self, most: int) -> Diff:
        return of_spans(self.path, self.decoded.text, self.spans, ending=self.decoded.ending, most=most)


class _Rare(Payload):
    """A payload of a refusal: built when one is first made, so that no start waits for it."""

    model_config = ConfigDict(defer_build=True)


class NearestText(_Rare):
    """The payload of `file.no_match`: which edit, and the lines of the file most like what it looks for."""

    edit: int
    first_line: int | None = None
    lines: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the lines with their numbers."""
        width = len(str((self.first_line or 1) + len(self.lines)))
        return "\n".join(f"{number:>{width}}\t{line}" for number, line in enumerate(self.lines, self.first_line or 1))


class Occurrences(_Rare):
    """The payload of `file.ambiguous`: which edit, how often its text occurs, and the first lines it occurs on."""

    edit: int
    count: int
    lines: tuple[int, ...]

    def text(self) -> str:
        """Return the lines."""
        return f"edit {self.edit}: {counted(self.count, 'occurrence')}, on lines {', '.join(map(str, self.lines))}"


class Side(_Rare):
    """One edit of a three-way view: what it expected, what is there now, what it wanted."""

    edit: int
    expected: str
    found: int
    now: NearestText
    wanted: str

    def text(self) -> str:
        """Return the three sides, each under a heading."""
        now = self.now.text() or "(nothing like it)"
        return (
            f"edit {self.edit}, {counted(self.found, 'exact occurrence')} now\n"
            f"--- you expected\n{self.expected}\n--- now there\n{now}\n--- you wanted\n{self.wanted}"
        )


class ThreeWay(_Rare):
    """The payload of `file.stale`: the digest cited, the digest now, and each edit from its three sides."""

    path: str
    cited: str
    digest: str
    edits: tuple[Side, ...]

    def text(self) -> str:
        """Return every edit's view."""
        return "\n".join(each.text() for each in self.edits)


async def amend(request: Request, files: Files, facts: Facts, *, since: str | None = None) -> Amendment:
    """Return the amendment of the file as it is now.

    `since` is the digest that an earlier attempt of the same call found, when another writer came between.

    Raises:
        Refusal: what the call would end with.
    """
    for index, edit in enumerate(request.edits, 1):
        if edit.old == edit.new:
            raise Refusal("file.unchanged", f"edit {index}: old and new are the same text", hint="leave this edit out")
    before = await files.load(request.path, most=facts.limits.edit_bytes)
    decoded = text_of(before, request.path)
    refuse_nul([edit.new for edit in request.edits], decoded.text)
    refuse_marks([edit.new for edit in request.edits], decoded.text)
    found = await _sought(decoded, request.edits)
    cited = request.digest or facts.cited.get(before.place.path)
    known = facts.place(request.path)
    base = cited or (known.digest if known is not None else None)
    moved = (base is not None and not cites(base, before.digest)) or (since is not None and since != before.digest)
    if moved and not (facts.rebase and all(each.count == 1 and not each.edit.every for each in found)):
        raise await _stale(request, before, decoded.text, found, base or since or "")
    for index, each in enumerate(found, 1):
        if not each.applies:
            raise await _unmatched(request, index, each, decoded.text)
    spans = _merged(request, found, decoded.text)
    data, ending = _made(request, before, decoded, spans)
    return Amendment(
        before=before,
        decoded=decoded,
        found=found,
        spans=spans,
        data=data,
        ending=ending,
        rebased=moved,
        unread=cited is None,
    )


def _merged(request: Request, found: Sequence[Sought], text: str) -> tuple[Span, ...]:
    places = sum(each.count for each in found)
    if places > MOST_PLACES:
        raise Refusal(
            "call.limit",
            f"the edits would replace {places:,} places; one call replaces at most {MOST_PLACES:,}",
            hint="quote more text around each place, or write the file whole",
        )
    spans = merge(found)
    if isinstance(spans, Overlap):
        raise Refusal(
            "args.invalid",
            f"edits {spans.one + 1} and {spans.other + 1} change the same text, on line {line_of(text, spans.at)} of "
            f"{request.path!r}",
            hint="join them into one edit; every edit matches the file as it was before the call",
        )
    return spans


def _made(request: Request, before: Loaded, decoded: Decoded, spans: Sequence[Span]) -> tuple[bytes, Ending]:
    try:
        if decoded.encoding in {"utf-8", "utf-8-bom"} and decoded.text.isascii():
            data = splice(before.data, spans, shift=len(before.data) - len(decoded.text))
            ending = _ending(data, decoded.ending)
        else:
            text = apply(decoded.text, spans)
            data, ending = encode(text, decoded.encoding), ending_of(text)
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.start + 1]
        raise Refusal(
            "args.invalid", f"edits: {letter!r} is half of a surrogate pair and no text in {decoded.encoding}"
        ) from error
    if data == before.data:
        raise Refusal(
            "file.unchanged",
            f"the edits leave {request.path!r} as it is (line breaks take the file's own ending, {decoded.ending})",
        )
    return data, ending


def _ending(data: bytes, was: Ending) -> Ending:
    """Return the line ending of UTF-8 bytes, looking no further than it must: new text takes the breaks of the old."""
    if was in {"crlf", "cr"}:
        return was if b"\r" in data else "none"
    if b"\r" in data:
        return ending_of(data.decode())
    return "lf" if b"\n" in data else "none"


async def _unmatched(request: Request, index: int, sought: Sought, text: str) -> Refusal:
    if sought.count:
        lines = line_numbers(text, sought.spans)
        where = Occurrences(edit=index, count=sought.count, lines=lines)
        return Refusal(
            "file.ambiguous",
            f"edit {index}: old occurs {sought.count:,} times in {request.path!r}, on lines {_listed(lines)}",
            hint="quote more lines around the one place, or set replace_all=true",
            payload=where,
        )
    near = await _nearest(text, sought.edit.old)
    earlier = [other for other, each in enumerate(request.edits, 1) if other != index and sought.edit.old in each.new]
    message = f"edit {index}: old ({clip(printable(sought.edit.old), BRIEF)!r}) is not in {request.path!r}"
    hint = "read the lines again and quote them exactly"
    if earlier:
        message += (
            f"; it is in the new text of edit {earlier[0]}, but every edit matches the file as it was before the call"
        )
        hint = f"join edits {earlier[0]} and {index} into one"
    elif near is not None and near.differs:
        message += f"; lines {near.first}-{near.first + len(near.lines) - 1} differ in {', '.join(near.differs)}"
    elif near is not None:
        message += f"; the nearest text starts at line {near.first}"
    else:
        message += ", and nothing like it is"
    return Refusal("file.no_match", message, hint=hint, payload=shown(index, near))


def _listed(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:20]))
    return shown if len(lines) <= 20 else f"{shown} and more"


async def _stale(request: Request, before: Loaded, text: str, found: Sequence[Sought], base: str) -> Refusal:
    sides: list[Side] = []
    for index, each in enumerate(found[:SIDES], 1):
        near = await _nearest(text, each.edit.old) if not each.count else _at(text, each)
        sides.append(
            Side(
                edit=index,
                expected=clip(printable(each.edit.old), QUOTED),
                found=each.count,
                now=shown(index, near),
                wanted=clip(printable(each.edit.new), QUOTED),
            )
        )
    view = ThreeWay(path=before.place.path, cited=base, digest=before.digest, edits=tuple(sides))
    return Refusal(
        "file.stale",
        f"{request.path!r} has changed since digest {short(base)}; it is {short(before.digest)} now",
        hint="read the changed lines, then edit them citing the new digest",
        payload=view,
        evidence=Evidence(digest=before.digest),
    )


def _at(text: str, sought: Sought) -> Nearest | None:
    """Return the lines of the first place found, whole."""
    if not sought.spans:
        return None
    first = sought.spans[0]
    start = max(text.rfind("\n", 0, first.start), text.rfind("\r", 0, first.start)) + 1
    return Nearest(line_of(text, first.start), tuple(split_lines(text[start : first.end])))


async def _sought(decoded: Decoded, edits: tuple[Edit, ...]) -> tuple[Sought, ...]:
    """Look for the edits; beside the event loop where there may be many places to find."""
    if len(decoded.text) < ASIDE or not any(each.every for each in edits):
        return seek(decoded, edits)
    return await to_thread.run_sync(seek, decoded, edits)


async def _nearest(text: str, wanted: str) -> Nearest | None:
    if len(text) < ASIDE:
        return nearest(text, wanted)
    return await to_thread.run_sync(nearest, text, wanted)


def shown(index: int, near: Nearest | None) -> NearestText:
    """Return the nearest text as the payload of a refusal, clipped; `index` is the edit that it is for."""
    if near is None:
        return NearestText(edit=index)
    left, lines = QUOTED, list[str]()
    for line in near.lines:
        if left <= 0:
            break
        lines.append(clip(printable(line), left))
        left -= len(line)
    return NearestText(edit=index, first_line=near.first, lines=tuple(lines), differs=near.differs)
