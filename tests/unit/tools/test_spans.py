"""Matching and applying: the same as doing it by hand on plain text, whatever the line breaks are."""

import re
from typing import Literal

from hypothesis import assume, given
from hypothesis import strategies as st

from toolcrib.terms.text import Decoded, decode, encode, ending_of, with_ending
from toolcrib.tools.spans import Edit, Overlap, apply, line_numbers, line_of, merge, seek, splice

letters = st.text(st.sampled_from("abc\n"), max_size=60)
short = st.text(st.sampled_from("abc\n"), min_size=1, max_size=4)


def made(text: str, *edits: Edit) -> str:
    decoded = Decoded(text, "utf-8", ending_of(text))
    found = seek(decoded, edits)
    assert all(each.applies for each in found)
    spans = merge(found)
    assert not isinstance(spans, Overlap)
    return apply(text, spans)


def occurrences(text: str, old: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(old, at)]


@given(letters, short, letters)
def test_one_edit_is_what_replacing_its_only_place_is(text: str, old: str, new: str) -> None:
    places = occurrences(text, old)
    (found,) = seek(Decoded(text, "utf-8", ending_of(text)), [Edit(old, new)])
    assert found.count == len(places) or (len(places) > 1 and found.count > 1)
    assert found.applies == (len(places) == 1)
    if len(places) == 1:
        assert made(text, Edit(old, new)) == text[: places[0]] + new + text[places[0] + len(old) :]


@given(letters, short, letters)
def test_replacing_all_is_what_the_language_does(text: str, old: str, new: str) -> None:
    assume(old in text)
    assert made(text, Edit(old, new, every=True)) == text.replace(old, new)


@given(st.lists(st.text(st.sampled_from("xyz\n"), max_size=6), min_size=1, max_size=8), st.data())
def test_several_edits_are_the_same_in_any_order(kept: list[str], data: st.DataObject) -> None:
    marks = [f"<{index}>" for index in range(len(kept))]
    text = "".join(mark + part for mark, part in zip(marks, kept, strict=True))
    chosen = data.draw(st.lists(st.sampled_from(marks), unique=True, min_size=1))
    edits = [Edit(mark, data.draw(st.text(st.sampled_from("<>0\n"), max_size=5))) for mark in chosen]
    wanted = text
    for mark, edit in sorted(zip(chosen, edits, strict=True), key=lambda each: -text.index(each[0])):
        at = text.index(mark)
        wanted = wanted[:at] + edit.new + wanted[at + len(mark) :]
    assert made(text, *edits) == wanted
    assert made(text, *data.draw(st.permutations(edits))) == wanted


rows = st.lists(
    st.tuples(st.text(st.sampled_from("abc"), max_size=3), st.sampled_from(["\n", "\r\n", "\r"])), max_size=10
)


def numbered(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the lines made different from each other, with at least two kinds of break among them."""
    return [(f"{index}{line}", end) for index, (line, end) in enumerate([("p", "\r\n"), *parts, ("q", "\n")])]


def quoted(text: str, data: st.DataObject) -> str:
    """Draw a piece of `text` that occurs once."""
    start = data.draw(st.integers(0, len(text) - 1))
    old = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(len(occurrences(text, old)) == 1)
    return old


@given(rows, letters, st.sampled_from(["crlf", "cr"]), st.data())
def test_a_file_of_other_breaks_is_edited_as_its_plain_form_is(
    parts: list[tuple[str, str]], new: str, ending: Literal["crlf", "cr"], data: st.DataObject
) -> None:
    text = "".join(f"{line}\n" for line, _ in numbered(parts))
    old = quoted(text, data)
    assert made(with_ending(text, ending), Edit(old, new)) == with_ending(made(text, Edit(old, new)), ending)


@given(rows, letters.filter(bool), st.data())
def test_a_mixed_file_is_edited_as_its_plain_form_is_and_keeps_every_break_outside(
    parts: list[tuple[str, str]], new: str, data: st.DataObject
) -> None:
    text = "".join(line + end for line, end in numbered(parts))
    plain = with_ending(text, "lf")
    old = quoted(plain, data)
    start = plain.index(old)
    after = made(text, Edit(old, new))
    assert with_ending(after, "lf") == made(plain, Edit(old, new))
    had, has = (re.findall(r"\r\n|\n|\r", each) for each in (text, after))
    before, behind = plain[:start].count("\n"), plain[start + len(old) :].count("\n")
    assert has[:before] == had[:before]
    assert behind == 0 or has[-behind:] == had[-behind:]


@given(rows, st.data())
def test_lines_left_alone_within_old_keep_their_breaks_in_a_mixed_file(
    parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    lines = numbered(parts)
    at = data.draw(st.integers(0, len(lines)))
    old = "".join(f"{line}\n" for line, _ in lines)
    new = "".join(f"{line}\n" for line, _ in [*lines[:at], ("new", ""), *lines[at:]])
    after = made("".join(line + end for line, end in lines), Edit(old, new))
    kept = [each for each in re.findall(r"[^\r\n]*(?:\r\n|\n|\r)", after) if not each.startswith("new")]
    assert kept == [line + end for line, end in lines]


@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([b"needle", b"\xff\xfe needle"]))
def test_every_byte_outside_the_match_stays_whatever_it_is(head: bytes, tail: bytes, middle: bytes) -> None:
    data = head + middle + tail
    assume(data.count(b"needle") == 1)
    decoded = decode(data)
    assume("needle" in decoded.text)
    (found,) = seek(decoded, [Edit("needle", "pin")])
    assert found.applies
    assert encode(apply(decoded.text, found.spans), decoded.encoding) == data.replace(b"needle", b"pin")


@given(letters, short, st.text(st.sampled_from("ab\u00e9\n"), max_size=5), st.booleans())
def test_splicing_bytes_is_applying_to_the_text(text: str, old: str, new: str, marked: bool) -> None:
    head = b"\xef\xbb\xbf" if marked else b""
    (found,) = seek(Decoded(text, "utf-8", ending_of(text)), [Edit(old, new, every=True)])
    assert splice(head + text.encode(), found.spans, shift=len(head)) == head + apply(text, found.spans).encode()


@given(letters, st.data())
def test_edits_of_the_same_text_are_an_overlap(text: str, data: st.DataObject) -> None:
    assume(len(text) >= 3)
    start = data.draw(st.integers(0, len(text) - 2))
    old = text[start:]
    assume(text.count(old) == 1)
    found = seek(Decoded(text, "utf-8", ending_of(text)), [Edit(old, "x"), Edit(old[-2:], "y", every=True)])
    overlap = merge(found)
    assert isinstance(overlap, Overlap)
    assert (overlap.one, overlap.other) == (0, 1)


@given(st.text(st.sampled_from("ab\r\n"), max_size=40), st.integers(0, 40))
def test_the_line_of_a_position_is_the_editors(text: str, at: int) -> None:
    assume(at < len(text) and text[max(0, at - 1) : at + 1] != "\r\n")
    assert line_of(text, at) == 1 + len(re.findall(r"\r\n|\n|\r", text[:at]))


def test_line_numbers_name_each_line_once() -> None:
    (found,) = seek(Decoded("a a\nb\na\n", "utf-8", "lf"), [Edit("a", "x")])
    assert found.count == 3
    assert line_numbers("a a\nb\na\n", found.spans) == (1, 3)
