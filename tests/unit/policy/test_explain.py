"""An explanation says the ruling, the rule that decided, every rule that was looked at, and what the mode says."""

import json

from toolcrib.policy.decide import Question, settle
from toolcrib.policy.explain import Explanation, explain, summary
from toolcrib.policy.parse import Parsed, parse_rules
from toolcrib.policy.rules import Rule
from toolcrib.terms.footprint import Footprint
from unit.policy.asking import NOW, TODO, WRITE, grant

SAID = (
    Rule(effect="deny", path="secrets/**", reason="no secrets", index=1, place="c.toml:2"),
    Rule(effect="allow", tool="write_file", index=2, place="c.toml:6"),
    Rule(effect="ask", tool="write_*", index=3, place="c.toml:9", match=("write_file",)),
)


def explained(*paths: str, **options: object) -> Explanation:
    question = Question(
        name="write_file",
        descriptor=WRITE,
        footprint=Footprint(writes=paths),
        mode="ask",
        rules=SAID,
        **options,  # pyright: ignore[reportArgumentType] - by name
    )
    return explain(question, settle(question, now=NOW))


def test_the_deciding_rule_and_every_other_are_named() -> None:
    told = explained("secrets/a").to_json()
    assert (told["ruling"], told["rule"], told["reason"]) == ("deny", "user rule 1 (c.toml:2)", "no secrets")
    assert [(each["rule"], each["matches"], each["decides"]) for each in told["considered"]] == [
        ("user rule 1 (c.toml:2)", "glob", True),
        ("user rule 2 (c.toml:6)", "tool", False),
        ("user rule 3 (c.toml:9)", "tool pattern", False),
    ]
    assert json.loads(json.dumps(told)) == told


def test_the_text_shows_each_part_and_which_one_decides() -> None:
    text = explained("src/a", "secrets/a").text()
    assert text.splitlines()[:3] == [
        "write_file: deny, by user rule 1 (c.toml:2)",
        "  no secrets",
        "  mode ask says ask to an irreversible write",
    ]
    assert "  write src/a: allow, by user rule 2 (c.toml:6)" in text
    assert "  write secrets/a: deny, by user rule 1 (c.toml:2)  <- decides" in text
    assert "user rule 2 (c.toml:6): allow tool=write_file: matches (tool), and decides" in text
    assert "user rule 1 (c.toml:2): deny tool=* path=secrets/**: does not match" in text


def test_what_no_rule_decides_is_said_too() -> None:
    assert explained(".git/x").to_json()["rule"] == "protected files"
    assert explained(".envrc").to_json()["rule"] == "host-run files"
    assert "canonical paths" in explained("../x").text()
    question = Question(name="todo_write", descriptor=TODO, footprint=Footprint(), mode="locked")
    told = explain(question, settle(question, now=NOW))
    assert "the tool needs no yes" in told.text()


def test_a_grant_is_named_as_what_lifted_the_ask() -> None:
    question = Question(name="write_file", descriptor=WRITE, footprint=Footprint(writes=("a",)), mode="ask")
    told = explain(question, settle(question, grants=[grant(WRITE, "a")], now=NOW))
    assert told.to_json()["grant"] == "g1"
    assert told.text().startswith("write_file: allow, by grant g1")


def test_the_summary_lists_the_rules_and_what_was_dropped() -> None:
    dropped = parse_rules('[[policy.rules]]\nrule = "allow"\ntool = "x"\n', source="project", file="p", trusted=False)
    text = summary(SAID, mode="ask", parsed=[Parsed(), dropped])
    assert "mode ask" in text
    assert "3 rules, version " in text
    assert "user rule 1 (c.toml:2): deny tool=* path=secrets/** (no secrets)" in text
    assert "user rule 3 (c.toml:9): ask tool=write_* [examples hold: 1]" in text
    assert "project rule 1 (p:1): allow tool=x" in text
