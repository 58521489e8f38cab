"""Reading patches in the envelope format: `*** Begin Patch`, one `***` line a file, `@@` before each hunk."""

from collections.abc import Sequence

from toolcrib.tools.hunks import Hunk, Line, Section, Sign, body, invalid

BEGIN = "*** Begin Patch"
END = "*** End Patch"
_ADD = "*** Add File: "
_UPDATE = "*** Update File: "
_DELETE = "*** Delete File: "
_MOVE = "*** Move to: "
_EOF = "*** End of File"
_HINT = f"between {BEGIN!r} and {END!r} stand '*** Update File: ', '*** Add File: ' and '*** Delete File: ' sections"


def read(lines: Sequence[str]) -> tuple[Section, ...]:
    """Return the sections of a patch in the envelope format; `lines` are those of the patch without breaks.

    Raises:
        Refusal: `patch.invalid` with the line.
    """
    return _Reader(lines).read()


class _Reader:
    """Goes over the lines once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = next(index for index, line in enumerate(lines) if line.strip())

    def read(self) -> tuple[Section, ...]:
        found: list[Section] = []
        self._at += 1
        while True:
            line = self._line()
            if line is None:
                raise invalid(len(self._lines), f"the patch ends without {END!r}: it may have been cut off")
            if line.rstrip() == END:
                break
            if line.strip():
                found.append(self._section(line.rstrip()))
            else:
                self._at += 1
        if any(line.strip() for line in self._lines[self._at + 1 :]):
            raise invalid(self._at + 2, f"expected nothing after {END!r}")
        if not found:
            raise invalid(self._at + 1, "the patch is empty", hint=_HINT)
        return tuple(found)

    def _line(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _section(self, line: str) -> Section:
        start = self._at + 1
        for mark in (_ADD, _UPDATE, _DELETE):
            if line.startswith(mark) and (path := line.removeprefix(mark).strip()):
                self._at += 1
                if mark == _DELETE:
                    return Section(at=start, action="delete", path=path)
                return self._added(start, path) if mark == _ADD else self._updated(start, path)
        raise invalid(start, f"expected a section, found {line[:60]!r}", hint=_HINT)

    def _added(self, start: int, path: str) -> Section:
        found: list[Line] = []
        while (line := self._line()) is not None and line.startswith("+"):
            found += body("+", line[1:])
            self._at += 1
        if line is not None and line.strip() and not line.startswith("*** "):
            raise invalid(self._at + 1, f"expected '+' before each line of the new file, found {line[:60]!r}")
        hunks = (Hunk(at=start, lines=tuple(found), first=0),) if found else ()
        return Section(at=start, action="add", path=path, hunks=hunks)

    def _updated(self, start: int, path: str) -> Section:
        to = None
        line = self._line()
        if line is not None and line.startswith(_MOVE):
            to = line.removeprefix(_MOVE).strip()
            self._at += 1
        hunks: list[Hunk] = []
        while (line := self._line()) is not None and (line == _EOF or not line.startswith("*** ")):
            if not line.strip() and self._blank_to_section():
                self._at += 1
                continue
            hunks.append(self._hunk())
        if not hunks and to is None:
            raise invalid(start, f"the section of {path!r} changes nothing")
        return Section(at=start, action="update", path=path, to=to, hunks=tuple(hunks))

    def _blank_to_section(self) -> bool:
        """Tell whether only empty lines stand between here and the next section."""
        rest = (line for line in self._lines[self._at :] if line.strip())
        return next(rest, "*** ").startswith("*** ")

    def _hunk(self) -> Hunk:
        start = self._at + 1
        anchors: list[str] = []
        while (line := self._line()) is not None and line.startswith("@@"):
            if text := line[2:].removesuffix("@@").strip():
                anchors.append(text)
            self._at += 1
        found: list[Line] = []
        last = False
        while (line := self._line()) is not None and not line.startswith("@@"):
            if line.rstrip() == _EOF:
                last = True
                self._at += 1
                break
            if line.startswith("*** ") or (not line.strip() and self._blank_to_section()):
                break
            found += body(self._sign(line, start), line[1:])
            self._at += 1
        if not any(each.sign != " " for each in found):
            raise invalid(start, "the hunk changes nothing")
        return Hunk(at=start, lines=tuple(found), anchors=tuple(anchors), last=last)

    def _sign(self, line: str, start: int) -> Sign:
        if not line or line[0] == " ":
            return " "
        if line[0] == "+":
            return "+"
        if line[0] == "-":
            return "-"
        raise invalid(
            self._at + 1, f"expected a line of the hunk at line {start} (' ', '-' or '+' first), found {line[:60]!r}"
        )
