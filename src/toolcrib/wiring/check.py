"""What `policy check` tells: the rules in force, those that name no tool, and what a project asked for in vain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.policy.explain import summary
from toolcrib.policy.match import tool_level
from toolcrib.policy.rules import Rule
from toolcrib.terms.settings import Mode
from toolcrib.wiring.load import Loaded, check_file

COMMANDS = frozenset({"bash", "run_background"})
"""Tools whose calls run a command, so that rules with `argv` are about them."""

HOSTS = ("web_", "mcp__")
"""How the names of tools begin whose calls name a host, so that rules with `host` are about them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A configuration that loaded: its mode and rules, the examples that hold, and what is worth a look."""

    mode: Mode
    rules: tuple[Rule, ...]
    dropped: tuple[str, ...]
    unknown: tuple[Rule, ...]
    idle: tuple[Rule, ...] = ()
    """Rules about commands or hosts, where no tool has any."""

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return {
            "mode": self.mode,
            "rules": [{"rule": rule.label, "effect": rule.effect, "about": rule.about} for rule in self.rules],
            "examples": sum(len(rule.match) + len(rule.not_match) for rule in self.rules),
            "asked_in_vain": list(self.dropped),
            "name_no_tool": [rule.label for rule in self.unknown],
            "without_effect": [rule.label for rule in self.idle],
        }

    def text(self) -> str:
        """Return the same for a person."""
        lines = [summary(self.rules, mode=self.mode)]
        lines += [f"note: {rule.label} names no tool there is: {rule.tool}" for rule in self.unknown]
        lines += [f"note: {rule.label} is without effect: no tool here has {_subject(rule)}" for rule in self.idle]
        lines += [f"not in force, since the project is not trusted: {each}" for each in self.dropped]
        return "\n".join(lines)


def checked(loaded: Loaded, known: Iterable[str]) -> Checked:
    """Return what there is to say of the configuration in force."""
    return _checked(loaded.settings.mode, loaded.rules, loaded.dropped, known)


def checked_file(path: Path, known: Iterable[str]) -> Checked:
    """Return what there is to say of one file, read as the person's own.

    Raises:
        ConfigError: it does not load.
    """
    settings, parsed = check_file(path)
    return _checked(parsed.mode or settings.mode, parsed.rules, parsed.dropped, known)


def _checked(mode: Mode, rules: Sequence[Rule], dropped: Sequence[str], known: Iterable[str]) -> Checked:
    names = tuple(known)
    unknown = tuple(rule for rule in rules if not rule.tool.startswith("mcp__") and not _names(rule, names))
    idle = tuple(
        rule
        for rule in rules
        if (rule.argv is not None and not COMMANDS.intersection(names))
        or (rule.host is not None and not any(name.startswith(HOSTS) for name in names))
    )
    return Checked(mode=mode, rules=tuple(rules), dropped=tuple(dropped), unknown=unknown, idle=idle)


def _subject(rule: Rule) -> str:
    return "a command" if rule.argv is not None else "a host"


def _names(rule: Rule, names: Iterable[str]) -> bool:
    return any(tool_level(rule.tool, name) is not None for name in names)
