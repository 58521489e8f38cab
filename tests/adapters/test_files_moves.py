"""The port `Files` on the real membrane: moving and removing by name, no link followed, nothing replaced unasked."""

import errno
import os
import stat
from collections.abc import Iterator

import pytest

from beneath import WAYS, Faulty, Walking, Way, files, handles, leftovers, membrane, opened, refusing
from conftest import Workspace
from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.terms.digest import of_bytes, of_link

pytestmark = pytest.mark.anyio


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def crib(workspace: Workspace, way: Way) -> Iterator[Membrane]:
    before = handles()
    with membrane(workspace.ws, way, protected=("kept/secret",)) as found:
        yield found
    assert handles() == before


class Islands(Calls):
    """Every directory is a file system of its own."""

    def carry(self, directory: int, old: bytes, other: int, new: bytes) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    def swap(self, directory: int, one: bytes, other: int, second: bytes) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


async def test_a_moved_file_is_the_same_inode_under_the_new_name(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("a", "text").chmod(0o4751)
    before = os.stat(workspace.ws / "a")
    moved = await files(crib, "a", "new/dir/b").move("a", "new/dir/b")
    after = os.stat(workspace.ws / "new" / "dir" / "b")
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns)
    assert (moved.old, moved.place.path, moved.place.kind) == ("a", "new/dir/b", "file")
    assert moved.created_parents == ("new", "new/dir")
    assert not (workspace.ws / "a").exists()


async def test_nothing_is_replaced_unless_its_digest_is_cited(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("a", "mine")
    workspace.write("b", "theirs")
    os.symlink("b", workspace.ws / "l")
    (workspace.ws / "d").mkdir()
    before = workspace.tree(workspace.ws)
    bound = files(crib, "a", "b", "l", "d", "none")
    for new in ("b", "l", "d", "d/"):
        with refusing("file.exists"):
            await bound.move("a", new)
    for new in ("l", "d"):
        with refusing("file.exists"):
            await bound.move("a", new, over=of_bytes(b"theirs"))
    for new in ("b", "none"):
        with refusing("file.stale"):
            await bound.move("a", new, over=of_bytes(b"older"))
    assert workspace.tree(workspace.ws) == before
    moved = await bound.move("a", "b", over=of_bytes(b"theirs"))
    assert moved.displaced == of_bytes(b"theirs")
    assert workspace.tree(workspace.ws) == {"b": b"mine", "l": "b", "d": None}


async def test_a_read_only_or_linked_target_stays_and_a_read_only_source_moves(
    workspace: Workspace, crib: Membrane
) -> None:
    workspace.write("a", "mine").chmod(0o444)
    workspace.write("locked", "x").chmod(0o444)
    workspace.write("twice", "y")
    os.link(workspace.ws / "twice", workspace.ws / "other")
    os.link(workspace.ws / "a", workspace.ws / "same")
    bound = files(crib, "a", "locked", "twice", "same", "b")
    with refusing("file.read_only"):
        await bound.move("a", "locked", over=of_bytes(b"x"))
    with refusing("file.linked"):
        await bound.move("a", "twice", over=of_bytes(b"y"))
    with refusing("file.linked"):
        await bound.move("a", "same", over=of_bytes(b"mine"))
    await bound.move("a", "b")
    found = os.stat(workspace.ws / "b")
    assert (stat.S_IMODE(found.st_mode), found.st_nlink) == (0o444, 2)


async def test_one_name_twice_and_a_directory_into_itself_change_nothing(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("d/a", "x")
    os.symlink("d", workspace.ws / "alias")
    before = workspace.tree(workspace.ws)
    bound = files(crib, "d", "d/a", "d/new", "d/b/c")
    for old, new in (("d/a", "./d/a"), ("d/a", "d/../d/a"), ("d/a", "alias/a"), ("d", "d/"), ("alias/", "d")):
        with refusing("file.unchanged"):
            await bound.move(old, new)
    for new in ("d/new", "alias/new", "d/b/c"):
        with refusing("args.invalid"):
            await bound.move("d", new)
    for old in (".", "", "d/..", str(workspace.ws)):
        with refusing("file.protected", "args.invalid"):
            await bound.move(old, "x")
    assert workspace.tree(workspace.ws) == before


async def test_a_directory_moves_whole_and_only_when_all_in_it_may_be_written(
    workspace: Workspace, crib: Membrane
) -> None:
    workspace.write("d/e/f", "x").chmod(0o755)
    (workspace.ws / "d" / "empty").mkdir(mode=0o700)
    os.symlink("../../out/secret", workspace.ws / "d" / "l")
    (workspace.out / "secret").write_text("outside")
    inside = ["", "/e", "/e/f", "/empty", "/l"]
    before, outside = workspace.tree(workspace.ws), workspace.tree()
    old, new = [f"d{each}" for each in inside], [f"n/m{each}" for each in inside]
    for short in ([*old, *new[:-1]], [*old[:-1], *new]):
        with refusing("file.stale"):
            await files(crib, *short).move("d", "n/m")
    assert workspace.tree(workspace.ws) == before
    moved = await files(crib, *old, *new).move("d", "n/m")
    assert (moved.place.kind, moved.created_parents) == ("directory", ("n",))
    found = workspace.tree(workspace.ws)
    assert found == {"n": None, **{path: before[f"d{path[3:]}"] for path in new}}
    assert stat.S_IMODE(os.stat(workspace.ws / "n/m/e/f").st_mode) == 0o755
    assert workspace.tree() == outside


async def test_a_directory_that_holds_something_protected_or_special_stays(
    workspace: Workspace, crib: Membrane
) -> None:
    workspace.write("repo/.git/config", "x")
    workspace.write("kept/secret/key", "k")
    (workspace.ws / "pipes").mkdir()
    (workspace.ws / "plain").mkdir()
    os.mkfifo(workspace.ws / "pipes" / "p")
    before = workspace.tree(workspace.ws)
    names = ["repo", "repo/.git", "repo/.git/config", "kept", "kept/secret", "kept/secret/key", "pipes", "pipes/p"]
    bound = files(crib, *names, *(f"to/{name}" for name in names), "plain", ".git")
    for old in ("repo", "kept"):
        with refusing("file.protected"):
            await bound.move(old, f"to/{old}")
    with refusing("file.not_regular") as answer:
        await bound.move("pipes", "to/pipes")
    assert "FIFO" in answer.text
    with refusing("file.protected"):
        await bound.move("plain", ".git")
    with refusing("file.not_regular"):
        await bound.move("pipes/p", "to/pipes")
    assert workspace.tree(workspace.ws) == before


async def test_links_are_moved_and_removed_themselves(workspace: Workspace, crib: Membrane) -> None:
    (workspace.out / "secret").write_text("outside")
    links = {"out": "../out/secret", "abs": "/etc/passwd", "dead": "nowhere", "self": "self", "in": "a"}
    workspace.write("a", "x")
    outside = workspace.tree()
    for name, target in links.items():
        os.symlink(target, workspace.ws / name)
    bound = files(crib, *links, *(f"m/{name}" for name in links))
    for name, target in links.items():
        place = await bound.place(name, follow=False)
        assert (place.path, place.kind, place.digest) == (name, "symlink", of_link(target))
        await bound.move(name, f"m/{name}")
        assert os.readlink(workspace.ws / "m" / name) == target
        await bound.remove(f"m/{name}", expect=of_link(target))
    assert workspace.tree(workspace.ws) == {"a": b"x", "m": None}
    assert workspace.tree() == outside


async def test_everything_beneath_is_listed_and_too_much_is_refused(workspace: Workspace, crib: Membrane) -> None:
    for name in ("d/a", "d/e/f", "d/e/g"):
        workspace.write(name)
    os.symlink("..", workspace.ws / "d" / "up")
    found = await files(crib).entries("d", most=5)
    assert [(each.path, each.kind) for each in found] == [
        ("d/a", "file"),
        ("d/e", "directory"),
        ("d/e/f", "file"),
        ("d/e/g", "file"),
        ("d/up", "symlink"),
    ]
    with refusing("call.limit"):
        await files(crib).entries("d", most=4)
    with refusing("file.not_directory"):
        await files(crib).entries("d/a", most=4)
    with refusing("file.missing"):
        await files(crib).entries("x", most=4)


async def test_across_file_systems_files_and_links_are_copied_and_directories_refused(workspace: Workspace) -> None:
    source = workspace.write("a", b"\0data" * 1000)
    source.chmod(0o751)
    os.setxattr(source, "user.note", b"kept")
    workspace.write("b", "old")
    os.symlink("a", workspace.ws / "l")
    workspace.write("d/f", "x")
    async with opened(workspace.ws, calls=Islands()) as crib:
        bound = files(crib, "a", "n/a", "l", "n/l", "b", "d", "d/f", "n/d", "n/d/f")
        with refusing("args.invalid"):
            await bound.move("d", "n/d")
        assert not (workspace.ws / "n").exists()
        await bound.move("a", "n/a")
        await bound.move("l", "n/l")
        with refusing("file.stale"):
            await bound.move("n/a", "b", over=of_bytes(b"other"))
        assert workspace.read("b") == b"old"
        found = workspace.ws / "n" / "a"
        assert (stat.S_IMODE(found.stat().st_mode), os.getxattr(found, "user.note")) == (0o751, b"kept")
        moved = await bound.move("n/a", "b", over=of_bytes(b"old"))
    assert moved.displaced == of_bytes(b"old")
    assert workspace.tree(workspace.ws) == {"b": b"\0data" * 1000, "n": None, "n/l": "a", "d": None, "d/f": b"x"}
    assert leftovers(workspace.ws) == []


class Busy(Calls):
    """Another program acts just before a name changes."""

    def __init__(self, act: object) -> None:
        self.act = act

    def carry(self, directory: int, old: bytes, other: int, new: bytes) -> None:
        assert callable(self.act)
        act, self.act = self.act, lambda: None
        act()
        super().carry(directory, old, other, new)

    def swap(self, directory: int, one: bytes, other: int, second: bytes) -> None:
        assert callable(self.act)
        act, self.act = self.act, lambda: None
        act()
        super().swap(directory, one, other, second)


async def test_what_another_program_does_at_the_last_moment_is_never_lost(workspace: Workspace) -> None:
    workspace.write("a", "mine")
    workspace.write("d/f", "x")
    async with opened(workspace.ws, calls=Busy(lambda: workspace.write("b", "theirs"))) as crib:
        with refusing("file.exists"):
            await files(crib, "a", "b").move("a", "b")
    assert workspace.tree(workspace.ws) == {"a": b"mine", "b": b"theirs", "d": None, "d/f": b"x"}
    async with opened(workspace.ws, calls=Busy(lambda: workspace.write("b", "newer"))) as crib:
        with refusing("file.stale"):
            await files(crib, "a", "b").move("a", "b", over=of_bytes(b"theirs"))
    assert workspace.tree(workspace.ws) == {"a": b"mine", "b": b"newer", "d": None, "d/f": b"x"}
    async with opened(workspace.ws, calls=Busy(lambda: workspace.write("d/g", "new"))) as crib:
        with refusing("file.stale"):
            await files(crib, "d", "d/f", "e", "e/f").move("d", "e")
    assert workspace.tree(workspace.ws)["d/g"] == b"new"
    assert not (workspace.ws / "e").exists()


@pytest.mark.parametrize("over", [False, True])
async def test_a_fault_at_any_site_leaves_the_move_made_or_not_made(workspace: Workspace, over: bool) -> None:
    def lay() -> None:
        for name, text in (("a", "mine"), ("b", "theirs")):
            (workspace.ws / name).unlink(missing_ok=True)
            workspace.write(name, text)
        (workspace.ws / "n" / "b").unlink(missing_ok=True)
        if (workspace.ws / "n").exists():
            (workspace.ws / "n").rmdir()

    new, cited = ("b", of_bytes(b"theirs")) if over else ("n/b", None)
    lay()
    dry = Faulty()
    async with opened(workspace.ws, calls=dry) as crib:
        await files(crib, "a", new).move("a", new, over=cited)
    assert {"swap" if over else "carry", "sync"} <= set(dry.seen)
    for site in range(1, len(dry.seen) + 1):
        lay()
        async with opened(workspace.ws, calls=Faulty(site)) as crib:
            with refusing("call.fault") as answer:
                await files(crib, "a", new).move("a", new, over=cited)
        moved = not (workspace.ws / "a").exists()
        assert workspace.read(new if moved else "a") == b"mine"
        assert moved == (answer.refusal.happened != "no")
        if not moved or not over:
            assert workspace.read("b") == b"theirs"
        assert leftovers(workspace.ws) == []


async def test_without_openat2_a_link_at_the_end_is_not_followed_either(workspace: Workspace) -> None:
    os.symlink("/etc/passwd", workspace.ws / "abs")
    async with opened(workspace.ws, calls=Walking()) as crib:
        assert (await files(crib).place("abs", follow=False)).kind == "symlink"
        with refusing("file.outside"):
            await files(crib).place("abs/", follow=False)
        with refusing("file.outside"):
            await files(crib).place("abs")
