"""Why a ruling is what it is: every rule that was looked at, which one won, and what the mode says; text and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.policy.decide import Question, Weighed, applies, strictest, weigh
from toolcrib.policy.modes import COLUMN_TEXT
from toolcrib.policy.parse import Parsed
from toolcrib.policy.rules import Rule, Ruling, version
from toolcrib.terms.settings import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One rule as it bears on one part of the call."""

    rule: Rule
    part: str
    level: str | None
    won: bool

    @property
    def text(self) -> str:
        """The rule and how it bears, in one line."""
        bears = "does not match" if self.level is None else f"matches ({self.level})"
        return f"{self.rule.label}: {self.rule.effect} {self.rule.about}: {bears}{', and decides' if self.won else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A ruling taken apart."""

    name: str
    mode: Mode
    column: str
    preset: str
    ruling: Ruling
    parts: tuple[Weighed, ...]
    considered: tuple[Considered, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the wire form."""
        return {
            "tool": self.name,
            "mode": self.mode,
            "column": self.column,
            "mode_says": self.preset,
            **self.ruling.to_json(),
            "parts": [
                {"part": str(each.part), "ruling": each.verdict, "rule": each.by, "reason": each.reason}
                for each in self.parts
            ],
            "considered": [
                {
                    "rule": each.rule.label,
                    "effect": each.rule.effect,
                    "about": each.rule.about,
                    "part": each.part,
                    "matches": each.level,
                    "decides": each.won,
                }
                for each in self.considered
            ],
        }

    def text(self) -> str:
        """Return the explanation for a person."""
        decides = strictest(self.parts)
        lines = [
            f"{self.name}: {self.ruling.verdict}, by {self.ruling.rule}",
            f"  {self.ruling.reason}",
            f"  mode {self.mode} says {self.preset} to {self.column}",
        ]
        for each in self.parts:
            mark = "  <- decides" if each is decides and len(self.parts) > 1 else ""
            lines.append(f"  {str(each.part) or 'call'}: {each.verdict}, by {each.by}{mark}")
            lines.extend(f"    {one.text}" for one in self.considered if one.part == str(each.part))
        return "\n".join(lines)


def explain(question: Question, ruling: Ruling) -> Explanation:
    """Return why `judge` came to `ruling` on the call of `question`."""
    weighed = weigh(question)
    verdict, where = question.preset
    says = "allow (the tool needs no yes)" if question.free else verdict
    return Explanation(
        name=question.name,
        mode=question.mode,
        column=COLUMN_TEXT[where],
        preset=says,
        ruling=ruling,
        parts=weighed,
        considered=tuple(_considered(rule, each, question.name) for each in weighed for rule in question.rules),
    )


def _considered(rule: Rule, weighed: Weighed, name: str) -> Considered:
    level = applies(rule, name=name, part=weighed.part)
    word = level.name.lower().replace("_", " ") if level is not None else None
    return Considered(rule=rule, part=str(weighed.part), level=word, won=rule is weighed.rule)


def summary(rules: Sequence[Rule], *, mode: Mode, parsed: Sequence[Parsed] = ()) -> str:
    """Return the policy in force for `toolcrib policy check`: mode, rules, version, and what was dropped."""
    lines = [
        f"mode {mode}",
        f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'}, version {version(rules, mode=mode)[:12]}",
    ]
    lines.extend(f"  {rule.label}: {rule.effect} {rule.about}{_why(rule)}{_examples(rule)}" for rule in rules)
    dropped = [each for one in parsed for each in one.dropped]
    if dropped:
        lines.append("not in force, since the project is not trusted:")
        lines.extend(f"  {each}" for each in dropped)
    return "\n".join(lines)


def _why(rule: Rule) -> str:
    return f" ({rule.reason})" if rule.reason else ""


def _examples(rule: Rule) -> str:
    count = len(rule.match) + len(rule.not_match)
    return f" [examples hold: {count}]" if count else ""
