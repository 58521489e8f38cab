"""`artifact_read`: slices that join to the whole, and searching in place."""

import pytest

from toolcrib.tools.artifacts import artifact_read
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio


@pytest.fixture
def hand() -> Hand:
    return Hand()


async def test_following_the_offsets_gives_the_whole_text(hand: Hand) -> None:
    text = "".join(f"line {number} \u4e2d\u00e9\U0001f600\n" for number in range(500))
    stored = await hand.artifacts.put(text.encode(), media="text/plain")
    parts: list[str] = []
    offset = 0
    for _ in range(10_000):
        answer = await hand.call(artifact_read, id=stored.id, offset=offset, limit=997)
        parts.append(answer.payload.content)
        offset = answer.payload.end
        assert answer.bounds.truncated == (offset < stored.size)
        if not answer.bounds.truncated:
            break
        assert f"continue with offset={offset}" in answer.payload.text()
    assert "".join(parts) == text


async def test_by_default_eight_thousand_bytes_are_shown(hand: Hand) -> None:
    stored = await hand.artifacts.put(b"x" * 20_000, media="text/plain")
    answer = await hand.call(artifact_read, id=stored.id)
    assert len(answer.payload.content) == 8000
    head = answer.payload.text().splitlines()[0]
    assert head == f"{stored.id}: text/plain, 20,000 bytes; bytes 0 to 8,000; 12,000 more, continue with offset=8000"


async def test_past_the_end_and_empty_are_said(hand: Hand) -> None:
    stored = await hand.artifacts.put(b"abc", media="text/plain")
    empty = await hand.artifacts.put(b"", media="text/plain")
    assert "past the end" in (await hand.call(artifact_read, id=stored.id, offset=4)).payload.text()
    assert "empty" in (await hand.call(artifact_read, id=empty.id)).payload.text()


async def test_a_pattern_gives_lines_with_numbers_and_offsets_that_can_be_read(hand: Hand) -> None:
    text = "".join(f"row {number}: {'FAIL' if number % 50 == 7 else 'ok'}\n" for number in range(1, 301))
    stored = await hand.artifacts.put(text.encode(), media="text/plain")
    answer = await hand.call(artifact_read, id=stored.id, pattern="FAIL")
    assert [line.line for line in answer.payload.lines] == [7, 57, 107, 157, 207, 257]
    assert not answer.bounds
    at = answer.payload.lines[1].offset
    read = await hand.call(artifact_read, id=stored.id, offset=at, limit=12)
    assert read.payload.content == "row 57: FAIL"
    assert f"57 @{at}: row 57: FAIL" in answer.payload.text()


async def test_many_hits_are_counted_and_cut(hand: Hand) -> None:
    stored = await hand.artifacts.put(b"hit\n" * 1000, media="text/plain")
    answer = await hand.call(artifact_read, id=stored.id, pattern="hit")
    assert (len(answer.payload.lines), answer.payload.total_lines, answer.bounds.truncated) == (100, 1000, True)
    assert "first 100 of 1,000 lines" in answer.payload.text()


async def test_what_is_no_text_is_refused_and_what_is_missing_too(hand: Hand) -> None:
    stored = await hand.artifacts.put(b"\x89PNG", media="image/png")
    refusal = await hand.refused(artifact_read, "file.binary", id=stored.id)
    assert "image/png" in refusal.message
    await hand.refused(artifact_read, "artifact.missing", id="a" * 25)


async def test_bytes_that_are_no_text_are_shown_as_escapes(hand: Hand) -> None:
    stored = await hand.artifacts.put(b"caf\xe9\0", media="text/plain")
    answer = await hand.call(artifact_read, id=stored.id)
    assert answer.payload.content == "caf\\xe9\\x00"
