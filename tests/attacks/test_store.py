"""Attacks on the store directory: damaged, foreign and hostile databases, full and read-only disks, locks, kills."""

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

import soak
from shelved import Hands, approval, asked, at, call, child, grant, opened, received
from toolcrib.store.database import VERSION, Link, Mode
from toolcrib.store.migrations import MIGRATIONS
from toolcrib.store.schema import APPLICATION_ID
from toolcrib.store.store import Store
from toolcrib.terms.errors import StoreError
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

BLOBS = [b"small", b"L" * 50_000]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


async def fill(place: Path, *, calls: int = 12) -> None:
    """Make a store that holds some of everything."""
    clock = Hands()
    async with at(place, clock) as store:
        for number in range(calls):
            await store.tape.append(call(f"c{number:03}", changed=["a.py"] if number % 3 == 0 else []))
        await store.tape.append([received("open", owner="gone"), Entry(stage="started", call_id="open", data={})])
        await store.tape.append([Entry(stage="config", data={"text": "large " * 2000})])
        for number in range(3):
            made = approval(clock, id=f"a{number}", call_id=f"asked{number}", effect=f"{number}" * 64, seconds=86400.0)
            await store.approvals.ask(made, asked(made))
        await store.approvals.answer("a1", decision="once", words="yes", by="ann")
        await store.approvals.answer("a2", decision="deny", words="no", by="ann")
        await store.grants.add(grant(clock, id="g1", uses=3))
        for data in BLOBS:
            await store.blobs.put(data)
        await store.artifacts.put(b"an output\n" * 9000, media="text/plain")


Reading = Callable[[Store], Any]


def readings(digests: list[str], artifact: str) -> dict[str, Reading]:
    """Return every reading that the store offers, by a name."""
    return {
        "page": lambda store: store.tape.page(limit=1000),
        "latest": lambda store: store.tape.latest(limit=5),
        "of a call": lambda store: store.tape.page(call_id="c003"),
        "job": lambda store: store.jobs.find("c003"),
        "open job": lambda store: store.jobs.find("open"),
        "no job": lambda store: store.jobs.find("never"),
        "changed": lambda store: store.jobs.changed(),
        "unfinished": lambda store: store.jobs.unfinished(dead=["gone"]),
        "pending": lambda store: store.approvals.pending(),
        "granted": lambda store: store.approvals.find("a1"),
        "standing": lambda store: store.approvals.standing(effect="2" * 64, principal="me"),
        "grants": lambda store: store.grants.active("/root"),
        **{f"blob {digest[:4]}": lambda store, digest=digest: store.blobs.get(digest) for digest in digests},
        "artifact": lambda store: store.artifacts.read(artifact, offset=70_000, limit=100),
        "search": lambda store: store.artifacts.search(artifact, "output", limit=2),
    }


async def reading(store: Store, way: Reading) -> Any:
    """Return what a reading answers, or the name of its refusal."""
    try:
        return await way(store)
    except Refusal as refusal:
        return refusal.name


@pytest.fixture
async def whole(tmp_path: Path) -> tuple[Path, dict[str, Reading], dict[str, Any]]:
    """Return a store that was closed well, its readings, and what they answer."""
    place = tmp_path / "whole"
    await fill(place)
    async with at(place) as store:
        digests = [await store.blobs.put(data) for data in BLOBS]
        artifact = (await store.artifacts.put(b"an output\n" * 9000, media="text/plain")).id
        ways = readings(digests, artifact)
        answers = {name: await reading(store, way) for name, way in ways.items()}
    assert not [name for name, answer in answers.items() if isinstance(answer, str)]
    return place, ways, answers


NAMES = {"store.unavailable", "snapshot.damaged", "snapshot.missing", "artifact.missing"}


async def judged(place: Path, ways: dict[str, Reading], answers: dict[str, Any]) -> str:
    """Open a damaged store: `refused`, `noticed` by a reading, or `same`; anything else is wrong data in silence."""
    try:
        store = await to_thread.run_sync(lambda: Store.open(str(place), clock=Hands()))
    except StoreError as error:
        assert error.message
        assert error.hint
        assert "\n" not in error.message + error.hint
        return "refused"
    verdict = "same"
    try:
        for name, way in ways.items():
            answer = await reading(store, way)
            if answer != answers[name]:
                assert isinstance(answer, str), f"{name} answers otherwise, in silence"
                assert answer in NAMES
                verdict = "noticed"
    finally:
        await to_thread.run_sync(store.close)
    return verdict


def flip(path: Path, offset: int, mask: int = 1) -> None:
    """Change bits of one byte of a file."""
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ mask]))


def naive(place: Path) -> list[Any]:
    """Read the tape as a program would that trusts the file."""
    database = sqlite3.connect(place / "store.db")
    try:
        return database.execute("SELECT * FROM entries ORDER BY seq").fetchall()
    finally:
        database.close()


@pytest.mark.attack("A151")
@pytest.mark.soak("tape")
async def test_a_flipped_bit_anywhere_is_noticed_or_changes_nothing(
    whole: tuple[Path, dict[str, Reading], dict[str, Any]], tmp_path: Path
) -> None:
    place, ways, answers = whole
    true, lies, seen = naive(place), 0, set[str]()
    chance = random.Random(151)
    size = (place / "store.db").stat().st_size
    for number in range(soak.count(8000)):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(place, copy)
        await to_thread.run_sync(flip, copy / "store.db", chance.randrange(size), 1 << chance.randrange(8))
        with suppress(sqlite3.Error, UnicodeDecodeError):
            lies += (await to_thread.run_sync(naive, copy)) != true
        seen.add(await judged(copy, ways, answers))
        shutil.rmtree(copy)
    # The control: the program that trusts the file was given another tape, and no error with it.
    assert lies
    assert "same" in seen
    assert seen & {"refused", "noticed"}


HARM: dict[str, Callable[[Path], object]] = {
    "a header of zeros": lambda path: os.pwrite(os.open(path, os.O_WRONLY), bytes(100), 0),
    "random bytes": lambda path: path.write_bytes(random.Random(1).randbytes(path.stat().st_size)),
    "text": lambda path: path.write_text("not a database\n" * 1000),
    "a byte of the header": lambda path: flip(path, 20, 0xFF),
    "a page size": lambda path: flip(path, 16, 0xFF),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2 // 4096 * 4096),
    "cut by a page": lambda path: os.truncate(path, path.stat().st_size - 4096),
    "cut within a page": lambda path: os.truncate(path, path.stat().st_size - 100),
    "cut to nothing": lambda path: os.truncate(path, 0),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "gone": lambda path: path.unlink(),
    "a link": lambda path: (
        path.rename(path.parent.parent / "moved.db"),
        path.symlink_to(path.parent.parent / "moved.db"),
    ),
    "a fifo": lambda path: (path.unlink(), os.mkfifo(path)),
    "every second page zero": lambda path: [zero(path, page) for page in range(1, path.stat().st_size // 4096, 2)],
}


def zero(path: Path, page: int) -> None:
    """Overwrite one page of a file with zeros."""
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))


@pytest.mark.attack("A151")
@pytest.mark.parametrize("harm", sorted(HARM))
async def test_a_ruined_database_is_refused_at_opening_and_left_as_it_is(
    whole: tuple[Path, dict[str, Reading], dict[str, Any]], harm: str
) -> None:
    place, ways, answers = whole
    database = place / "store.db"
    HARM[harm](database)
    before = database.read_bytes() if database.is_file() else os.path.lexists(database)
    assert await judged(place, ways, answers) == "refused"
    assert (database.read_bytes() if database.is_file() else os.path.lexists(database)) == before
    assert set(os.listdir(place)) <= {
        "store.db",
        "mark",
        "owners",
        "blobs",
        "store.db-wal",
        "store.db-shm",
        "store.db-journal",
    }


@pytest.mark.attack("A151")
@pytest.mark.soak("tape")
async def test_a_hundred_zeroed_pages_are_noticed(
    whole: tuple[Path, dict[str, Reading], dict[str, Any]], tmp_path: Path
) -> None:
    place, ways, answers = whole
    await fill_more(place)
    async with at(place) as store:
        answers = {name: await reading(store, way) for name, way in ways.items()}
    pages = (place / "store.db").stat().st_size // 4096
    assert pages > 200
    for number in range(soak.count(1000)):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(place, copy)
        for page in random.Random(number).sample(range(pages), 100):
            zero(copy / "store.db", page)
        assert await judged(copy, ways, answers) == "refused"
        shutil.rmtree(copy)


async def fill_more(place: Path) -> None:
    """Add some hundred pages to a store."""
    async with at(place) as store:
        for number in range(40):
            await store.tape.append([Entry(stage="config", data={"text": f"{number} " * 8000})])


CRASHED = """
import asyncio, os, sys
from shelved import Hands, at, call
async def main():
    async with at(sys.argv[1]) as store:
        for number in range(40):
            await store.tape.append(call(f"crash{number:03}"))
        os.kill(os.getpid(), 9)
asyncio.run(main())
"""


def crash(place: Path) -> None:
    """Append 120 acknowledged entries to a store and leave it by SIGKILL, all of them in the write-ahead log."""
    with opened(place):
        pass
    with child(CRASHED, str(place)) as process:
        assert process.wait(20) == -9


@pytest.mark.attack("A151")
@pytest.mark.soak("tape")
def test_a_damaged_write_ahead_log_loses_no_acknowledged_entry_in_silence(place: Path, tmp_path: Path) -> None:
    crash(place)
    log = place / "store.db-wal"
    size = len(log.read_bytes().rstrip(b"\0"))
    assert size > 100_000
    chance = random.Random(152)
    seen: list[str] = []
    lies = 0
    for number in range(soak.count(4000)):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(place, copy)
        flip(copy / "store.db-wal", chance.randrange(size))
        control = tmp_path / "control"
        shutil.copytree(copy, control)
        lies += len(naive(control)) < 120
        shutil.rmtree(control)
        try:
            with opened(copy) as store:
                found = asyncio.run(store.tape.verify())
                assert (found.entries, found.broken) == (120, None)
                seen.append("same")
        except StoreError as error:
            assert "acknowledged" in error.message or "damaged" in error.message
            seen.append("refused")
        shutil.rmtree(copy)
    # The control: SQLite takes a damaged log for one that ends there, and so loses entries without a word.
    assert lies
    assert "refused" in seen


@pytest.mark.attack("A151")
@pytest.mark.parametrize("harm", ["log gone", "log cut", "shm garbled", "shm gone", "mark garbled", "mark gone"])
def test_what_stands_beside_the_database_is_rebuilt_or_refused(place: Path, harm: str) -> None:
    crash(place)
    what, how = harm.split()
    path = place / {"log": "store.db-wal", "shm": "store.db-shm", "mark": "mark"}[what]
    if how == "gone":
        path.unlink()
    elif how == "cut":
        os.truncate(path, 60_000)
    else:
        path.write_bytes(os.urandom(path.stat().st_size))
    if what == "log":
        with pytest.raises(StoreError, match=r"120 were acknowledged|empty"):
            Store.open(str(place), clock=Hands())
        return
    with opened(place) as store:
        found = asyncio.run(store.tape.verify())
        assert (found.entries, found.broken) == (120, None)


async def test_the_full_check_of_a_sound_store_finds_nothing_and_of_a_lying_one_something(place: Path) -> None:
    await fill(place)
    async with at(place) as store:
        assert await store.check() == ()
    database = sqlite3.connect(place / "store.db")
    database.execute("UPDATE jobs SET seq = 9999 WHERE call_id = 'c003'")
    database.commit()
    database.close()
    async with at(place) as store:
        assert await store.check() == ("entry 49 of the tape: entries up to 9999 are missing",)


def tampered(place: Path, *statements: str) -> None:
    """Run statements on a closed store."""
    database = sqlite3.connect(place / "store.db", isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


HOSTILE = {
    "a trigger that forges": (
        "CREATE TRIGGER evil AFTER INSERT ON entries BEGIN UPDATE approvals SET state = 'granted'; END",
    ),
    "a view in place of a table": (
        "ALTER TABLE grants RENAME TO hidden",
        "CREATE VIEW grants AS SELECT id, root, term, record, seal FROM hidden",
    ),
    "a trigger removed": ("DROP TRIGGER entries_are_not_changed",),
    "a further table": ("CREATE TABLE more (x)",),
    "an index on an expression": ("CREATE INDEX evil ON entries (abs(seq))",),
    "a generated column": ("ALTER TABLE artifacts ADD COLUMN evil TEXT AS (hex(id))",),
    "a default that computes": ("ALTER TABLE blobs ADD COLUMN evil TEXT DEFAULT ('x')",),
    "a temporary-looking name": ("CREATE TABLE 'temp.entries' (x)",),
}


@pytest.mark.attack("A152")
@pytest.mark.parametrize("kind", sorted(HOSTILE))
async def test_a_schema_that_someone_else_changed_is_refused_before_it_runs(place: Path, kind: str) -> None:
    await fill(place, calls=2)
    tampered(place, *HOSTILE[kind])
    before = (place / "store.db").read_bytes()
    with pytest.raises(StoreError, match="schema of the store is not that of version 3"):
        await to_thread.run_sync(lambda: Store.open(str(place), clock=Hands()))
    assert (place / "store.db").read_bytes() == before


@pytest.mark.attack("A152")
async def test_the_forging_trigger_works_on_a_program_that_trusts_the_schema(place: Path) -> None:
    await fill(place, calls=2)
    tampered(
        place,
        *HOSTILE["a trigger that forges"],
        "INSERT INTO entries VALUES (999, 1.0, 'config', '', '{}', x'00', x'00')",
    )
    database = sqlite3.connect(place / "store.db")
    assert database.execute("SELECT DISTINCT state FROM approvals").fetchall() == [("granted",)]
    database.close()


@pytest.mark.attack("A152")
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("PRAGMA application_id = 1", "belongs to another program"),
        ("PRAGMA application_id = 0", "belongs to another program"),
        ("PRAGMA user_version = 0", "schema"),
        ("PRAGMA user_version = -1", "newer|schema|damaged"),
        (f"PRAGMA user_version = {len(MIGRATIONS) + 1}", "newer than"),
    ],
)
async def test_a_foreign_or_newer_database_is_refused_and_left_alone(place: Path, statement: str, words: str) -> None:
    await fill(place, calls=2)
    tampered(place, statement)
    before = (place / "store.db").read_bytes()
    with pytest.raises(StoreError, match=words):
        await to_thread.run_sync(lambda: Store.open(str(place), clock=Hands()))
    assert (place / "store.db").read_bytes() == before


@pytest.mark.attack("A152")
def test_a_database_of_another_program_is_never_made_into_a_store(place: Path) -> None:
    place.mkdir()
    tampered(place, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES ('precious')")
    before = (place / "store.db").read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store.open(str(place), clock=Hands())
    assert (place / "store.db").read_bytes() == before
    assert os.listdir(place) == ["store.db"]


@pytest.mark.attack("A152")
def test_a_header_that_claims_a_huge_database_is_refused(place: Path) -> None:
    with opened(place):
        pass
    with (place / "store.db").open("r+b") as file:
        file.seek(28)
        file.write((0xFFFFFFF0).to_bytes(4, "big"))
    with pytest.raises(StoreError, match=r"damaged|cannot be opened"):
        Store.open(str(place), clock=Hands())


def test_a_directory_that_holds_other_things_is_not_made_into_a_store(place: Path) -> None:
    place.mkdir(mode=0o755)
    (place / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="holds other things"):
        Store.open(str(place), clock=Hands())
    assert os.listdir(place) == ["notes.txt"]
    assert place.stat().st_mode & 0o777 == 0o755


def test_everything_in_the_directory_is_private(place: Path) -> None:
    before = os.umask(0)
    try:
        place.mkdir(mode=0o777)
        with opened(place) as store:
            asyncio.run(store.tape.append(call("c1")))
            asyncio.run(store.blobs.put(b"x" * 50_000))
            modes = {path.name: path.stat().st_mode & 0o777 for path in place.rglob("*")}
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o700
    assert {mode for name, mode in modes.items() if (place / name).is_file()} == {0o600}
    assert set(modes.values()) == {0o600, 0o700}


def test_the_sqlite_in_use_is_past_the_bug_that_could_lose_a_commit() -> None:
    assert tuple(int(part) for part in VERSION.split(".")) >= (3, 51, 3)


@pytest.mark.parametrize(
    "pragma", ["trusted_schema", "cell_size_check", "mmap_size", "foreign_keys", "synchronous", "journal_mode"]
)
def test_every_connection_has_the_pragmas_of_the_design(place: Path, pragma: str) -> None:
    with opened(place):
        wanted = {
            "trusted_schema": 0,
            "cell_size_check": 1,
            "mmap_size": 0,
            "foreign_keys": 1,
            "synchronous": 2,
            "journal_mode": "wal",
        }
        modes: tuple[Mode, ...] = ("write", "read")
        for mode in modes:
            link = Link.open(str(place / "store.db"), mode)
            assert link.one(f"PRAGMA {pragma}") in {(wanted[pragma],), None}
            assert link.number("PRAGMA application_id") == APPLICATION_ID
            link.close()


@contextmanager
def tiny(where: Path, size: str) -> Generator[Path]:
    """Mount a file system of `size` at `where`."""
    where.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(where)], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


def stuff(where: Path) -> Path:
    """Fill what is free at `where` to the last byte with one file."""
    path = where / "stuffing"
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return path


@pytest.mark.attack("A147")
@pytest.mark.attack("A157")
async def test_a_full_disk_is_said_leaves_nothing_partial_and_passes_without_a_restart(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "12m") as disk:
        async with at(disk / "store") as store:
            await store.tape.append(call("before"))
            stuffing = await to_thread.run_sync(stuff, disk)
            assert os.statvfs(disk).f_bavail == 0
            full = 0
            for number in range(400):
                try:
                    await store.tape.append([Entry(stage="config", data={"n": number, "text": "x" * 40_000})])
                except Refusal as refusal:
                    assert refusal.name == "disk.full"
                    full += 1
            assert full
            assert store.trouble
            for size in (10_000, 200_000):
                with pytest.raises(Refusal) as caught:
                    await store.blobs.put(os.urandom(size))
                assert caught.value.name == "disk.full"
            made = approval(Hands())
            with pytest.raises(Refusal) as caught:
                await store.approvals.ask(approval(Hands(), diff="d" * 60_000), asked(made))
            assert caught.value.name == "disk.full"
            assert os.listdir(disk / "store" / "blobs" / "aside") == []
            verdict = await store.tape.verify()
            assert (verdict.entries, verdict.broken) == (3 + 400 - full, None)
            stuffing.unlink()
            assert (await store.tape.append(call("after")))[0].seq == verdict.entries + 1
            assert store.trouble == ""
            data = os.urandom(200_000)
            assert await store.blobs.get(await store.blobs.put(data)) == data
        async with at(disk / "store") as store:
            assert await store.check() == ()


@pytest.mark.attack("A147")
async def test_a_store_that_cannot_be_made_for_want_of_space_is_refused_and_made_later(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "1m") as disk:
        stuffing = await to_thread.run_sync(stuff, disk)
        with pytest.raises(StoreError, match="full"):
            await to_thread.run_sync(lambda: Store.open(str(disk / "store"), clock=Hands()))
        stuffing.unlink()
        async with at(disk / "store") as store:
            await store.tape.append(call("c1"))


@pytest.mark.attack("A149")
@pytest.mark.parametrize("left", ["well", "by a crash"])
async def test_a_store_on_a_read_only_disk_is_read_and_appends_are_refused(tmp_path: Path, left: str) -> None:
    with tiny(tmp_path / "disk", "16m") as disk:
        if left == "well":
            async with at(disk / "store") as store:
                for number in range(40):
                    await store.tape.append(call(f"crash{number:03}"))
        else:
            await to_thread.run_sync(crash, disk / "store")
        await to_thread.run_sync(subprocess.check_call, ["mount", "-o", "remount,ro", str(disk)])
        async with at(disk / "store") as store:
            assert store.read_only
            assert store.owner == ""
            assert len(await store.tape.page(limit=1000)) == 120
            assert (await store.tape.verify()).entries == 120
            job = await store.jobs.find("crash007")
            assert job is not None
            assert await store.check() == ()
            made = approval(Hands())
            for write in (
                store.tape.append(call("c1")),
                store.approvals.ask(made, asked(made)),
                store.approvals.answer(made.id, decision="once", words="", by="x"),
                store.approvals.lease("x", seconds=5),
                store.grants.add(grant(Hands())),
                store.blobs.put(b"x"),
                store.artifacts.put(b"x", media="text/plain"),
            ):
                with pytest.raises(Refusal, match="read-only") as caught:
                    await write
                assert caught.value.name == "store.unavailable"


@pytest.mark.attack("A149")
def test_no_store_on_a_read_only_disk_is_refused(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreError, match="Read-only"):
            Store.open(str(disk / "store"), clock=Hands())


@pytest.mark.attack("A149")
async def test_a_disk_that_becomes_read_only_refuses_appends_and_reads_go_on(tmp_path: Path) -> None:
    with tiny(tmp_path / "disk", "16m") as disk:
        async with at(disk / "store") as store:
            await store.tape.append(call("c1"))
            await to_thread.run_sync(subprocess.run, ["mount", "-o", "remount,ro", str(disk)])
            held = os.statvfs(disk).f_flag & os.ST_RDONLY
            if held:
                with pytest.raises(Refusal) as caught:
                    await store.tape.append(call("c2"))
                assert caught.value.name == "store.unavailable"
            assert len(await store.tape.page()) == 3 + 3 * (not held) * 0


HOLDER = """
import sys
from shelved import opened
with opened(sys.argv[1]) as store:
    print(store.owner, flush=True)
    sys.stdin.read()
"""


@pytest.mark.attack("A154", "store")
def test_a_live_process_is_never_taken_for_dead_and_a_killed_one_always(place: Path) -> None:
    with opened(place) as store, child(HOLDER, str(place)) as other:
        assert other.stdout is not None
        owner = other.stdout.readline().strip()
        assert owner
        assert owner != store.owner
        assert store.dead_owners() == ()
        assert not store.forget_owner(owner)
        assert not store.forget_owner(store.owner)
        other.kill()
        other.wait(10)
        assert store.dead_owners() == (owner,)
        # The process id in the file belongs to a process that lives: it proves nothing either way.
        (place / "owners" / f"{owner}.lock").write_text(f"{os.getpid()}\n")
        assert store.dead_owners() == (owner,)
        assert store.forget_owner(owner)
        assert not store.forget_owner(owner)
        assert store.dead_owners() == ()


@pytest.mark.attack("A154", "store")
def test_a_process_that_ended_well_leaves_no_lock(place: Path) -> None:
    with child(HOLDER, str(place)) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        other.communicate()
    assert other.returncode == 0
    with opened(place) as store:
        assert store.dead_owners() == ()
        assert os.listdir(place / "owners") == [f"{store.owner}.lock"]


@pytest.mark.attack("A154", "store")
def test_two_stores_of_one_process_do_not_disturb_each_other(place: Path) -> None:
    with opened(place) as one:
        with opened(place) as two:
            assert one.owner != two.owner
            assert one.dead_owners() == two.dead_owners() == ()
            asyncio.run(two.tape.append(call("c1")))
        assert one.dead_owners() == ()
        asyncio.run(one.tape.append(call("c2")))
        assert asyncio.run(one.tape.verify()).entries == 6


HALF = """
import os, sys
from shelved import opened
from toolcrib.store.database import Link
with opened(sys.argv[1]):
    pass
link = Link.open(sys.argv[1] + "/store.db", "write")
link.run("BEGIN IMMEDIATE")
link.run("INSERT INTO blobs VALUES ('x', x'00')")
os.kill(os.getpid(), 9)
"""


@pytest.mark.attack("A154", "store")
def test_a_process_killed_while_it_held_the_database_blocks_nobody(place: Path) -> None:
    with child(HALF, str(place)) as other:
        assert other.wait(20) == -9
    with opened(place) as store:
        assert asyncio.run(store.tape.append(call("c1")))[0].seq == 1


UPGRADE = """
import os, random, sqlite3, sys
from shelved import opened
from toolcrib.store.database import Link
from toolcrib.store.migrations import MIGRATIONS, migrate

class Dying(Link):
    count = stop = 0
    def run(self, sql, values=()):
        Dying.count += 1
        if Dying.count == Dying.stop:
            os.kill(os.getpid(), 9)
        super().run(sql, values)
        if -Dying.count == Dying.stop:
            os.kill(os.getpid(), 9)

def upgrade(place, begin, stop):
    os.makedirs(place, mode=0o700)
    path = place + "/store.db"
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    link = Link.open(path, "write")
    link.use_wal()
    migrate(link, MIGRATIONS[:begin])
    if begin:
        link.run("INSERT INTO entries VALUES (1, 1.0, 'config', '', '{}', zeroblob(32), zeroblob(32))")
    link.close()
    Dying.count, Dying.stop = 0, stop
    migrate(Dying.open(path, "write"))

def look(place):
    database = sqlite3.connect(f"file:{place}/store.db?mode=ro", uri=True)
    version = database.execute("PRAGMA user_version").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()[0]
    kept = database.execute("SELECT count(*) FROM entries").fetchone()[0] if version else 0
    database.close()
    return version, tables, kept

def tables(version):
    return sum(sql.startswith("CREATE TABLE") for step in MIGRATIONS[:version] for sql in step.statements)

points = 0
for begin in range(1, len(MIGRATIONS)):
    upgrade(f"{sys.argv[1]}/dry{begin}", begin, 0)
    steps = Dying.count
    assert steps > 4, steps
    for stop in range(1, steps + 1) if sys.argv[2] == "all" else random.sample(range(1, steps + 1), 4):
        for sign in (1, -1):
            place = f"{sys.argv[1]}/from{begin}-{sign * stop}"
            child = os.fork()
            if not child:
                upgrade(place, begin, sign * stop)
                os._exit(0)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == 9
            version, found, kept = look(place)
            assert begin <= version <= len(MIGRATIONS), version
            assert found == tables(version), (version, found)
            assert kept == 1
            with opened(place):
                pass
            assert look(place) == (len(MIGRATIONS), tables(len(MIGRATIONS)), kept)
            points += 1
print(points)
"""


@pytest.mark.attack("A158")
def test_an_upgrade_that_is_killed_at_any_step_leaves_the_old_or_the_new_and_goes_on(tmp_path: Path) -> None:
    with child(UPGRADE, str(tmp_path), "all" if soak.running() else "some") as process:
        points = int(process.communicate()[0] or 0)
    assert process.returncode == 0
    assert points >= 8 * (len(MIGRATIONS) - 1)


@pytest.mark.attack("A158")
def test_several_processes_make_one_new_store_together(place: Path) -> None:
    with child(HOLDER, str(place)) as one, child(HOLDER, str(place)) as two, child(HOLDER, str(place)) as three:
        owners = {each.stdout.readline().strip() for each in (one, two, three) if each.stdout is not None}
        assert len(owners) == 3
        with opened(place) as store:
            assert store.dead_owners() == ()
            assert asyncio.run(store.tape.append(call("c1")))[0].seq == 1
        for each in (one, two, three):
            each.communicate()
            assert each.returncode == 0
