"""Grants: which standing yes covers a call, and the pattern that an `always` stores."""

from collections.abc import Sequence

from toolcrib.policy.match import PatternError, compiled, escaped, path_level, text_matches
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Grant


def pattern_for(footprint: Footprint) -> str:
    """Return the pattern of a grant for exactly this subject: its parts in order, wildcards and blanks escaped.

    A call that names nothing gives the empty pattern, which covers only calls of that tool that name nothing.
    """
    return " ".join(
        escaped(part).replace(" ", "\\ ") for part in (*_paths(footprint), *footprint.argv, *footprint.hosts)
    )


def covering(
    grants: Sequence[Grant], descriptor: Descriptor, footprint: Footprint, *, now: float, root: str | None = None
) -> Grant | None:
    """Return the grant that covers the call, the one that ends first where there are several; `now` is wall seconds."""
    alive = [grant for grant in grants if covers(grant, descriptor, footprint, now=now, root=root)]
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
    try:
        return _on(grant.pattern, footprint)
    except PatternError:
        return False


def _on(pattern: str, footprint: Footprint) -> bool:
    paths, words = _paths(footprint), (*footprint.argv, *footprint.hosts)
    if not paths and not words:
        return pattern == ""
    if not pattern:
        return False
    patterns = _split(pattern)
    if len(patterns) == 1 and not words:
        return all(_path(patterns[0], path) for path in paths)
    if len(patterns) != len(paths) + len(words):
        return False
    return all(_path(each, path) for each, path in zip(patterns, paths, strict=False)) and all(
        text_matches(each, word) for each, word in zip(patterns[len(paths) :], words, strict=True)
    )


def _path(pattern: str, path: str) -> bool:
    """Match one path: a pattern without wildcards is that path alone, though a rule would cover what is beneath."""
    if compiled(pattern).literal is not None:
        return compiled(pattern).literal == path
    return path_level(pattern, path, effect="allow") is not None


def _paths(footprint: Footprint) -> tuple[str, ...]:
    return (*footprint.writes, *(path for path in footprint.reads if path not in footprint.writes))


def _split(pattern: str) -> list[str]:
    """Return the parts of a pattern, which stand between blanks that no backslash escapes."""
    parts: list[str] = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == " ":
            parts.append("")
        else:
            parts[-1] += letter + (next(letters, "") if letter == "\\" else "")
    return parts
