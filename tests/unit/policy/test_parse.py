"""A policy loads whole or not at all, and every fault is named with its file, line and column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.policy.parse import (
    MOST_RULES,
    POLICY_KEYS,
    RULE_KEYS,
    Parsed,
    check_tools,
    example_matches,
    parse_rules,
)
from toolcrib.policy.rules import Rule
from toolcrib.terms.errors import ConfigError

GOOD = """\
# the person's own
[files]
read_lines = 10

[policy]
mode = "work"
protected = ["keys/"]

[[policy.rules]]
rule = "deny"
tool = "write_file"
path = "secrets/**"
reason = "no secrets"
match = ["secrets/a", "secrets"]
not_match = ["src/a"]

[[policy.rules]]
rule = "allow"
argv = "git status"
match = ["git status -s"]
not_match = ["git statusx", "git push"]

[[policy.rules]]
rule = "ask"
host = "*.example.com"
match = ["a.example.com"]
"""


def load(text: str) -> Parsed:
    return parse_rules(text, source="user", file="config.toml")


def fault(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text)
    assert caught.value.hint
    return caught.value.message


def test_a_good_file_gives_its_rules_with_their_places() -> None:
    parsed = load(GOOD)
    assert (parsed.mode, parsed.protected, parsed.dropped) == ("work", ("keys/",), ())
    assert [rule.place for rule in parsed.rules] == ["config.toml:9", "config.toml:17", "config.toml:23"]
    assert parsed.rules[0] == Rule(
        effect="deny",
        tool="write_file",
        path="secrets/**",
        reason="no secrets",
        match=("secrets/a", "secrets"),
        not_match=("src/a",),
        index=1,
        place="config.toml:9",
    )
    assert parsed.rules[1].argv == ("git", "status")
    assert parsed.rules[2].label == "user rule 3 (config.toml:23)"


@pytest.mark.parametrize("text", ["", "[files]\nread_lines = 1\n", "[policy]\n", "# nothing\n"])
def test_a_file_without_a_policy_says_nothing(text: str) -> None:
    assert load(text) == Parsed()


def rule(*lines: str) -> str:
    return "[policy]\n\n[[policy.rules]]\n" + "\n".join(lines) + "\n"


@pytest.mark.case("B144", "rules")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[policy\n", "config.toml:1:8: not TOML"),
        ("[policy]\nmode = \n", "config.toml:2:8: not TOML"),
        ('[policy]\nmode = "ask', "config.toml:2:12: not TOML"),
        ('[policy]\nmode = "ask"\nmode = "work"\n', "not TOML: Cannot overwrite a value"),
        ("policy = 3\n", "config.toml:1:1: [policy] must be a table, found 3"),
        ('[policy]\nmode = "yolo"\n', "config.toml:2:1: policy.mode must be one of locked, ask, work, read-only"),
        ("[policy]\nmode = 3\n", "config.toml:2:1: policy.mode"),
        ("[policy]\nmode = [3]\n", "config.toml:2:1: policy.mode"),
        ("[policy]\n  moode = 3\n", "config.toml:2:3: [policy]: unknown key 'moode'; did you mean 'mode'?"),
        ("[policy]\nrules = 3\n", "config.toml:2:1: policy.rules must be tables"),
        ("[policy]\nrules = [3]\n", "config.toml:2:1: policy.rules must be tables"),
        ('[policy]\nprotected = "x"\n', "config.toml:2:1: policy.protected must be a list"),
        ('[policy]\nprotected = ["/etc"]\n', "config.toml:2:1: policy.protected: '/etc' must be a path relative"),
        ('[policy]\nprotected = ["a/../b"]\n', "must be a path relative"),
        (rule('rule = "alow"', 'tool = "x"'), "config.toml:4:1: rule 1: rule must be allow, ask or deny, found 'alow'"),
        (rule('tool = "x"'), "config.toml:3:1: rule 1: rule must be allow, ask or deny, found None"),
        (rule("rule = true", 'tool = "x"'), "config.toml:4:1: rule 1: rule must be"),
        (rule('rule = "deny"'), "config.toml:4:1: rule 1: it says nothing of what it is about"),
        (rule('rule = "deny"', 'tol = "x"'), "config.toml:5:1: rule 1: unknown key 'tol'; did you mean 'tool'?"),
        (rule('rule = "deny"', "tool = 3"), "config.toml:5:1: rule 1: tool must be a text"),
        (rule('rule = "deny"', 'tool = ""'), "config.toml:5:1: rule 1: tool must be a text"),
        (rule('rule = "deny"', 'path = "/etc/x"'), "config.toml:5:1: rule 1: path '/etc/x': absolute"),
        (rule('rule = "deny"', 'path = "[a"'), "config.toml:5:1: rule 1: path '[a': the bracket at character 1"),
        (rule('rule = "deny"', 'tool = "{a"'), "config.toml:5:1: rule 1: tool '{a': the brace at character 1"),
        (rule('rule = "deny"', 'path = "a"', 'host = "b"'), "config.toml:6:1: rule 1: path and host together"),
        (rule('rule = "deny"', 'tool = "x"', 'access = "read"'), "config.toml:6:1: rule 1: access says what a path"),
        (rule('rule = "deny"', 'path = "x"', 'access = "see"'), "config.toml:6:1: rule 1: access must be any, read"),
        (rule('rule = "deny"', "argv = []"), "config.toml:5:1: rule 1: argv must be a command"),
        (rule('rule = "deny"', 'argv = ["a", ""]'), "rule 1: argv must be a command"),
        (rule('rule = "deny"', 'argv = "it\'s"'), "rule 1: argv must be a command"),
        (rule('rule = "deny"', 'path = "a"', 'match = "a"'), "config.toml:6:1: rule 1: match must be a list of texts"),
        (rule('rule = "deny"', 'path = "a"', "reason = 3"), "config.toml:6:1: rule 1: reason must be a text"),
        (rule('rule = "deny"', f'path = "{"x" * 5000}"'), "config.toml:5:1: rule 1: path must be a text of 1 to 4096"),
        (rule('rule = "deny"', f'tool = "{"x" * 100_000}"'), "config.toml:5:1: rule 1: tool must be a text"),
        ('[policy]\nrules = [{rule = "deny", tool = 3}]\n', "config.toml:2:1: rule 1: tool must be a text"),
        ("[[policy.rules]]\n" * (MOST_RULES + 1), f"{MOST_RULES + 1} rules"),
        ("a = " + "[" * 5000, "not TOML"),
    ],
)
def test_a_fault_stops_the_loading_and_is_named_with_its_place(text: str, said: str) -> None:
    assert said in fault(text)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (('path = "secrets/**"', 'match = ["secret/a"]'), "config.toml:6:1: rule 1: the example 'secret/a' does not"),
        (('path = "s*/**"', 'not_match = ["src/a"]'), "config.toml:6:1: rule 1: the example 'src/a' matches"),
        (('argv = "git log"', 'match = ["git logout"]'), "the example 'git logout' does not match"),
        (('host = "a.b"', 'not_match = ["A.B"]'), "the example 'A.B' matches"),
        (('tool = "write_*"', 'match = ["edit_file"]'), "the example 'edit_file' does not match"),
    ],
)
def test_a_rule_whose_examples_fail_stops_the_loading(lines: tuple[str, ...], said: str) -> None:
    assert said in fault(rule('rule = "deny"', *lines))


def test_an_example_is_judged_as_the_rule_itself_would_be() -> None:
    assert example_matches(Rule(effect="deny", path="src/*"), "src/a/b")
    assert not example_matches(Rule(effect="allow", path="src/*"), "src/a/b")
    assert not example_matches(Rule(effect="allow", argv=("a",)), "a 'b")


def test_a_fault_far_down_is_found_behind_multi_line_texts_and_comments() -> None:
    text = (
        "[policy]\n# [[policy.rules]]\n\n[[policy.rules]]\nrule = 'deny'\ntool = 'x'\nreason = '''\n"
        "[[policy.rules]]\nrule = 'ask'\n'''\n\n  [[ policy . rules ]] # two\nrule = \"ask\"\n   'host' = 3\n"
    )
    assert fault(text).startswith("config.toml:14:4: rule 2: host must be a text")


def test_dotted_keys_are_found() -> None:
    assert fault('policy.mode = "x"\n').startswith("config.toml:1:1: policy.mode")


def test_a_project_that_is_not_trusted_can_only_tighten_and_what_is_dropped_is_said() -> None:
    text = GOOD.replace("config.toml", "p")
    untrusted = parse_rules(text, source="project", file=".toolcrib/config.toml", trusted=False)
    assert [each.effect for each in untrusted.rules] == ["deny", "ask"]
    assert untrusted.dropped == ("project rule 2 (.toolcrib/config.toml:17): allow tool=* argv=['git', 'status']",)
    trusted = parse_rules(text, source="project", file=".toolcrib/config.toml", trusted=True)
    assert [each.effect for each in trusted.rules] == ["deny", "allow", "ask"]
    assert trusted.dropped == ()


def test_two_equal_allow_rules_of_a_project_are_both_dropped() -> None:
    text = '[[policy.rules]]\nrule = "allow"\ntool = "x"\n' * 2
    parsed = parse_rules(text, source="project", file="p", trusted=False)
    assert (parsed.rules, len(parsed.dropped)) == ((), 2)


def test_rules_on_tools_that_nobody_declares_are_all_named_with_their_places() -> None:
    rules = load(
        "".join(
            f'[[policy.rules]]\nrule = "deny"\ntool = "{tool}"\n'
            for tool in ("write_fil", "write_*", "mcp__up__x", "mcp__down__x", "write_file")
        )
    ).rules
    with pytest.raises(ConfigError) as caught:
        check_tools(rules, ["write_file"], servers=["up"])
    assert caught.value.message == (
        "config.toml:1: user rule 1: no tool is called 'write_fil'; did you mean 'write_file'?; "
        "config.toml:10: user rule 4: no tool is called 'mcp__down__x'"
    )
    check_tools(rules, ["write_file", "write_fil"], servers=["up", "down"])


@pytest.mark.soak("fuzz")
@given(st.text(max_size=200))
def test_any_text_is_a_policy_or_an_error_with_a_place(text: str) -> None:
    try:
        load(text)
    except ConfigError as error:
        assert error.message.startswith("config.toml:")


@given(
    st.dictionaries(
        st.sampled_from([*RULE_KEYS, "x"]),
        st.sampled_from(['"deny"', '"allow"', '"a"', '""', '["a"]', "[]", "3", "true", '"**"', '"[a"', '"a b"']),
        max_size=5,
    ),
    st.sampled_from([*POLICY_KEYS, "y"]),
)
def test_any_rule_loads_or_is_an_error_at_its_lines(keys: dict[str, str], more: str) -> None:
    lines = [f"{key} = {value}" for key, value in keys.items()]
    text = "\n" * 3 + "[[policy.rules]]\n" + "\n".join(lines) + "\n"
    try:
        parsed = load(text)
    except ConfigError as error:
        line = int(error.message.split(":")[1])
        assert 4 <= line <= 4 + len(lines)
    else:
        assert len(parsed.rules) == 1
    if more == "y":
        assert "unknown key 'y'" in fault(f"[policy]\n{more} = 1\n")
