"""Attacks by way of searches: special files, moving trees, runaway patterns, deep and wide trees, huge files."""

import gc
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

import soak
from conftest import Workspace
from searching import ENGINES, Engine, Searches, searches
from toolcrib.ports.find import Query
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture
async def at(workspace: Workspace, engine: Engine) -> AsyncGenerator[Searches]:
    async with searches(workspace.ws, engine) as found:
        yield found


async def refused(call: Awaitable[object]) -> str:
    with pytest.raises(Refusal) as caught:
        await call
    return caught.value.name


def runs_away(code: str) -> bool:
    """Tell whether Python code is still running after half a second."""
    try:
        subprocess.run([sys.executable, "-c", code], timeout=0.5, check=True)
    except subprocess.TimeoutExpired:
        return True
    return False


async def longest_gap(work: Callable[[], Awaitable[object]]) -> float:
    """Return how long the event loop stood still at most while `work` went on."""
    gc.collect()  # what a long run of tests left would be collected in the middle
    worst = 0.0
    done = anyio.Event()

    async def run() -> None:
        await work()
        done.set()

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        last = time.monotonic()
        while not done.is_set():
            await anyio.sleep(0.002)
            worst = max(worst, time.monotonic() - last)
            last = time.monotonic()
    return worst


async def searched_all_ways(at: Searches) -> None:
    """Search beneath the root by every method; only `real.txt` is a file that holds something."""
    found = await at.find.grep(Query(pattern="needle"))
    assert [each.path for each in found.matches] == ["real.txt"]
    assert await at.globbed("**") == ["real.txt"]
    assert [each.path for each in (await at.find.fuzzy("e", under=".", limit=9, cursor=None)).items] == ["real.txt"]


@pytest.mark.attack("A012", "files")
async def test_a_fifo_is_neither_waited_for_nor_read(workspace: Workspace, at: Searches) -> None:
    os.mkfifo(workspace.ws / "pipe")
    os.mkfifo(workspace.ws / ".ignore")
    workspace.write("real.txt", "needle\n")
    assert runs_away(f"open({str(workspace.ws / 'pipe')!r}).read()"), "a plain open waits for ever"
    began = time.monotonic()
    await searched_all_ways(at)
    listing = await at.find.listing(".", depth=1, limit=9, cursor=None)
    assert [each.path for each in listing.items if each.kind == "fifo"] == [".ignore", "pipe"]
    assert time.monotonic() - began < 2

    async def flood() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(64):
                group.start_soon(one)

    async def one() -> None:
        assert await refused(at.find.grep(Query(pattern="x", path="pipe"))) == "file.not_regular"

    began = time.monotonic()
    gap = await longest_gap(flood)
    assert time.monotonic() - began < 64 * 0.1
    assert gap < 0.5


@pytest.mark.attack("A012", "files")
async def test_a_file_that_becomes_a_fifo_under_the_search_is_left_alone(workspace: Workspace, engine: Engine) -> None:
    for number in range(60):
        workspace.write(f"f{number:02}", "needle\n")

    def may_read(path: str) -> bool:
        # The directory is being read at this moment; the file is opened later.
        victim = workspace.ws / path
        if path == "f30" and stat.S_ISREG(victim.lstat().st_mode):
            victim.unlink()
            os.mkfifo(victim)
        return True

    async with searches(workspace.ws, engine, may_read=may_read) as moving:
        with anyio.fail_after(5):
            found = await moving.find.grep(Query(pattern="needle"))
    assert found.total_files == 59


def three_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(3)


@pytest.mark.attack("A013", "files")
async def test_no_byte_of_a_device_is_read(workspace: Workspace, at: Searches) -> None:
    workspace.write("real.txt", "needle\n")
    os.symlink("/dev/zero", workspace.ws / "zero")
    if os.geteuid() == 0:
        os.mknod(workspace.ws / "device", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        assert three_bytes(workspace.ws / "device") == b"\0\0\0", "a plain read reads it"
        assert await refused(at.find.grep(Query(pattern="x", path="device"))) == "file.not_regular"
    assert three_bytes(workspace.ws / "zero") == b"\0\0\0", "a plain read follows the link"
    assert await refused(at.find.grep(Query(pattern="x", path="zero"))) == "file.outside"
    with anyio.fail_after(5):
        await searched_all_ways(at)


@pytest.mark.attack("A014", "files")
async def test_a_socket_is_never_connected_to(
    workspace: Workspace, at: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("real.txt", "needle\n")
    monkeypatch.chdir(workspace.ws)  # the path of a socket has little room
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("sock")
        server.listen()
        server.setblocking(False)
        client.connect("sock")
        server.accept()[0].close()
        await searched_all_ways(at)
        assert await refused(at.find.grep(Query(pattern="x", path="sock"))) == "file.not_regular"
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.attack("A035")
async def test_a_directory_that_goes_under_the_walk_makes_a_partial_answer(
    workspace: Workspace, engine: Engine
) -> None:
    def naive(place: Path) -> None:
        for each in sorted(os.listdir(place)):
            if each == "goes":
                shutil.rmtree(place / each)
            if each in {"goes", "stays"}:
                naive(place / each)

    def planted() -> None:
        workspace.write("goes/a.txt", "needle\n")
        workspace.write("stays/b.txt", "needle\n")

    planted()
    with pytest.raises(FileNotFoundError):
        naive(workspace.ws)

    def may_read(path: str) -> bool:
        if path == "goes" and (workspace.ws / path).exists():
            shutil.rmtree(workspace.ws / path)
        return True

    async with searches(workspace.ws, engine, may_read=may_read) as moving:
        planted()
        found = await moving.find.grep(Query(pattern="needle"))
        assert ([each.path for each in found.matches], found.total_lines) == (["stays/b.txt"], None)
        assert "removed or renamed" in (found.bounds.scan_capped or "")
        planted()
        page = await moving.find.glob("**", under=".", limit=9, cursor=None)
        assert (page.items, page.total) == (("stays/b.txt",), None)
        planted()
        listing = await moving.find.listing(".", depth=3, limit=9, cursor=None)
        assert [each.path for each in listing.items] == ["stays", "stays/b.txt"]
        assert listing.bounds.scan_capped


@contextmanager
def churning(top: Path) -> Generator[None]:
    """Make, rename and remove directories beneath `top` without a pause."""
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            place = top / f"churn{number % 7}"
            (place / "deep/er").mkdir(parents=True, exist_ok=True)
            (place / "deep/file").write_text("needle\n")
            (place / "deep").rename(top / f"moved{number}")
            shutil.rmtree(place)
            shutil.rmtree(top / f"moved{number}")
            number += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.soak("races")
@pytest.mark.attack("A035")
async def test_searches_go_on_while_directories_come_and_go(workspace: Workspace, at: Searches) -> None:
    for number in range(20):
        workspace.write(f"stays{number:02}/file", "needle\n")
    stays = {f"stays{number:02}/file" for number in range(20)}
    with churning(workspace.ws):
        for _ in range(soak.count(4_000)):
            found = await at.find.grep(Query(pattern="needle"))
            assert stays <= {each.path for each in found.matches}
            page = await at.find.glob("**/file", under=".", limit=1000, cursor=None)
            assert stays <= set(page.items)
            listing = await at.find.listing(".", depth=3, limit=1000, cursor=None)
            assert stays <= {each.path for each in listing.items}


RUNAWAYS = {"(a+)+$": 0, "(a|a)*b": 1, "(a*)*c": 0, "(.*)*x": 0, r"(\w+\s?)+$c": 0, "(?:a?){40}a{40}!b": 0}
"""Patterns, and how many of the two lines they match."""


@pytest.mark.attack("A176")
@pytest.mark.parametrize("pattern", RUNAWAYS)
async def test_a_pattern_that_runs_away_elsewhere_is_answered_in_time(
    workspace: Workspace, at: Searches, pattern: str
) -> None:
    workspace.write("t", "a" * 50_000 + "!\n" + "a" * 50_000 + "b\n")
    if pattern in {"(a+)+$", "(a|a)*b", "(a*)*c"}:
        assert runs_away(f"import re; re.search({pattern!r}, 'a' * 40 + '!')"), "Python's own engine runs away"

    async def search() -> None:
        found = await at.find.grep(Query(pattern=pattern, mode="regex"))
        assert found.total_lines == RUNAWAYS[pattern]

    began = time.monotonic()
    gap = await longest_gap(search)
    assert time.monotonic() - began < 2
    assert gap < 0.5


@pytest.mark.soak("fuzz")
@pytest.mark.attack("A178")
async def test_a_glob_that_runs_away_elsewhere_is_answered_in_time_or_refused(
    workspace: Workspace, at: Searches
) -> None:
    assert runs_away("import re; re.match('.*a' * 30 + 'b', 'a' * 40)"), "a plain translation runs away"
    number = soak.count(100_000)
    for each in range(number):
        directory = workspace.ws / f"d{each // 250}" / "aaaa"
        if each % 250 == 0:
            directory.mkdir(parents=True)
        (directory / f"{'a' * 40}{each}").touch()
    everything = ("**/**/**/**/*", "**/" * 200 + "*", "{*,**}" * 8)
    for pattern in (*everything, "*a" * 200, "**/*" + "*a" * 30 + "b", "{a,b}" * 30, "a["):
        began = time.monotonic()
        try:
            page = await at.find.glob(pattern, under=".", limit=10, cursor=None)
        except Refusal as refusal:
            assert refusal.name == "find.invalid"
            assert pattern in {"{a,b}" * 30, "a["}
        else:
            assert page.total == (number if pattern in everything else 0)
        assert time.monotonic() - began < (5 if soak.running() else 1.5)


def plunged(top: Path, levels: int) -> None:
    """Make a chain of directories, deeper than any path can name, with a file at its end."""
    handle = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(os.open("end.txt", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.write(file := os.open("end.txt", os.O_WRONLY, dir_fd=handle), b"needle\n")
    os.close(file)
    os.close(handle)


def recursive(handle: int) -> int:
    """Count files as a walk by recursion does."""
    found = 0
    for name in os.listdir(handle):
        if name == "d":
            below = os.open(name, os.O_RDONLY, dir_fd=handle)
            try:
                found += recursive(below)
            finally:
                os.close(below)
        else:
            found += 1
    return found


@pytest.fixture
def plunge() -> Generator[Path]:
    """Return a tree of 5,000 levels; in memory where that can be had, because removing one from a disk takes long."""
    memory = "/dev/shm"
    top = Path(tempfile.mkdtemp(prefix="plunge-", dir=memory if os.access(memory, os.W_OK) else None))
    plunged(top, 5_000)
    yield top
    subprocess.run(["/bin/rm", "-rf", "--", top], check=True)


@pytest.mark.attack("A179")
async def test_a_tree_of_five_thousand_levels_is_walked_to_its_end(plunge: Path, engine: Engine) -> None:
    handle = os.open(plunge, os.O_RDONLY)
    with pytest.raises((RecursionError, OSError)):
        recursive(handle)
    os.close(handle)
    (plunge / ".gitignore").write_text("*.log\n")
    (plunge / "d/beside.txt").write_text("needle\n")
    end = "d/" * 5_000 + "end.txt"
    async with searches(plunge, engine) as at:
        with anyio.fail_after(15):
            assert sorted(await at.globbed("**/*.txt")) == sorted(["d/beside.txt", end])
            found = await at.find.grep(Query(pattern="needle"))
            assert {each.path for each in found.matches} == {"d/beside.txt", end}
            listing = await at.find.listing(".", depth=20, limit=100, cursor=None)
            assert listing.total == 22


@pytest.mark.soak("fuzz")
@pytest.mark.attack("A179")
async def test_a_directory_of_very_many_names_is_read_and_loops_end(workspace: Workspace, at: Searches) -> None:
    number = soak.count(200_000)
    (workspace.ws / "many").mkdir()
    for each in range(number):
        (workspace.ws / "many" / f"f{each}").touch()
    os.symlink(".", workspace.ws / "many" / "loop")
    os.symlink("..", workspace.ws / "many" / "up")
    page = await at.find.glob("**", under=".", limit=1, cursor=None)
    assert page.total == number
    assert (await at.find.listing("many", depth=20, limit=1, cursor=None)).total == number + 2
    assert (await at.find.fuzzy("f7", under=".", limit=1, cursor=None)).items[0].path == "many/f7"


def peak() -> int:
    """Return the most memory that was resident since it was last reset, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # proc(5): resets the peak
    return int(line.split()[1]) << 10


@pytest.mark.attack("A181")
async def test_huge_files_take_little_memory(workspace: Workspace, at: Searches) -> None:
    with (workspace.ws / "line.txt").open("wb") as file:
        file.write(b"needle")
        file.seek(2 << 30)
        file.write(b"needle")
    line = ("needle " + "x" * 1000 + "\n").encode("utf-16-le")
    workspace.write("wide.txt", b"\xff\xfe" + line * (16 << 10))
    workspace.write("lines.txt", (b"y" * 999 + b"\n") * 40_000 + b"needle\n")
    workspace.write("binary", b"needle\0" * (6 << 20))
    gc.collect()
    peak()
    before = peak()
    found = await at.find.grep(Query(pattern="needle", limit=5))
    grown = peak() - before
    assert found.bounds.skipped_binary == 1
    assert (found.total_files, found.total_lines) == (2, (16 << 10) + 1)
    assert grown <= 32 << 20
    peak()
    before = peak()  # what was given back meanwhile counts for nothing
    control = (workspace.ws / "binary").read_bytes()
    assert peak() - before > len(control) - (8 << 20), "reading a file whole shows"
