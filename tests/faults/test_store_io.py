"""The store on a disk that fails: the error surfaces, nothing failed becomes success later, what was durable stays."""

import errno
import os
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

import soak
from shelved import at, call
from toolcrib.store.shelf import Shelf
from toolcrib.terms.errors import StoreError
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

FACT = Entry(stage="config", data={"what": "a fact", "text": "x" * 6000})


@dataclass
class Disk:
    """What fails: every call of the named kind from number `at` on, `times` of them, on files that end so."""

    kind: str = ""
    ending: str = ""
    at: int = 1
    times: int = 1
    seen: int = 0
    calls: list[str] = field(default_factory=list[str])

    def strike(self, kind: str, name: str) -> bool:
        """Count a call, and say whether it fails."""
        self.calls.append(f"{kind} {Path(name).name}")
        if kind != self.kind or not name.endswith(self.ending):
            return False
        self.seen += 1
        return self.at <= self.seen < self.at + self.times


FAULTS = {
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "write": apsw.SQLITE_IOERR_WRITE,
    "read": apsw.SQLITE_IOERR_READ,
    "full": apsw.SQLITE_FULL,
}


class File(apsw.VFSFile):
    """A file of the failing disk."""

    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        self.disk = disk
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("unix", name, flags)

    def _fail(self, kind: str) -> None:
        if self.disk.strike(kind, self.name):
            error = apsw.exception_for(FAULTS[kind])
            raise error

    def xWrite(self, data: Any, offset: int) -> None:
        self._fail("write")
        self._fail("full")
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType] - annotated with a type of Python 3.12

    def xRead(self, amount: int, offset: int) -> bytes:
        self._fail("read")
        return super().xRead(amount, offset)

    def xSync(self, flags: int) -> None:
        self._fail("sync")
        super().xSync(flags)


class Failing(apsw.VFS):
    """The operating system's file access, of which some calls fail."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        super().__init__("failing", base="unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> File:
        return File(self.disk, name, flags)


@pytest.fixture
def disk() -> Generator[Disk]:
    found = Disk()
    default = apsw.vfs_names()[0]
    failing = Failing(found)
    yield found
    failing.unregister()
    assert apsw.vfs_names()[0] == default


@pytest.mark.parametrize("kind", ["sync", "write"])
async def test_a_failed_write_or_flush_refuses_and_is_never_tried_again(tmp_path: Path, disk: Disk, kind: str) -> None:
    async with at(tmp_path / "store") as store:
        await store.tape.append(call("before"))
        disk.kind, disk.ending, disk.seen = kind, "-wal", 0
        with pytest.raises(Refusal) as caught:
            await store.tape.append(call("failed"))
        assert caught.value.name == "store.unavailable"
        assert disk.seen == 1
        # The disk is well again, but what the failed flush lost is not known: the process writes no more.
        for _ in range(3):
            with pytest.raises(Refusal) as caught:
                await store.tape.append(call("later"))
            assert caught.value.name == "store.unavailable"
        assert disk.seen == 1
        assert store.trouble
        assert len(await store.tape.page()) == 3
    async with at(tmp_path / "store") as store:
        assert [each.call_id for each in await store.tape.page()] == ["before"] * 3
        await store.tape.append(call("later"))
        assert await store.check() == ()


async def test_a_full_disk_is_told_apart_and_passes(tmp_path: Path, disk: Disk) -> None:
    async with at(tmp_path / "store") as store:
        await store.tape.append(call("before"))
        disk.kind, disk.ending, disk.seen, disk.times = "full", "-wal", 0, 2
        for _ in range(2):
            with pytest.raises(Refusal) as caught:
                await store.tape.append([FACT])
            assert caught.value.name == "disk.full"
        assert (await store.tape.append([FACT]))[0].seq == 4
        assert (await store.tape.verify()).broken is None


# A fault in the last clean-up of a connection has no caller to go to: the driver reports it as unraisable.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.soak("tape")
@pytest.mark.parametrize("kind", ["sync", "write", "full"])
async def test_a_fault_at_any_call_of_a_run_loses_nothing_that_was_acknowledged(
    tmp_path: Path, disk: Disk, kind: str
) -> None:
    steps = soak.count(4000)
    for number in range(1, steps + 1):
        place = tmp_path / f"{kind}{number}"
        done: list[int] = []
        disk.kind, disk.ending, disk.at, disk.seen, disk.times = kind, "", number, 0, 1
        refused = 0
        try:
            async with at(place) as store:
                for turn in range(6):
                    try:
                        done += [each.seq for each in await store.tape.append([*call(f"c{turn}"), FACT])]
                    except Refusal as refusal:
                        assert refusal.name in {"store.unavailable", "disk.full"}
                        refused += 1
        except (StoreError, apsw.Error):
            refused += 1
        disk.kind = ""
        async with at(place) as store:
            verdict = await store.tape.verify()
            assert verdict.broken is None
            assert verdict.entries >= len(done)
            assert [each.seq for each in await store.tape.page(limit=1000)][: len(done)] == done
            assert await store.check() == ()
        assert refused or disk.seen < number or done


async def test_a_read_error_is_refused_and_passes(tmp_path: Path, disk: Disk) -> None:
    async with at(tmp_path / "store") as store:
        for number in range(30):
            await store.tape.append(call(f"c{number}", text="y" * 3000))
        disk.kind, disk.ending, disk.seen, disk.at, disk.times = "read", "", 0, 1, 10_000
        with pytest.raises(Refusal) as caught:
            await store.tape.page(limit=1000)
        assert caught.value.name == "store.unavailable"
        disk.kind = ""
        assert len(await store.tape.page(limit=1000)) == 90


@pytest.mark.parametrize("site", ["open", "write", "fsync", "rename", "mkdir"])
@pytest.mark.parametrize("reason", [errno.EIO, errno.ENOSPC])
async def test_a_blob_whose_file_cannot_be_written_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: str, reason: int
) -> None:
    async with at(tmp_path / "store") as store:
        data = os.urandom(100_000)
        true = getattr(os, site)

        def failing(*arguments: Any, **named: Any) -> Any:
            raise OSError(reason, os.strerror(reason))

        monkeypatch.setattr(os, site, failing)
        with pytest.raises(Refusal) as caught:
            await store.blobs.put(data)
        monkeypatch.setattr(os, site, true)
        assert caught.value.name == ("disk.full" if reason == errno.ENOSPC else "store.unavailable")
        assert os.listdir(tmp_path / "store" / "blobs" / "aside") == []
        digest = await store.blobs.put(data)
        assert await store.blobs.get(digest) == data


async def test_short_writes_of_a_blob_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = os.write

    def short(file: int, data: bytes) -> int:
        return true(file, bytes(data[:7777]))

    monkeypatch.setattr(os, "write", short)
    async with at(tmp_path / "store") as store:
        data = os.urandom(100_000)
        assert await store.blobs.get(await store.blobs.put(data)) == data


def test_a_blob_and_its_name_are_flushed_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def noted(name: str) -> None:
        true = getattr(os, name)

        def call(*arguments: Any, **named: Any) -> Any:
            what = arguments[0]
            kind = "directory" if isinstance(what, int) and os.path.isdir(f"/proc/self/fd/{what}") else "file"
            steps.append(name if name == "rename" else f"{name} {kind}")
            return true(*arguments, **named)

        monkeypatch.setattr(os, name, call)

    folder = os.open(tmp_path, os.O_RDONLY)
    shelf = Shelf(folder, "me", writable=True)
    shelf.put(b"0" * 50_000)
    for name in ("write", "fsync", "rename"):
        noted(name)
    shelf.put(b"1" * 50_000)
    first = steps.copy()
    steps.clear()
    shelf.put(b"1" * 50_000)
    shelf.close()
    os.close(folder)
    assert list(dict.fromkeys(first)) == ["write file", "fsync file", "fsync directory", "rename"]
    assert steps == []
