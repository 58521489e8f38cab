"""`edit_file`: what it makes of a file, what it refuses, and what it says."""

from typing import Any

import pytest
from pydantic import ValidationError

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.facts import Facts
from toolcrib.terms.payload import Answer
from toolcrib.terms.refusals import Refusal
from toolcrib.tools.edit import ATTEMPTS, edit_file
from toolcrib.tools.files import read_file, write_file
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio


@pytest.fixture
def hand() -> Hand:
    return Hand()


def changes(*pairs: tuple[str, str] | tuple[str, str, bool]) -> list[dict[str, Any]]:
    return [{"old": each[0], "new": each[1], "replace_all": len(each) > 2 and each[2]} for each in pairs]


async def edit(hand: Hand, path: str, *pairs: tuple[str, str] | tuple[str, str, bool], **more: Any) -> Answer[Any]:
    return await hand.call(edit_file, path=path, edits=changes(*pairs), **more)


async def edited(data: bytes, *pairs: tuple[str, str] | tuple[str, str, bool]) -> bytes:
    hand = Hand()
    hand.files.put("a", data)
    answer = await edit(hand, "a", *pairs)
    after = hand.files.data("a")
    assert after is not None
    assert answer.evidence.digest == answer.payload.digest == of_bytes(after)
    assert answer.evidence.changed[0].before == of_bytes(data)
    assert answer.payload.size == len(after)
    return after


@pytest.mark.case("B015")
async def test_lf_in_old_and_new_becomes_the_crlf_of_the_file() -> None:
    after = await edited(b"a = 1\r\nb = 2\r\nc = 3\r\n", ("a = 1\nb = 2", "a = 9\nb = 2"))
    assert after == b"a = 9\r\nb = 2\r\nc = 3\r\n"


async def test_lines_added_to_a_crlf_file_end_in_crlf_though_old_has_no_break() -> None:
    assert await edited(b"a\r\nb\r\n", ("b", "b\nc\nd")) == b"a\r\nb\r\nc\r\nd\r\n"


@pytest.mark.case("B016")
async def test_crlf_in_old_and_new_becomes_the_lf_of_the_file() -> None:
    assert await edited(b"x\ny\nz\n", ("x\r\ny", "x\r\nY")) == b"x\nY\nz\n"


async def test_a_lone_carriage_return_is_a_letter_in_an_lf_file() -> None:
    assert await edited(b"x\ny\n", ("x", "p\rq")) == b"p\rq\ny\n"


async def test_old_mac_line_breaks_are_kept() -> None:
    assert await edited(b"a\rb\rc\r", ("a\nb", "a\nB")) == b"a\rB\rc\r"


async def test_a_mixed_file_keeps_each_break_where_it_stands() -> None:
    assert await edited(b"a\r\nb\nc\r\nd\n", ("a\nb\nc", "a\nB\nc")) == b"a\r\nB\nc\r\nd\n"


async def test_a_line_added_in_a_mixed_file_takes_the_break_before_it() -> None:
    assert await edited(b"a\r\nb\nc\r\nd\n", ("a\nb\nc\n", "a\nnew\nb\nc\n")) == b"a\r\nnew\r\nb\nc\r\nd\n"


async def test_breaks_quoted_exactly_in_a_mixed_file_are_written_exactly() -> None:
    assert await edited(b"a\r\nb\nc\r\n", ("a\r\nb\n", "a\nb\r\n")) == b"a\nb\r\nc\r\n"


@pytest.mark.case("B018")
async def test_five_edits_after_one_reading_of_a_crlf_file_are_never_stale(hand: Hand) -> None:
    hand.files.put("a", b"".join(b"line %d\r\n" % number for number in range(6)))
    await hand.call(read_file, path="a")
    for number in range(5):
        answer = await edit(hand, "a", (f"line {number}", f"done {number}"))
        assert not answer.payload.rebased
        assert not answer.payload.unread


@pytest.mark.case("B019")
async def test_a_byte_order_mark_stays_whether_or_not_old_quotes_it() -> None:
    data = b"\xef\xbb\xbfhello\n\xe4\xb8\xad\xe6\x96\x87\n"
    assert await edited(data, ("hello", "hello2")) == data.replace(b"hello", b"hello2")
    assert await edited(data, ("\ufeffhello", "\ufeffhello2")) == data.replace(b"hello", b"hello2")


@pytest.mark.case("B021")
async def test_bytes_that_are_not_utf_8_stay_byte_for_byte() -> None:
    assert await edited(b"caf\xe9\nname = old\n", ("name = old", "name = new")) == b"caf\xe9\nname = new\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
async def test_utf_16_stays_utf_16(codec: str) -> None:
    data = "\ufeffone\r\ntwo \U0001f600\r\n".encode(codec)
    assert await edited(data, ("two", "deux\nligne")) == "\ufeffone\r\ndeux\r\nligne \U0001f600\r\n".encode(codec)


@pytest.mark.case("B023")
@pytest.mark.parametrize("every", [False, True])
async def test_nothing_in_new_has_a_special_meaning(hand: Hand, every: bool) -> None:
    new = r"$& $1 $$ $` $' \1 \g<0> \n \\ %s {0} &"
    hand.files.put("a", 'log("done");\n')
    answer = await edit(hand, "a", ('log("done");', new, every))
    assert hand.files.data("a") == new.encode() + b"\n"
    assert answer.evidence.diff == f'--- a/a\n+++ b/a\n@@ -1 +1 @@\n-log("done");\n+{new}\n'


@pytest.mark.case("B024")
@pytest.mark.parametrize("path", ["a", "empty", "missing"])
@pytest.mark.parametrize("every", [False, True])
async def test_an_empty_old_is_an_argument_error(hand: Hand, path: str, every: bool) -> None:
    hand.files.put("a", "abc")
    hand.files.put("empty", "")
    with pytest.raises(ValidationError, match="it cannot be empty"):
        await edit(hand, path, ("", "X", every))
    assert hand.files.data("a") == b"abc"
    assert hand.files.data("empty") == b""
    assert hand.files.data("missing") is None


@pytest.mark.case("B025")
async def test_an_ambiguous_old_names_count_and_lines_and_replace_all_counts(hand: Hand) -> None:
    rows = [f"row {number}" for number in range(1, 12)]
    for number in (2, 6, 10):
        rows[number - 1] = "value = value + 1"
    text = "\n".join(rows) + "\n"
    hand.files.put("a", text)
    refusal = await hand.refused(edit_file, "file.ambiguous", path="a", edits=changes(("value = value + 1", "x")))
    assert "3 times" in refusal.message
    assert "2, 6, 10" in refusal.message
    assert refusal.payload is not None
    assert refusal.payload.model_dump() == {"edit": 1, "count": 3, "lines": (2, 6, 10)}
    assert hand.files.data("a") == text.encode()
    answer = await edit(hand, "a", ("value = value + 1", "value += 1", True))
    assert answer.payload.replacements == (3,)
    assert "3 replacements" in answer.payload.text()


async def test_occurrences_that_overlap_are_ambiguous(hand: Hand) -> None:
    hand.files.put("a", "aaa\n")
    refusal = await hand.refused(edit_file, "file.ambiguous", path="a", edits=changes(("aa", "b")))
    assert "2 times" in refusal.message


@pytest.mark.case("B028")
async def test_other_quotation_marks_do_not_match_and_are_named(hand: Hand) -> None:
    data = 'a = "x"\n// \u201cquoted\u201d \u2014 dash\nname = "Al"   \nno\u00a0break\n'.encode()
    hand.files.put("a", data)
    refusal = await hand.refused(
        edit_file, "file.no_match", path="a", edits=changes(("name = \u201cAl\u201d", 'name = "Bo"'))
    )
    assert "quotation marks" in refusal.message
    assert refusal.payload is not None
    assert 'name = "Al"' in refusal.payload.text()
    assert hand.files.data("a") == data


@pytest.mark.case("B029")
async def test_an_edit_from_straight_to_curly_is_an_edit() -> None:
    assert await edited(b"it's \xe2\x80\xa6\n", ("'", "\u2019")) == "it\u2019s \u2026\n".encode()


@pytest.mark.case("B031")
async def test_a_text_that_differs_in_one_line_is_not_found_and_the_nearest_is_shown(hand: Hand) -> None:
    hand.files.put("a", "alpha(1)\nbeta(2)\ngamma(3)\n")
    refusal = await hand.refused(
        edit_file, "file.no_match", path="a", edits=changes(("alpha(1)\nbeta(9)\ngamma(3)", "x"))
    )
    assert refusal.payload is not None
    assert refusal.payload.text() == "1\talpha(1)\n2\tbeta(2)\n3\tgamma(3)"
    assert hand.files.data("a") == b"alpha(1)\nbeta(2)\ngamma(3)\n"


@pytest.mark.case("B032")
async def test_spaces_for_tabs_are_refused_and_named_and_the_text_as_shown_applies(hand: Hand) -> None:
    hand.files.put("a", "\t\tif x:\n\t\t\treturn\n")
    shown = (await hand.call(read_file, path="a")).payload.text().splitlines()[1]
    old = shown.partition("\t")[2]
    assert old == "\t\tif x:"
    refusal = await hand.refused(edit_file, "file.no_match", path="a", edits=changes(("        if x:", "x")))
    assert "whitespace (the file has tabs, `old` has spaces)" in refusal.message
    await edit(hand, "a", (old, "\t\tif y:"))
    assert hand.files.data("a") == b"\t\tif y:\n\t\t\treturn\n"


@pytest.mark.case("B033")
@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_the_end_of_the_file_stays(end: bytes) -> None:
    assert await edited(b"one\nthree" + end, ("one", "ONE")) == b"ONE\nthree" + end
    assert await edited(b"one\nthree" + end, ("three", "THREE")) == b"one\nTHREE" + end


@pytest.mark.case("B034", "edits")
async def test_one_edit_that_fails_fails_them_all_and_is_named(hand: Hand) -> None:
    hand.files.put("a", "A\nB\n")
    refusal = await hand.refused(edit_file, "file.no_match", path="a", edits=changes(("A", "A1"), ("missing", "x")))
    assert refusal.message.startswith("edit 2")
    assert hand.files.data("a") == b"A\nB\n"


async def test_the_order_of_the_edits_does_not_matter() -> None:
    assert await edited(b"a b c\n", ("c", "a"), ("a", "b"), ("b", "c")) == b"b c a\n"


async def test_edits_that_overlap_are_refused_by_number(hand: Hand) -> None:
    hand.files.put("a", "x\none two three\n")
    refusal = await hand.refused(
        edit_file, "args.invalid", path="a", edits=changes(("x", "y"), ("one two", "1"), ("two three", "2"))
    )
    assert "edits 2 and 3" in refusal.message
    assert "line 2" in refusal.message


async def test_an_edit_of_what_an_earlier_edit_makes_is_told_apart(hand: Hand) -> None:
    hand.files.put("a", "one\n")
    refusal = await hand.refused(edit_file, "file.no_match", path="a", edits=changes(("one", "two"), ("two", "three")))
    assert "new text of edit 1" in refusal.message


@pytest.mark.case("B036")
async def test_a_reading_after_an_edit_sees_it(hand: Hand) -> None:
    hand.files.put("a", "one one\n")
    await edit(hand, "a", ("one", "two", True))
    assert (await hand.call(read_file, path="a")).payload.lines == ("two two",)


@pytest.mark.case("B042")
async def test_edits_of_one_reading_all_land_whatever_came_between(hand: Hand) -> None:
    hand.files.put("a", "".join(f"{number}\n" for number in range(1, 101)))
    digest = (await hand.call(read_file, path="a")).payload.digest
    for old, new in (("50", "FIFTY"), ("75", "SEVENTY-FIVE"), ("33", "x"), ("44", "y"), ("55", "z"), ("66", "w")):
        answer = await edit(hand, "a", (old, new), digest=digest)
        assert answer.payload.rebased == (old != "50")
    data = hand.files.data("a")
    assert data is not None
    assert all(word in data for word in (b"FIFTY", b"SEVENTY-FIVE", b"\nx\n", b"\ny\n", b"\nz\n", b"\nw\n"))


async def test_identical_old_and_new_are_refused_before_the_file_is_looked_at(hand: Hand) -> None:
    refusal = await hand.refused(edit_file, "file.unchanged", path="missing", edits=changes(("a", "b"), ("c", "c")))
    assert "edit 2" in refusal.message


async def test_an_edit_that_changes_line_breaks_alone_changes_nothing(hand: Hand) -> None:
    hand.files.put("a", b"a\r\nb\r\n")
    await hand.refused(edit_file, "file.unchanged", path="a", edits=changes(("a\nb", "a\r\nb")))


async def test_binary_files_and_missing_files_are_refused(hand: Hand) -> None:
    hand.files.put("a", b"\x7fELF\0\0\0")
    hand.files.special("p", "fifo")
    await hand.refused(edit_file, "file.binary", path="a", edits=changes(("E", "F")))
    await hand.refused(edit_file, "file.missing", path="b", edits=changes(("E", "F")))
    await hand.refused(edit_file, "file.not_regular", path="p", edits=changes(("E", "F")))
    await hand.refused(edit_file, "file.outside", path="../b", edits=changes(("E", "F")))


async def test_a_lone_surrogate_cannot_be_written_into_utf_8(hand: Hand) -> None:
    hand.files.put("a", "abc\n")
    await hand.refused(edit_file, "args.invalid", path="a", edits=changes(("abc", "x\udce9")))
    assert hand.files.data("a") == b"abc\n"


async def test_more_places_than_the_limit_are_refused(hand: Hand) -> None:
    hand.files.put("a", "a" * 100_001)
    refusal = await hand.refused(edit_file, "call.limit", path="a", edits=changes(("a", "b", True)))
    assert "100,001" in refusal.message


async def test_thousands_of_places_are_replaced_and_counted_and_the_diff_is_cut(hand: Hand) -> None:
    hand.files.put("a", "".join(f"row {number} old\n" for number in range(9000)))
    answer = await edit(hand, "a", ("old", "new", True))
    assert hand.files.data("a") == "".join(f"row {number} new\n" for number in range(9000)).encode()
    assert answer.payload.replacements == (9000,)
    assert (answer.payload.added, answer.payload.removed) == (9000, 9000)
    assert "more lines of this diff not shown" in answer.payload.text()
    assert len(answer.payload.text()) < 20_000


async def test_a_digest_that_still_holds_is_no_rebase_and_no_unread(hand: Hand) -> None:
    hand.files.put("a", "one\n")
    digest = of_bytes(b"one\n")
    answer = await edit(hand, "a", ("one", "two"), digest=digest[:12])
    assert not answer.payload.rebased
    assert not answer.payload.unread


async def test_without_any_reading_the_answer_says_unread(hand: Hand) -> None:
    hand.files.put("a", "one\n")
    answer = await edit(hand, "a", ("one", "two"))
    assert answer.payload.unread
    assert "unread" in answer.payload.text()


async def test_an_edit_of_a_file_that_moved_on_elsewhere_is_rebased(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    await hand.call(read_file, path="a")
    hand.files.put("a", "zero\none\ntwo\n")
    preview = await hand.preview(edit_file, path="a", edits=changes(("two", "TWO")))
    assert "rebased" in preview.headline
    answer = await edit(hand, "a", ("two", "TWO"))
    assert answer.payload.rebased
    assert "rebased" in answer.payload.text()
    assert hand.files.data("a") == b"zero\none\nTWO\n"


async def test_an_edit_whose_text_moved_on_is_stale_with_its_three_sides(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo = 2\n")
    digest = (await hand.call(read_file, path="a")).payload.digest
    hand.files.put("a", "one\ntwo = 22\n")
    refusal = await hand.refused(edit_file, "file.stale", path="a", edits=changes(("two = 2\n", "two = 3\n")))
    assert refusal.payload is not None
    view = refusal.payload.model_dump()
    assert view["cited"] == digest
    assert view["digest"] == of_bytes(b"one\ntwo = 22\n") == refusal.evidence.digest
    side = view["edits"][0]
    assert (side["expected"], side["wanted"], side["found"]) == ("two = 2\n", "two = 3\n", 0)
    assert side["now"]["lines"] == ("two = 22",)
    for word in ("you expected", "now there", "you wanted", "two = 22"):
        assert word in refusal.payload.text()
    assert hand.files.data("a") == b"one\ntwo = 22\n"


@pytest.mark.parametrize("every", [False, True])
async def test_text_that_is_no_longer_unique_or_is_replaced_everywhere_is_not_rebased(hand: Hand, every: bool) -> None:
    hand.files.put("a", "one\n")
    await hand.call(read_file, path="a")
    hand.files.put("a", "one\none\n")
    await hand.refused(edit_file, "file.stale", path="a", edits=changes(("one", "two", every)))


async def test_with_rebasing_off_any_difference_is_stale() -> None:
    hand = Hand(rebase=False)
    hand.files.put("a", "one\ntwo\n")
    await hand.call(read_file, path="a")
    hand.files.put("a", "zero\none\ntwo\n")
    await hand.refused(edit_file, "file.stale", path="a", edits=changes(("two", "TWO")))


async def test_a_file_that_changed_after_admission_counts_as_moved_on(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    facts = await hand.facts(
        edit_file, edit_file.parameters.model_validate({"path": "a", "edits": changes(("a", "b"))})
    )
    hand.files.put("a", "zero\none\ntwo\n")
    answer = await edit(hand, "a", ("two", "TWO"), facts=facts)
    assert answer.payload.rebased
    assert answer.payload.unread


async def test_a_writer_that_comes_between_is_edited_over_not_overwritten(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    times = iter(range(3))

    def other(path: str) -> None:
        if next(times, None) is not None:
            data = hand.files.data(path)
            assert data is not None
            hand.files.put(path, b"more\n" + data)

    hand.files.before_write = other
    answer = await edit(hand, "a", ("two", "TWO"))
    assert answer.payload.rebased
    assert hand.files.data("a") == b"more\nmore\nmore\none\nTWO\n"


async def test_a_writer_that_never_stops_makes_the_edit_stale_in_the_end(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    seen: list[str] = []

    def other(path: str) -> None:
        seen.append(path)
        hand.files.put(path, f"{len(seen)}\none\ntwo\n")

    hand.files.before_write = other
    with pytest.raises(Refusal) as caught:
        await edit(hand, "a", ("two", "TWO"))
    assert caught.value.name == "file.stale"
    assert len(seen) == ATTEMPTS
    assert hand.files.data("a") == f"{ATTEMPTS}\none\ntwo\n".encode()


async def test_a_writer_that_comes_between_is_stale_when_rebasing_is_off() -> None:
    hand = Hand(rebase=False)
    hand.files.put("a", "one\ntwo\n")
    hand.files.before_write = lambda path: hand.files.put(path, "zero\none\ntwo\n")
    with pytest.raises(Refusal) as caught:
        await edit(hand, "a", ("two", "TWO"))
    assert caught.value.name == "file.stale"
    assert caught.value.payload is not None
    assert hand.files.data("a") == b"zero\none\ntwo\n"


async def test_line_numbers_quoted_with_the_text_are_named(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    refusal = await hand.refused(edit_file, "file.no_match", path="a", edits=changes(("1\tone\n2\ttwo", "x")))
    assert "line numbers in front" in refusal.message


@pytest.mark.case("B049")
async def test_the_diff_beside_a_line_of_megabytes_stays_small(hand: Hand) -> None:
    long = "y" * 1_700_000
    hand.files.put("a", f"short one\n{long}\nlast\n")
    answer = await edit(hand, "a", ("last", "LAST"))
    assert hand.files.data("a") == f"short one\n{long}\nLAST\n".encode()
    assert answer.evidence.diff is not None
    assert len(answer.evidence.diff) < 1000
    assert "-last\n+LAST\n" in answer.evidence.diff


@pytest.mark.case("B037")
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o640, 0o604])
async def test_the_mode_stays(hand: Hand, mode: int) -> None:
    hand.files.put("a", "one\n", mode=mode)
    await edit(hand, "a", ("one", "two"))
    await hand.call(write_file, path="a", content="three\n", overwrite_existing=True)
    assert hand.files.mode("a") == mode


async def test_the_preview_shows_the_diff_and_changes_nothing(hand: Hand) -> None:
    hand.files.put("src/a.py", "one\ntwo\n")
    await hand.call(read_file, path="src/a.py")
    shown = await hand.preview(edit_file, path="src/a.py", edits=changes(("two", "TWO\nthree")))
    assert shown.headline == "update src/a.py (+2 -1)"
    assert shown.diff == "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+three\n"
    assert hand.files.data("src/a.py") == b"one\ntwo\n"


async def test_the_answer_carries_diff_and_digest_for_the_model(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\n")
    answer = await edit(hand, "a", ("two", "TWO"))
    text = answer.payload.text()
    assert answer.payload.digest[:12] in text
    assert "-two\n+TWO" in text
    assert "diff" not in answer.payload.model_dump()


async def test_facts_of_nowhere_do_not_stop_an_edit(hand: Hand) -> None:
    hand.files.put("a", "one\n")
    answer = await edit(hand, "a", ("one", "two"), facts=Facts())
    assert answer.payload.unread
