"""Escaping for the terminal: nothing steers it, nothing hides, nothing is lost."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcrib.terms.visible import BLANKS, MARKS_IN_A_ROW, one_line, visible

HIDDEN = {
    "escape": ("\x1b", "\\x1b"),
    "bell": ("\x07", "\\x07"),
    "string terminator": ("\x9c", "\\x9c"),
    "control sequence": ("\x9b", "\\x9b"),
    "delete": ("\x7f", "\\x7f"),
    "carriage return": ("\r", "\\r"),
    "backspace": ("\x08", "\\x08"),
    "right to left override": ("\u202e", "<U+202E>"),
    "isolate": ("\u2067", "<U+2067>"),
    "mark": ("\u200f", "<U+200F>"),
    "zero width space": ("\u200b", "<U+200B>"),
    "joiner": ("\u2060", "<U+2060>"),
    "soft hyphen": ("\u00ad", "<U+00AD>"),
    "byte order mark": ("\ufeff", "<U+FEFF>"),
    "tag letter": ("\U000e0041", "<U+E0041>"),
    "variation selector": ("\ufe0f", "<U+FE0F>"),
    "further variation selector": ("\U000e0100", "<U+E0100>"),
    "hangul filler": ("\u3164", "<U+3164>"),
    "blank pattern": ("\u2800", "<U+2800>"),
    "no-break space": ("\u00a0", "<U+00A0>"),
    "line separator": ("\u2028", "<U+2028>"),
    "lone surrogate": ("\ud800", "<U+D800>"),
    "undecodable byte": ("\udcff", "\\xff"),
    "private use": ("\ue000", "<U+E000>"),
    "unassigned": ("\U000e0fff", "<U+E0FFF>"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_steers_or_hides_is_written_out(name: str) -> None:
    letter, shown = HIDDEN[name]
    assert visible(f"a{letter}b") == f"a{shown}b"


@pytest.mark.parametrize("text", ["plain", "naïve café", "日本語", "Ωμέγα", "שלום", "नमस्ते", "🙂", "a\tb\nc", "e\u0301"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p\u0430yp\u0430l", "p<U+0430>yp<U+0430>l"),
        ("\u0421opy", "<U+0421>opy"),
        ("x_\u03bf", "x_<U+03BF>"),
        ("\u0441\u043b\u043e\u0432\u043e and word", "\u0441\u043b\u043e\u0432\u043e and word"),
        ("\u03b1 + b", "\u03b1 + b"),
        ("5 \u03bcs, \u0394t", "5 \u03bcs, \u0394t"),
    ],
)
def test_a_letter_that_passes_for_latin_is_written_out_inside_a_latin_word_only(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_run_of_blanks_that_may_hide_something_behind_it_becomes_its_length() -> None:
    assert visible("a" + " " * 10_000 + "b") == "a<10,000 blanks>b"
    assert visible("a" + " " * BLANKS + "b") == "a" + " " * BLANKS + "b"


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
@example("\x1b]52;c;aGk=\x07")
def test_no_character_of_the_result_is_a_control_or_invisible(text: str) -> None:
    for letter in visible(text):
        assert letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(max_size=60))
def test_one_line_is_one_line_and_bounded(text: str) -> None:
    shown = one_line(text, most=20)
    assert len(shown.splitlines()) <= 1
    assert len(shown) <= 20


def test_each_escape_is_handed_to_the_marker_and_nothing_else() -> None:
    seen: list[str] = []

    def mark(escape: str) -> str:
        seen.append(escape)
        return "#"

    assert visible("a\x1bb\u202ec", mark=mark) == "a#b#c"
    assert seen == ["\\x1b", "<U+202E>"]


def test_a_pile_of_combining_marks_cannot_paint_over_the_lines_beside_it() -> None:
    shown = visible("a" + "\u0301" * 40)
    assert shown.count("\u0301") == MARKS_IN_A_ROW
    assert shown.count("<U+0301>") == 40 - MARKS_IN_A_ROW


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "\u0430" + "x" * 1_000_000, "x \u0430" * 200_000, "x" * 999_999 + "\u0430"]
)
@pytest.mark.timeout(5)
def test_a_huge_text_is_made_harmless_in_a_time_that_grows_with_it(text: str) -> None:
    assert len(visible(text)) >= len(text)
