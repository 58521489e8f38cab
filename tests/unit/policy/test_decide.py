"""The ruling on a call: modes as their table says, deny before all, the more specific first, ask when equal."""

import itertools
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.policy.decide import (
    DIALECT,
    PROTECTED,
    child_refusal,
    denial,
    fully_denied,
    parts,
    reader,
)
from toolcrib.policy.modes import MODES, TIGHTER, Column
from toolcrib.policy.rules import Allow, Ask, Deny, Rule, Ruling, Verdict, version
from toolcrib.terms.call import Principal
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.effects import ApprovalPolicy, EffectClass, Kind
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.names import BUILTIN, Origin
from toolcrib.terms.settings import Mode
from unit.policy.asking import BASH, EDIT, FETCH, READ, SERVED, TODO, WRITE, descriptor, grant, ruled, rules

STRICT: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}
MODE_NAMES: tuple[Mode, ...] = get_args(Mode)

TABLE: dict[Mode, str] = {
    "locked": "ask ask ask ask ask",
    "ask": "allow ask ask ask ask",
    "work": "allow allow allow allow ask",
    "read-only": "allow deny deny deny deny",
}
"""What the design says of reading, reversible and irreversible writes with a pre-image, the shell, and the rest."""


# Modes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODE_NAMES)
def test_each_mode_answers_as_its_table_says(mode: Mode) -> None:
    answers = [
        ruled(READ, reads=("a",), mode=mode).verdict,
        ruled(EDIT, writes=("a",), mode=mode, checkpointed=True).verdict,
        ruled(WRITE, writes=("a",), mode=mode, checkpointed=True).verdict,
        ruled(BASH, argv=("ls",), mode=mode, sandboxed=True).verdict,
        ruled(SERVED, mode=mode).verdict,
    ]
    assert " ".join(answers) == TABLE[mode]


KINDS: tuple[Kind, ...] = get_args(Kind)
EFFECTS: tuple[EffectClass, ...] = get_args(EffectClass)
APPROVALS: tuple[ApprovalPolicy, ...] = get_args(ApprovalPolicy)
ORIGINS = (BUILTIN, Origin("custom", "a"), Origin("mcp", "s"), Origin("pack", "p"))
FOOTPRINTS = (
    Footprint(),
    Footprint(reads=("a",)),
    Footprint(writes=("a",)),
    Footprint(argv=("x",)),
    Footprint(hosts=("h",)),
)


@pytest.mark.parametrize("mode", MODE_NAMES)
@pytest.mark.parametrize("origin", ORIGINS, ids=str)
def test_every_kind_effect_and_footprint_is_answered_by_the_strictest_column_it_falls_in(
    mode: Mode, origin: Origin
) -> None:
    for kind, effect, approval, footprint in itertools.product(KINDS, EFFECTS, APPROVALS, FOOTPRINTS):
        what = descriptor(kind=kind, effect=effect, approval=approval, origin=origin)
        got = {
            (checkpointed, sandboxed): ruled(
                what,
                reads=footprint.reads,
                writes=footprint.writes,
                argv=footprint.argv,
                hosts=footprint.hosts,
                mode=mode,
                checkpointed=checkpointed,
                sandboxed=sandboxed,
            ).verdict
            for checkpointed, sandboxed in itertools.product((False, True), repeat=2)
        }
        if approval == "never":
            assert set(got.values()) == {"allow"}
            continue
        reads_only = origin.kind in {"builtin", "custom"} and kind in {"read", "meta"} and effect == "read"
        harmless = reads_only and not (footprint.writes or footprint.argv or footprint.hosts)
        if harmless:
            assert set(got.values()) == {"ask" if mode == "locked" else "allow"}
        elif mode != "work":
            assert set(got.values()) == {"deny" if mode == "read-only" else "ask"}
        else:
            beyond = origin.kind in {"mcp", "pack"} or kind == "effect" or footprint.hosts
            for (checkpointed, sandboxed), verdict in got.items():
                held = checkpointed or (reads_only and not footprint.writes)
                ran = sandboxed or not footprint.argv
                assert verdict == ("allow" if held and ran and not beyond else "ask"), (what, footprint)


def test_no_mode_is_tighter_than_it_is() -> None:
    columns: tuple[Column, ...] = get_args(Column)
    rank = {"allow": 0, "checkpointed": 1, "ask": 2, "deny": 3}
    for mode, other in itertools.product(MODE_NAMES, repeat=2):
        tighter = all(rank[MODES[other][column]] >= rank[MODES[mode][column]] for column in columns)
        assert (other in TIGHTER[mode]) == tighter


def test_a_write_without_a_safe_pre_image_is_asked_for_in_work() -> None:
    for what in (EDIT, WRITE):
        assert isinstance(ruled(what, writes=("a",), mode="work", checkpointed=False), Ask)


def test_a_program_outside_the_sandbox_is_asked_for_in_work_whatever_rules_say_of_writes() -> None:
    writing = rules({"effect": "allow", "path": "**"})
    assert isinstance(ruled(BASH, *writing, argv=("ls",), mode="work", sandboxed=False), Ask)


@pytest.mark.parametrize("name", ["apply_change", "snapshot_restore"])
def test_what_replaces_many_files_at_once_is_asked_for_in_work_too(name: str) -> None:
    what = descriptor(name, kind="write", effect="irreversible")
    assert isinstance(ruled(what, writes=("a",), mode="work", checkpointed=True), Ask)
    allowed = rules({"effect": "allow", "tool": name})
    assert isinstance(ruled(what, *allowed, writes=("a",), mode="work", checkpointed=True), Allow)


def test_a_tool_that_needs_no_yes_never_asks_and_a_rule_may_still_deny_it() -> None:
    for mode in MODE_NAMES:
        assert isinstance(ruled(TODO, *rules({"effect": "ask", "tool": "todo_write"}), mode=mode), Allow)
        assert isinstance(ruled(TODO, *rules({"effect": "deny", "tool": "todo_*"}), mode=mode), Deny)
    assert isinstance(ruled(TODO, required=True), Ask)


def test_a_tool_whose_powers_reach_the_network_is_judged_as_that() -> None:
    what = descriptor("peek", powers=("Net",))
    assert isinstance(ruled(what, reads=("a",), mode="work"), Ask)
    assert isinstance(ruled(READ, reads=("a",), hosts=("h",), mode="work"), Ask)


# Rules ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ([("allow", "*", None), ("ask", "write_file", None)], "ask"),
        ([("ask", "*", None), ("allow", "write_file", None)], "allow"),
        ([("ask", "write_file", None), ("allow", "*", "src/**")], "allow"),
        ([("ask", "*", "src/**"), ("allow", "write_file", None)], "ask"),
        ([("ask", "*", "src/**"), ("allow", "*", "src/a")], "allow"),
        ([("allow", "*", "src/**"), ("ask", "*", "src/a")], "ask"),
        ([("allow", "*", "src/a"), ("ask", "*", "src/a")], "ask"),
        ([("allow", "*", "src/**"), ("ask", "write_file", "s*/**")], "ask"),
        ([("allow", "*", "src/a"), ("deny", "*", None)], "deny"),
        ([("allow", "*", "src/a"), ("deny", "wr*", "**/a")], "deny"),
        ([("allow", "edit_file", None)], "ask"),
        ([], "ask"),
    ],
)
def test_deny_wins_then_the_more_specific_then_ask(said: list[tuple[Verdict, str, str | None]], verdict: str) -> None:
    for order in itertools.permutations(said):
        given_rules = [Rule(effect=effect, tool=tool, path=path) for effect, tool, path in order]
        assert ruled(WRITE, *given_rules, writes=("src/a",)).verdict == verdict


def test_every_part_of_a_call_must_be_allowed() -> None:
    move = descriptor("move_file", kind="write", effect="reversible")
    allow = rules({"effect": "allow", "path": "src/**"})
    assert isinstance(ruled(move, *allow, writes=("src/a", "src/b")), Allow)
    assert isinstance(ruled(move, *allow, writes=("src/a", "docs/b")), Ask)
    deny = rules({"effect": "allow", "path": "**"}, {"effect": "deny", "path": "docs/**"})
    assert isinstance(ruled(move, *deny, writes=("src/a", "docs/b")), Deny)
    assert isinstance(ruled(BASH, *allow, writes=("src/a",), argv=("touch", "src/a")), Ask)


def test_access_says_what_a_path_rule_is_about() -> None:
    reading = rules({"effect": "deny", "path": ".env", "access": "read"})
    assert isinstance(ruled(READ, *reading, reads=(".env",)), Deny)
    assert isinstance(ruled(EDIT, *reading, writes=(".env",), mode="work", checkpointed=True), Deny)
    writing = rules({"effect": "deny", "path": ".env", "access": "write"})
    assert isinstance(ruled(READ, *writing, reads=(".env",)), Allow)
    assert isinstance(ruled(EDIT, *writing, writes=(".env",)), Deny)
    may_read = rules({"effect": "allow", "path": "a", "access": "read"})
    assert isinstance(ruled(EDIT, *may_read, writes=("a",)), Ask)
    assert isinstance(ruled(READ, *may_read, reads=("a",), mode="locked"), Allow)


def test_rules_on_commands_and_hosts_reach_only_those() -> None:
    git = rules({"effect": "allow", "argv": ("git", "status")})
    assert isinstance(ruled(BASH, *git, argv=("git", "status", "-s")), Allow)
    assert isinstance(ruled(BASH, *git, argv=("git", "push")), Ask)
    assert isinstance(ruled(WRITE, *git, writes=("git",)), Ask)
    host = rules({"effect": "allow", "host": "*.example.com"}, {"effect": "deny", "host": "evil.example.com"})
    assert isinstance(ruled(FETCH, *host, hosts=("a.example.com",)), Allow)
    assert isinstance(ruled(FETCH, *host, hosts=("evil.example.com",)), Deny)
    assert isinstance(ruled(FETCH, *host, hosts=("a.example.com", "b.org")), Ask)


@pytest.mark.parametrize("path", ["/etc/passwd", "a/../b", "./a", "a//b", "", "a/", "..", "a/./b", "a\0b"])
def test_a_path_that_was_never_resolved_is_denied(path: str) -> None:
    everything = rules({"effect": "allow", "path": "**"}, {"effect": "allow"})
    assert isinstance(ruled(READ, *everything, reads=(path,)), Deny)
    assert isinstance(ruled(WRITE, *everything, writes=(path,), mode="work", checkpointed=True), Deny)


def test_a_ruling_names_the_rule_and_the_reason() -> None:
    said = (
        Rule(effect="deny", tool="write_file", path="secrets/**", reason="no secrets", index=2, place="c.toml:7"),
        Rule(effect="allow", tool="*", index=1),
    )
    ruling = ruled(WRITE, *said, writes=("secrets/a",))
    assert ruling.to_json() == {"ruling": "deny", "rule": "user rule 2 (c.toml:7)", "reason": "no secrets"}
    assert isinstance(ruling, Deny)
    refusal = denial(ruling, shown="Write", subject="secrets/a")
    assert (refusal.name, refusal.message) == (
        "policy.denied",
        "Write on 'secrets/a' is denied by user rule 2 (c.toml:7): no secrets",
    )
    assert ruled(WRITE, writes=("a",)).to_json() == {
        "ruling": "ask",
        "rule": "mode ask",
        "reason": "mode ask asks before an irreversible write",
    }


# What no rule and no mode changes ------------------------------------------------------------------------------------

OPEN = rules({"effect": "allow"}, {"effect": "allow", "path": "**"}, {"effect": "allow", "path": ".envrc"})


@pytest.mark.parametrize("path", [".git/config", ".GIT", "sub/.git/hooks/x", ".toolcrib/config.toml", ".ｇit/x"])
def test_protected_files_are_never_written_and_may_be_read(path: str) -> None:
    ruling = ruled(WRITE, *OPEN, writes=(path,), mode="work", checkpointed=True)
    assert isinstance(ruling, Deny)
    assert ruling.rule == PROTECTED
    assert isinstance(ruled(READ, reads=(path,)), Allow)


def test_configured_paths_are_protected_too() -> None:
    for path in ("keys/a", "keys", "Keys/b"):
        assert isinstance(ruled(WRITE, *OPEN, writes=(path,), protected=("keys/",)), Deny)
    assert isinstance(ruled(WRITE, *OPEN, writes=("keys2",), protected=("keys/",)), Allow)


@pytest.mark.parametrize("mode", MODE_NAMES)
@pytest.mark.parametrize("path", [".envrc", "sub/.envrc", ".vscode/tasks.json", ".GitHub/workflows/ci.yml", ".github"])
def test_host_run_files_ask_in_every_mode_by_every_rule_and_grant(mode: Mode, path: str) -> None:
    standing = [grant(WRITE, "**"), grant(WRITE, path)]
    ruling = ruled(WRITE, *OPEN, writes=(path,), mode=mode, checkpointed=True, grants=standing)
    if mode == "read-only":
        assert isinstance(ruling, Deny)
        return
    assert isinstance(ruling, Ask)
    assert ruling.always
    deny = rules({"effect": "deny", "path": path})
    assert isinstance(ruled(WRITE, *OPEN, *deny, writes=(path,), mode=mode), Deny)


def test_a_replacement_that_a_dialect_cannot_mean_always_asks() -> None:
    def written(*said: Rule) -> Ruling:
        standing = [grant(WRITE, "**")]
        return ruled(WRITE, *said, writes=("a",), grants=standing, mode="work", checkpointed=True, always_ask=True)

    ruling = written(*OPEN)
    assert isinstance(ruling, Ask)
    assert (ruling.rule, ruling.always) == (DIALECT, True)
    assert isinstance(written(*rules({"effect": "deny", "path": "a"})), Deny)


# Properties ----------------------------------------------------------------------------------------------------------

SOME_PATHS = ("src/a", "src/b/c", "docs/x", ".env", ".envrc", ".git/config")
SOME_RULES = st.builds(
    Rule,
    effect=st.sampled_from(["allow", "ask", "deny"]),
    tool=st.sampled_from(["*", "write_file", "edit_file", "write_*", "read_file"]),
    path=st.none() | st.sampled_from([*SOME_PATHS, "src/**", "**", "**/*.py", "src/*", "SRC/A", "{src,docs}/**"]),
    access=st.sampled_from(["any", "read", "write"]),
    index=st.integers(0, 9),
)
CALLS = st.sampled_from([(READ, "reads"), (WRITE, "writes"), (EDIT, "writes")])


@pytest.mark.soak("fuzz")
@given(st.lists(SOME_RULES, max_size=8), CALLS, st.sampled_from(SOME_PATHS), st.sampled_from(MODE_NAMES), st.randoms())
def test_the_order_of_rules_does_not_matter(
    said: list[Rule], call: tuple[Descriptor, str], path: str, mode: Mode, random: Random
) -> None:
    what, part = call
    first = ruled(what, *said, mode=mode, **{part: (path,)})
    shuffled = list(said)
    random.shuffle(shuffled)
    assert ruled(what, *shuffled, mode=mode, **{part: (path,)}).to_json() == first.to_json()
    assert version(said, mode=mode) == version(shuffled, mode=mode)


@pytest.mark.soak("fuzz")
@given(st.lists(SOME_RULES, max_size=8), CALLS, st.sampled_from(SOME_PATHS), st.sampled_from(MODE_NAMES))
def test_deny_always_wins(said: list[Rule], call: tuple[Descriptor, str], path: str, mode: Mode) -> None:
    what, part = call
    deny = Rule(effect="deny", tool=what.raw_name)
    given_grants = [grant(what, "**")]
    assert isinstance(ruled(what, *said, deny, mode=mode, grants=given_grants, **{part: (path,)}), Deny)


@pytest.mark.soak("fuzz")
@given(st.lists(SOME_RULES, max_size=8), SOME_RULES, CALLS, st.sampled_from(SOME_PATHS), st.sampled_from(MODE_NAMES))
def test_a_tightening_rule_never_widens(
    said: list[Rule], more: Rule, call: tuple[Descriptor, str], path: str, mode: Mode
) -> None:
    what, part = call
    before = ruled(what, *said, mode=mode, checkpointed=True, **{part: (path,)})
    after = ruled(what, *said, more, mode=mode, checkpointed=True, **{part: (path,)})
    if more.effect != "allow":
        assert STRICT[after.verdict] >= STRICT[before.verdict]
    else:
        assert after.verdict == before.verdict == "deny" or before.verdict != "deny"


@pytest.mark.soak("fuzz")
@given(st.lists(SOME_RULES, max_size=6), CALLS, st.sampled_from(SOME_PATHS), st.sampled_from(MODE_NAMES))
def test_a_tighter_mode_never_widens(said: list[Rule], call: tuple[Descriptor, str], path: str, mode: Mode) -> None:
    what, part = call
    before = ruled(what, *said, mode=mode, checkpointed=True, **{part: (path,)})
    for other in TIGHTER[mode]:
        after = ruled(what, *said, mode=other, checkpointed=True, **{part: (path,)})
        assert STRICT[after.verdict] >= STRICT[before.verdict]


@given(st.sampled_from(KINDS), st.sampled_from(ORIGINS), st.sampled_from(["ask", "locked", "work"]))
def test_what_is_not_declared_is_never_allowed_by_itself(kind: Kind, origin: Origin, mode: Mode) -> None:
    undeclared = descriptor("unknown", kind=kind, effect="irreversible", origin=origin)
    assert isinstance(ruled(undeclared, mode=mode), Ask)


# Searches, hiding and helpers ----------------------------------------------------------------------------------------

GREP = descriptor("grep")


def test_a_search_shows_no_path_that_reading_would_not_be_allowed() -> None:
    said = rules(
        {"effect": "deny", "path": "secrets/**"},
        {"effect": "ask", "path": "private/**"},
        {"effect": "allow", "path": "private/ok"},
        {"effect": "deny", "tool": "read_file", "path": "**/.env"},
        {"effect": "deny", "tool": "write_file", "path": "src/**"},
        {"effect": "deny", "path": "docs/**", "access": "write"},
    )
    may_read = reader(said, name="grep", descriptor=GREP)
    assert may_read is not None
    paths = ("a", "secrets/a", "Secrets/a", "private/x", "private/ok", "x/.env", "src/a", "docs/a")
    shown = [path for path in paths if may_read(path)]
    assert shown == ["a", "private/ok", "src/a", "docs/a"]


def test_a_yes_for_a_directory_shows_what_only_asking_shows_and_nothing_denied() -> None:
    said = rules({"effect": "ask", "path": "private/**"}, {"effect": "deny", "path": "private/key"})
    may_read = reader(said, name="grep", descriptor=GREP, cleared=("private",))
    assert may_read is not None
    assert may_read("private/x")
    assert not may_read("private/key")
    whole = reader(said, name="grep", descriptor=GREP, cleared=(".",))
    assert whole is not None
    assert (whole("private/x"), whole("private/key")) == (True, False)
    beside = reader(said, name="grep", descriptor=GREP, cleared=("priv", "private2"))
    assert beside is not None
    assert not beside("private/x")


def test_without_a_rule_on_reading_every_path_is_shown() -> None:
    harmless = rules({"effect": "allow", "path": "**"}, {"effect": "deny", "tool": "write_file", "path": "**"})
    assert reader((), name="grep", descriptor=GREP) is None
    assert reader(harmless, name="grep", descriptor=GREP) is None


@pytest.mark.soak("fuzz")
@given(st.lists(SOME_RULES, max_size=8), st.sampled_from(SOME_PATHS))
def test_a_search_shows_only_what_reading_allows(said: list[Rule], path: str) -> None:
    may_read = reader(said, name="read_file", descriptor=READ)
    allowed = isinstance(ruled(READ, *[rule for rule in said if rule.path], reads=(path,)), Allow)
    assert (may_read is None or may_read(path)) == allowed


@pytest.mark.parametrize(
    ("what", "said", "mode", "why"),
    [
        (WRITE, (), "read-only", "hidden in mode read-only"),
        (BASH, (), "read-only", "hidden in mode read-only"),
        (FETCH, (), "read-only", "hidden in mode read-only"),
        (READ, (), "read-only", None),
        (TODO, (), "read-only", None),
        (WRITE, ({"effect": "deny", "tool": "write_file", "reason": "no"},), "work", "denied by user rule 1: no"),
        (WRITE, ({"effect": "deny", "path": "**"},), "work", "denied by user rule 1"),
        (READ, ({"effect": "deny", "path": "**"},), "work", None),
        (WRITE, ({"effect": "deny", "path": "src/**"},), "work", None),
        (BASH, ({"effect": "deny", "argv": ("rm",)},), "work", None),
        (WRITE, ({"effect": "deny"}, {"effect": "allow", "path": "a"}), "work", "denied by user rule 1"),
        (WRITE, ({"effect": "ask"},), "locked", None),
    ],
)
def test_a_tool_is_hidden_only_where_no_call_of_it_could_be_answered_otherwise(
    what: Descriptor, said: tuple[dict[str, object], ...], mode: Mode, why: str | None
) -> None:
    assert fully_denied(what, name=what.raw_name, rules=rules(*said), mode=mode) == why


@given(st.lists(SOME_RULES, max_size=6), CALLS, st.sampled_from(SOME_PATHS), st.sampled_from(MODE_NAMES))
def test_what_is_hidden_is_denied(said: list[Rule], call: tuple[Descriptor, str], path: str, mode: Mode) -> None:
    what, part = call
    if fully_denied(what, name=what.raw_name, rules=said, mode=mode) is not None:
        assert isinstance(ruled(what, *said, mode=mode, checkpointed=True, **{part: (path,)}), Deny)


def test_a_child_that_would_have_to_ask_is_refused() -> None:
    child = Principal(id="c", face="agent", thread="t", child=True)
    parent = Principal(id="p", face="agent", thread="t")
    asked, allowed = ruled(WRITE, writes=("a",)), ruled(READ, reads=("a",))
    refusal = child_refusal(asked, child, shown="Write")
    assert refusal is not None
    assert refusal.name == "approval.child_unattended"
    assert child_refusal(asked, parent, shown="Write") is None
    assert child_refusal(allowed, child, shown="Read") is None


def test_a_footprint_has_at_least_one_part_and_names_a_path_once() -> None:
    assert [str(part) for part in parts(Footprint())] == ["bare"]
    both = Footprint(reads=("a", "b"), writes=("a",), argv=("x", "y"), hosts=("h",))
    assert [str(part) for part in parts(both)] == ["write a", "read b", "argv x y", "host h"]


def test_a_policy_version_changes_with_what_is_ruled_and_only_with_that() -> None:
    said = rules({"effect": "deny", "tool": "a"}, {"effect": "ask", "path": "b"})
    same = rules({"effect": "ask", "path": "b", "reason": "why"}, {"effect": "deny", "tool": "a", "place": "x:1"})
    assert version(said, mode="ask") == version(same, mode="ask") == version([*said, *same], mode="ask")
    others = [
        version(said, mode="work"),
        version(said[:1], mode="ask"),
        version(rules({"effect": "allow", "tool": "a"}, {"effect": "ask", "path": "b"}), mode="ask"),
        version(rules({"effect": "deny", "tool": "a"}, {"effect": "ask", "path": "b", "access": "read"}), mode="ask"),
    ]
    assert len({version(said, mode="ask"), *others}) == 5
