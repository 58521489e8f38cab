"""Policy from the text of a configuration file: strict, every fault with file, line and column, never half a policy."""

import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from toolcrib.policy.locate import Locator
from toolcrib.policy.match import (
    PatternError,
    argv_level,
    check_names,
    compiled,
    host_level,
    is_pattern,
    path_level,
    tool_level,
)
from toolcrib.policy.rules import Access, Rule, Source, Verdict
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import nearest
from toolcrib.terms.settings import MODES, Mode

RULE_KEYS = ("rule", "tool", "path", "access", "argv", "host", "reason", "match", "not_match")
"""The keys of one rule."""

POLICY_KEYS = ("mode", "rules", "protected")
"""The keys of the table `[policy]`."""

MOST_RULES = 1000
"""Most rules of one file."""

LONGEST_TEXT = 4096
"""Longest text in a rule, characters."""

_MODES: Mapping[str, Mode] = {each: each for each in MODES}
_EFFECTS: Mapping[str, Verdict] = {"allow": "allow", "ask": "ask", "deny": "deny"}
_ACCESSES: Mapping[str, Access] = {"any": "any", "read": "read", "write": "write"}
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)\Z| \(at end of document\)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one file says. `dropped` are the parts that an untrusted project may not have, each in one line."""

    mode: Mode | None = None
    rules: tuple[Rule, ...] = ()
    protected: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def parse_rules(text: str, *, source: Source, file: str, trusted: bool = True) -> Parsed:
    """Return the policy in the TOML `text` of `file`; tables other than `[policy]` are somebody else's.

    A project that is not `trusted` can only tighten: its allow rules are dropped, and said in `dropped`. Its mode is
    returned as written: whether it tightens depends on the person's (`modes.TIGHTER`). Whether the tools that rules
    name exist is `check_tools`' to say, once they are declared.

    Raises:
        ConfigError: the text does not parse, a key is unknown, a value has the wrong type or an example fails.
    """
    locator = Locator(text, file)
    tables = _toml(text, locator)
    policy = tables.get("policy", {})
    if not isinstance(policy, dict):
        raise locator.fault(f"[policy] must be a table, found {_brief(policy)}", at=("policy",))
    table = cast("Mapping[str, Any]", policy)
    _known_keys(table, POLICY_KEYS, locator, where="[policy]", at=("policy",))
    raw = table.get("rules", [])
    if not isinstance(raw, list) or not all(isinstance(each, dict) for each in cast("list[Any]", raw)):
        raise locator.fault("policy.rules must be tables: [[policy.rules]]", at=("policy", "rules"))
    listed = cast("list[Mapping[str, Any]]", raw)
    if len(listed) > MOST_RULES:
        raise locator.fault(f"{len(listed)} rules; at most {MOST_RULES} are read", at=("policy", "rules"))
    reader = _Reader(locator, source)
    rules = tuple(reader.rule(each, index) for index, each in enumerate(listed, 1))
    kept = rules if trusted or source != "project" else tuple(rule for rule in rules if rule.effect != "allow")
    lost = tuple(f"{rule.label}: allow {rule.about}" for rule in rules if rule not in kept)
    return Parsed(mode=_mode(table, locator), rules=kept, protected=_protected(table, locator), dropped=lost)


def _toml(text: str, locator: Locator) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = _TOML_PLACE.search(said)
        line, column = (int(found[1]), int(found[2])) if found and found[1] else locator.end
        raise locator.at(line, column, f"not TOML: {_TOML_PLACE.sub('', said)}") from error
    except RecursionError as error:
        raise locator.at(1, 1, "not TOML: nested too deeply") from error


def _mode(table: Mapping[str, Any], locator: Locator) -> Mode | None:
    word = table.get("mode")
    mode = _MODES.get(word) if isinstance(word, str) else None
    if word is not None and mode is None:
        raise locator.fault(
            f"policy.mode must be one of {', '.join(MODES)}, found {_brief(word)}", at=("policy", "mode")
        )
    return mode


def _protected(table: Mapping[str, Any], locator: Locator) -> tuple[str, ...]:
    found = _strings(table.get("protected", []))
    if found is None:
        raise locator.fault("policy.protected must be a list of paths", at=("policy", "protected"))
    for path in found:
        if is_pattern(path):
            raise locator.fault(
                f"policy.protected: {_brief(path)} is a pattern, and only names and paths are protected",
                at=("policy", "protected"),
                hint='Name each path, or write a deny rule with this pattern and access = "write".',
            )
        if not path.strip("/") or path.startswith(("/", "~")) or ".." in path.split("/"):
            raise locator.fault(
                f"policy.protected: {_brief(path)} must be a path relative to the workspace", at=("policy", "protected")
            )
    return found


def _known_keys(
    table: Mapping[str, Any], known: Sequence[str], locator: Locator, *, where: str, at: tuple[str | int, ...]
) -> None:
    for key in table:
        if key not in known:
            near = nearest(key, known, most=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise locator.fault(f"{where}: unknown key {key[:80]!r}{meant}", at=(*at, key), hint=_known(known))


def _known(known: Sequence[str]) -> str:
    return f"Known keys: {', '.join(known)}."


def _brief(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    if not all(isinstance(each, str) and len(each) <= LONGEST_TEXT for each in items):
        return None
    return tuple(str(each) for each in items)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the rules of one file, one table at a time."""

    locator: Locator
    source: Source

    def rule(self, table: Mapping[str, Any], index: int) -> Rule:
        """Return the rule in `table`, the `index`th of the file, its examples checked."""
        at = ("policy", "rules", index)
        _known_keys(table, RULE_KEYS, self.locator, where=f"rule {index}", at=at)
        rule = Rule(
            effect=self._effect(table, index),
            tool=self._text(table, index, "tool") or "*",
            path=self._text(table, index, "path"),
            access=self._access(table, index),
            argv=self._argv(table, index),
            host=self._text(table, index, "host"),
            reason=self._text(table, index, "reason") or "",
            match=self._list(table, index, "match"),
            not_match=self._list(table, index, "not_match"),
            source=self.source,
            index=index,
            place=f"{self.locator.file}:{self.locator.find(at)[0]}",
        )
        self._check(rule, table, index)
        self._examples(rule, index)
        return rule

    def _fault(self, index: int, key: str, message: str) -> ConfigError:
        return self.locator.fault(f"rule {index}: {message}", at=("policy", "rules", index, key))

    def _text(self, table: Mapping[str, Any], index: int, key: str) -> str | None:
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value or len(value) > LONGEST_TEXT:
            raise self._fault(
                index, key, f"{key} must be a text of 1 to {LONGEST_TEXT} characters, found {_brief(value)}"
            )
        return value

    def _list(self, table: Mapping[str, Any], index: int, key: str) -> tuple[str, ...]:
        found = _strings(table.get(key, []))
        if found is None:
            raise self._fault(index, key, f"{key} must be a list of texts, found {_brief(table[key])}")
        return found

    def _effect(self, table: Mapping[str, Any], index: int) -> Verdict:
        word = table.get("rule")
        effect = _EFFECTS.get(word) if isinstance(word, str) else None
        if effect is None:
            raise self._fault(index, "rule", f"rule must be allow, ask or deny, found {_brief(word)}")
        return effect

    def _access(self, table: Mapping[str, Any], index: int) -> Access:
        word = table.get("access", "any")
        access = _ACCESSES.get(word) if isinstance(word, str) else None
        if access is None:
            raise self._fault(index, "access", f"access must be any, read or write, found {_brief(word)}")
        if "access" in table and "path" not in table:
            raise self._fault(index, "access", "access says what a path rule is about, and there is no path")
        return access

    def _argv(self, table: Mapping[str, Any], index: int) -> tuple[str, ...] | None:
        value = table.get("argv")
        if value is None:
            return None
        words = _words(value) if isinstance(value, str) else _strings(value)
        if not words or "" in words:
            raise self._fault(index, "argv", f"argv must be a command, or a list of words, found {_brief(value)}")
        return words

    def _check(self, rule: Rule, table: Mapping[str, Any], index: int) -> None:
        subjects = [key for key in ("path", "argv", "host") if key in table]
        if len(subjects) > 1:
            raise self._fault(index, subjects[1], f"{' and '.join(subjects)} together; write one rule for each")
        if not subjects and "tool" not in table:
            raise self._fault(index, "rule", 'it says nothing of what it is about; write tool = "*" for every tool')
        for key, test in (("tool", check_names), ("path", compiled), ("host", check_names)):
            text = getattr(rule, key)
            try:
                if text is not None:
                    test(text)
            except PatternError as error:
                raise self._fault(index, key, f"{key} {_brief(text)}: {error}") from error

    def _examples(self, rule: Rule, index: int) -> None:
        for example in rule.match:
            if not example_matches(rule, example):
                raise self._fault(index, "match", f"the example {_brief(example)} does not match {rule.about}")
        for example in rule.not_match:
            if example_matches(rule, example):
                raise self._fault(index, "not_match", f"the example {_brief(example)} matches {rule.about}")


def check_tools(rules: Iterable[Rule], known: Collection[str], *, servers: Iterable[str] = ()) -> None:
    """Refuse rules that name a tool nobody declares: such a rule would be silently without effect.

    Tools of the configured MCP `servers` count as known, so that a server which is down breaks no start.

    Raises:
        ConfigError: a rule names no tool; every such rule is named with its place.
    """
    prefixes = tuple(f"mcp__{server}__" for server in servers)
    faults: list[str] = []
    for rule in rules:
        if is_pattern(rule.tool) or rule.tool in known or (prefixes and rule.tool.startswith(prefixes)):
            continue
        where = f"{rule.place}: " if rule.place else ""
        faults.append(f"{where}{rule.source} rule {rule.index}: {_no_tool(rule.tool, known)}")
    if faults:
        raise ConfigError(
            "; ".join(faults), hint="Correct the names, or take the rules out; `toolcrib tools` lists them."
        )


def _no_tool(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known, most=1)
    return f"no tool is called {_brief(name)}" + (f"; did you mean {near[0]!r}?" if near else "")


def example_matches(rule: Rule, example: str) -> bool:
    """Tell whether a rule is about the subject `example`: a path, a command, a host, or a tool's name."""
    if rule.path is not None:
        return path_level(rule.path, example, effect=rule.effect) is not None
    if rule.argv is not None:
        return argv_level(rule.argv, _words(example)) is not None
    if rule.host is not None:
        return host_level(rule.host, example) is not None
    return tool_level(rule.tool, example) is not None


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()
