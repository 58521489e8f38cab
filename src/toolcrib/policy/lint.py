"""What is worth a look at in a standing yes: ended, without its tool, shadowed by a rule, or covering a great deal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.policy.decide import Question, settle
from toolcrib.policy.grants import split, wild
from toolcrib.policy.match import is_pattern
from toolcrib.policy.rules import Allow, Deny, Rule
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Grant
from toolcrib.terms.settings import Mode

Kind = Literal["ended", "gone", "changed", "denied", "asked", "broad"]
"""What is found: it covers nothing any more (the first three), a rule outweighs it (two), or it covers a great deal."""

_STRANGE = "\ue000"
"""A name that no rule means: what a wildcard of a grant stands for when rules are tried on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is worth a look, in words."""

    grant: Grant
    kind: Kind
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a grant is held against: the rules and the mode in force, and further protected paths."""

    rules: Sequence[Rule]
    mode: Mode
    further: Sequence[str] = ()


def lint(
    grant: Grant, *, descriptor: Descriptor | None, ended: str, now: float, around: Surroundings
) -> tuple[Finding, ...]:
    """Return what is worth a look in one grant.

    `descriptor` is the tool of its name as it is now, None where there is none; `ended` says how the grant ended, empty
    while it holds.
    """
    found: list[tuple[Kind, str]] = []
    if ended:
        found.append(("ended", f"it is {ended} and covers nothing any more"))
    if descriptor is None:
        found.append(("gone", f"no tool is called {grant.tool} here; one that a program declares is known only there"))
    elif why := _changed(grant, descriptor):
        found.append(("changed", f"{grant.tool} is no longer the tool that was granted: {why} changed"))
    if descriptor is not None and not found:
        found += _outweighed(grant, descriptor, now=now, around=around)
    if not ended:
        found += _broad(grant, descriptor)
    return tuple(Finding(grant=grant, kind=kind, says=says) for kind, says in found)


def _changed(grant: Grant, descriptor: Descriptor) -> str:
    if grant.tool_digest != descriptor.digest:
        return "its schema, effect or origin"
    if descriptor.origin.kind != "builtin" and grant.text_digest != descriptor.text_digest:
        return "its title, description or annotations"
    return ""


def _outweighed(grant: Grant, descriptor: Descriptor, *, now: float, around: Surroundings) -> list[tuple[Kind, str]]:
    """Judge calls that the grant covers: one that no sample of gets through is of no use where rules stand as now."""
    said: list[tuple[Kind, str]] = []
    for footprint in _samples(grant.pattern, descriptor):
        question = Question(
            name=grant.tool,
            descriptor=descriptor,
            footprint=footprint,
            mode=around.mode,
            rules=around.rules,
            checkpointed=descriptor.kind == "write",
            further=around.further,
        )
        ruling = settle(question, grants=[replace(grant, expires=None, uses=None)], now=now, root=grant.root)
        if isinstance(ruling, Allow):
            return []
        if isinstance(ruling, Deny):
            said.append(("denied", f"{ruling.rule} denies all that it covers: {ruling.reason}"))
        else:
            said.append(("asked", f"{ruling.rule} asks all the same: {ruling.reason}"))
    return said[:1]


def _samples(pattern: str, descriptor: Descriptor) -> tuple[Footprint, ...]:
    """Return calls that the pattern covers, none where it cannot be told what they would be."""
    if not pattern:
        return (Footprint(),)
    if descriptor.kind not in {"read", "write"}:
        return ()
    made: list[Footprint] = []
    for deep in (_STRANGE, f"{_STRANGE}/{_STRANGE}"):
        paths = [_sample(each, deep) for each in split(pattern)]
        if None in paths:
            return ()
        named = tuple(path for path in paths if path is not None)
        made.append(Footprint(writes=named) if descriptor.kind == "write" else Footprint(reads=named))
    return tuple(dict.fromkeys(made))


def _sample(pattern: str, deep: str) -> str | None:
    text, letters = "", iter(pattern.replace("**", "\0"))
    for letter in letters:
        if letter in "[{":
            return None
        text += {"\\": "", "\0": deep, "*": _STRANGE, "?": _STRANGE}.get(letter, letter)
        if letter == "\\":
            text += next(letters, "")
    return text


def _broad(grant: Grant, descriptor: Descriptor | None) -> list[tuple[Kind, str]]:
    if not grant.pattern:
        if descriptor is not None and descriptor.kind == "read":
            return []
        return [("broad", f"it covers every call of {grant.tool} that names no path, whatever its arguments")]
    wide = [each for each in split(grant.pattern) if wild(each) and is_pattern(each.partition("/")[0])]
    if wide:
        return [("broad", f"{' '.join(wide)} begins with a wildcard: it covers the whole workspace")]
    if wild(grant.pattern) and grant.expires is None and grant.uses is None:
        return [("broad", f"{grant.pattern} holds a wildcard, and nothing ends it")]
    return []
