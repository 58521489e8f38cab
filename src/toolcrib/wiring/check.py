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


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A configuration that loaded: its mode and rules, the examples that hold, and what is worth a look."""

    mode: Mode
    rules: tuple[Rule, ...]
    dropped: tuple[str, ...]
    unknown: tuple[Rule, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return {
            "mode": self.mode,
            "rules": [{"rule": rule.label, "effect": rule.effect, "about": rule.about} for rule in self.rules],
            "examples": sum(len(rule.match) + len(rule.not_match) for rule in self.rules),
            "asked_in_vain": list(self.dropped),
            "name_no_tool": [rule.label for rule in self.unknown],
        }

    def text(self) -> str:
        """Return the same for a person."""
        lines = [summary(self.rules, mode=self.mode)]
        lines += [f"note: {rule.label} names no tool there is: {rule.tool}" for rule in self.unknown]
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
    return Checked(mode=mode, rules=tuple(rules), dropped=tuple(dropped), unknown=unknown)


def _names(rule: Rule, names: Iterable[str]) -> bool:
    return any(tool_level(rule.tool, name) is not None for name in names)
