"""Globs: parsed into alternatives, each a list of segments, and matched by one expression in linear time.

`*` and `?` stay within a name, `**` as a whole segment spans any number of directories, `[ab]`, `[a-z]` and `[!a]` are
sets (the first two are their own spelling too), `{a,b}` are alternatives and may be nested, a backslash quotes. An
alternative that begins with `!` takes away.
Names that begin with a dot are names like any other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.host.finder.bracket import bracket
from toolcrib.host.finder.linear import Expression, UnfitError, compiled
from toolcrib.terms.refusals import Refusal

MOST_CHARS = 4096
MOST_ALTERNATIVES = 1000

_NAME = r"[^/\x00]"
# Bytes of names that are no UTF-8, which Python holds as half characters, stand in the last private plane meanwhile.
_BYTES = {0xDC80 + number: 0x10FF00 + number for number in range(128)}
_BACK = {point: surrogate for surrogate, point in _BYTES.items()}


@dataclass(frozen=True, slots=True)
class Segment:
    """One name of a pattern. `literal` is the name it stands for, None where it has signs; `deep` is `**`.

    `ends` is what stands before and behind the star where one star is all the signs it has.
    """

    source: str
    literal: str | None
    deep: bool = False
    ends: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to match: segments from the root, and whether it takes away."""

    segments: tuple[Segment, ...]
    takes_away: bool = False

    @property
    def literals(self) -> tuple[str, ...]:
        """The leading names without signs."""
        names: list[str] = []
        for each in self.segments:
            if each.literal is None:
                break
            names.append(each.literal)
        return tuple(names)

    @property
    def prefix(self) -> str:
        """The path that the leading names spell."""
        return "/".join(self.literals)

    @property
    def depth(self) -> int | None:
        """How many names a path that matches has; None for any number."""
        return None if any(each.deep for each in self.segments) else len(self.segments)

    def below(self, path: str) -> "Alternative":
        """Return the alternative as seen from above the canonical directory `path`, empty for the root."""
        lead = tuple(_literal(name) for name in path.split("/") if name)
        return Alternative((*lead, *self.segments), self.takes_away)

    def anywhere(self) -> "Alternative":
        """Return the alternative at any depth."""
        return Alternative((Segment("", None, deep=True), *self.segments), self.takes_away)

    def expression(self) -> str:
        """Return the whole as a regular expression over one path."""
        *leading, last = self.segments
        parts = [r"(?:[^\x00]*/)?" if each.deep else f"{each.source}/" for each in leading]
        return "".join(parts) + (r"[^\x00]+" if last.deep else last.source)


def parse(pattern: str) -> tuple[Alternative, ...]:
    """Read a pattern that is relative to some directory.

    Raises:
        Refusal: `find.invalid` with the position, `file.outside` for a `..` segment.
    """
    if not pattern:
        raise Refusal("find.invalid", "expected a pattern, found ''", hint="Use ** for every file.")
    if len(pattern) > MOST_CHARS:
        raise Refusal("find.invalid", f"a pattern has at most {MOST_CHARS} characters, this one has {len(pattern)}")
    pattern = pattern.translate(_BYTES)
    if "\0" in pattern or not _encodes(pattern):
        raise Refusal("find.invalid", "the pattern holds a character that no path can hold")
    return tuple(_alternative(each, pattern) for each in _expanded(pattern))


def _alternative(text: str, pattern: str) -> Alternative:
    takes_away = text.startswith("!")
    body = text[takes_away:]
    names = body.split("/")
    if body.endswith("/") or all(each in {"", "."} for each in names):
        raise Refusal(
            "find.invalid",
            f"{text[:200]!r} names directories, and only files are found",
            hint="End the pattern in /** for all files beneath a directory, or use list_dir.",
        )
    segments: list[Segment] = []
    for name in names:
        if name in {"", "."}:
            continue
        if name == "..":
            raise Refusal("file.outside", f"the pattern {pattern[:200]!r} steps up with '..'", hint="Use cwd instead.")
        segment = _segment(name, pattern)
        if not (segment.deep and segments and segments[-1].deep):
            segments.append(segment)
    return Alternative(tuple(segments), takes_away)


def _segment(name: str, pattern: str) -> Segment:
    if len(name) > 1 and not name.strip("*"):
        return Segment("", None, deep=True)
    if not name.strip("*"):
        return Segment(_NAME + "+", None, ends=("", ""))
    parts: list[str] = []
    plain: list[str] | None = []
    index = 0
    while index < len(name):
        char = name[index]
        if char in "*?[":
            plain = None
        if char == "*":
            index += len(name[index:]) - len(name[index:].lstrip("*"))
            parts.append(_NAME + "*")
        elif char == "?":
            index += 1
            parts.append(_NAME)
        elif char == "[":
            found = bracket(name, index)
            if found is None:
                raise _unbalanced(pattern, "[", name[index:])
            spelled, index = name[index : found.end], found.end
            if any(low > high for low, high in found.ranges):
                raise _backwards(pattern, spelled)
            # Directories are called `[id]`: a set is its own spelling too, so that they are not taken for absent.
            own = "" if found.negated else "|" + "".join(map(_quoted, spelled))
            parts.append(f"(?:{found.expression(never='/')}{own})")
        else:
            index += char == "\\"
            if index >= len(name):
                raise Refusal("find.invalid", f"the pattern ends in a backslash, at position {len(pattern)}")
            parts.append(_quoted(name[index]))
            if plain is not None:
                plain.append(name[index])
            index += 1
    literal = None if plain is None else "".join(plain).translate(_BACK)
    head, star, tail = name.translate(_BACK).partition("*")
    single = bool(star) and not set("*?[\\") & set(head + tail)
    return Segment("".join(parts), literal, ends=(head, tail) if single else None)


def _literal(name: str) -> Segment:
    return Segment("".join(map(_quoted, name)), name)


def _quoted(char: str) -> str:
    return f"\\x{{{_BYTES.get(ord(char), ord(char)):x}}}"


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unbalanced(pattern: str, sign: str, rest: str) -> Refusal:
    at = pattern.find(rest[:20]) + 1 or pattern.find(sign) + 1
    return Refusal(
        "find.invalid",
        f"{sign!r} at position {at} of {pattern[:200]!r} is never closed",
        hint=f"Close it, or write \\{sign} for the character itself.",
    )


def _backwards(pattern: str, spelled: str) -> Refusal:
    return Refusal(
        "find.invalid",
        f"the set {spelled[:80]!r} in {pattern[:200]!r} has a range that runs backwards",
        hint="Swap its two ends, or write \\- for the dash.",
    )


@dataclass(slots=True)
class _Brace:
    """An open brace while it is read: where it began, the texts before it, and its alternatives so far."""

    at: int
    before: list[str]
    options: list[str]


def _expanded(pattern: str) -> list[str]:
    """Expand braces; `[...]` and what a backslash quotes is not looked into."""
    texts = [""]
    open_braces: list[_Brace] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        taken = 1
        if char == "{":
            open_braces.append(_Brace(index, texts, []))
            texts = [""]
        elif char == "," and open_braces:
            open_braces[-1].options += texts
            texts = [""]
        elif char == "}" and open_braces:
            brace = open_braces.pop()
            options = brace.options + texts
            _check_number(len(brace.before) * len(options), pattern)
            texts = [before + option for before in brace.before for option in options]
        else:
            taken = _atom(pattern, index)
            texts = [text + pattern[index : index + taken] for text in texts]
        index += taken
    if open_braces:
        raise _unbalanced(pattern, "{", pattern[open_braces[-1].at :])
    return [text for text in dict.fromkeys(texts) if text] or [pattern]


def _atom(pattern: str, at: int) -> int:
    """Return the length of what stands at `at` as one: a quoted character, a set, or a character."""
    if pattern[at] == "\\":
        return 2
    if pattern[at] == "[":
        found = bracket(pattern, at)
        return found.end - at if found is not None and "/" not in pattern[at : found.end] else 1
    return 1


def _check_number(number: int, pattern: str) -> None:
    if number > MOST_ALTERNATIVES:
        raise Refusal(
            "find.invalid",
            f"the braces of {pattern[:200]!r} stand for {number} alternatives or more, over the limit of "
            f"{MOST_ALTERNATIVES}",
            hint="Use * or fewer braces.",
        )


def joined(alternatives: Sequence[Alternative]) -> Expression:
    """Return the alternatives as one expression over paths with a NUL on either side.

    Raises:
        Refusal: `find.invalid` when they are too large.
    """
    sources = dict.fromkeys(each.expression() for each in alternatives)
    try:
        return compiled(rf"\x00(?:{'|'.join(sources)})\x00")
    except UnfitError as unfit:
        raise Refusal("find.invalid", f"the pattern is too large: {unfit}", hint="Use a simpler pattern.") from None


def matching(expression: Expression, paths: Sequence[str]) -> Iterator[str]:
    """Yield those of `paths` that an expression of `joined` matches, in order."""
    # One buffer, NUL on either side of each path: a call of the library costs more than the matching.
    text = "\0" + "\0\0".join(paths) + "\0"
    try:
        raw, odd = text.encode(), False
    except UnicodeEncodeError:
        raw, odd = text.translate(_BYTES).encode(), True
    for hit in expression.finditer(raw):
        path = hit.group()[1:-1].decode()
        if path:
            yield path.translate(_BACK) if odd else path
