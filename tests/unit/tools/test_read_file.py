"""`read_file`: what it shows, and what it says of what it does not show."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.settings import FileSettings
from toolcrib.testing.fakes import MemoryFiles
from toolcrib.tools.files import read_file
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(50)
PDF = b"%PDF-1.7\nplain to the eye\n"


@pytest.fixture
def hand() -> Hand:
    return Hand()


async def test_a_reading_has_heading_numbers_and_exact_lines(hand: Hand) -> None:
    data = b"def a():\r\n\treturn  1\r\n"
    hand.files.put("src/a.py", data)
    answer = await hand.call(read_file, path="src/a.py")
    assert answer.payload.text() == (
        f"src/a.py: lines 1-2 of 2 lines; utf-8, crlf, 22 bytes; digest {of_bytes(data)[:12]}\n"
        "1\tdef a():\n2\t\treturn  1"
    )
    assert answer.payload.lines == ("def a():", "\treturn  1")
    assert answer.evidence.digest == answer.payload.digest == of_bytes(data)
    assert not answer.bounds


async def test_numbers_are_aligned_and_end_at_a_tab(hand: Hand) -> None:
    hand.files.put("a", "".join(f"{number}\n" for number in range(1, 121)))
    shown = (await hand.call(read_file, path="a", offset=98, limit=4)).payload.text().splitlines()
    assert shown[1:5] == [" 98\t98", " 99\t99", "100\t100", "101\t101"]
    assert shown[5] == "[19 more lines; continue with offset=102]"


@pytest.mark.case("B050")
async def test_a_cut_reading_says_how_to_go_on_and_past_the_end_is_said(hand: Hand) -> None:
    hand.files.put("a", "".join(f"{number}\n" for number in range(1, 11)))
    part = await hand.call(read_file, path="a", limit=5)
    assert (part.payload.total_lines, part.payload.next_offset, part.bounds.truncated) == (10, 6, True)
    rest = await hand.call(read_file, path="a", offset=part.payload.next_offset)
    assert (rest.payload.lines[0], rest.payload.next_offset, rest.bounds.truncated) == ("6", None, False)
    past = await hand.call(read_file, path="a", offset=11)
    assert past.payload.lines == ()
    assert "line 11 is past the end; the file has 10 lines in all" in past.payload.text()


@pytest.mark.case("B051")
async def test_an_empty_file_is_called_empty_and_far_past_the_end_is_not(hand: Hand) -> None:
    hand.files.put("a", "1\n2\n3\n4\n5\n")
    hand.files.put("empty", "")
    past = await hand.call(read_file, path="a", offset=100)
    assert "5 lines" in past.payload.text()
    assert "empty" not in past.payload.text()
    empty = await hand.call(read_file, path="empty")
    assert (empty.payload.total_lines, empty.payload.lines) == (0, ())
    assert "empty file" in empty.payload.text()


@pytest.mark.case("B053")
async def test_a_form_feed_ends_no_line(hand: Hand) -> None:
    hand.files.put("a", "def a():\n    return 1\n\n\x0c\ndef b():\n    TARGET = 1\n")
    answer = await hand.call(read_file, path="a", offset=6, limit=1)
    assert answer.payload.lines == ("    TARGET = 1",)


@pytest.mark.case("B055")
async def test_a_binary_is_refused_with_size_and_kind(hand: Hand) -> None:
    hand.files.put("program", b"\x7fELF\x02\x01\x01" + bytes(200))
    refusal = await hand.refused(read_file, "file.binary", path="program")
    assert "ELF" in refusal.message
    assert "207" in refusal.message


@pytest.mark.case("B057")
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
async def test_utf_16_is_shown_as_text_and_named(hand: Hand, codec: str) -> None:
    hand.files.put("a", "\ufeffone needle\r\ntwo\r\n".encode(codec))
    answer = await hand.call(read_file, path="a")
    assert answer.payload.lines == ("one needle", "two")
    assert f"{codec}, crlf" in answer.payload.text()


@pytest.mark.case("B058")
async def test_damage_is_marked_and_said_and_the_answer_is_valid_text(hand: Hand) -> None:
    hand.files.put("a", b"line of text\n" * 1600 + bytes(4096) + b"\xff\xfe\ntail\n")
    answer = await hand.call(read_file, path="a", offset=-2)
    assert answer.payload.lines[-1] == "tail"
    assert answer.payload.lines[0].startswith("\\x00")
    assert "not UTF-8 are shown as \\xNN" in answer.payload.text()
    json.dumps(answer.payload.model_dump(mode="json"), ensure_ascii=False).encode()
    answer.payload.text().encode()


@pytest.mark.case("B059")
async def test_odd_windows_are_results_or_argument_errors(hand: Hand) -> None:
    hand.files.put("a", "1\n2\n3\n4\n5\n")
    for offset, limit in ((1, 0), (1, -1), (0, 1)):
        with pytest.raises(ValidationError):
            await hand.call(read_file, path="a", offset=offset, limit=limit)
    assert (await hand.call(read_file, path="a", offset=-1)).payload.lines == ("5",)
    assert (await hand.call(read_file, path="a", offset=-99)).payload.lines == ("1", "2", "3", "4", "5")
    assert (await hand.call(read_file, path="a", offset="3")).payload.lines == ("3", "4", "5")
    assert (await hand.call(read_file, path="a", limit=10**12)).payload.lines == ("1", "2", "3", "4", "5")


async def test_more_than_two_thousand_lines_are_paged(hand: Hand) -> None:
    hand.files.put("a", "x\n" * 2500)
    answer = await hand.call(read_file, path="a", limit=10**6)
    assert (len(answer.payload.lines), answer.payload.next_offset) == (2000, 2001)


@pytest.mark.case("B049")
async def test_a_line_of_megabytes_is_clipped_with_its_length(hand: Hand) -> None:
    hand.files.put("a", "short one\n" + "y" * 1_700_000 + "\nlast\n")
    answer = await hand.call(read_file, path="a")
    assert answer.payload.lines[0] == "short one"
    assert answer.payload.lines[2] == "last"
    assert "[... clipped, 1,700,000 characters in all]" in answer.payload.text()
    assert answer.bounds.clipped_lines == 1


async def test_a_file_above_the_cap_has_no_digest_and_says_so() -> None:
    hand = Hand(files=MemoryFiles(settings=FileSettings(edit_bytes=100)))
    hand.files.put("a", "line\n" * 50)
    answer = await hand.call(read_file, path="a", limit=2)
    assert (answer.payload.digest, answer.payload.total_lines, answer.payload.next_offset) == (None, None, 3)
    assert answer.bounds.scan_capped
    assert "too large for a digest" in answer.payload.text()
    tail = await hand.call(read_file, path="a", offset=-2)
    assert (tail.payload.first_line, tail.payload.next_offset) == (-2, None)
    assert tail.payload.text().splitlines()[1:] == ["-2\tline", "-1\tline"]


@pytest.mark.case("B046")
async def test_what_is_no_file_is_refused_by_kind(hand: Hand) -> None:
    hand.files.special("p", "fifo")
    hand.files.directory("d")
    assert "FIFO" in (await hand.refused(read_file, "file.not_regular", path="p")).message
    assert "directory" in (await hand.refused(read_file, "file.not_regular", path="d")).message


async def test_a_missing_file_is_refused_with_the_nearest_names(hand: Hand) -> None:
    hand.files.put("src/reader.py", "x")
    refusal = await hand.refused(read_file, "file.missing", path="src/raeder.py")
    assert "'src/reader.py'" in refusal.hint


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [("a.png", PNG, "image/png"), ("b", PNG, "image/png"), ("c.PDF", PDF, "application/pdf")],
)
async def test_media_goes_to_a_caller_that_takes_it(name: str, data: bytes, media: str) -> None:
    hand = Hand(takes_media=True)
    hand.files.put(name, data)
    answer = await hand.call(read_file, path=name)
    shown = answer.payload.media
    assert (shown.media_type, shown.size, answer.payload.form) == (media, len(data), "media")
    assert hand.artifacts.held[shown.artifact][1] == data
    assert answer.evidence.digest == of_bytes(data)
    assert shown.artifact in answer.payload.text()


@pytest.mark.parametrize(("name", "data", "kind"), [("a.png", PNG, "PNG"), ("c.pdf", PDF, "pdf")])
async def test_media_is_refused_with_size_and_kind_to_a_caller_that_does_not(
    hand: Hand, name: str, data: bytes, kind: str
) -> None:
    hand.files.put(name, data)
    refusal = await hand.refused(read_file, "file.binary", path=name)
    assert kind in refusal.message
    assert str(len(data)) in refusal.message
    assert not hand.artifacts.held


@pytest.mark.parametrize("takes", [True, False])
async def test_text_with_the_name_of_a_picture_is_text(takes: bool) -> None:
    hand = Hand(takes_media=takes)
    hand.files.put("a.png", "not a picture\n")
    hand.files.put("b.pdf", "not a document\n")
    assert (await hand.call(read_file, path="a.png")).payload.lines == ("not a picture",)
    assert (await hand.call(read_file, path="b.pdf")).payload.lines == ("not a document",)


async def test_a_binary_that_is_no_media_is_refused_to_everyone() -> None:
    hand = Hand(takes_media=True)
    hand.files.put("a", b"\x7fELF\0")
    await hand.refused(read_file, "file.binary", path="a")


BOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "source": "print(1)\n1/0",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "AAAA"}},
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"},
                {"output_type": "stream", "text": "row\n" * 60},
            ],
        },
    ],
    "metadata": {},
    "nbformat": 4,
}


async def test_a_notebook_is_shown_as_cells(hand: Hand) -> None:
    hand.files.put("a.ipynb", json.dumps(BOOK))
    answer = await hand.call(read_file, path="a.ipynb")
    assert answer.payload.form == "notebook"
    assert answer.payload.lines[:10] == (
        "# %% cell 1: markdown",
        "# Title",
        "text",
        "# %% cell 2: code [3]",
        "print(1)",
        "1/0",
        "# -> 1",
        "# -> 42",
        "# -> [image/png, 4 characters]",
        "# -> error: ZeroDivisionError: division by zero",
    )
    assert answer.payload.lines[-1] == "# -> [... 20 more lines of this output]"
    assert answer.payload.digest == of_bytes(json.dumps(BOOK).encode())
    assert "notebook shown as cells" in answer.payload.text()
    part = await hand.call(read_file, path="a.ipynb", offset=4, limit=2)
    assert (part.payload.lines, part.payload.next_offset) == (("# %% cell 2: code [3]", "print(1)"), 6)
    last = await hand.call(read_file, path="a.ipynb", offset=-1)
    assert last.payload.lines == answer.payload.lines[-1:]


@pytest.mark.parametrize("text", ["{not json", "[]", '{"cells": 1}', "[" * 5000, "null"])
async def test_a_notebook_that_is_none_is_read_as_text(hand: Hand, text: str) -> None:
    hand.files.put("a.ipynb", text)
    answer = await hand.call(read_file, path="a.ipynb")
    assert answer.payload.form == "text"
    assert answer.payload.lines[0] == text[:2000]


@pytest.mark.parametrize(
    "cells",
    ["[null]", '[1, "x", []]', '[{"cell_type": 1, "source": {"a": 1}, "outputs": [null, {"data": []}]}]'],
)
async def test_odd_cells_do_not_fail(hand: Hand, cells: str) -> None:
    hand.files.put("a.ipynb", f'{{"cells": {cells}}}')
    assert (await hand.call(read_file, path="a.ipynb")).payload.total_lines
