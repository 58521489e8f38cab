"""The port `Blobs` on the real store and on the fake: bytes by their digest, durable, checked when they are read."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from anyio import to_thread

from shelved import answers, at
from toolcrib.ports.blobs import Blobs
from toolcrib.store.blobs import SMALL
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.fakes import MemoryBlobs

pytestmark = pytest.mark.anyio

SIZES = (0, 1, 4095, SMALL, SMALL + 1, 70_000, 3 << 20)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def store(place: Path) -> AsyncGenerator[Store]:
    async with at(place) as found:
        yield found


@pytest.fixture(params=["store", "memory"])
async def blobs(request: pytest.FixtureRequest, place: Path) -> AsyncGenerator[Blobs]:
    if request.param == "memory":
        yield MemoryBlobs()
        return
    async with at(place) as found:
        yield found.blobs


def files(place: Path) -> dict[str, int]:
    """Return every file below the blobs, with its size."""
    top = place / "blobs"
    return {str(path.relative_to(top)): path.stat().st_size for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("size", SIZES)
async def test_bytes_come_back_by_their_digest(blobs: Blobs, size: int) -> None:
    data = os.urandom(size)
    digest = await blobs.put(data)
    assert digest == of_bytes(data)
    assert await blobs.get(digest) == data
    assert await blobs.put(data) == digest
    assert await blobs.get(digest) == data


@pytest.mark.parametrize("digest", ["0" * 64, "", "../../x", "ab", "AB" * 32, "0" * 63 + "/", "\x00" * 64])
async def test_what_was_never_stored_is_missing(blobs: Blobs, digest: str) -> None:
    with pytest.raises(Refusal) as caught:
        await blobs.get(digest)
    assert caught.value.name == "snapshot.missing"


async def test_a_large_blob_is_one_private_file_under_its_digest_and_a_small_one_none(
    place: Path, store: Store
) -> None:
    large = await store.blobs.put(b"x" * (SMALL + 1))
    await store.blobs.put(b"y" * SMALL)
    assert files(place) == {f"{large[:2]}/{large[2:]}": SMALL + 1}
    assert (place / "blobs" / large[:2] / large[2:]).stat().st_mode & 0o777 == 0o600
    assert (place / "blobs" / large[:2]).stat().st_mode & 0o777 == 0o700


async def test_the_same_bytes_put_by_many_at_once_are_stored_once(place: Path, store: Store) -> None:
    for size in (100, 100_000):
        data = os.urandom(size)
        assert set(await asyncio.gather(*(store.blobs.put(data) for _ in range(12)))) == {of_bytes(data)}
    assert len(files(place)) == 1
    assert await to_thread.run_sync(answers, place, "SELECT count(*) FROM blobs") == [[[1]]]


@pytest.mark.parametrize("size", [100, 100_000])
@pytest.mark.parametrize("harm", ["flip", "cut", "gone"])
async def test_bytes_that_no_longer_match_are_refused_and_others_are_fine(place: Path, size: int, harm: str) -> None:
    data, other = os.urandom(size), os.urandom(size)
    async with at(place) as store:
        digest, fine = await store.blobs.put(data), await store.blobs.put(other)
        wrong = bytes([data[0] ^ 1]) + data[1:]
        kept = {"flip": wrong, "cut": data[:-1], "gone": None}[harm]
        if size < SMALL:
            change = f"UPDATE blobs SET data = x'{(kept or b'').hex()}'" if kept is not None else "DELETE FROM blobs"
            assert await to_thread.run_sync(answers, place, f"{change} WHERE digest = '{digest}'") == [[]]
        else:
            path = place / "blobs" / digest[:2] / digest[2:]
            path.write_bytes(kept) if kept is not None else path.unlink()
        with pytest.raises(Refusal) as caught:
            await store.blobs.get(digest)
        assert caught.value.name == ("snapshot.missing" if harm == "gone" else "snapshot.damaged")
        assert await store.blobs.get(fine) == other


async def test_a_file_of_the_wrong_size_is_written_anew(place: Path) -> None:
    data = os.urandom(100_000)
    async with at(place) as store:
        digest = await store.blobs.put(data)
    (place / "blobs" / digest[:2] / digest[2:]).write_bytes(data[:500])
    async with at(place) as store:
        assert await store.blobs.put(data) == digest
        assert await store.blobs.get(digest) == data


async def test_what_a_dead_process_left_aside_is_put_in_its_place_where_it_is_whole(place: Path) -> None:
    aside = place / "blobs" / "aside"
    data = os.urandom(100_000)
    dead = "01aaaaaaaaaaaaaaaaaaaaaaaa"
    async with at(place) as store:
        await store.blobs.put(b"x" * 100_000)
        live = f"{store.owner}-{of_bytes(data)}-1111"
        for name, content in {
            live: data,
            f"{dead}-{of_bytes(data)}-2222": data,
            f"{dead}-{of_bytes(data)}-3333": data[:-1],
            f"{dead}-nonsense-4444": data,
            f"{dead}-4444": data,
        }.items():
            (aside / name).write_bytes(content)
        async with at(place) as other:
            assert os.listdir(aside) == [live]
            assert await other.blobs.get(of_bytes(data)) == data
    async with at(place) as store:
        assert os.listdir(aside) == []
        assert await store.blobs.get(of_bytes(data)) == data
        assert len(files(place)) == 2


async def test_a_link_in_place_of_a_blob_is_not_followed(place: Path, store: Store, tmp_path: Path) -> None:
    data = os.urandom(100_000)
    digest = await store.blobs.put(data)
    path = place / "blobs" / digest[:2] / digest[2:]
    (tmp_path / "elsewhere").write_bytes(data)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal):
        await store.blobs.get(digest)
