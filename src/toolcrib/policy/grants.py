"""Grants: which standing yes covers a call, and the pattern that an `always` stores."""

import re
from collections.abc import Sequence

from toolcrib.policy.match import Level, PatternError, compiled, escaped, is_pattern, path_level, text_matches
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Grant

ROOT = "."
"""The subject of a call that is about the workspace as a whole: as a grant's pattern it covers that subject alone."""


def pattern_for(footprint: Footprint) -> str:
    """Return the pattern of a grant for exactly this subject: its parts in order, wildcards and blanks escaped.

    A call that names nothing gives the empty pattern, which covers only calls of that tool that name nothing.
    """
    return " ".join(
        escaped(part).replace(" ", "\\ ") for part in (*_paths(footprint), *footprint.argv, *footprint.hosts)
    )


def finest(footprint: Footprint) -> Level:
    """Return how specific a grant can be about a call: on its very subject, or on the tool where it names nothing."""
    return Level.EXACT if footprint.subject else Level.TOOL


def covering(
    grants: Sequence[Grant],
    descriptor: Descriptor,
    footprint: Footprint,
    *,
    now: float,
    root: str | None = None,
    over: Sequence[Level] = (),
) -> Grant | None:
    """Return the grant that covers the call, the one that ends first where there are several; `now` is wall seconds.

    `over` says, for each part of the call, how specific the rule is that asks about it, `MODE` where none does: a grant
    that is not more specific gives way to the rule.
    """
    alive = [
        grant
        for grant in grants
        if covers(grant, descriptor, footprint, now=now, root=root)
        and all(level > asked for level, asked in zip(levels(grant.pattern, footprint) or (), over, strict=False))
    ]
    return min(alive, key=lambda grant: (grant.uses is None, grant.expires or float("inf"), grant.id), default=None)


def covers(grant: Grant, descriptor: Descriptor, footprint: Footprint, *, now: float, root: str | None = None) -> bool:
    """Tell whether `grant` is alive and covers this call: the same tool at the same digest, root and subject.

    For a tool that is not built in, its title and description must be those of the day it was granted, too. A pattern
    of one part must match every path of the call; one of several parts, and any for a command, goes part by part.
    """
    if grant.tool_digest != descriptor.digest:
        return False
    if descriptor.origin.kind != "builtin" and grant.text_digest != descriptor.text_digest:
        return False
    if root is not None and grant.root != root:
        return False
    if (grant.expires is not None and now >= grant.expires) or (grant.uses is not None and grant.uses < 1):
        return False
    return levels(grant.pattern, footprint) is not None


def levels(pattern: str, footprint: Footprint) -> tuple[Level, ...] | None:
    """Return how specifically a grant's pattern is about each part of a call, None where it does not cover all of it.

    The parts are the paths, the command as a whole, and the hosts, in this order; a call that names nothing is one
    part, which the empty pattern is about as a rule on the whole tool is.
    """
    try:
        return _levels(pattern, footprint)
    except PatternError:
        return None


def _levels(pattern: str, footprint: Footprint) -> tuple[Level, ...] | None:
    paths, words = _paths(footprint), (*footprint.argv, *footprint.hosts)
    if not paths and not words:
        return (Level.TOOL,) if pattern == "" else None
    if not pattern:
        return None
    patterns = split(pattern)
    if len(patterns) == 1 and not words:
        patterns *= len(paths)
    if len(patterns) != len(paths) + len(words):
        return None
    found = [_path(each, path) for each, path in zip(patterns, paths, strict=False)]
    found += [_word(each, word) for each, word in zip(patterns[len(paths) :], words, strict=True)]
    if None in found:
        return None
    level = [each for each in found if each is not None]
    command = level[len(paths) : len(paths) + len(footprint.argv)]
    return (*level[: len(paths)], *([min(command)] if command else []), *level[len(paths) + len(command) :])


def _path(pattern: str, path: str) -> Level | None:
    """Match one path: a pattern without wildcards is that path alone, though a rule would cover what is beneath."""
    if ROOT in {pattern, path}:
        return Level.EXACT if pattern == path else None
    if (literal := compiled(pattern).literal) is not None:
        return Level.EXACT if literal == path else None
    return path_level(pattern, path, effect="allow")


def _word(pattern: str, word: str) -> Level | None:
    if not text_matches(pattern, word):
        return None
    return Level.GLOB if wild(pattern) else Level.EXACT


def wild(pattern: str) -> bool:
    """Tell whether a pattern holds a wildcard that no backslash takes the meaning from."""
    return is_pattern(re.sub(r"\\.", "", pattern, flags=re.DOTALL))


def _paths(footprint: Footprint) -> tuple[str, ...]:
    return (*footprint.writes, *(path for path in footprint.reads if path not in footprint.writes))


def check(pattern: str) -> None:
    """Refuse what is no pattern of a grant.

    Raises:
        PatternError: one of its parts is none.
    """
    for each in split(pattern) if pattern else ():
        compiled(each)


def split(pattern: str) -> list[str]:
    """Return the parts of a pattern, which stand between blanks that no backslash escapes."""
    parts: list[str] = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == " ":
            parts.append("")
        else:
            parts[-1] += letter + (next(letters, "") if letter == "\\" else "")
    return parts
