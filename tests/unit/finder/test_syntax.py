"""The syntax of content search: a refusal names construct, place and a way on; what is taken means one thing."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import soak
from toolcrib.host.finder.classes import is_word
from toolcrib.host.finder.linear import Expression, compiled
from toolcrib.host.finder.matching import matcher
from toolcrib.host.finder.syntax import parse
from toolcrib.ports.find import Query
from toolcrib.terms.refusals import Refusal


@pytest.mark.case("B085")
@pytest.mark.parametrize(
    ("pattern", "construct", "position"),
    [
        ("foo(?!baz)", "look-ahead", 4),
        ("(?=a)", "look-ahead", 1),
        ("x(?<=foo)bar", "look-behind", 2),
        ("(?<!foo)", "look-behind", 1),
        (r"(o)\1", "back-reference", 4),
        (r"(?P<n>o)(?P=n)", "back-reference", 9),
        (r"(?<n>o)\k<n>", "back-reference", 8),
        ("(?>a)", "atomic", 1),
        ("a*+", "possessive", 2),
        ("(?(1)a)", "condition", 1),
        ("(?R)", "recursive", 1),
    ],
)
def test_what_linear_time_rules_out_is_named(pattern: str, construct: str, position: int) -> None:
    refused(pattern, construct, position)


@pytest.mark.case("B086")
@pytest.mark.parametrize(
    ("pattern", "construct", "position"),
    [
        ("(", "never closed", 1),
        ("html(json.data", "never closed", 5),
        ("a)", "without a group", 2),
        ("[a-", "never closed", 1),
        ("x[", "never closed", 2),
        ("[z-a]", "ends before it begins", 3),
        ("*a", "nothing to repeat", 1),
        ("a|*", "nothing to repeat", 3),
        ("a**", "repetition of a repetition", 3),
        ("^*", "nothing to repeat", 2),
        ("a{2,1}", "counts from 2 down to 1", 2),
        ("a{1001}", "more than 1000", 2),
        ("\\", "backslash", 1),
        (r"ab\q", r"\q", 3),
        (r"\<a", r"\<", 1),
        (r"\p{Nonsense}", "class of characters", 1),
        ("[[:nonsense:]]", "unknown class", 2),
        ("(?x)a", "flag 'x'", 1),
        ("(?", "unknown way", 1),
        (r"\x{110000}", "no character", 1),
        (r"\07", "octal", 1),
        ("a\nb", "line feed", 2),
        (r"a\nb", "line feed", 2),
        (r"\Aa", "start of the file", 1),
        ("[\\n]", "only line ends", 1),
        ("(" * 101, "nested", 101),
    ],
)
def test_what_is_broken_is_refused_with_its_place_and_a_way_on(pattern: str, construct: str, position: int) -> None:
    refused(pattern, construct, position)


def refused(pattern: str, construct: str, position: int) -> None:
    with pytest.raises(Refusal) as caught:
        parse(pattern, ignore_case=False, multiline=False)
    assert caught.value.name == "grep.invalid"
    assert construct in caught.value.message
    assert f"position {position} " in caught.value.message
    assert "mode=plain" in caught.value.hint


def found(pattern: str, text: str, *, multiline: bool = False, mode: str = "regex") -> list[str]:
    query = Query(pattern=pattern, mode=mode, multiline=multiline)  # pyright: ignore[reportArgumentType] - a mode
    block = text.encode("utf-8", "surrogateescape")
    spans = matcher(query)[0].spans(block)
    return [block[begin:end].decode("utf-8", "surrogateescape") for begin, end in spans]


@pytest.mark.parametrize(
    ("pattern", "text", "hits"),
    [
        ("interface{}", "interface{}", ["interface{}"]),
        ("a{,2}b", "aab", ["aab"]),
        ("x{y}", "x{y}", ["x{y}"]),
        ("]}", "]}", ["]}"]),
        ("[]a]+", "a]a", ["a]a"]),
        ("[^]]+", "a]a", ["a"]),
        ("[a&&b]+", "&b", ["&b"]),
        (r"[\w.-]+", "a.b-ñ", ["a.b-ñ"]),
        (r"\d+", "٣4", ["٣4"]),
        (r"[^\W\d_]+", "_1été", ["été"]),
        (r"\u00e9\x{e9}\xe9\U000000e9", "éééé", ["éééé"]),
        ("(?i)straße", "STRAßE", ["STRAßE"]),
        (r"\bé", "aé é", ["é"]),
        (r"é\b", "éa\né", ["é"]),
        (r"\Bb", "éb b", ["b"]),
        (r"\bnañ\w+", "nañas", ["nañas"]),
        (r"(?:\b|x)é", "xé", ["xé"]),
        (r"(?:a*\b){2}é", "é", ["é"]),
        (r"(?:(?:é*\b){2}\b){3}", "é", ["é"]),
        ("a.c", "a\rc\nabc", ["abc"]),
        ("a$", "a\r\nab\na", ["a\r", "a"]),
        (r"\s+$", "a \r\nb\r\nc\t", [" \r", "\t"]),
        (r"a[\s\S]", "a\nab", ["ab"]),
        ("x*", "a\n\nxx", ["", "", "xx"]),
    ],
)
def test_what_is_taken_means_what_it_says(pattern: str, text: str, hits: list[str]) -> None:
    assert found(pattern, text) == hits


@pytest.mark.parametrize(
    ("pattern", "text", "hits"),
    [
        (r"a\nb", "a\r\nb\na\nb", ["a\r\nb", "a\nb"]),
        ("a\nb", "a\r\nb", ["a\r\nb"]),
        (r"a[^x]b", "a\nb", ["a\nb"]),
        ("a.b", "a\nb", []),
        ("(?s)a.b", "a\nb", ["a\nb"]),
        (r"\Aa|c\z", "a\na\nc", ["a", "c"]),
        (r"\Aé\b", "é\né", ["é"]),
        (r"\b\w+\né", "ñandú\né", ["ñandú\né"]),
        ("^$", "a\n\nb", [""]),
    ],
)
def test_across_lines_a_line_feed_is_any_line_end(pattern: str, text: str, hits: list[str]) -> None:
    assert found(pattern, text, multiline=True) == hits


def test_plain_text_is_plain_whatever_it_holds() -> None:
    text = r"a.*[b]{2}(c)^$|\d+?é"
    assert found(text, f"x {text}", mode="plain") == [text]
    assert found("a\nb", "a\r\nb", mode="plain") == ["a\r\nb"]


def test_an_expression_too_large_to_run_is_refused() -> None:
    for pattern in (r"(?:a{100}){100}", r"\w{1,500}x\w{1,500}"):
        with pytest.raises(Refusal) as caught:
            matcher(Query(pattern=pattern, mode="regex"))
        assert caught.value.name == "grep.invalid"
        assert "too large" in caught.value.message


def test_the_classes_are_those_of_unicode() -> None:
    """Compare with the definitions, over every character that this Python's Unicode knows."""
    word, space, digit = (
        compiled(parse(sign, ignore_case=False, multiline=True).exact()) for sign in (r"\w", r"\s", r"\d")
    )
    chars = [char for char in map(chr, range(1, 0x30000)) if unicodedata.category(char) not in {"Cs", "Cn"}]
    text = "".join(chars).encode()
    held: list[tuple[Expression, set[str]]] = [
        (word, {char for char in chars if is_word(char)}),
        (space, {char for char in chars if char.isspace()} - set("\x1c\x1d\x1e\x1f")),
        (digit, {char for char in chars if unicodedata.category(char) == "Nd"}),
    ]
    for expression, wanted in held:
        assert {hit.group().decode() for hit in expression.finditer(text)} == wanted


TOKENS = st.sampled_from(
    ["a", "b", "é", ".", "[ab]", "[^b]", "(?:a|b)", "(?:é|)", "a+", "b*", "é?", "a{2}", r"\w", r"\b", r"\B"]
)


@settings(max_examples=soak.count(20_000))
@given(
    pattern=st.lists(TOKENS, min_size=1, max_size=6).map("".join),
    text=st.text(st.sampled_from("aabbé -\n"), max_size=12),
)
def test_ends_of_words_are_found_where_python_finds_them(pattern: str, text: str) -> None:
    lines = [line for line in text.split("\n") if line or text]
    expected = [
        hit.group() for line in (lines[:-1] if text.endswith("\n") else lines) if (hit := re.search(pattern, line))
    ]
    if re.search(r"\\B", pattern) and "" in lines:
        return  # Python before 3.14 finds no \B in an empty text
    assert found(pattern, text) == expected
