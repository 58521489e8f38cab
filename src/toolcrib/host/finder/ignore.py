"""Which entries the ignore files leave out: git's rules exactly, and two further files of the same form.

Sources: gitignore(5) and git's dir.c and wildmatch.c. Precedence, lowest first: the person's excludes file, a
repository's info/exclude, `.gitignore` from the root down, `.ignore` from the root down, `.toolcribignore` likewise.
Within one file the last pattern that matches decides. What lies in an ignored directory is ignored.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from toolcrib.host.finder.bracket import bracket
from toolcrib.host.finder.linear import Expression, UnfitError, compiled

FILES = (".gitignore", ".ignore", ".toolcribignore")
"""Ignore files, lowest precedence first."""

MOST_BYTES = 4 << 20
"""Bytes of one ignore file that are read."""

NOTHING: frozenset[str] = frozenset()

_AT_ONCE = 200
"""Patterns in one compiled expression."""

_SIGN = re.compile(r"[*?\[\\]")
_DEEP_ONLY = re.compile(r"(?:\*{2,}/)*\*{2,}")
_ANY = r"[^/\x00]"
_DEEP = r"[^\x00]*"


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line: what it matches as an expression over a path (a directory's ends in two slashes), and what it says."""

    source: str
    ignores: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """Patterns that follow each other in a file and say the same, as one expression."""

    expression: Expression
    ignores: bool


@dataclass(frozen=True, slots=True)
class _File:
    """One ignore file. `base` is the path of its directory with a slash at the end, empty for the root."""

    base: str
    runs: tuple[_Run, ...]
    any: Expression | None
    """Matches what one of several runs does: most directories hold nothing of the kind, and then one look is enough."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files that hold in one directory, lowest precedence first within each layer."""

    layers: tuple[tuple[_File, ...], ...] = field(default=((), (), (), (), ()))
    """The person's excludes, info/exclude, then one layer for each name of `FILES`."""
    files: tuple[_File, ...] = ()
    """The layers in one."""

    def with_excludes(self, data: bytes) -> "Rules":
        """Return the rules with the person's own excludes file added."""
        return self._with(0, "", data)

    def with_info(self, base: str, data: bytes) -> "Rules":
        """Return the rules with the `.git/info/exclude` of a repository at `base` added."""
        return self._with(1, base, data)

    def with_file(self, base: str, name: str, data: bytes) -> "Rules":
        """Return the rules with the ignore file `name` (one of `FILES`) of the directory `base` added."""
        return self._with(2 + FILES.index(name), base, data)

    def ignored(self, base: str, directories: Sequence[str], others: Sequence[str]) -> frozenset[str]:
        """Return which of the entries of one directory are ignored. `base` ends in a slash, or is empty."""
        if not self.files or not (directories or others):
            return NOTHING
        verdicts: dict[str, bool] = {}
        buffers: dict[int, bytes] = {}
        for file in self.files:
            start = len(file.base)
            inner = base[start:]
            buffer = buffers.get(start)
            if buffer is None:
                buffer = buffers[start] = _joined(inner, directories, others)
            if file.any is not None and file.any.search(buffer) is None:
                continue
            cut = len(inner.encode("utf-8", "surrogateescape"))
            for run in file.runs:
                for path in _matches(run.expression, buffer):
                    verdicts[path[cut:].rstrip(b"/").decode("utf-8", "surrogateescape")] = run.ignores
        return frozenset(name for name, ignores in verdicts.items() if ignores) if verdicts else NOTHING

    def _with(self, layer: int, base: str, data: bytes) -> "Rules":
        patterns = tuple(_patterns(data))
        runs = tuple(_runs(patterns))
        if not runs:
            return self
        together = list(_compiled([each.source for each in patterns])) if len(runs) > 1 else []
        layers = list(self.layers)
        layers[layer] = (*layers[layer], _File(base, runs, together[0] if len(together) == 1 else None))
        return Rules(tuple(layers), tuple(file for each in layers for file in each))


def _joined(inner: str, directories: Sequence[str], others: Sequence[str]) -> bytes:
    # One buffer for all entries, NUL on either side of each: a call of the library costs more than the matching. Two
    # slashes mark a directory; after one alone `a/*` would take the directory `a` itself for something within it.
    parts = [f"\0{inner}{name}//\0" for name in directories]
    parts += [f"\0{inner}{name}\0" for name in others]
    return "".join(parts).encode("utf-8", "surrogateescape")


def _matches(expression: Expression, buffer: bytes) -> Iterator[bytes]:
    for hit in expression.finditer(buffer):
        path = hit.group()[1:-1]
        if path:
            yield path


def _runs(patterns: Iterable[_Pattern]) -> Iterator[_Run]:
    for ignores, group in groupby(patterns, key=lambda each: each.ignores):
        sources = [each.source for each in group]
        for start in range(0, len(sources), _AT_ONCE):
            for expression in _compiled(sources[start : start + _AT_ONCE]):
                yield _Run(expression, ignores)


def _compiled(sources: Sequence[str]) -> Iterable[Expression]:
    """Compile the patterns as one, or, where that is too large, as fewer; one that does not fit alone is left out."""
    try:
        return (compiled(rf"\x00(?:{'|'.join(sources)})\x00", octets=True),)
    except UnfitError:
        if len(sources) == 1:
            return ()
        half = len(sources) // 2
        return (*_compiled(sources[:half]), *_compiled(sources[half:]))


def _patterns(data: bytes) -> Iterator[_Pattern]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    for line in text.split("\n"):
        found = _pattern(_trimmed(line.removesuffix("\r"))) if line[:1] != "#" else None
        if found is not None:
            yield found


def _trimmed(line: str) -> str:
    """Drop the blanks at the end, but none that a backslash quotes."""
    end = len(line.rstrip(" "))
    if end == len(line):
        return line
    slashes = end - len(line[:end].rstrip("\\"))
    return line[: end + slashes % 2]


def _pattern(line: str) -> _Pattern | None:
    ignores = not line.startswith("!")
    text = line if ignores else line[1:]
    only_directories = text.endswith("/")
    text = text[:-1] if only_directories else text
    if not text or "\0" in text:
        return None
    anywhere = "/" not in text
    body = _translated(text.removeprefix("/"), slashes=not anywhere)
    if body is None:
        return None
    lead = rf"(?:{_DEEP}/)?" if anywhere else ""
    return _Pattern(f"{lead}{body}//" if only_directories else f"{lead}{body}(?://)?", ignores)


def _translated(text: str, *, slashes: bool) -> str | None:
    """Return `text` as an expression; None when it can match nothing. `slashes`: `**` spans directories."""
    parts: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        if char == "*":
            index, part = _stars(text, index, slashes=slashes)
        elif char == "?":
            index, part = index + 1, _ANY
        elif char == "[":
            found = bracket(text, index)
            if found is None:
                return None
            index, part = found.end, found.expression(never="/")
        else:
            if char == "\\":
                index += 1
                if index >= len(text):
                    return None
            index, part = index + 1, f"\\x{{{ord(text[index]):x}}}"
        parts.append(part)
    return "".join(parts)


def _stars(text: str, at: int, *, slashes: bool) -> tuple[int, str]:
    end = at
    while text[end : end + 1] == "*":
        end += 1
    # Git compares what stands before the first sign by itself, so that `**` at that place counts as standing alone
    # too: `foo**/*` matches `foo`. It is so in git, and so it is here.
    first = not _SIGN.search(text, 0, at)
    if end - at < 2 or not slashes or not (at == 0 or text[at - 1] == "/" or first):
        return end, _ANY + "*"
    if first and at and text[at - 1] != "/" and _DEEP_ONLY.fullmatch(text, at):
        return len(text), _DEEP
    if end == len(text):
        return end, _ANY + _DEEP
    if text[end] == "/":
        return end + 1, rf"(?:{_DEEP}/)?"
    return (end, _DEEP) if text[end : end + 2] == "\\/" else (end, _ANY + "*")
