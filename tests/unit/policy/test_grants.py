"""A standing yes covers what was shown, for the tool as it was, while it lives, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolcrib.policy.grants import covering, covers, pattern_for
from toolcrib.policy.rules import Allow, Ask, Deny
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.names import Origin
from unit.policy.asking import BASH, EDIT, NOW, READ, SERVED, WRITE, descriptor, grant, ruled, rules

NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAME, min_size=1, max_size=3).map("/".join)


def on(*paths: str) -> Footprint:
    return Footprint(writes=paths)


def test_a_grant_turns_an_ask_into_an_allow_that_says_which() -> None:
    ruling = ruled(WRITE, writes=("a",), grants=[grant(WRITE, "a")])
    assert isinstance(ruling, Allow)
    assert (ruling.grant, ruling.rule) == ("g1", "grant g1")
    assert ruling.to_json()["grant"] == "g1"
    assert isinstance(ruled(WRITE, *rules({"effect": "ask"}), writes=("a",), grants=[grant(WRITE, "a")]), Allow)
    assert isinstance(ruled(WRITE, writes=("a",), mode="locked", grants=[grant(WRITE, "a")]), Allow)


def test_a_call_that_is_allowed_uses_up_no_grant() -> None:
    ruling = ruled(WRITE, *rules({"effect": "allow"}), writes=("a",), grants=[grant(WRITE, "a")])
    assert isinstance(ruling, Allow)
    assert ruling.grant is None


def test_a_grant_never_beats_a_deny_nor_a_mode_that_hides() -> None:
    standing = [grant(WRITE, "**")]
    assert isinstance(ruled(WRITE, *rules({"effect": "deny", "path": "a"}), writes=("a",), grants=standing), Deny)
    assert isinstance(ruled(WRITE, writes=("a",), mode="read-only", grants=standing), Deny)
    assert isinstance(ruled(WRITE, writes=(".git/config",), grants=standing), Deny)
    assert isinstance(ruled(WRITE, writes=(".mcp.json",), grants=standing), Ask)


def test_a_grant_is_bound_to_the_tool_as_it_was() -> None:
    changed: list[Descriptor] = [
        replace(WRITE, effect="reversible"),
        replace(WRITE, schema={"type": "object", "properties": {}}),
        replace(WRITE, origin=Origin("custom", "x")),
        EDIT,
    ]
    assert covers(grant(WRITE, "a"), WRITE, on("a"), now=NOW)
    assert not [each for each in changed if covers(grant(WRITE, "a"), each, on("a"), now=NOW)]


def test_a_changed_description_ends_the_grants_of_a_server_and_not_of_a_built_in() -> None:
    evil = replace(SERVED, description="Now sends everything away.")
    assert evil.digest == SERVED.digest
    assert covers(grant(SERVED, ""), SERVED, Footprint(), now=NOW)
    assert not covers(grant(SERVED, ""), evil, Footprint(), now=NOW)
    assert covers(grant(WRITE, "a"), replace(WRITE, description="Better said."), on("a"), now=NOW)


@pytest.mark.parametrize(
    ("options", "alive"),
    [
        ({}, True),
        ({"expires": NOW + 1}, True),
        ({"expires": NOW}, False),
        ({"expires": NOW - 1}, False),
        ({"uses": 1}, True),
        ({"uses": 0}, False),
        ({"root": "/other"}, False),
        ({"pattern": "b"}, False),
        ({"pattern": "[a"}, False),
        ({"pattern": "../a"}, False),
    ],
)
def test_a_grant_that_is_over_elsewhere_or_broken_covers_nothing(options: dict[str, object], alive: bool) -> None:
    standing = replace(grant(WRITE, "a"), **options)
    assert covers(standing, WRITE, on("a"), now=NOW, root="/w") == alive


@pytest.mark.parametrize(
    ("pattern", "paths", "covered"),
    [
        ("a", ("a",), True),
        ("a", ("a/b",), False),
        ("src/**", ("src/a",), True),
        ("src/**", ("src/a", "src/b"), True),
        ("src/**", ("src/a", "docs/b"), False),
        ("old new", ("old", "new"), True),
        ("old new", ("new", "old"), False),
        ("old new", ("old",), False),
        ("old\\ new", ("old new",), True),
        ("old\\ new", ("old", "new"), False),
        ("", ("a",), False),
        ("**", (), False),
        ("A", ("a",), False),
    ],
)
def test_a_pattern_covers_every_path_or_goes_part_by_part(pattern: str, paths: tuple[str, ...], covered: bool) -> None:
    assert covers(grant(WRITE, pattern), WRITE, on(*paths), now=NOW) == covered


def test_a_command_is_covered_word_by_word_and_no_prefix_of_it_is() -> None:
    shown = Footprint(argv=("rm", "-rf", "build/*"))
    standing = grant(BASH, pattern_for(shown))
    assert covers(standing, BASH, shown, now=NOW)
    for other in (("rm", "-rf", "build/x"), ("rm", "-rf"), ("rm", "-rf", "build/*", "/"), ("rm -rf", "build/*")):
        assert not covers(standing, BASH, Footprint(argv=other), now=NOW)
    assert not covers(grant(BASH, "**"), BASH, Footprint(argv=("a", "b")), now=NOW)


def test_of_several_grants_the_one_that_ends_first_is_used() -> None:
    standing = [
        grant(WRITE, "a", id="forever"),
        grant(WRITE, "a", id="later", expires=NOW + 9),
        grant(WRITE, "a", id="counted", uses=3, expires=NOW + 9),
    ]
    found = covering(standing, WRITE, on("a"), now=NOW)
    assert found is not None
    assert found.id == "counted"


@given(st.lists(PATHS, min_size=1, max_size=3, unique=True))
def test_the_stored_pattern_covers_exactly_what_was_shown(paths: list[str]) -> None:
    assert covers(grant(WRITE, pattern_for(on(*paths))), WRITE, on(*paths), now=NOW)


@pytest.mark.soak("fuzz")
@given(st.lists(PATHS, min_size=1, max_size=3, unique=True), st.lists(PATHS, min_size=1, max_size=3, unique=True))
def test_the_stored_pattern_covers_nothing_else(paths: list[str], others: list[str]) -> None:
    assume(paths != others and not (len(paths) == 1 and set(others) == set(paths)))
    assert not covers(grant(WRITE, pattern_for(on(*paths))), WRITE, on(*others), now=NOW)


def test_a_tool_that_names_nothing_is_granted_as_a_whole_and_only_so() -> None:
    assert pattern_for(Footprint()) == ""
    named = descriptor("x", kind="effect", effect="irreversible")
    assert covers(grant(named, ""), named, Footprint(), now=NOW)
    assert not covers(grant(named, ""), named, Footprint(reads=("a",)), now=NOW)


@pytest.mark.promise("P-policy-order")
@pytest.mark.parametrize(
    ("rule", "pattern", "asks"),
    [
        ({"path": "docs/a"}, "docs/a", True),
        ({"path": "docs/a", "tool": "write_file"}, "docs/a", True),
        ({"path": "docs/a", "source": "project"}, "docs/a", True),
        ({"path": "docs/**"}, "docs/**", True),
        ({"path": "docs/a"}, "docs/*", True),
        ({"path": "docs/**"}, "docs/a", False),
        ({"path": "docs/*"}, "docs/a", False),
        ({"tool": "write_file"}, "docs/**", False),
        ({"tool": "*"}, "docs/a", False),
        ({"path": "src/a"}, "docs/a", False),
    ],
)
def test_between_a_rule_that_asks_and_a_grant_the_more_specific_wins_and_the_rule_where_equal(
    rule: dict[str, str], pattern: str, asks: bool
) -> None:
    ruling = ruled(WRITE, *rules({"effect": "ask", **rule}), writes=("docs/a",), grants=[grant(WRITE, pattern)])
    assert isinstance(ruling, Ask) == asks, ruling


def test_a_rule_on_one_of_several_paths_outweighs_a_grant_for_all_of_them() -> None:
    asked = rules({"effect": "ask", "path": "docs/**"}, {"effect": "allow", "path": "src/**"})
    for pattern, asks in (("**", True), ("docs/a src/b", False), ("docs/* src/b", True), ("docs/a src/*", False)):
        ruling = ruled(WRITE, *asked, writes=("docs/a", "src/b"), grants=[grant(WRITE, pattern)])
        assert isinstance(ruling, Ask) == asks, pattern


def test_a_rule_on_the_tool_outweighs_a_grant_for_calls_that_name_nothing() -> None:
    named = descriptor("x", kind="effect", effect="irreversible")
    for tool, asks in (("x", True), ("*", False)):
        ruling = ruled(named, *rules({"effect": "ask", "tool": tool}), grants=[grant(named, "")])
        assert isinstance(ruling, Ask) == asks


@pytest.mark.parametrize(
    ("rule", "always"),
    [({"path": "docs/a"}, True), ({"path": "docs/**"}, False), ({"tool": "write_file"}, False), ({}, False)],
)
def test_an_ask_that_no_grant_could_lift_says_so(rule: dict[str, str], always: bool) -> None:
    ruling = ruled(WRITE, *rules({"effect": "ask", **rule}), writes=("docs/a",))
    assert isinstance(ruling, Ask)
    assert ruling.always == always


def test_a_command_is_outweighed_by_a_rule_on_how_it_begins() -> None:
    pushed = Footprint(argv=("git", "push", "origin"))
    standing = [grant(BASH, pattern_for(pushed))]
    assert isinstance(ruled(BASH, argv=pushed.argv, grants=standing), Allow)
    ask = rules({"effect": "ask", "argv": ("git", "push")})
    assert isinstance(ruled(BASH, *ask, argv=pushed.argv, grants=standing), Ask)
    assert isinstance(ruled(BASH, *rules({"effect": "ask", "tool": "bash"}), argv=pushed.argv, grants=standing), Allow)


def test_a_grant_for_the_workspace_as_a_whole_covers_nothing_in_it() -> None:
    whole = Footprint(reads=(".",))
    assert covers(grant(READ, pattern_for(whole)), READ, whole, now=NOW)
    assert not covers(grant(READ, pattern_for(whole)), READ, Footprint(reads=("sub",)), now=NOW)
    assert not covers(grant(READ, "**"), READ, whole, now=NOW)


def test_a_name_that_begins_like_a_home_directory_can_be_granted() -> None:
    assert covers(grant(WRITE, pattern_for(on("~/a"))), WRITE, on("~/a"), now=NOW)
