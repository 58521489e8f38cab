"""Judging: rules, mode and grants on what one call would touch, to one ruling; every part of it must be allowed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.policy import grants as standing
from toolcrib.policy.match import Level, argv_level, denier, host_level, path_level, tool_level
from toolcrib.policy.modes import COLUMN_TEXT, Column, columns, preset
from toolcrib.policy.places import host_run, is_canonical
from toolcrib.policy.places import protected as protected_name
from toolcrib.policy.rules import Allow, Ask, Deny, Rule, Ruling, Verdict
from toolcrib.terms.call import Principal
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Grant
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import Mode

DIALECT = "dialect"
"""What a ruling names as its rule where a dialect cannot say that replacing a file is meant."""

PROTECTED = "protected files"
"""What a ruling names as its rule where a protected path would be written."""

_SAYS: dict[Verdict, str] = {"allow": "allows", "ask": "asks before", "deny": "denies"}
_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that a call would touch; a call that names nothing has one bare part."""

    kind: Literal["write", "read", "argv", "host", "bare"]
    text: str = ""
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What is ruled on one part, by what, and why. `always` is an ask that no grant covers."""

    part: Part
    verdict: Verdict
    by: str
    reason: str
    rule: Rule | None = None
    level: Level = Level.MODE
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Everything that decides about one call, grants apart."""

    name: str
    descriptor: Descriptor
    footprint: Footprint
    mode: Mode
    rules: Sequence[Rule] = ()
    checkpointed: bool = False
    sandboxed: bool = False
    required: bool = False
    """Whether this call needs a yes although its tool does not (a memory that follows the person everywhere)."""
    always_ask: bool = False
    further: Sequence[str] = ()
    """Configured protected paths."""

    @property
    def preset(self) -> tuple[Verdict, Column]:
        """What the mode says of the call, and the column of its table that it says it of."""
        fallen = columns(self.descriptor, self.footprint, sandboxed=self.sandboxed)
        return preset(self.mode, fallen, self.descriptor, checkpointed=self.checkpointed)

    @property
    def free(self) -> bool:
        """Whether the call needs no yes: its tool is declared so."""
        return self.descriptor.approval == "never" and not self.required


def judge(
    descriptor: Descriptor,
    footprint: Footprint,
    *,
    name: str,
    mode: Mode,
    rules: Sequence[Rule] = (),
    grants: Sequence[Grant] = (),
    now: float,
    root: str | None = None,
    checkpointed: bool = False,
    sandboxed: bool = False,
    required: bool = False,
    always_ask: bool = False,
    protected: Sequence[str] = (),
) -> Ruling:
    """Return the ruling on a call of the tool `name` whose canonical footprint is given.

    The strictest ruling over the parts of the footprint is the ruling. `checkpointed` says that the pre-image of every
    write will be safe; `sandboxed` that a program would run in a proven sandbox without network; `always_ask` that the
    call asks whatever rules and mode allow. `now` is wall seconds; grants of another `root` do not count.
    """
    question = Question(
        name=name,
        descriptor=descriptor,
        footprint=footprint,
        mode=mode,
        rules=rules,
        checkpointed=checkpointed,
        sandboxed=sandboxed,
        required=required,
        always_ask=always_ask,
        further=protected,
    )
    return settle(question, grants=grants, now=now, root=root)


def settle(question: Question, *, grants: Sequence[Grant] = (), now: float, root: str | None = None) -> Ruling:
    """Return the ruling on a question: that of its strictest part, an ask lifted by a grant that covers the call.

    Between a grant, which is a person's allow, and a rule that asks, the more specific wins, as between rules.
    """
    weighed = weigh(question)
    worst = strictest(weighed)
    if worst.verdict == "deny":
        return Deny(rule=worst.by, reason=worst.reason)
    if worst.verdict == "allow":
        return Allow(rule=worst.by, reason=worst.reason)
    if not worst.always:
        what, on, over = question.descriptor, question.footprint, asking(weighed)
        grant = standing.covering(grants, what, on, now=now, root=root, over=over)
        if grant is not None:
            return Allow(rule=f"grant {grant.id}", reason=f"granted by {grant.by}: {grant.pattern}", grant=grant.id)
    return Ask(rule=worst.by, reason=worst.reason, always=worst.always)


def weigh(question: Question) -> tuple[Weighed, ...]:
    """Return what is ruled on each part of the call."""
    return tuple(_weigh(question, part) for part in parts(question.footprint))


def asking(weighed: Iterable[Weighed]) -> tuple[Level, ...]:
    """Return, for each part, how specific the rule is that asks about it; `MODE` where no rule does."""
    return tuple(each.level if each.verdict == "ask" and each.rule is not None else Level.MODE for each in weighed)


def strictest(weighed: Iterable[Weighed]) -> Weighed:
    """Return the part that decides: deny before ask before allow, an ask that no grant covers before another."""
    return max(weighed, key=lambda each: (_STRICTNESS[each.verdict], each.always))


def parts(footprint: Footprint) -> tuple[Part, ...]:
    """Return what a footprint holds, one by one; at least one part."""
    found = [Part(kind="write", text=path) for path in footprint.writes]
    found += [Part(kind="read", text=path) for path in footprint.reads if path not in footprint.writes]
    if footprint.argv:
        found.append(Part(kind="argv", text=" ".join(footprint.argv), words=footprint.argv))
    found += [Part(kind="host", text=host) for host in footprint.hosts]
    return tuple(found) or (Part(kind="bare"),)


def applies(rule: Rule, *, name: str, part: Part) -> Level | None:
    """Return how specifically `rule` speaks of this part of a call of `name`, None where it does not."""
    about_tool = tool_level(rule.tool, name)
    if about_tool is None:
        return None
    if rule.path is not None:
        return path_level(rule.path, part.text, effect=rule.effect) if _about(rule, part) else None
    if rule.argv is not None:
        return argv_level(rule.argv, part.words) if part.kind == "argv" else None
    if rule.host is not None:
        return host_level(rule.host, part.text) if part.kind == "host" else None
    return about_tool


def _level(rule: Rule, name: str, part: Part) -> Level | None:
    """Return how specifically a rule speaks of this part: one that keeps a file from `read_file` binds every tool."""
    level = applies(rule, name=name, part=part)
    if level is None and rule.path is not None and part.kind in {"read", "write"} and _binds(rule, name):
        return applies(rule, name="read_file", part=part)
    return level


def _about(rule: Rule, part: Part) -> bool:
    """Tell whether a path rule is about this kind of part. What may not be read may not be written: answers show it."""
    if part.kind == "write":
        return rule.access != "read" or rule.effect != "allow"
    return part.kind == "read" and rule.access != "write"


def _weigh(question: Question, part: Part) -> Weighed:
    said = [(level, rule) for rule in question.rules if (level := _level(rule, question.name, part)) is not None]
    fixed = _fixed(question, part, said)
    if fixed is not None:
        return fixed
    if question.free:
        return Weighed(part=part, verdict="allow", by="approval never", reason="the tool needs no yes")
    named = [(level, rule) for level, rule in said if rule.effect != "deny"]
    if not named:
        return _by_mode(question, part)
    level, rule = max(named, key=_rank)
    ruled = _by_rule(part, level, rule)
    return replace(ruled, always=rule.effect == "ask" and level >= standing.finest(question.footprint))


def _fixed(question: Question, part: Part, said: Sequence[tuple[Level, Rule]]) -> Weighed | None:
    """Return what no allow can change: denials, then what asks in every mode."""
    if part.kind in {"read", "write"} and not is_canonical(part.text):
        return Weighed(part=part, verdict="deny", by="canonical paths", reason=f"{part.text!r} was never resolved")
    denials = [(level, rule) for level, rule in said if rule.effect == "deny"]
    if denials:
        return _by_rule(part, *max(denials, key=_rank))
    if not question.free and question.preset[0] == "deny":
        return _by_mode(question, part)
    if part.kind == "write":
        if (name := protected_name(part.text, further=question.further)) is not None:
            return Weighed(part=part, verdict="deny", by=PROTECTED, reason=f"{name} is never written")
        if (name := host_run(part.text)) is not None:
            reason = f"{name} is run or obeyed by other programs on this machine; a write asks in every mode"
            return Weighed(part=part, verdict="ask", by="host-run files", reason=reason, always=True)
    if question.always_ask:
        reason = "replacing a file asks in this dialect, which has no way to say that it is meant"
        return Weighed(part=part, verdict="ask", by=DIALECT, reason=reason, always=True)
    return None


def _rank(said: tuple[Level, Rule]) -> tuple[int, int, str, list[str]]:
    """Order what is said of one part: by how specific, ask above allow; then by text, never by the order of rules."""
    level, rule = said
    return (level, _STRICTNESS[rule.effect], rule.label, [str(each) for each in rule.said()])


def _by_rule(part: Part, level: Level, rule: Rule) -> Weighed:
    reason = rule.reason or f"{rule.effect} {rule.about}"
    return Weighed(part=part, verdict=rule.effect, by=rule.label, reason=reason, rule=rule, level=level)


def _by_mode(question: Question, part: Part) -> Weighed:
    verdict, where = question.preset
    held = " (what it replaces is kept)" if question.checkpointed and where in {"reversible", "irreversible"} else ""
    reason = f"mode {question.mode} {_SAYS[verdict]} {COLUMN_TEXT[where]}{held}"
    return Weighed(part=part, verdict=verdict, by=f"mode {question.mode}", reason=reason)


# Views of the same rules ----------------------------------------------------------------------------------------------


def reader(
    rules: Sequence[Rule], *, name: str, descriptor: Descriptor, cleared: Sequence[str] = ()
) -> Callable[[str], bool] | None:
    """Return what tells whether a search by `name` may show a path, None where no rule keeps any path from it.

    A rule against reading a file binds what would show the file, so rules on `read_file` count for every search. A
    path that only asking would show is not shown, unless it lies beneath one of `cleared`: what a person said yes to.
    """
    bound = [rule for rule in rules if rule.path is not None and rule.access != "write" and _binds(rule, name)]
    if descriptor.approval == "never":
        bound = [rule for rule in bound if rule.effect != "ask"]
    if all(rule.effect == "allow" for rule in bound):
        return None
    never = [rule.path for rule in bound if rule.effect == "deny" and rule.path is not None]
    denied = denier(never) if never else None
    asked = any(rule.effect == "ask" for rule in bound)
    weighed = [rule for rule in bound if rule.effect != "deny"] if asked else []

    def may_read(path: str) -> bool:
        if denied is not None and denied(path):
            return False
        said = [
            (level, rule)
            for rule in weighed
            if (level := path_level(rule.path or "", path, effect=rule.effect)) is not None
        ]
        if not said or max(said, key=_rank)[1].effect == "allow":
            return True
        return any(top == "." or path == top or path.startswith(f"{top}/") for top in cleared)

    return may_read


def _binds(rule: Rule, name: str) -> bool:
    if tool_level(rule.tool, name) is not None:
        return True
    return rule.effect != "allow" and tool_level(rule.tool, "read_file") is not None


def fully_denied(descriptor: Descriptor, *, name: str, rules: Sequence[Rule], mode: Mode) -> str | None:
    """Return why no call of the tool could be answered with anything but deny, None where one could.

    Only a denial of the whole tool counts, or one of every path for a built-in writer, which always names one.
    """
    if descriptor.approval != "never":
        fallen = columns(descriptor, Footprint(), sandboxed=True)
        if preset(mode, fallen, descriptor, checkpointed=True)[0] == "deny":
            return f"hidden in mode {mode}"
    writes = descriptor.kind == "write" and descriptor.origin.kind == "builtin"
    denials = [rule for rule in rules if rule.effect == "deny" and tool_level(rule.tool, name) is not None]
    for rule in sorted(denials, key=lambda rule: (rule.label, rule.about)):
        whole = rule.path is None and rule.argv is None and rule.host is None
        if whole or (writes and rule.path is not None and rule.path.rstrip("/") in {"**", "."}):
            return f"denied by {rule.label}" + (f": {rule.reason}" if rule.reason else "")
    return None


def child_refusal(ruling: Ruling, principal: Principal, *, shown: str) -> Refusal | None:
    """Return the refusal of a child's call that would have to ask: no person attends a child."""
    if not (principal.child and isinstance(ruling, Ask)):
        return None
    return Refusal(
        "approval.child_unattended",
        f"{shown} needs a person's yes ({ruling.reason}), and no person attends a child",
        hint="report what you would have done; the parent can do it",
    )


def denial(ruling: Deny, *, shown: str, subject: str) -> Refusal:
    """Return the refusal that a denied call ends with."""
    on = f" on {subject!r}" if subject else ""
    return Refusal(
        "policy.denied",
        f"{shown}{on} is denied by {ruling.rule}: {ruling.reason}",
        hint="no yes can lift this; do it another way, or ask the person to change the rule",
    )
