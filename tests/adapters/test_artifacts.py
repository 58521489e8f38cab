"""The port `Artifacts` on the real store and on the fake: slices on whole characters, plain search, checked pieces."""

import os
import tracemalloc
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelved import at
from toolcrib.ports.artifacts import Artifacts, Hit
from toolcrib.store.artifacts import PIECE, cut
from toolcrib.store.lines import CLIP, LONG, find_lines
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.fakes import MemoryArtifacts

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def store(place: Path) -> AsyncGenerator[Store]:
    async with at(place) as found:
        yield found


@pytest.fixture(params=["store", "memory"])
async def artifacts(request: pytest.FixtureRequest, place: Path) -> AsyncGenerator[Artifacts]:
    if request.param == "memory":
        yield MemoryArtifacts()
        return
    async with at(place) as found:
        yield found.artifacts


async def test_an_artifact_is_named_by_its_content_and_keeps_size_and_media(artifacts: Artifacts) -> None:
    data = b"some output\n" * 10
    made = await artifacts.put(data, media="text/plain")
    assert made.id == "a" + of_bytes(data)[:24]
    assert (made.size, made.media) == (120, "text/plain")
    assert await artifacts.put(data, media="text/plain") == made
    found = await artifacts.read(made.id, offset=0, limit=1000)
    assert (found.artifact, found.offset, found.data) == (made, 0, data)


@pytest.mark.parametrize(
    "name",
    ["a" + "0" * 24, "", "a", "A" + "0" * 24, "a" + "F" * 24, "a" + "0" * 25, "0" * 25, "../../etc", "a/" + "0" * 23],
)  # fmt: skip
async def test_an_id_that_names_nothing_is_refused(artifacts: Artifacts, name: str) -> None:
    for answer in (artifacts.read(name, offset=0, limit=9), artifacts.search(name, "x", limit=9)):
        with pytest.raises(Refusal) as caught:
            await answer
        assert caught.value.name == "artifact.missing"


@pytest.mark.parametrize("size", [5000, 3 * PIECE + 17])
async def test_slices_of_bytes_are_exact(artifacts: Artifacts, size: int) -> None:
    data = os.urandom(size)
    made = await artifacts.put(data, media="application/octet-stream")
    for offset, limit in (
        (0, 10),
        (7, size),
        (size - 5, 10),
        (PIECE - 3, 9),
        (size, 5),
        (size + 9, 5),
        (3, 0),
        (-4, 2),
    ):
        found = await artifacts.read(made.id, offset=offset, limit=limit)
        start = max(0, offset)
        assert found.data == data[start : start + limit]
        assert found.offset == min(start, size)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 1000])
async def test_paging_through_text_gives_whole_characters_and_all_of_them(artifacts: Artifacts, limit: int) -> None:
    text = "aé漢🎉\n" * 20
    made = await artifacts.put(text.encode(), media="text/plain; charset=utf-8")
    at_, seen = 0, ""
    while at_ < made.size:
        found = await artifacts.read(made.id, offset=at_, limit=limit)
        assert found.offset == at_
        assert found.data
        seen += found.data.decode("utf-8", "strict")
        at_ += len(found.data)
    assert seen == text


async def test_a_slice_that_starts_inside_a_character_has_it_whole_and_says_so(artifacts: Artifacts) -> None:
    made = await artifacts.put("ab🎉cd".encode(), media="text/plain")
    for offset in (2, 3, 4, 5):
        found = await artifacts.read(made.id, offset=offset, limit=4)
        assert found.offset == 2
        assert found.data.decode().startswith("🎉")


@given(data=st.binary(max_size=40), want=st.integers(1, 20), share=st.floats(0, 1, exclude_max=True))
def test_a_cut_gives_something_and_stays_near_what_was_asked(data: bytes, want: int, share: float) -> None:
    if data:
        start = int(share * len(data))
        first, last = cut(data, start, want)
        assert max(0, start - 3) <= first <= start
        assert first < last <= min(len(data), max(start + want, start + 4))


@given(text=st.text(min_size=1, max_size=30), want=st.integers(1, 20), share=st.floats(0, 1, exclude_max=True))
def test_a_cut_of_valid_text_is_valid_text(text: str, want: int, share: float) -> None:
    data = text.encode()
    first, last = cut(data, int(share * len(data)), want)
    assert data[first:last].decode()
    assert data[:first].decode() + data[first:last].decode() + data[last:].decode() == text


@given(data=st.binary(max_size=60), limit=st.integers(1, 9))
def test_paging_through_any_bytes_as_text_gives_them_all(data: bytes, limit: int) -> None:
    at_, seen = 0, b""
    while at_ < len(data):
        first, last = cut(data, at_, limit)
        assert first == at_
        seen += data[first:last]
        at_ = last
    assert seen == data


async def test_search_finds_plain_text_with_line_and_offset(artifacts: Artifacts) -> None:
    lines = [f"line {number} é" + (" x.*[" if number % 3 == 0 else "") for number in range(1, 10)]
    data = "\n".join(lines).encode()
    made = await artifacts.put(data, media="text/plain")
    hits, total = await artifacts.search(made.id, "x.*[", limit=2)
    assert total == 3
    assert [(hit.line, hit.text) for hit in hits] == [(3, lines[2]), (6, lines[5])]
    for hit in hits:
        assert data[hit.offset :].startswith(hit.text.encode())
    assert await artifacts.search(made.id, "X.*[", limit=9) == ([], 0)
    assert (await artifacts.search(made.id, "1\nline", limit=9))[1] == 0


def naive(data: bytes, needle: bytes) -> list[tuple[int, int]]:
    """Return the line and offset of each line that holds the needle, the slow way."""
    found: list[tuple[int, int]] = []
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if needle in line and (line or number <= data.count(b"\n")):
            found.append((number, offset))
        offset += len(line) + 1
    return found


@given(
    data=st.lists(st.sampled_from([b"a", b"b", b"ab", b"\n", b"aab", b"\r\n"]), max_size=60).map(b"".join),
    needle=st.sampled_from([b"a", b"ab", b"aab", b"ba", b"b\na", b"\n"]),
    size=st.integers(1, 9),
    long=st.integers(1, 12),
)
def test_search_agrees_with_the_slow_way_however_the_bytes_arrive(
    data: bytes, needle: bytes, size: int, long: int
) -> None:
    blocks = [data[at_ : at_ + size] for at_ in range(0, len(data), size)]
    hits, total = find_lines(blocks, needle, 1000, long=long)
    assert [(hit.line, hit.offset) for hit in hits] == naive(data, needle)
    assert total == len(hits)


def test_a_line_of_any_length_is_searched_in_bounded_memory() -> None:
    def blocks() -> Iterator[bytes]:
        yield from (b"y" * LONG for _ in range(20))
        yield b"y" * (LONG - 3) + b"nee"
        yield b"dle" + b"z" * 100 + b"\n"
        yield b"y" * (3 * LONG) + b"\nneedle\n"

    tracemalloc.start()
    try:
        hits, total = find_lines(blocks(), b"needle", 10)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 2
    assert [(hit.line, hit.offset) for hit in hits] == [(1, 0), (3, 24 * LONG + 105)]
    assert peak < 12 * LONG


def test_a_match_across_two_blocks_of_a_long_line_is_found() -> None:
    hits, total = find_lines([b"y" * (2 * LONG) + b"nee", b"dle" + b"z" * LONG, b"z" * LONG + b"\nend"], b"needle", 10)
    assert total == 1
    assert hits == [Hit(line=1, offset=0, text="y" * CLIP)]


async def test_damage_is_refused_where_it_is_read_and_only_there(place: Path, store: Store) -> None:
    data = b"0123456789abcde\n" * (5 * PIECE // 16)
    made = await store.artifacts.put(data, media="text/plain")
    digest = of_bytes(data)
    path = place / "blobs" / digest[:2] / digest[2:]
    bad = bytearray(data)
    bad[3 * PIECE + 5] ^= 1
    path.write_bytes(bad)
    assert (await store.artifacts.read(made.id, offset=PIECE, limit=100)).data == data[PIECE : PIECE + 100]
    for answer in (
        store.artifacts.read(made.id, offset=3 * PIECE - 50, limit=100),
        store.artifacts.search(made.id, "zzz", limit=5),
    ):
        with pytest.raises(Refusal, match="damaged"):
            await answer
    path.write_bytes(data[: 2 * PIECE])
    with pytest.raises(Refusal, match="damaged"):
        await store.artifacts.read(made.id, offset=4 * PIECE, limit=100)
    path.unlink()
    with pytest.raises(Refusal, match="damaged"):
        await store.artifacts.read(made.id, offset=0, limit=100)


async def test_artifacts_outlive_the_process(place: Path) -> None:
    data = os.urandom(200_000)
    async with at(place) as store:
        made = await store.artifacts.put(data, media="image/png")
    async with at(place) as store:
        assert (await store.artifacts.read(made.id, offset=0, limit=1 << 20)).data == data
