"""Attacks on the containment of paths, by both ways of staying beneath the root. Each first succeeds on a naive one."""

import os
import socket
import stat
import subprocess
import threading
import time
import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beneath import WAYS, Way, files, leftovers, membrane, opened, refusing, scope
from conftest import Workspace
from toolcrib.host.workspace import temp
from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.host.workspace.write import Put
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.names import TEMP_NAME, mint_id
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def crib(workspace: Workspace, way: Way) -> Iterator[Membrane]:
    with membrane(workspace.ws, way) as found:
        yield found


def naive_read(root: Path, path: str) -> bytes:
    """Read as a tool without a membrane does."""
    return Path(os.path.join(root, path)).read_bytes()


def naive_write(root: Path, path: str, data: bytes) -> None:
    """Write as a tool without a membrane does."""
    Path(os.path.join(root, path)).write_bytes(data)


def lexical(root: Path, path: str) -> str:
    """Join and normalize, and check the text of the result: the common half measure."""
    found = os.path.normpath(os.path.join(root, path))
    if not found.startswith(str(root)):
        raise PermissionError(path)
    return found


async def denied(crib: Membrane, path: str, *names: str) -> None:
    """Demand that every operation of the port refuses `path`.

    To remove a name is to remove the link that it may be, so that is refused there because it cites no such link.
    """
    bound = files(crib, path)
    for operation in (
        lambda: bound.place(path),
        lambda: bound.load(path, most=1000),
        lambda: bound.window(path, offset=1, limit=9, most_bytes=999, line_chars=99),
        lambda: bound.write(path, b"pwned", expect=None),
        lambda: bound.write(path, b"pwned", expect="0" * 64),
    ):
        with refusing(*(names or ("file.outside",))) as answer:
            await operation()
        assert "canary " not in answer.text
    with refusing(*(names or ("file.outside",)), "file.stale", "file.denied"):
        await bound.remove(path, expect="0" * 64)


@pytest.mark.attack("A001")
async def test_dots_never_reach_the_canary(workspace: Workspace, crib: Membrane) -> None:
    canary = (workspace.out / "canary").read_bytes()
    (workspace.ws / "a").mkdir()
    before = os.stat(workspace.out / "canary").st_atime_ns, workspace.tree()
    for path in ("../out/canary", "a/../../out/canary", "./././../out/canary", "a/.././../out//canary"):
        await denied(crib, path)
    for path in ("none/../../out/canary", "none/../../../out/new"):
        await denied(crib, path, "file.outside", "file.missing")
    assert (os.stat(workspace.out / "canary").st_atime_ns, workspace.tree()) == before
    assert naive_read(workspace.ws, "../out/canary") == canary


@pytest.mark.attack("A002")
async def test_an_absolute_path_is_the_relative_one_or_outside(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("d/f", "inside")
    assert naive_read(workspace.ws, "/etc/passwd")
    for path in ("/etc/passwd", "/", "//etc/passwd", str(workspace.base), str(workspace.out / "canary"), "/work/d/f"):
        await denied(crib, path)
    for path in (f"{workspace.ws}/d/f", f"/{workspace.ws}/./d//f"):
        assert (await files(crib).place(path)).path == "d/f"
        assert (await files(crib).load(path, most=9)).data == b"inside"
    await files(crib, "d/f").write(f"{workspace.ws}/d/f", b"new", expect=of_bytes(b"inside"))
    assert workspace.read("d/f") == b"new"


@pytest.mark.attack("A003")
async def test_a_sibling_with_the_same_prefix_is_refused(workspace: Workspace, crib: Membrane) -> None:
    evil = workspace.base / "work-evil"
    evil.mkdir()
    (evil / "f").write_bytes(b"canary of the sibling")
    assert Path(lexical(workspace.ws, "../work-evil/f")).read_bytes() == b"canary of the sibling"
    for path in ("../work-evil/f", str(evil / "f"), str(evil), f"{workspace.ws}-evil/f"):
        await denied(crib, path)
    assert workspace.tree(evil) == {"f": b"canary of the sibling"}


@pytest.mark.attack("A004", "files")
async def test_a_leaf_link_to_outside_is_refused(workspace: Workspace, crib: Membrane) -> None:
    canary = workspace.out / "canary"
    os.symlink(canary, workspace.ws / "absolute")
    os.symlink("../out/canary", workspace.ws / "relative")
    assert Path(lexical(workspace.ws, "relative")).read_bytes() == canary.read_bytes()
    before = os.stat(canary).st_mtime_ns, canary.read_bytes()
    for path in ("absolute", "relative"):
        await denied(crib, path, "file.outside", "file.not_regular")
        with refusing("file.outside"):
            await files(crib, path, "../out/canary").write(path, b"x", expect=of_bytes(before[1]))
        assert (workspace.ws / path).is_symlink()
    assert (os.stat(canary).st_mtime_ns, canary.read_bytes()) == before


@pytest.mark.attack("A005")
async def test_nothing_is_created_behind_a_directory_link(workspace: Workspace, crib: Membrane) -> None:
    before = workspace.tree()
    os.symlink(workspace.out, workspace.ws / "d")
    os.symlink("../out", workspace.ws / "e")
    for path in ("d/new", "e/new", "d/x/y", "e/x/y/z", "d/canary", "e/../canary"):
        await denied(crib, path, "file.outside", "file.missing")
    assert workspace.tree() == before
    naive_write(workspace.ws, lexical(workspace.ws, "d/new"), b"pwned")
    assert workspace.tree() != before


@pytest.mark.attack("A006")
async def test_loops_and_long_chains_end_at_once(workspace: Workspace, crib: Membrane) -> None:
    os.symlink("b", workspace.ws / "a")
    os.symlink("a", workspace.ws / "b")
    os.symlink("loop/x", workspace.ws / "loop")
    workspace.write("l0", "end")
    for number in range(1, 42):
        os.symlink(f"l{number - 1}", workspace.ws / f"l{number}")

    def naive(name: str) -> int:
        steps = 0
        while steps < 1_000 and (workspace.ws / name).is_symlink():
            name = os.readlink(workspace.ws / name)
            steps += 1
        return steps

    assert naive("a") == 1_000  # a resolver of its own without a limit never ends
    for path in ("a", "a/x", "loop", "l41"):
        began = time.perf_counter()
        with refusing("file.missing"):
            await files(crib, path).load(path, most=9)
        with refusing("file.missing"):
            await files(crib, path).write(path, b"x", expect=None)
        assert time.perf_counter() - began < 0.1
    assert (await files(crib).load("l40", most=9)).data == b"end"


@pytest.mark.attack("A007")
async def test_a_dangling_link_creates_nothing_outside(workspace: Workspace, crib: Membrane) -> None:
    os.symlink(workspace.out / "created", workspace.ws / "n")
    os.symlink("../out/created", workspace.ws / "m")
    os.symlink("m", workspace.ws / "chain")
    os.symlink("inside/../../out/created", workspace.ws / "k")
    (workspace.ws / "inside").mkdir()
    for path in ("n", "m", "chain", "k"):
        await denied(crib, path, "file.outside", "file.not_regular")
    assert "created" not in workspace.tree()
    naive_write(workspace.ws, lexical(workspace.ws, "n"), b"pwned")
    assert "created" in workspace.tree()


NAMES = ("a", "b", "c")
PARTS = st.sampled_from((*NAMES, "..", ".", "", "x"))
PATHS = st.lists(PARTS, min_size=1, max_size=6).map("/".join)


@given(
    links=st.dictionaries(st.sampled_from(NAMES), PATHS, max_size=3),
    path=PATHS,
    folders=st.sets(st.sampled_from(NAMES)),
)
def test_both_ways_give_the_same_answer_and_never_leave(
    workspace: Workspace, links: dict[str, str], path: str, folders: set[str]
) -> None:
    """A small world of directories, files and links in every combination, read by both ways."""
    with TemporaryDirectory(dir=workspace.base) as world:
        root = Path(world)
        (root / "sub").mkdir()
        for where in (root, root / "sub"):
            for name in NAMES:
                if links.get(name):
                    os.symlink(links[name], where / name)
                elif name in folders:
                    (where / name).mkdir()
                    (where / name / "x").write_text(f"{where.name}/{name}")
                else:
                    (where / name).write_text(name)
        answers = [_answer(root, way, f"{start}{path}") for way in WAYS for start in ("", "sub/")]
    assert answers[:2] == answers[2:]


def _answer(root: Path, way: Way, path: str) -> tuple[str, str]:
    with membrane(root, way) as crib:
        try:
            place = crib.place(path)
        except Refusal as refusal:
            return refusal.name, refusal.message
        real = os.path.realpath(root / place.path)
        assert real == str(root / place.path) or place.path == "."
        assert f"{real}/".startswith(f"{root}/")
        return place.kind, place.path


@pytest.mark.attack("A008")
async def test_relative_links_inside_work_and_absolute_ones_never(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("real/f", "inside")
    os.symlink("../real/f", workspace.ws / "real" / "good")
    os.symlink(workspace.ws / "real" / "f", workspace.ws / "bad")
    os.symlink(workspace.ws / "real", workspace.ws / "baddir")
    os.symlink("bad", workspace.ws / "tobad")
    assert naive_read(workspace.ws, "bad") == b"inside"
    assert (await files(crib).load("real/good", most=9)).data == b"inside"
    await files(crib, "real/f").write("real/good", b"new", expect=of_bytes(b"inside"))
    assert workspace.read("real/f") == b"new"
    for path in ("bad", "baddir/f", "baddir/none", "tobad"):
        await denied(crib, path, "file.outside", "file.not_regular")


@pytest.mark.attack("A009")
async def test_magic_links_are_refused(workspace: Workspace, crib: Membrane) -> None:
    with (workspace.out / "canary").open("rb") as held:
        os.symlink("/proc/self/root/etc/passwd", workspace.ws / "p")
        os.symlink(f"/proc/self/fd/{held.fileno()}", workspace.ws / "q")
        os.symlink("/proc/self/cwd", workspace.ws / "r")
        assert naive_read(workspace.ws, "p") == Path("/etc/passwd").read_bytes()
        assert naive_read(workspace.ws, "q").startswith(b"canary ")
        for path in ("/proc/self/environ", "/proc/self/root/etc/passwd", "p", "q", "r", "r/x"):
            await denied(crib, path, "file.outside", "file.not_regular")


@pytest.mark.attack("A009")
async def test_magic_links_of_a_process_filesystem_mounted_inside_are_refused(workspace: Workspace, way: Way) -> None:
    """The one place where a magic link is reached without absolute text."""
    (workspace.ws / "proc").mkdir()
    with mounted(workspace.ws / "proc", "-t", "proc", "proc"):
        async with opened(workspace.ws, way) as crib:
            assert naive_read(workspace.ws, "proc/self/root/etc/passwd")
            for path in ("proc/self/root/etc/passwd", "proc/self/cwd/x", "proc/self/exe"):
                with refusing("file.outside", "file.missing"):
                    await files(crib).load(path, most=1 << 20)


@pytest.mark.attack("A010")
async def test_a_name_is_used_exactly_or_refused(workspace: Workspace, crib: Membrane) -> None:
    naive_write(workspace.ws, "caf\udce9\ud800".encode("utf-8", "replace").decode(), b"")
    assert os.listdir(workspace.ws) == ["caf??"]  # the control: a name that was silently altered
    (workspace.ws / "caf??").unlink()
    for name in ("new\nline", "esc\x1b[31m", "tab\t", "\u202e", "n" * 255, " lead", "trail ", "\udcff"):
        await files(crib, name).write(name, b"x", expect=None)
        assert os.listdir(os.fsencode(workspace.ws)) == [os.fsencode(name)]
        assert (await files(crib).place(name)).path == name
        await files(crib, name).remove(name, expect=of_bytes(b"x"))
    for name in ("nul\0", "a/nul\0/../b", "\ud800", "n" * 256, "d/" * 35_000 + "f", ""):
        await denied(crib, name, "args.invalid")
    deep = "d/" * 2000 + "f"
    await denied(crib, deep.replace("d", "dd"), "args.invalid")
    assert os.listdir(workspace.ws) == []


@pytest.mark.attack("A012", "files")
async def test_fifos_are_refused_at_once_and_nothing_else_waits(workspace: Workspace, crib: Membrane) -> None:
    os.mkfifo(workspace.ws / "p")
    workspace.write("f", "text")
    stuck = threading.Thread(target=naive_read, args=(workspace.ws, "p"))
    stuck.start()
    stuck.join(0.1)
    assert stuck.is_alive()  # the control: a plain open waits for a writer
    os.close(os.open(workspace.ws / "p", os.O_WRONLY))
    stuck.join(5)
    bound = files(crib, "p")
    refused: list[str] = []

    async def attack(operation: Callable[[], Awaitable[object]]) -> None:
        with refusing("file.not_regular") as answer:
            await operation()
        refused.append(answer.text)

    began = time.perf_counter()
    ping = 0.0
    async with anyio.create_task_group() as group:
        for index in range(64):
            reading = partial(bound.load, "p", most=9)
            group.start_soon(attack, reading if index % 2 else partial(bound.write, "p", b"", expect=None))
        assert (await bound.load("f", most=9)).data == b"text"
        ping = time.perf_counter() - began
    assert (await bound.place("p", digest=True)).digest is None
    assert len(refused) == 64
    assert ping < 0.5
    assert time.perf_counter() - began < 2


class Watched(Calls):
    """Counts the handles that could read bytes."""

    opened = 0

    def again(self, handle: int, flags: int) -> int:
        self.opened += not stat.S_ISDIR(os.fstat(handle).st_mode)
        return super().again(handle, flags)


@pytest.mark.attack("A013", "files")
async def test_not_a_byte_of_a_device_is_read(workspace: Workspace) -> None:
    os.mknod(workspace.ws / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    os.mknod(workspace.ws / "loop", stat.S_IFBLK | 0o666, os.makedev(7, 63))
    os.symlink("zero", workspace.ws / "inside")
    os.symlink("/dev/zero", workspace.ws / "outside")
    with (workspace.ws / "zero").open("rb") as device:
        assert device.read(4) == bytes(4)
    watched = Watched()
    async with opened(workspace.ws, calls=watched) as crib:
        for path in ("zero", "loop", "inside"):
            with refusing("file.not_regular"):
                await files(crib).load(path, most=9)
            with refusing("file.not_regular"):
                await files(crib, path).write(path, b"x", expect="0" * 64)
            assert (await files(crib).place(path, digest=True)).kind == "device"
        with refusing("file.outside"):
            await files(crib).load("outside", most=9)
    assert watched.opened == 0


@pytest.mark.attack("A014", "files")
async def test_no_connection_is_made_to_a_socket(workspace: Workspace, crib: Membrane) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(workspace.ws / "s"))
        listener.listen()
        listener.setblocking(False)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(workspace.ws / "s"))
        listener.accept()[0].close()  # the control: a connection is seen
        with refusing("file.not_regular"):
            await files(crib).load("s", most=9)
        with refusing("file.not_regular"):
            await files(crib, "s").write("s", b"x", expect="0" * 64)
        assert (await files(crib).place("s", digest=True)).kind == "socket"
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.attack("A017")
@pytest.mark.parametrize(
    "path",
    [
        *(".git//config", "./.git/config", ".git/./hooks/x", "sub/../.git/config", ".git./config", ".git /config"),
        *(
            "link/config",
            "sub/up/.git/config",
            "alias",
            ".GIT/config",
            "sub/.git/config",
            "bound/config",
            "bound/hooks/y",
        ),
        *("cafe\u0301/x", "caf\u00e9/x", "CAFE\u0301/x"),
    ],
)
async def test_a_protected_path_is_protected_by_every_spelling(workspace: Workspace, way: Way, path: str) -> None:
    workspace.write(".git/config", "old")
    (workspace.ws / ".git" / "hooks").mkdir()
    (workspace.ws / "sub").mkdir()
    os.symlink(".git", workspace.ws / "link")
    os.symlink("..", workspace.ws / "sub" / "up")
    os.symlink(".git/config", workspace.ws / "alias")
    (workspace.ws / "bound").mkdir()
    with mounted(workspace.ws / "bound", "--bind", str(workspace.ws / ".git")):
        before = workspace.tree(workspace.ws)
        async with opened(workspace.ws, way, protected=("caf\u00e9",)) as crib:
            place = await files(crib).place(path)
            expect = of_bytes(b"old") if place.kind == "file" else None
            with refusing("file.protected"):
                await crib.within(scope(place.path)).write(path, b"pwned", expect=expect)
            with refusing("file.protected", "file.missing", "file.not_regular", "file.denied"):
                await crib.within(scope(place.path)).remove(path, expect=of_bytes(b"old"))
        assert workspace.tree(workspace.ws) == before
        (workspace.ws / ".git" / "hooks" / "y").write_bytes(b"")  # the control: these spellings do reach the directory
        assert (workspace.ws / "bound" / "hooks" / "y").exists()
        assert (workspace.ws / "sub" / "up" / ".git" / "config").samefile(workspace.ws / "alias")
        assert unicodedata.normalize("NFC", "cafe\u0301") == "caf\u00e9"


class mounted:  # noqa: N801 - reads as a word in a with statement
    """Mount something at a directory for a while."""

    def __init__(self, at: Path, *arguments: str) -> None:
        self.at = at
        self.arguments = arguments

    def __enter__(self) -> None:
        subprocess.run(["mount", *self.arguments, str(self.at)], check=True)

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self.at)], check=True)


@pytest.mark.attack("A021")
async def test_guessed_temporary_names_lead_nowhere(
    workspace: Workspace, crib: Membrane, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = workspace.out / "canary"
    before = workspace.tree()
    os.symlink(canary, workspace.ws / "f.tmp")
    naive_write(workspace.ws, "f.tmp", b"pwned")  # the control: a fixed temporary name follows the link
    assert canary.read_bytes() == b"pwned"
    canary.write_bytes(before["canary"] if isinstance(before["canary"], bytes) else b"")
    workspace.write("f", "old")
    call, salts = mint_id(), iter(["aaaaaaaa", "bbbbbbbb", "cccccccc"] * 20)
    monkeypatch.setattr(temp, "salted", lambda: next(salts))
    for salt in ("aaaaaaaa", "bbbbbbbb"):
        name = temp.temp_name(call, salt, None).decode()
        assert TEMP_NAME.fullmatch(name)
        os.symlink(canary, workspace.ws / name)
    written = await crib.within(scope("f", call_id=call)).write("f", b"new", expect=of_bytes(b"old"))
    assert written.after == of_bytes(b"new")
    os.symlink(canary, workspace.ws / temp.temp_name(call, "cccccccc", None).decode())
    with refusing("call.fault"):
        await crib.within(scope("f", call_id=call)).write("f", b"newer", expect=of_bytes(b"new"))
    assert workspace.tree() == before
    assert workspace.read("f") == b"new"
    assert all((workspace.ws / name).is_symlink() for name in leftovers(workspace.ws))


@pytest.mark.attack("A023", "files")
async def test_slashes_and_dots_at_the_end_are_refused(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "text")
    workspace.write("d/x", "text")
    assert Path(os.path.normpath(workspace.ws / "f/")).read_bytes() == b"text"  # the control: normalizing forgets them
    for path in ("f/", "f/.", "f/..", "f//"):
        await denied(crib, path, "file.not_directory")
    for path in ("d/.", "d/", ".", "./", "d/..", "d/../d"):
        bound = files(crib, ".", "d", path)
        with refusing("file.not_regular"):
            await bound.write(path, b"x", expect=None)
        with refusing("file.not_regular"):
            await bound.remove(path, expect=of_bytes(b""), prune=(".", "d"))
    with refusing("args.invalid"):
        await files(crib, "").remove("", expect=None)
    assert workspace.tree(workspace.ws) == {"f": b"text", "d": None, "d/x": b"text"}


@pytest.mark.attack("A024")
async def test_nothing_in_a_name_is_expanded(
    workspace: Workspace, crib: Membrane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace.out))
    assert Path(os.path.expanduser("~/canary")).read_bytes().startswith(b"canary")
    assert Path(os.path.expandvars("$HOME/canary")).read_bytes().startswith(b"canary")
    assert Path(workspace.ws, unquote("%2e%2e/out/canary")).read_bytes().startswith(b"canary")
    before = workspace.tree()
    for path in ("~/canary", "$HOME/canary", "${HOME}/canary", "%2e%2e/out/canary", "..\\out\\canary", "~root/x"):
        with refusing("file.missing"):
            await files(crib).load(path, most=999)
        await files(crib, path).write(path, b"inside", expect=None)
        assert naive_read(workspace.ws, path) == b"inside"
    with refusing("file.missing"):
        await files(crib).load("file:///etc/passwd", most=999)
    assert workspace.tree() == before


@pytest.mark.attack("A028")
@pytest.mark.parametrize("how", ["in place", "by rename", "by removal"])
async def test_a_change_between_read_and_write_is_stale_and_stays(
    workspace: Workspace, crib: Membrane, how: str
) -> None:
    def other(text: bytes) -> None:
        if how == "by removal":
            (workspace.ws / "f").unlink()
        elif how == "in place":
            (workspace.ws / "f").write_bytes(text)
        else:
            (workspace.ws / "other").write_bytes(text)
            os.replace(workspace.ws / "other", workspace.ws / "f")

    workspace.write("f", "old")
    seen = naive_read(workspace.ws, "f")
    other(b"theirs")
    naive_write(workspace.ws, "f", seen + b" and mine")
    assert b"theirs" not in workspace.read("f")  # the control: a plain write loses the other's bytes
    workspace.write("f", "old")
    read = await files(crib).load("f", most=99)
    other(b"theirs")
    with refusing("file.stale"):
        await files(crib, "f").write("f", read.data + b" and mine", expect=read.digest)
    assert workspace.tree(workspace.ws) == ({} if how == "by removal" else {"f": b"theirs"})


class Meddler(Calls):
    """Lets another program act just before some of the calls of the write path."""

    def __init__(self, acts: dict[int, Callable[[], None]]) -> None:
        self.acts = acts
        self.count = 0

    def _next(self) -> None:
        self.count += 1
        if act := self.acts.get(self.count):
            act()

    def settle(self, directory: int, old: bytes, new: bytes) -> None:
        self._next()
        super().settle(directory, old, new)

    def exchange(self, directory: int, one: bytes, other: bytes) -> None:
        self._next()
        super().exchange(directory, one, other)

    def stat(self, directory: int, name: bytes) -> os.stat_result:
        self._next()
        return super().stat(directory, name)

    def step(self, directory: int, name: bytes, flags: int) -> int:
        self._next()
        return super().step(directory, name, flags)

    def unlink(self, directory: int, name: bytes) -> None:
        self._next()
        super().unlink(directory, name)

    def sync(self, handle: int) -> None:
        self._next()
        super().sync(handle)


@pytest.mark.attack("A028")
@pytest.mark.parametrize("remove", [False, True], ids=["write", "remove"])
def test_another_programs_bytes_survive_at_whatever_moment_it_writes_them(workspace: Workspace, remove: bool) -> None:
    """Every pair of moments of the protocol: another program replaces the file at one and again at the other."""

    def attempt(acts: dict[int, Callable[[], None]]) -> tuple[int, str]:
        for path in workspace.ws.iterdir():
            path.unlink()
        workspace.write("f", "old")
        meddler = Meddler(acts)
        with membrane(workspace.ws, calls=meddler) as crib:
            outcome = "done"
            try:
                if remove:
                    crib.remove(scope("f"), "f", expect=of_bytes(b"old"))
                else:
                    crib.put(scope("f"), Put(path="f", data=b"mine", expect=of_bytes(b"old")))
            except Refusal as refusal:
                outcome = refusal.name
        return meddler.count, outcome

    def theirs(text: str) -> Callable[[], None]:
        def act() -> None:
            (workspace.ws / "theirs").write_text(text)
            os.replace(workspace.ws / "theirs", workspace.ws / "f")

        return act

    with mounted(workspace.ws, "-t", "tmpfs", "tmpfs"):
        assert _meddled(workspace, attempt, theirs) == {"done", "file.stale"}


def _meddled(
    workspace: Workspace,
    attempt: Callable[[dict[int, Callable[[], None]]], tuple[int, str]],
    theirs: Callable[[str], Callable[[], None]],
) -> set[str]:
    total, outcome = attempt({})
    assert outcome == "done"
    outcomes: set[str] = set()
    for first in range(1, total + 8):
        for second in range(first + 1, total + 9):
            count, outcome = attempt({first: theirs("one"), second: theirs("two")})
            outcomes.add(outcome)
            if count < first:
                continue
            last = b"two" if count >= second else b"one"
            contents = {path.read_bytes() for path in workspace.ws.iterdir()}
            assert last in contents, (first, second, outcome)
            assert leftovers(workspace.ws) == [], (first, second, outcome)
            if outcome == "done":
                continue
            assert workspace.read("f") == last, (first, second, outcome)
    return outcomes
