"""What a patch says, whatever format it is written in: sections, one a file, and their hunks. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import MARK

Sign = Literal[" ", "-", "+"]
"""A line that stays, goes, or comes."""

Action = Literal["update", "add", "delete"]
"""What becomes of the file of a section."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk, without its break. `open`: the file ends after it, without a break."""

    sign: Sign
    text: str
    open: bool = False
    ending: str = "\n"
    """The break that the patch writes after it; a file with one line ending keeps its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that stand together in the file. `at` is the line of the patch that begins it, for messages."""

    at: int
    lines: tuple[Line, ...]
    first: int | None = None
    """1-based line of the old file where the hunk says it belongs; for one without old lines, the line before it."""
    anchors: tuple[str, ...] = ()
    """Lines that stand before it, in order: where to look."""
    last: bool = False
    """Whether it must match at the end of the file."""

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that must stand in the file."""
        return tuple(line.text for line in self.lines if line.sign != "+")

    @property
    def new(self) -> tuple[str, ...]:
        """The lines that stand there afterwards."""
        return tuple(line.text for line in self.lines if line.sign != "-")

    def unmarked(self) -> "Hunk":
        """Return the hunk without a byte order mark before its first old line, which a diff of the bytes shows."""
        first = next((index for index, line in enumerate(self.lines) if line.sign != "+"), None)
        if first is None or not self.lines[first].text.startswith(MARK):
            return self
        line = self.lines[first]
        bare = replace(line, text=line.text.removeprefix(MARK))
        return replace(self, lines=(*self.lines[:first], bare, *self.lines[first + 1 :]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What a patch does to one file. `to` is its new name where it is moved."""

    at: int
    action: Action
    path: str
    to: str | None = None
    hunks: tuple[Hunk, ...] = ()
    executable: bool | None = None
    """Whether the file is to be executable; None: as it was."""
    whole: bool = False
    """Whether the hunks of a deletion must hold the whole file."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the section names."""
        return (self.path,) if self.to is None else (self.path, self.to)


def invalid(at: int, what: str, *, hint: str = "nothing was changed; correct the patch and send it whole") -> Refusal:
    """Return the refusal of a patch that cannot be read, at line `at` of it."""
    return Refusal("patch.invalid", f"patch line {at}: {what}", hint=hint)


def body(sign: Sign, text: str) -> list[Line]:
    """Return a line of a patch as the lines of an editor: a lone carriage return inside it ends a line too."""
    whole = text.removesuffix("\r")
    parts = whole.split("\r")
    inner = [Line(sign, part, ending="\r") for part in parts[:-1]]
    return [*inner, Line(sign, parts[-1], ending="\n" if whole == text else "\r\n")]


def content(lines: Sequence[Line]) -> str:
    """Return the text of a new file."""
    return "".join(each.text + ("" if each.open else each.ending) for each in lines if each.sign == "+")


def distinct(sections: Sequence[Section]) -> None:
    """Refuse a patch with two sections about one name.

    Raises:
        Refusal: `patch.invalid`.
    """
    seen: dict[str, int] = {}
    for section in sections:
        for path in section.paths:
            if path in seen:
                raise invalid(
                    section.at,
                    f"{path!r} is named by this section and by that at line {seen[path]}",
                    hint="say all that becomes of a file in one section",
                )
            seen[path] = section.at
