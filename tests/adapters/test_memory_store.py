"""The blobs and artifacts in memory answer as the store does, slice by slice and hit by hit."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelved import Hands, opened
from toolcrib.ports.artifacts import Artifacts
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.fakes import MemoryArtifacts, MemoryBlobs

pytestmark = pytest.mark.anyio

PIECES = st.sampled_from(["a", "\u00e9", "\u4e2d", "\U0001f600", "\n", "needle", "\r\n"])
TEXTS = st.lists(PIECES, max_size=40).map(lambda parts: "".join(parts).encode()) | st.binary(max_size=60)
MEDIA = st.sampled_from(
    ["text/plain", "application/json", "image/png", "text/plain; charset=utf-8", "application/toml"]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "state" / "store", Hands()) as found:
        yield found


async def test_blobs_come_back_and_what_was_never_put_is_missing(store: Store) -> None:
    memory = MemoryBlobs()
    for data in (b"", b"small", b"x" * 100_000):
        assert await memory.put(data) == await store.blobs.put(data) == of_bytes(data)
        assert await memory.get(of_bytes(data)) == await store.blobs.get(of_bytes(data)) == data
    for blobs in (memory, store.blobs):
        with pytest.raises(Refusal) as caught:
            await blobs.get("0" * 64)
        assert caught.value.name == "snapshot.missing"


async def test_a_damaged_blob_is_said() -> None:
    memory = MemoryBlobs()
    digest = await memory.put(b"whole")
    memory.held[digest] = b"broken"
    with pytest.raises(Refusal) as caught:
        await memory.get(digest)
    assert caught.value.name == "snapshot.damaged"


async def test_unknown_artifacts_are_missing(store: Store) -> None:
    for artifacts in (MemoryArtifacts(), store.artifacts):
        for name in ("a" + "0" * 24, "", "../x", "A" + "0" * 24):
            with pytest.raises(Refusal) as caught:
                await artifacts.read(name, offset=0, limit=1)
            assert caught.value.name == "artifact.missing"
            with pytest.raises(Refusal) as caught:
                await artifacts.search(name, "x", limit=1)
            assert caught.value.name == "artifact.missing"


async def test_the_first_media_type_stays(store: Store) -> None:
    for artifacts in (MemoryArtifacts(), store.artifacts):
        first = await artifacts.put(b"same", media="text/plain")
        assert await artifacts.put(b"same", media="image/png") == first


async def compare(store: Artifacts, data: bytes, media: str, asked: list[tuple[int, int]], pattern: str) -> None:
    memory = MemoryArtifacts()
    # the store keeps the first media type of the same bytes: the type is part of the bytes here
    whole = data + media.encode()
    stored, held = await store.put(whole, media=media), await memory.put(whole, media=media)
    assert held == stored
    for offset, limit in asked:
        assert await memory.read(held.id, offset=offset, limit=limit) == await store.read(
            stored.id, offset=offset, limit=limit
        )
    for limit in (1, 3, 100):
        hits, total = await memory.search(held.id, pattern, limit=limit)
        assert (list(hits), total) == await found(store, stored.id, pattern, limit)


async def found(store: Artifacts, name: str, pattern: str, limit: int) -> tuple[list[object], int]:
    hits, total = await store.search(name, pattern, limit=limit)
    return list(hits), total


def test_every_slice_and_hit_is_the_stores(tmp_path: Path) -> None:
    with opened(tmp_path / "state" / "store", Hands()) as store:

        @settings(max_examples=60)
        @given(
            TEXTS,
            MEDIA,
            st.lists(st.tuples(st.integers(-1, 200), st.integers(0, 60)), min_size=1, max_size=8),
            st.sampled_from(["needle", "a", "\u4e2d", "e\ne", "zzz", "\n"]),
        )
        def check(data: bytes, media: str, asked: list[tuple[int, int]], pattern: str) -> None:
            anyio.run(compare, store.artifacts, data, media, asked, pattern)

        check()
