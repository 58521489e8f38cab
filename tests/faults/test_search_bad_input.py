"""Odd patterns, odd trees and a starved machine: each search is answered or refused in time, and what it says is so."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

import soak
from calling import ok, opened, refused
from conftest import Workspace
from distant import Distant, distant
from toolcrib import Crib, open_crib

pytestmark = pytest.mark.anyio

LONG = "x" * (1 << 20)


async def globbed(crib: Crib, pattern: str = "**") -> set[str]:
    """Return what a glob finds."""
    return set((await ok(crib, "glob", pattern=pattern, limit=1000)).payload["paths"])


async def grepped(crib: Crib, pattern: str) -> set[str]:
    """Return the files that hold a text."""
    found = (await ok(crib, "grep", pattern=pattern, output="files", limit=1000)).payload["files"]
    return {each["path"] for each in found}


BROKEN = {"(": 1, "a(b": 2, "[a-": 1, "*a": 1, "a{2,1}": 2, "ab\\": 3, "foo(?!x)": 4, "a{1,1001}": 2, "a)": 2}
"""Expressions that cannot be, and the position at which that shows."""


@pytest.mark.parametrize("pattern", BROKEN)
async def test_a_broken_expression_is_refused_with_place_and_reason(workspace: Workspace, pattern: str) -> None:
    async with opened(workspace.ws) as crib:
        refusal = await refused(crib, "grep", "grep.invalid", pattern=pattern, mode="regex")
    assert f"position {BROKEN[pattern]} of {pattern!r}" in refusal.message
    assert refusal.hint


LENGTHY: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("grep", "grep.invalid", {"pattern": LONG}),
    ("grep", "grep.invalid", {"pattern": LONG, "mode": "regex"}),
    ("grep", "grep.invalid", {"pattern": "(" * len(LONG), "mode": "regex"}),
    ("grep", "grep.invalid", {"pattern": LONG, "mode": "fuzzy"}),
    ("grep", "find.invalid", {"pattern": "x", "glob": "*a" * (len(LONG) // 2)}),
    ("grep", "cursor.invalid", {"pattern": "x", "cursor": LONG}),
    ("glob", "find.invalid", {"pattern": LONG}),
    ("glob", "find.invalid", {"pattern": "**/" * (len(LONG) // 3)}),
    ("glob", "find.invalid", {"pattern": "{" * len(LONG)}),
    ("fff_search", "find.invalid", {"query": LONG}),
    ("list_dir", "args.invalid", {"path": "a/" * (len(LONG) // 2)}),
    ("grep", "args.invalid", {"pattern": ""}),
    ("glob", "args.invalid", {"pattern": ""}),
    ("fff_search", "args.invalid", {"query": ""}),
)


@pytest.mark.parametrize(("tool", "name", "args"), LENGTHY, ids=range(len(LENGTHY)))
async def test_an_empty_or_endless_argument_is_refused_at_once_by_name(
    workspace: Workspace, tool: str, name: str, args: dict[str, str]
) -> None:
    workspace.write("a.txt", "x\n")
    async with opened(workspace.ws) as crib:
        began = time.monotonic()
        refusal = await refused(crib, tool, name, **args)
        assert time.monotonic() - began < 3
        assert len(refusal.message) < 1000
        assert await grepped(crib, "x") == {"a.txt"}


@pytest.mark.soak("finder")
@pytest.mark.attack("A179")
async def test_a_directory_of_very_many_names_is_searched_whole_and_stays_exact(workspace: Workspace) -> None:
    number = 200_000 if soak.running() else 6_000
    many = workspace.ws / "many"
    many.mkdir()
    for each in range(number):
        os.close(os.open(many / f"f{each}", os.O_CREAT | os.O_WRONLY))
    workspace.write("many/one.txt", "needle\n")
    with anyio.fail_after(120):
        async with open_crib(workspace.ws, mode="work") as crib:
            assert (await ok(crib, "glob", pattern="**", limit=1)).payload["total"] == number + 1
            assert (await ok(crib, "list_dir", path="many", limit=1)).payload["total"] == number + 1
            assert await grepped(crib, "needle") == {"many/one.txt"}
            workspace.write("many/f77", "needle\n")
            (many / "one.txt").rename(many / "two.txt")
            assert await grepped(crib, "needle") == {"many/f77", "many/two.txt"}
            assert await globbed(crib, "**/*.txt") == {"many/two.txt"}
            many.rename(workspace.ws / "moved")
            assert (await ok(crib, "glob", pattern="many/**", limit=1)).payload["total"] == 0
            assert (await ok(crib, "glob", pattern="moved/**", limit=1)).payload["total"] == number + 1
            shutil.rmtree(workspace.ws / "moved")
            assert await globbed(crib) == set()


@pytest.fixture
def chain() -> Generator[Path]:
    """Return a chain of directories, longer than any path may be; in memory, because a disk takes long to remove it."""
    memory = "/dev/shm"
    top = Path(tempfile.mkdtemp(prefix="chain-", dir=memory if os.access(memory, os.W_OK) else None))
    yield top
    subprocess.run(["/bin/rm", "-rf", "--", top], check=True)


def deepened(top: Path, levels: int) -> int:
    """Make a chain of directories by handles, and return the handle of the deepest."""
    handle = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("level", dir_fd=handle)
        below = os.open("level", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    return handle


def put(directory: int, name: str, text: str) -> None:
    """Write a file in an open directory."""
    with open(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, dir_fd=directory), "w") as file:
        file.write(text)


@pytest.mark.soak("finder")
@pytest.mark.attack("A179")
async def test_changes_at_the_end_of_a_path_longer_than_the_system_takes_are_seen(chain: Path) -> None:
    levels = 5_000 if soak.running() else 900
    end = "level/" * levels
    handle = deepened(chain, levels)
    assert len(end) > 4096
    with pytest.raises(OSError, match="too long"):
        os.stat(chain / end)
    try:
        with anyio.fail_after(120):
            async with open_crib(chain, mode="work") as crib:
                assert await globbed(crib) == set()
                put(handle, "end.txt", "needle\n")
                assert await globbed(crib, "**/*.txt") == {f"{end}end.txt"}
                assert await grepped(crib, "needle") == {f"{end}end.txt"}
                put(handle, "end.txt", "thread\n")
                assert await grepped(crib, "needle") == set()
                (chain / "level/level").rename(chain / "other")
                moved = "other/" + "level/" * (levels - 2)
                assert await grepped(crib, "thread") == {f"{moved}end.txt"}
                os.unlink("end.txt", dir_fd=handle)
                assert await globbed(crib) == set()
    finally:
        os.close(handle)


@pytest.mark.attack("A012", "files")
@pytest.mark.attack("A014", "files")
async def test_pipes_sockets_and_devices_that_come_while_it_is_open_are_neither_read_nor_found(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.ws)  # the path of a socket has little room
    workspace.write("real.txt", "needle\n")
    workspace.write("turns", "needle\n")
    async with opened(workspace.ws) as crib:
        assert await grepped(crib, "needle") == {"real.txt", "turns"}
        os.unlink("turns")
        os.mkfifo("turns")
        os.mkfifo(".ignore")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("sock")
            if os.geteuid() == 0:
                os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
            began = time.monotonic()
            assert await grepped(crib, "needle") == {"real.txt"}
            assert await globbed(crib) == {"real.txt"}
            ranked = await ok(crib, "fff_search", query="t")
            assert {each["path"] for each in ranked.payload["files"]} == {"real.txt"}
            await refused(crib, "grep", "file.not_regular", pattern="x", path="turns")
            assert time.monotonic() - began < 5
        os.unlink("turns")
        workspace.write("turns", "needle\n")
        assert await grepped(crib, "needle") == {"real.txt", "turns"}


@pytest.mark.case("B073", "files")
async def test_loops_of_links_that_come_and_go_while_it_is_open_end(workspace: Workspace) -> None:
    workspace.write("a/real.txt", "needle\n")
    async with opened(workspace.ws) as crib:
        assert await grepped(crib, "needle") == {"a/real.txt"}
        os.symlink(".", workspace.ws / "loop")
        os.symlink("..", workspace.ws / "a/up")
        os.symlink("self", workspace.ws / "self")
        os.symlink("two", workspace.ws / "one")
        os.symlink("one", workspace.ws / "two")
        for _ in range(2):
            assert await globbed(crib) == {"a/real.txt"}
            assert await grepped(crib, "needle") == {"a/real.txt"}
        (workspace.ws / "a").rename(workspace.ws / "b")
        os.symlink("b", workspace.ws / "a")
        assert await globbed(crib) == await grepped(crib, "needle") == {"b/real.txt"}


async def test_a_root_that_is_removed_and_made_again_is_gone_until_it_is_opened_again(workspace: Workspace) -> None:
    workspace.write("a/old.txt", "needle\n")
    async with opened(workspace.ws) as crib:
        assert await grepped(crib, "needle") == {"a/old.txt"}
        shutil.rmtree(workspace.ws)
        for again in (False, True):
            if again:
                workspace.write("new.txt", "needle\n")
            await refused(crib, "glob", "workspace.gone", pattern="**")
            await refused(crib, "grep", "workspace.gone", pattern="needle")
            await refused(crib, "list_dir", "workspace.gone")
            await refused(crib, "fff_search", "workspace.gone", query="old")
    async with opened(workspace.ws) as crib:
        assert await globbed(crib) == await grepped(crib, "needle") == {"new.txt"}


async def test_times_of_files_that_stand_still_or_go_back_hide_no_change(workspace: Workspace) -> None:
    names = [f"{number}.txt" for number in range(60)]
    for name in names:
        workspace.write(name, "needle\n")
    async with opened(workspace.ws) as crib:
        assert await grepped(crib, "needle") == set(names)
        for turn, at in enumerate((0, 4_102_444_800, 1)):
            victim = workspace.write(names[turn], "noodle\n")
            for path in (victim, workspace.ws):
                os.utime(path, (at, at))
            assert await grepped(crib, "needle") == set(names[turn + 1 :])
            os.utime(victim, ns=(0, 0))
            workspace.write(f"new{turn}.txt", "").rename(victim)
            os.utime(workspace.ws, (at, at))
            assert await globbed(crib, "new*") == set()


BOUND = [
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
]
"""Starts a program that permissions bind, whoever it belongs to."""


@pytest.mark.case("B072", "files")
def test_what_becomes_unreadable_is_named_and_comes_back(workspace: Workspace) -> None:
    ws = workspace.ws
    for name in ("open/a.txt", "closed/a.txt"):
        workspace.write(name, "needle\n")
    with distant(ws, before=BOUND if os.geteuid() == 0 else ()) as there:
        both = {"open/a.txt", "closed/a.txt"}
        assert there.globbed() == there.grepped("needle") == both
        (ws / "closed").chmod(0)
        for tool, args in (("glob", {"pattern": "**"}), ("grep", {"pattern": "needle"})):
            outcome = there.call(tool, **args)
            assert "closed" in outcome["bounds"]["skipped_unreadable"], "the permission binds"
        assert there.globbed() == there.grepped("needle") == {"open/a.txt"}
        (ws / "closed").chmod(0o755)
        assert there.globbed() == there.grepped("needle") == both
        (ws / "open/a.txt").chmod(0)
        assert there.grepped("needle") == {"closed/a.txt"}
        assert there.globbed() == both
        (ws / "open/a.txt").chmod(0o644)
        assert there.grepped("needle") == both


def changed_and_searched(there: Distant, ws: Path) -> None:
    """Change a tree in every way, each time searching at once."""
    for number in range(20):
        (ws / f"d{number}/in").mkdir(parents=True)
        (ws / f"d{number}/in/a.txt").write_text(f"needle {number}.\n")
        assert there.grepped(f"needle {number}.") == {f"d{number}/in/a.txt"}
    assert there.globbed() == {f"d{number}/in/a.txt" for number in range(20)}
    (ws / "d7/in/a.txt").write_text("thread\n")
    assert there.grepped("needle 7.") == set()
    (ws / "d8").rename(ws / "moved")
    assert there.grepped("needle 8.") == {"moved/in/a.txt"}
    shutil.rmtree(ws / "d9")
    (ws / ".gitignore").write_text("d1*/\n")
    left = {f"d{number}/in/a.txt" for number in range(10) if number not in {1, 8, 9}}
    assert there.globbed() == {".gitignore", "moved/in/a.txt", *left}


WATCHES = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
handle = libc.inotify_init()
done = 0
for name in sorted(os.listdir("/usr")):
    if os.path.isdir(f"/usr/{name}") and libc.inotify_add_watch(handle, f"/usr/{name}".encode(), 2) >= 0:
        done += 1
print(done if handle >= 0 else "none")
"""
"""Says how many directories of /usr it could watch."""


@pytest.mark.parametrize(("limit", "most"), [("max_inotify_watches", 5), ("max_inotify_instances", 0)])
@pytest.mark.promise("P-search-limits")
def test_searches_are_exact_where_the_kernel_watches_hardly_anything(
    workspace: Workspace, limit: str, most: int
) -> None:
    # A user namespace has limits of its own; where none can be made there is nothing that starves us.
    starve = [
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        f'echo {most} >/proc/sys/user/{limit}; exec "$@"',
        "-",
    ]
    able = subprocess.run([*starve, "true"], capture_output=True, check=False)
    before = starve if able.returncode == 0 and not able.stderr else []
    if before:
        control = subprocess.run(
            [*before, sys.executable, "-c", WATCHES], stdout=subprocess.PIPE, text=True, check=True
        )
        assert control.stdout.strip() == ("5" if most else "none"), "the limit binds"
    with distant(workspace.ws, before=before) as there:
        changed_and_searched(there, workspace.ws)


@pytest.mark.promise("P-search-limits")
def test_more_changes_than_the_kernel_keeps_are_seen_all_the_same(workspace: Workspace) -> None:
    limit = Path("/proc/sys/fs/inotify/max_queued_events")
    events = int(limit.read_text()) if limit.exists() else 16_384
    for number in range(60):
        workspace.write(f"d{number % 6}/{number}.txt", "needle\n")
    with distant(workspace.ws) as there:
        assert len(there.grepped("needle")) == 60
        os.kill(there.pid, signal.SIGSTOP)
        try:
            one, other = (os.open(workspace.ws / f"d0/{name}.txt", os.O_WRONLY) for name in (0, 6))
            for _ in range(events):
                # Two files in turn: equal events that follow each other are one.
                os.pwrite(one, b"needle\n", 0)
                os.pwrite(other, b"needle\n", 0)
            os.close(one)
            os.close(other)
            workspace.write("late/a/b.txt", "needle\n")
            workspace.write("d1/1.txt", "thread\n")
            (workspace.ws / "d2").rename(workspace.ws / "moved")
            shutil.rmtree(workspace.ws / "d3")
        finally:
            os.kill(there.pid, signal.SIGCONT)
        left = {f"d{number % 6}/{number}.txt" for number in range(60) if number % 6 not in {2, 3}}
        left |= {f"moved/{number}.txt" for number in range(2, 60, 6)} | {"late/a/b.txt"}
        assert there.globbed() == left
        assert there.grepped("needle") == left - {"d1/1.txt"}
        assert there.grepped("thread") == {"d1/1.txt"}
