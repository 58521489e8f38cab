"""Matching of rules: path globs, tool patterns, command prefixes, hosts. No pattern makes a match run away."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Literal

from toolcrib.policy.rules import Verdict

LONGEST = 4096
"""Longest pattern, characters."""

ALTERNATIVES = 64
"""Most alternatives that the braces of one pattern make together."""


_WILD = frozenset("*?[{")


class Level(IntEnum):
    """How specific a rule is on a subject. Between ask and allow the higher wins."""

    MODE = 0
    TOOL_PATTERN = 1
    TOOL = 2
    GLOB = 3
    EXACT = 4


class PatternError(ValueError):
    """A pattern that cannot be used. Says what is wrong and, where known, at which character."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled path pattern, in three widths: as written, with what is beneath, and that folded."""

    literal: str | None
    narrow: re.Pattern[str]
    wide: re.Pattern[str]
    folded: re.Pattern[str]


def path_level(pattern: str, path: str, *, effect: Verdict) -> Level | None:
    """Return how specifically `pattern` matches the canonical `path`, None where it does not.

    `**` is any number of directories, `*` and `?` stay within one name, `[ab]`, `[!a]` and `{a,b}` are as in a shell,
    and a backslash takes the meaning away. A name, a trailing `/` and a trailing `/**` cover the directory and what is
    beneath; a pattern that ends in a wildcard covers what is beneath only when it tightens. A deny matches in any case
    and any Unicode normal form: over-matching is its safe side. `.` is the whole workspace.

    Raises:
        PatternError: the pattern is not one.
    """
    glob = compiled(pattern)
    if glob.literal == path:
        return Level.EXACT
    if effect == "allow":
        return Level.GLOB if glob.narrow.fullmatch(path) else None
    if glob.wide.fullmatch(path):
        return Level.GLOB
    return Level.GLOB if effect == "deny" and glob.folded.fullmatch(folded(path)) else None


def denier(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether any of `patterns`, as denials, matches a path: one look a path, however many patterns.

    Raises:
        PatternError: one of them is no pattern.
    """
    globs = [compiled(pattern) for pattern in patterns]
    wide = _union(glob.wide.pattern for glob in globs)
    loose = _union((glob.folded.pattern for glob in globs), re.IGNORECASE)

    def denied(path: str) -> bool:
        return bool(wide.fullmatch(path) or loose.fullmatch(folded(path)))

    return denied


def tool_level(pattern: str, name: str) -> Level | None:
    """Return how specifically a rule's tool matches `name`: the whole tool by its name, or a pattern over names."""
    if pattern == "*":
        return Level.TOOL_PATTERN
    if not is_pattern(pattern):
        return Level.TOOL if pattern == name else None
    return Level.TOOL_PATTERN if _names(pattern).fullmatch(name) else None


def host_level(pattern: str, host: str) -> Level | None:
    """Return how specifically `pattern` matches `host`, whatever the case, and the port unless the pattern has one."""
    wanted, found = pattern.lower().rstrip("."), host.lower()
    if ":" not in wanted and not found.startswith("["):
        found = found.partition(":")[0]
    found = found.rstrip(".")
    if not is_pattern(wanted):
        return Level.EXACT if wanted == found else None
    return Level.GLOB if _names(wanted).fullmatch(found) else None


def argv_level(prefix: tuple[str, ...], argv: tuple[str, ...]) -> Level | None:
    """Return `EXACT` where `argv` starts with the words of `prefix`, whole words only."""
    return Level.EXACT if argv[: len(prefix)] == prefix else None


def text_matches(pattern: str, text: str) -> bool:
    """Tell whether `pattern` matches the whole of `text`, in which a `/` is a letter like any other.

    Raises:
        PatternError: the pattern is not one.
    """
    return _names(pattern).fullmatch(text) is not None


def is_pattern(text: str) -> bool:
    """Tell whether `text` holds a wildcard."""
    return not _WILD.isdisjoint(text)


def escaped(path: str) -> str:
    """Return the pattern that matches exactly `path`."""
    return re.sub(r"([\\*?\[\]{}!~])", r"\\\1", path)


def folded(path: str) -> str:
    """Return `path` with every name in its compatibility form and without case; separators stay what they were."""
    return path.lower() if path.isascii() else "/".join(_folded(name) for name in path.split("/"))


def _folded(text: str) -> str:
    once = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", once).replace("/", "\u2215")


# Compiling -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> Glob:
    """Return the compiled form of a path pattern.

    Raises:
        PatternError: it is empty, too long, absolute, leaves the workspace, or its brackets do not close.
    """
    _check(pattern)
    plain = pattern.removeprefix("./")
    plain = "**" if plain in {"", "."} else plain
    parsed = [_Parsed.of(each) for each in _alternatives(plain)]
    return Glob(
        literal=parsed[0].literal if len(parsed) == 1 else None,
        narrow=_union(each.regex(beneath=each.covers) for each in parsed),
        wide=_union(each.regex(beneath=True) for each in parsed),
        folded=_union((each.regex(beneath=True, fold=True) for each in parsed), re.IGNORECASE),
    )


@lru_cache(maxsize=512)
def _names(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST:
        raise PatternError(f"longer than {LONGEST} characters")
    return _union(_segment(_tokens(each), any_letter=".") for each in _alternatives(pattern))


def check_names(pattern: str) -> None:
    """Refuse a pattern over names that cannot be used.

    Raises:
        PatternError: its brackets do not close, or it is too long.
    """
    if not pattern:
        raise PatternError("empty")
    _names(pattern)


def _union(sources: Iterable[str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{source})" for source in sources), re.DOTALL | flags)


def _check(pattern: str) -> None:
    if not pattern:
        raise PatternError("empty")
    if len(pattern) > LONGEST:
        raise PatternError(f"longer than {LONGEST} characters")
    if "\0" in pattern:
        raise PatternError("holds a NUL")
    if pattern.startswith(("/", "~")):
        raise PatternError("absolute; write it relative to the workspace")
    if pattern.startswith("!"):
        raise PatternError("a leading `!` is not understood; write a rule of its own, or `\\!` for the letter")


def _alternatives(pattern: str) -> list[str]:
    """Return `pattern` once for every way through its braces, escapes and brackets left as they are."""
    found = [pattern]
    done: list[str] = []
    while found:
        each = found.pop()
        braces = _braces(each)
        if braces is None:
            done.append(each)
        else:
            start, end, parts = braces
            found.extend(each[:start] + part + each[end + 1 :] for part in reversed(parts))
        if len(found) + len(done) > ALTERNATIVES:
            raise PatternError(f"its braces make more than {ALTERNATIVES} alternatives")
    return done


def _braces(text: str) -> tuple[int, int, list[str]] | None:
    """Return the first pair of braces and what stands between its commas."""
    depth, start, last = 0, -1, 0
    parts: list[str] = []
    index = 0
    while index < len(text):
        letter = text[index]
        if letter == "\\":
            index += 1
        elif letter == "[":
            index = _bracket_end(text, index)
        elif letter == "{":
            if depth == 0:
                start, last = index, index + 1
            depth += 1
        elif letter == "," and depth == 1:
            parts.append(text[last:index])
            last = index + 1
        elif letter == "}" and depth:
            depth -= 1
            if depth == 0:
                return start, index, [*parts, text[last:index]]
        index += 1
    if depth:
        raise PatternError(f"the brace at character {start + 1} is not closed")
    return None


def _bracket_end(text: str, start: int) -> int:
    index = start + 1
    if text[index : index + 1] in {"!", "^"}:
        index += 1
    index += text[index : index + 1] == "]"
    end = text.find("]", index)
    if end < 0:
        raise PatternError(f"the bracket at character {start + 1} is not closed")
    if "/" in text[start:end]:
        raise PatternError(f"the bracket at character {start + 1} holds a `/`")
    return end


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of one name: literal text, `*` (star), `?` (any) or a bracket (class, as a regex)."""

    kind: Literal["text", "star", "any", "class"]
    value: str = ""


def _tokens(segment: str) -> list[_Token]:
    found: list[_Token] = []
    index = 0
    while index < len(segment):
        letter = segment[index]
        if letter == "*":
            if not found or found[-1].kind != "star":
                found.append(_Token("star"))
        elif letter == "?":
            found.append(_Token("any"))
        elif letter == "[":
            end = _bracket_end(segment, index)
            found.append(_Token("class", _class(segment[index + 1 : end])))
            index = end
        else:
            if letter == "\\":
                index += 1
                if index == len(segment):
                    raise PatternError("ends in a backslash")
            found.append(_Token("text", segment[index]))
        index += 1
    return found


def _class(inside: str) -> str:
    negated = inside[:1] in {"!", "^"}
    body = inside[1:] if negated else inside
    pieces: list[str] = []
    index = 0
    while index < len(body):
        if body[index + 1 : index + 2] == "-" and index + 2 < len(body):
            low, high = body[index], body[index + 2]
            if low > high:
                raise PatternError(f"the range {low}-{high} runs backwards")
            pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            pieces.append(re.escape(body[index]))
            index += 1
    return f"(?!/)[{'^' if negated else ''}{''.join(pieces)}]"


def _segment(tokens: Sequence[_Token], *, any_letter: str = "[^/]", fold: bool = False) -> str:
    """Return the regex of one name. Stars before the last take the earliest match and never try another."""
    runs: list[str] = [""]
    text = ""
    for token in (*tokens, _Token("text")):
        if token.kind == "text" and token.value:
            text += token.value
            continue
        runs[-1] += re.escape(_folded(text) if fold else text)
        text = ""
        if token.kind == "star":
            runs.append("")
        elif token.kind == "any":
            runs[-1] += any_letter
        elif token.kind == "class":
            runs[-1] += token.value
    if len(runs) == 1:
        return runs[0]
    first, *middle, last = runs
    return first + "".join(f"(?>{any_letter}*?{run})" for run in middle if run) + f"{any_letter}*{last}"


@dataclass(frozen=True, slots=True)
class _Parsed:
    """One alternative as names between slashes, None for `**`. `covers`: what is beneath is meant as written."""

    names: tuple[tuple[_Token, ...] | None, ...]
    covers: bool
    literal: str | None

    @staticmethod
    def of(pattern: str) -> "_Parsed":
        segments = pattern.split("/")
        slashed = segments[-1] == "" and len(segments) > 1
        segments = segments[:-1] if slashed else segments
        if any(segment in {"", "..", "."} for segment in segments):
            raise PatternError("holds an empty name, `.` or `..`")
        names = [None if segment == "**" else tuple(_tokens(segment)) for segment in segments]
        deep = names[-1] is None
        while names and names[-1] is None:
            names.pop()
        words = ["".join(token.value for token in name) for name in names if name is not None and _is_plain(name)]
        literal = "/".join(words) if len(words) == len(segments) and not slashed else None
        plain_end = bool(names) and names[-1] is not None and _is_plain(names[-1])
        return _Parsed(tuple(names), slashed or deep or plain_end, literal)

    def regex(self, *, beneath: bool, fold: bool = False) -> str:
        """Return the regex over whole paths; `beneath` covers what lies under a match too."""
        if not self.names:
            return ".*"
        chunks: list[list[str]] = [[]]
        for name in self.names:
            if name is None:
                if chunks[-1] or len(chunks) == 1:
                    chunks.append([])
            else:
                chunks[-1].append(_segment(name, fold=fold))
        joined = ["/".join(chunk) for chunk in chunks]
        tail = "(?:/.*)?" if beneath else ""
        if len(joined) == 1:
            return joined[0] + tail
        first, *middle, last = joined
        head = f"{first}/" if first else ""
        return head + "".join(f"(?>(?:[^/]+/)*?{each}/)" for each in middle) + f"(?:[^/]+/)*{last}{tail}"


def _is_plain(name: Sequence[_Token]) -> bool:
    return all(token.kind == "text" for token in name)
