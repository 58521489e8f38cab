"""The words of policy: a rule, and the ruling that rules, mode and grants come to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.terms.digest import of_json
from toolcrib.terms.settings import Mode

Verdict = Literal["allow", "ask", "deny"]
"""What a rule says, mildest first."""

Source = Literal["user", "project", "flag"]
"""Who wrote a rule: the person, the project's own configuration, or a flag of this start."""

Access = Literal["any", "read", "write"]
"""What a path rule is about. One against reading binds writes too, since a write answers with what it replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of policy. At most one of `path`, `argv` and `host` is given; with none it is about the whole tool."""

    effect: Verdict
    tool: str = "*"
    """A tool's canonical name, or a pattern over names."""
    path: str | None = None
    """A glob over workspace-relative paths."""
    access: Access = "any"
    argv: tuple[str, ...] | None = None
    """The first words of a command."""
    host: str | None = None
    """A host name, or a pattern over host names."""
    reason: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    source: Source = "user"
    index: int = 0
    """1-based place among the rules of its file; 0 for a rule of no file."""
    place: str = ""
    """`file:line`."""

    @property
    def label(self) -> str:
        """Name the rule in one phrase: whose, which, where. A model reads it, so no path outside the workspace."""
        at = f"your configuration:{self.place.rpartition(':')[2]}" if self.place.startswith("/") else self.place
        where = f" ({at})" if at else ""
        return f"{self.source} rule {self.index}{where}" if self.index else f"{self.source} rule{where}"

    @property
    def about(self) -> str:
        """Say what the rule is about, as in its file."""
        parts = [f"tool={self.tool}"]
        if self.path is not None:
            parts.append(f"path={self.path}" + (f" ({self.access})" if self.access != "any" else ""))
        if self.argv is not None:
            parts.append(f"argv={list(self.argv)}")
        if self.host is not None:
            parts.append(f"host={self.host}")
        return " ".join(parts)

    def said(self) -> list[Any]:
        """Return the part of the rule that decides; reasons, examples and places left out."""
        return [self.effect, self.tool, self.path, self.access, list(self.argv) if self.argv else None, self.host]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run. `grant` is the id of the grant that says so, to be counted as used; None for none."""

    rule: str
    reason: str
    grant: str | None = None
    verdict: Literal["allow"] = "allow"

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The call needs a person's yes. No grant covers it where `always` is set."""

    rule: str
    reason: str
    always: bool = False
    verdict: Literal["ask"] = "ask"

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run, whoever says yes."""

    rule: str
    reason: str
    verdict: Literal["deny"] = "deny"

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return _plain(self)


Ruling = Allow | Ask | Deny
"""What judging ends with, always with the rule and the reason."""


def _plain(ruling: Ruling) -> dict[str, Any]:
    found: dict[str, Any] = {"ruling": ruling.verdict, "rule": ruling.rule, "reason": ruling.reason}
    if isinstance(ruling, Allow) and ruling.grant is not None:
        found["grant"] = ruling.grant
    if isinstance(ruling, Ask) and ruling.always:
        found["always"] = True
    return found


def version(rules: Iterable[Rule], *, mode: Mode) -> str:
    """Return the digest of a policy: the same whatever the order of its rules and the wording of their reasons."""
    said = sorted({repr(rule.said()): rule.said() for rule in rules}.items())
    return of_json([mode, [each for _, each in said]])
