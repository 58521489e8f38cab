"""Reading unified diffs, as diff and git write them: headers, counted hunks, renames and modes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolcrib.tools.hunks import Action, Hunk, Line, Section, Sign, body, invalid

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NOTHING = "/dev/null"
_MODES = {"100644": False, "100755": True}
_MODE_LINES: Mapping[str, Action] = {
    "old mode ": "update",
    "new mode ": "update",
    "deleted file mode ": "delete",
    "new file mode ": "add",
}
_OPEN = "\\"
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, '"': 34, "\\": 92}
_QUOTED = re.compile(r"\\([0-7]{3}|.)")
_PASSED = ("index ", "similarity index ", "dissimilarity index ")


@dataclass
class _Names:
    """What the headers of one section said so far."""

    at: int
    git: bool = False
    both: str | None = None
    """The one name that a `diff --git` line gives twice."""
    old: str | None = None
    new: str | None = None
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    action: Action = "update"
    executable: bool | None = None
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def read(lines: Sequence[str]) -> tuple[Section, ...]:
    """Return the sections of a unified diff; `lines` are those of the patch without breaks.

    Raises:
        Refusal: `patch.invalid` with the line.
    """
    return _Reader(lines).read()


class _Reader:
    """Goes over the lines once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._names: _Names | None = None
        self._found: list[Section] = []

    def read(self) -> tuple[Section, ...]:
        while self._at < len(self._lines):
            self._step(self._lines[self._at])
        self._finish()
        if not self._found:
            raise invalid(
                1,
                "expected a unified diff or '*** Begin Patch', found neither",
                hint="start a file with '--- a/path' and '+++ b/path', then '@@' hunks; or use the envelope format",
            )
        return tuple(self._found)

    def _step(self, line: str) -> None:
        if line.startswith("diff --git "):
            self._finish()
            self._names = _Names(self._at + 1, git=True)
            self._from_git(line.removeprefix("diff --git "))
        elif line.startswith("--- ") and self._ahead("+++ "):
            self._headers(line)
            return
        elif line.startswith("@@"):
            self._hunk(line)
            return
        elif line.startswith(("GIT binary patch", "Binary files ")):
            raise invalid(self._at + 1, "it changes a binary file; only text is patched", hint="leave that file out")
        elif self._names is not None and not self._header(line):
            self._stray(line)
        self._at += 1

    def _ahead(self, start: str) -> bool:
        return self._at + 1 < len(self._lines) and self._lines[self._at + 1].startswith(start)

    def _headers(self, line: str) -> None:
        if self._names is None or self._names.hunks or self._names.old is not None:
            self._finish()
            self._names = _Names(self._at + 1)
        self._names.old = self._name(line[4:])
        self._names.new = self._name(self._lines[self._at + 1][4:])
        self._at += 2

    def _header(self, line: str) -> bool:
        """Take an extended header of git; tell whether it was one."""
        names = self._names
        if names is None or not names.git or names.hunks:
            return False
        for start, action in _MODE_LINES.items():
            if line.startswith(start):
                executable = self._mode(line.removeprefix(start).strip())
                names.executable = executable if start.startswith("new") else names.executable
                names.action = action
                return True
        for start in ("rename from ", "rename to "):
            if line.startswith(start):
                names.renamed[start[7:-1]] = self._unquoted(line.removeprefix(start))
                return True
        if line.startswith(("copy from ", "copy to ")):
            raise invalid(self._at + 1, "it copies a file, which is not supported", hint="add the file whole instead")
        if line.startswith("index ") and (parts := line.split())[2:]:
            self._mode(parts[2])
        return line.startswith(_PASSED)

    def _mode(self, mode: str) -> bool:
        if mode not in _MODES:
            raise invalid(
                self._at + 1,
                f"expected mode 100644 or 100755, found {mode[:20]!r}; links, submodules and other modes are not made",
                hint="leave that file out",
            )
        return _MODES[mode]

    def _stray(self, line: str) -> None:
        """Pass over what stands between sections; refuse what looks like a line of a hunk that was not counted."""
        names = self._names
        if names is not None and names.hunks and line[:1] in {"+", "-", " "} and line.rstrip() not in {"--", ""}:
            raise invalid(
                self._at + 1,
                f"the hunk at line {names.hunks[-1].at} has more lines than its header counts",
                hint="count its lines again, or leave the numbers away: '@@' alone is taken too",
            )

    def _hunk(self, line: str) -> None:
        names, start = self._names, self._at + 1
        if names is None or names.old is None:
            raise invalid(start, "a hunk stands before any '--- ' and '+++ ' lines")
        counts = _HUNK.match(line)
        self._at += 1
        if counts is not None:
            first, old, _, new = (int(each) if each else 1 for each in counts.groups())
            found = self._counted(start, old, new)
        elif line.strip() == "@@" or re.fullmatch(r"@@ [^-].*", line):
            first, found = None, self._uncounted()
        else:
            raise invalid(start, f"expected '@@ -line,count +line,count @@', found {line[:60]!r}")
        if not any(each.sign != " " for each in found):
            raise invalid(start, "the hunk changes nothing")
        anchors = () if counts is not None or line.strip() == "@@" else (line[3:].removesuffix(" @@"),)
        names.hunks.append(Hunk(at=start, lines=tuple(found), first=first, anchors=anchors))

    def _counted(self, start: int, old: int, new: int) -> list[Line]:
        found: list[Line] = []
        while old > 0 or new > 0:
            if self._at >= len(self._lines):
                raise invalid(start, f"the hunk ends too early: {old} old and {new} new lines are missing")
            line = self._lines[self._at]
            sign = self._sign(line, start)
            if sign is None:
                self._close(found, start)
                continue
            old -= sign != "+"
            new -= sign != "-"
            if old < 0 or new < 0:
                raise invalid(
                    self._at + 1,
                    f"the hunk at line {start} has other lines than its header counts",
                    hint="count its lines again, or leave the numbers away: '@@' alone is taken too",
                )
            found += body(sign, line[1:])
            self._at += 1
        if self._at < len(self._lines) and self._lines[self._at].startswith(_OPEN):
            self._close(found, start)
        return found

    def _uncounted(self) -> list[Line]:
        found: list[Line] = []
        start = self._at
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(("@@", "diff --git ")) or (line.startswith("--- ") and self._ahead("+++ ")):
                break
            if not line and all(not each for each in self._lines[self._at :]):
                break
            sign = self._sign(line, start)
            if sign is None:
                self._close(found, start)
                continue
            found += body(sign, line[1:])
            self._at += 1
        return found

    def _sign(self, line: str, start: int) -> Sign | None:
        """Return the sign of a line of a hunk, None for the mark of a missing last break."""
        if line.startswith(_OPEN):
            return None
        if not line or line[0] == " ":
            return " "
        if line[0] == "+":
            return "+"
        if line[0] == "-":
            return "-"
        raise invalid(
            self._at + 1, f"expected a line of the hunk at line {start} (' ', '-' or '+' first), found {line[:60]!r}"
        )

    def _close(self, found: list[Line], start: int) -> None:
        if not found:
            raise invalid(self._at + 1, f"the hunk at line {start} starts with the mark of a missing last break")
        found[-1] = replace(found[-1], open=True)
        self._at += 1

    def _finish(self) -> None:
        names, self._names = self._names, None
        if names is None:
            return
        old, new, action = names.old, names.new, names.action
        if old == _NOTHING and new == _NOTHING:
            raise invalid(names.at, "a section names /dev/null twice")
        if old == _NOTHING:
            action = "add"
        elif new == _NOTHING:
            action = "delete"
        path, to = self._called(names, action)
        if not names.hunks and to is None and action == "update" and names.executable is None:
            raise invalid(names.at, f"the section of {path!r} changes nothing")
        self._found.append(
            Section(
                at=names.at,
                action=action,
                path=path,
                to=to,
                hunks=tuple(names.hunks),
                executable=names.executable,
                whole=action == "delete",
            )
        )

    def _called(self, names: _Names, action: Action) -> tuple[str, str | None]:
        """Return the name of the file and the new one, agreed on by all headers."""
        old, new = (self._plain(names, each) for each in ("old", "new"))
        if names.renamed:
            if set(names.renamed) != {"from", "to"}:
                raise invalid(names.at, "a rename needs both 'rename from' and 'rename to'")
            pair = names.renamed["from"], names.renamed["to"]
            if names.old is not None and pair != (old, new):
                raise invalid(names.at, f"the headers name other files than the rename: {old!r} and {new!r}")
            return pair
        if names.old is None and names.new is None:
            return self._given(names, names.both), None
        if action != "update":
            return self._given(names, new if action == "add" else old), None
        if old != new:
            raise invalid(
                names.at,
                f"the headers name two files, {old!r} and {new!r}",
                hint="say 'rename from' and 'rename to' after a 'diff --git' line where a file is to be renamed",
            )
        return self._given(names, old), None

    def _plain(self, names: _Names, side: str) -> str | None:
        """Return the name on one side without the a/ or b/ that diff and git put before it."""
        name, other = (names.old, names.new) if side == "old" else (names.new, names.old)
        if name is None or name == _NOTHING:
            return None
        mine, theirs = ("a/", "b/") if side == "old" else ("b/", "a/")
        paired = other is None or other == _NOTHING or other.startswith(theirs)
        return name.removeprefix(mine) if paired else name

    def _given(self, names: _Names, name: str | None) -> str:
        if not name:
            raise invalid(names.at, "the section names no file")
        return name

    def _from_git(self, rest: str) -> None:
        """Take the names from a `diff --git` line: all there is for a new or deleted empty file, or for modes."""
        assert self._names is not None
        if rest.startswith('"'):
            end = re.match(r'"(?:[^"\\]|\\.)*"', rest)
            first, second = (rest[: end.end()], rest[end.end() + 1 :]) if end else ("", "")
            first, second = self._unquoted(first), self._unquoted(second)
        else:
            middle = len(rest) // 2
            first, second = rest[:middle], rest[middle + 1 :]
        if first.startswith("a/") and second.startswith("b/") and first[2:] == second[2:]:
            self._names.both = first[2:]

    def _name(self, text: str) -> str:
        """Return the name in a `---` or `+++` line: what follows a tab is a time."""
        return self._unquoted(text.partition("\t")[0].rstrip() if not text.startswith('"') else text)

    def _unquoted(self, text: str) -> str:
        """Return a name that git quoted as C does."""
        text = text.rstrip("\r")
        if not text.startswith('"'):
            return text
        inner = text.rstrip()[1:].partition('"\t')[0].removesuffix('"')
        out = bytearray()
        at = 0
        for found in _QUOTED.finditer(inner):
            out += inner[at : found.start()].encode("utf-8", "surrogateescape")
            code = found.group(1)
            if code.isdigit() and len(code) == 3:
                out.append(int(code, 8) & 0xFF)
            elif code in _ESCAPES:
                out.append(_ESCAPES[code])
            else:
                raise invalid(self._at + 1, f"the quoted name {text[:60]!r} has an unknown escape")
            at = found.end()
        return (out + inner[at:].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
