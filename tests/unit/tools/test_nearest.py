"""The nearest text: found where a person would find it, its difference named, in bounded time."""

import time

import pytest

from toolcrib.tools.nearest import nearest


@pytest.mark.parametrize(
    ("text", "wanted", "differs"),
    [
        ("a\n\tif x:\nb\n", "    if x:", "whitespace (the file has tabs, `old` has spaces)"),
        ("a\n    if x:\nb\n", "\tif x:", "whitespace (the file has spaces, `old` has tabs)"),
        ("foo( a,  b )\n", "foo(a, b)", "whitespace"),
        ("one   \ntwo\n", "one\ntwo", "whitespace"),
        ("no\u00a0break\n", "no break", "whitespace"),
        ("say \u201chello\u201d\n", 'say "hello"', "quotation marks"),
        ("it's\n", "it\u2019s", "quotation marks"),
        ("a \u2014 b\n", "a - b", "dashes"),
        ("and so on\u2026\n", "and so on...", "dots"),
        ("Hello World\n", "hello world", "letter case"),
        ("caf\u00e9\n", "cafe\u0301", "Unicode normal form"),
        ("zero\u200bwidth\n", "zerowidth", "invisible characters"),
        ("one\ntwo\n", " 1\tone\n 2\ttwo", "line numbers in front"),
        ("one\ntwo\n", "one\\ntwo", "escape sequences"),
        ("end", "end\n", "line breaks"),
    ],
)
def test_a_difference_a_reader_does_not_see_is_named(text: str, wanted: str, differs: str) -> None:
    found = nearest(text, wanted)
    assert found is not None
    assert found.differs == (differs,)
    assert text.startswith("a\n") == (found.first == 2)


def test_several_differences_are_all_named() -> None:
    found = nearest("x\n  Say \u201cHi\u201d\n", 'say "hi" ')
    assert found is not None
    assert found.differs == ("quotation marks", "whitespace", "letter case")


def test_one_wrong_line_among_right_ones_gives_the_place() -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    found = nearest(text, "line 40\nline 41\nlime 42\nline 43")
    assert found is not None
    assert (found.first, len(found.lines), found.differs) == (41, 4, ())


def test_a_line_that_shares_its_rare_words_is_offered() -> None:
    text = "def alpha():\n    pass\ndef compute_total(values, rate):\n    pass\n"
    found = nearest(text, "def compute_totals(values, rates):")
    assert found is not None
    assert found.first == 3


@pytest.mark.parametrize("wanted", ["zzz qqq", "  \n ", "completely different words here"])
def test_nothing_like_it_is_nothing(wanted: str) -> None:
    assert nearest("def alpha():\n    return 1\n", wanted) is None


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 170_000,
        "y" * (1 << 20),
        ("word " * 2000 + "\n") * 100,
        "".join(f"value_{number} = compute(value_{number - 1})\n" for number in range(30_000)),
        "\u201c\u00e9\u2014\n" * 150_000,
    ],
)
@pytest.mark.parametrize(
    "wanted", ["value_7 = computed(value_6, other)", "word wurd " * 500, "x = 2\n" * 50, "y" * 5000 + "z"]
)
def test_a_mebibyte_is_looked_through_in_bounded_time(text: str, wanted: str) -> None:
    began = time.process_time()
    nearest(text, wanted)
    assert time.process_time() - began < 1.5
