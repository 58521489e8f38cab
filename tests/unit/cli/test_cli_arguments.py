"""Words of the command line to the arguments of a tool."""

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.faces.cli.arguments import arguments, converted

SCHEMA: dict[str, Any] = {
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "flag": {"type": "boolean"},
        "ratio": {"type": "number"},
        "list": {"type": "array"},
        "object": {"type": "object"},
        "mode": {"enum": ["plain", "regex"]},
    }
}


@pytest.mark.promise("P-cli-values")
@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=5", "5"),
        ("text=true", "true"),
        ("text=", ""),
        ("text=a=b=c", "a=b=c"),
        ('text={"a": 1}', '{"a": 1}'),
        ("unknown=5", "5"),
        ("count=5", 5),
        ("count=-5", -5),
        ("count=five", "five"),
        ('count="5"', '"5"'),
        ("count=[1]", "[1]"),
        ("maybe=null", None),
        ("maybe=7", 7),
        ("name=null", "null"),
        ("flag=true", True),
        ("flag=yes", "yes"),
        ("flag=1", "1"),
        ("ratio=0.5", 0.5),
        ("ratio=NaN", "NaN"),
        ('list=["a", 1]', ["a", 1]),
        ("list=a,b", "a,b"),
        ('object={"a": {"b": null}}', {"a": {"b": None}}),
        ('object={"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("mode=regex", "regex"),
    ],
)
def test_a_value_is_text_unless_the_schema_says_otherwise(word: str, value: object) -> None:
    key = word.partition("=")[0]
    found = arguments([word], SCHEMA)
    assert found == {key: value}
    assert type(found[key]) is type(value)


@pytest.mark.promise("P-cli-values")
def test_one_argument_in_braces_is_the_whole_object() -> None:
    assert arguments(['{"text": "a", "count": "5"}'], SCHEMA) == {"text": "a", "count": "5"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plain"], "expected key=value"),
        (["=x"], "expected key=value"),
        (["a=1", "a=2"], "stands twice"),
        (["{}", "a=1"], "nothing may follow"),
        (['{"a": 1'], "line 1, column 8"),
        (['{\n"a": tru}'], "line 2, column 6"),
        (['{"a": 1, "a": 2}'], "'a' stands twice"),
        (['{"a": Infinity}'], "Infinity is not JSON"),
        (['{"a": ' + "[" * 100_000], "levels deep"),
    ],
)
def test_words_that_spell_nothing_are_a_usage_error(words: list[str], said: str) -> None:
    with pytest.raises(click.UsageError) as error:
        arguments(words, SCHEMA)
    assert said in error.value.format_message()


def test_deep_json_reaches_the_line_which_has_its_own_bound() -> None:
    found = arguments(['{"list": ' + "[" * 1000 + "]" * 1000 + "}"], SCHEMA)["list"]
    depth = 0
    while found:
        found, depth = found[0], depth + 1
    assert depth == 999


@given(st.text())
def test_a_text_parameter_takes_any_text_as_it_is(text: str) -> None:
    assert converted(text, {"type": "string"}) == text
    assert arguments([f"text={text}"], SCHEMA) == {"text": text}
