"""The port `Files` on the real membrane: what it reads, what it refuses, and what it leaves behind after a write."""

import os
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from beneath import WAYS, Way, files, handles, leftovers, membrane, opened, refusing, scope
from conftest import Workspace
from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.host.workspace.write import Put
from toolcrib.ports.files import Window
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import of_bytes, of_link
from toolcrib.terms.errors import WorkspaceError
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings

pytestmark = pytest.mark.anyio


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def crib(workspace: Workspace, way: Way) -> Iterator[Membrane]:
    before = handles()
    with membrane(workspace.ws, way) as found:
        yield found
    assert handles() == before


async def window(crib: Membrane, path: str, offset: int = 1, limit: int = 100, **limits: int) -> Window:
    sizes = {"most_bytes": 50_000, "line_chars": 2000, **limits}
    return await files(crib).window(path, offset=offset, limit=limit, **sizes)


@pytest.mark.case("B001")
async def test_a_directory_that_only_starts_with_the_name_of_the_root_is_outside(
    workspace: Workspace, crib: Membrane
) -> None:
    evil = workspace.base / "work-evil"
    evil.mkdir()
    (evil / "s.txt").write_text("secret")
    for path in (str(evil / "s.txt"), "../work-evil/s.txt", "../work-evil/new.txt"):
        with refusing("file.outside"):
            await files(crib).load(path, most=100)
        with refusing("file.outside"):
            await files(crib, path).write(path, b"x", expect=None)
        with refusing("file.outside"):
            await files(crib).place(path)
    assert os.listdir(evil) == ["s.txt"]


@pytest.mark.case("B007")
async def test_dots_stay_inside_or_are_refused(workspace: Workspace, crib: Membrane) -> None:
    (workspace.base / "outside.txt").write_text("no")
    workspace.write("inside.txt", "yes")
    (workspace.ws / "sub").mkdir()
    root = str(workspace.ws)
    for path in (f"{root}/../outside.txt", f"{root}/sub/../../outside.txt", "./sub/./../../outside.txt", ".."):
        with refusing("file.outside"):
            await files(crib).load(path, most=100)
    for path in (f"{root}/sub/../inside.txt", "sub/../inside.txt", "./inside.txt", f"{root}//./inside.txt"):
        found = await files(crib).load(path, most=100)
        assert (found.data, found.place.path) == (b"yes", "inside.txt")
    assert (await files(crib).place(root)).path == "."
    assert (await files(crib).place(root + "/")).kind == "directory"


@pytest.mark.case("B009")
async def test_paths_are_below_the_root_wherever_the_process_stands(
    workspace: Workspace, crib: Membrane, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("sub/b.txt", "b")
    monkeypatch.chdir("/")
    assert (await files(crib).load("sub/b.txt", most=9)).data == b"b"


async def test_a_root_opened_through_a_link_takes_absolute_paths_by_both_names(workspace: Workspace, way: Way) -> None:
    workspace.write("a.txt", "a")
    alias = workspace.base / "alias"
    alias.symlink_to(workspace.ws)
    async with opened(alias, way) as crib:
        assert crib.root == str(workspace.ws)
        for path in (alias / "a.txt", workspace.ws / "a.txt"):
            assert (await files(crib).place(str(path))).path == "a.txt"


def test_what_is_not_a_directory_is_no_workspace(workspace: Workspace) -> None:
    workspace.write("f")
    for root in (workspace.ws / "f", workspace.ws / "missing", "nul\0"):
        with pytest.raises(WorkspaceError):
            Membrane.open(str(root), settings=FileSettings(), protected=())


async def test_a_root_that_was_removed_is_gone(workspace: Workspace, crib: Membrane) -> None:
    workspace.ws.rmdir()
    for path in ("a.txt", "b/c.txt", "."):
        with refusing("workspace.gone"):
            await files(crib).load(path, most=9)
    with refusing("workspace.gone"):
        await files(crib, "a.txt").write("a.txt", b"x", expect=None)


@pytest.mark.case("B039")
async def test_links_inside_are_followed_and_stay_links(workspace: Workspace, crib: Membrane) -> None:
    old = workspace.write("real/conf.txt", "old").read_bytes()
    os.symlink("real/conf.txt", workspace.ws / "conf")
    os.symlink("conf", workspace.ws / "chain")
    os.symlink("real", workspace.ws / "dir")
    os.symlink("../real/soon.txt", workspace.ws / "real" / "soon")
    for path in ("conf", "chain", "dir/conf.txt"):
        place = await files(crib).place(path)
        assert (place.path, place.kind, place.asked) == ("real/conf.txt", "file", path)
        assert (await files(crib).load(path, most=9)).data == old
        written = await files(crib, "real/conf.txt").write(path, path.encode(), expect=of_bytes(old))
        old = workspace.read("real/conf.txt")
        assert (old, written.place.path) == (path.encode(), "real/conf.txt")
    dangling = await files(crib).place("dir/soon")
    assert (dangling.path, dangling.kind) == ("real/soon.txt", "missing")
    with refusing("file.missing") as answer:
        await files(crib).load("dir/soon", most=9)
    assert "symbolic link" in answer.text
    await files(crib, "real/soon.txt").write("dir/soon", b"made", expect=None)
    assert workspace.read("real/soon.txt") == b"made"
    for name in ("conf", "chain", "dir", "real/soon"):
        assert (workspace.ws / name).is_symlink()


async def test_a_link_loop_and_a_long_chain_are_refused_and_forty_links_work(
    workspace: Workspace, crib: Membrane
) -> None:
    os.symlink("self", workspace.ws / "self")
    workspace.write("l0", "end")
    for number in range(1, 42):
        os.symlink(f"l{number - 1}", workspace.ws / f"l{number}")
    assert (await files(crib).load("l40", most=9)).data == b"end"
    for path in ("self", "l41", "self/x"):
        with refusing("file.missing") as answer:
            await files(crib).load(path, most=9)
        assert "links" in answer.text


async def test_names_are_literal(workspace: Workspace, crib: Membrane) -> None:
    names = ["~", "$HOME", "%2e%2e", "..\\x", "a;b", "$(touch p)", "new\nline", "es\x1bc", "-rf", "app/[id]/*.tsx"]
    for name in names:
        written = await files(crib, name).write(name, name.encode(), expect=None)
        assert written.place.path == name
        assert (await files(crib).load(name, most=99)).data == name.encode()
    await files(crib, "file:/etc/x").write("file:///etc/x", b"", expect=None)
    raw = os.fsdecode(b"caf\xe9")
    await files(crib, raw).write(raw, b"", expect=None)
    assert b"caf\xe9" in os.listdir(os.fsencode(workspace.ws))


async def test_what_cannot_be_a_path_is_refused_by_a_message_that_can_be_shown(crib: Membrane) -> None:
    for path in ("", "a\0b", "\ud800", "n" * 256, "d/" * 35_000):
        with refusing("args.invalid") as answer:
            await files(crib, path).write(path, b"x", expect=None)
        with refusing("args.invalid"):
            await files(crib).load(path, most=9)
        answer.text.encode()
        assert len(answer.text) < 500


async def test_a_slash_or_dot_at_the_end_asks_for_a_directory(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "text")
    workspace.write("d/x", "")
    for path in ("f/", "f/.", "f/x", "f/.."):
        with refusing("file.not_directory"):
            await files(crib).load(path, most=9)
    for path in ("new/", "new/."):
        with refusing("file.not_directory"):
            await files(crib, "new").write(path, b"x", expect=None)
    for path in ("d", "d/", "d/.", ".", "d/.."):
        with refusing("file.not_regular") as answer:
            await files(crib, "d", ".").write(path, b"x", expect=None)
        assert "directory" in answer.text
        with refusing("file.not_regular"):
            await files(crib, "d", ".").remove(path, expect="0" * 64)
    assert sorted(os.listdir(workspace.ws)) == ["d", "f"]


@pytest.mark.case("B046")
async def test_a_fifo_a_socket_and_a_device_are_refused_at_once_and_named(workspace: Workspace, crib: Membrane) -> None:
    os.mkfifo(workspace.ws / "p")
    os.symlink("p", workspace.ws / "link")
    held = socket.socket(socket.AF_UNIX)
    held.bind(str(workspace.ws / "s"))
    os.mknod(workspace.ws / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    began = time.monotonic()
    for path, word in (("p", "FIFO"), ("link", "FIFO"), ("s", "socket"), ("zero", "device")):
        for operation in (
            files(crib).load(path, most=9),
            files(crib).window(path, offset=1, limit=1, most_bytes=9, line_chars=9),
            files(crib, "p", "s", "zero").write(path, b"x", expect=None),
        ):
            with refusing("file.not_regular") as answer:
                await operation
            assert word in answer.text
        await files(crib).place(path, digest=True)
    assert time.monotonic() - began < 1
    held.close()


@pytest.mark.case("B060")
async def test_a_missing_name_gets_the_nearest_ones(workspace: Workspace, crib: Membrane) -> None:
    exact = ["shot\u00a01.png.txt", "shot\u202f2.txt", "cafe\u0301.md"]
    for name in (*exact, "src/reader.py", "README.md"):
        workspace.write(name, name)
    for name in exact:
        assert (await files(crib).load(name, most=99)).data == name.encode()
    asked = {
        "shot 1.png.txt": exact[0],
        "shot 2.txt": exact[1],
        "caf\u00e9.md": exact[2],
        "readme.MD": "README.md",
        "src/raeder.py": "src/reader.py",
        "scr/reader.py": "src/reader.py",
    }
    for name, near in asked.items():
        with refusing("file.missing") as answer:
            await files(crib).load(name, most=99)
        assert repr(near) in answer.refusal.hint
    hidden = crib.within(Scope(may_read=lambda path: path == "readme.MD"))
    with refusing("file.missing") as answer:
        await hidden.load("readme.MD", most=99)
    assert "README" not in answer.text


async def test_a_rule_that_hides_a_path_hides_it_by_every_name(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("secret/key", "k")
    os.symlink("secret", workspace.ws / "alias")
    bound = crib.within(Scope(may_read=lambda path: not path.startswith("secret/")))
    for path in ("secret/key", "alias/key", "./secret/../secret/key", str(workspace.ws / "secret/key"), "alias/none"):
        with refusing("file.denied"):
            await bound.load(path, most=9)
        with refusing("file.denied"):
            await bound.place(path)


async def test_a_call_writes_only_the_paths_it_was_given(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("a", "a")
    with refusing("file.denied"):
        await files(crib, "b").write("a", b"x", expect=of_bytes(b"a"))
    with refusing("file.denied"):
        await files(crib, "b").write("new/c", b"x", expect=None)
    with refusing("file.denied"):
        await files(crib, "b").remove("a", expect=of_bytes(b"a"))
    assert workspace.tree(workspace.ws) == {"a": b"a"}


@pytest.mark.case("B037")
@pytest.mark.case("B038")
async def test_a_replaced_file_keeps_its_mode_owner_and_attributes(workspace: Workspace, crib: Membrane) -> None:
    for mode in (0o664, 0o640, 0o604, 0o755, 0o700, 0o2755, 0o1600):
        name = f"f{mode:o}"
        workspace.write(name, "old").chmod(mode)
        os.setxattr(workspace.ws / name, "user.note", b"kept")
        written = await files(crib, name).write(name, b"new", expect=of_bytes(b"old"))
        found = os.stat(workspace.ws / name)
        assert (stat.S_IMODE(found.st_mode), written.place.mode, workspace.read(name)) == (mode, mode, b"new")
        assert os.getxattr(workspace.ws / name, "user.note") == b"kept"


async def test_setuid_is_never_kept_and_setgid_not_on_another_owners_file(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("suid", "old").chmod(0o6755)
    theirs = workspace.write("sgid", "old")
    os.chown(theirs, 12345, 12346)
    theirs.chmod(0o2755)
    for name in ("suid", "sgid"):
        await files(crib, name).write(name, b"new", expect=of_bytes(b"old"))
    assert stat.S_IMODE(os.stat(workspace.ws / "suid").st_mode) == 0o2755
    found = os.stat(theirs)
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o755, 12345, 12346)


@pytest.mark.case("B038")
async def test_new_files_and_directories_get_what_the_umask_leaves(workspace: Workspace) -> None:
    before = os.umask(0o027)
    try:
        async with opened(workspace.ws) as crib:
            written = await files(crib, "x/y/f", "g").write("x/y/f", b"1", expect=None)
            await files(crib, "g").write("g", b"", expect=None, mode=0o751)
    finally:
        os.umask(before)
    assert written.created_parents == ("x", "x/y")
    modes = {name: stat.S_IMODE(os.stat(workspace.ws / name).st_mode) for name in ("x", "x/y", "x/y/f", "g")}
    assert modes == {"x": 0o750, "x/y": 0o750, "x/y/f": 0o640, "g": 0o751}


@pytest.mark.case("B041")
async def test_a_file_that_its_owner_may_not_write_is_read_only_for_root_too(
    workspace: Workspace, crib: Membrane
) -> None:
    workspace.write("locked", "old").chmod(0o444)
    with refusing("file.read_only"):
        await files(crib, "locked").write("locked", b"new", expect=of_bytes(b"old"))
    with refusing("file.read_only"):
        await files(crib, "locked").remove("locked", expect=of_bytes(b"old"))
    assert (workspace.read("locked"), stat.S_IMODE(os.stat(workspace.ws / "locked").st_mode)) == (b"old", 0o444)


@pytest.mark.case("B006")
async def test_a_file_with_two_links_is_refused_and_both_keep_their_bytes(workspace: Workspace, crib: Membrane) -> None:
    victim = workspace.out / "victim"
    victim.write_text("mine")
    os.link(victim, workspace.ws / "h")
    with refusing("file.linked"):
        await files(crib, "h").write("h", b"x", expect=of_bytes(b"mine"))
    assert victim.read_bytes() == workspace.read("h") == b"mine"


@pytest.mark.case("B044")
async def test_a_write_lands_on_exactly_what_was_expected(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("n", "outside change")
    bound = files(crib, "n", "none", "x/y")
    with refusing("file.stale"):
        await bound.write("n", b"mine", expect=of_bytes(b"first reading"))
    with refusing("file.exists"):
        await bound.write("n", b"mine", expect=None)
    with refusing("file.stale"):
        await bound.write("none", b"mine", expect=of_bytes(b"it was there"))
    with refusing("file.stale"):
        await bound.write("x/y", b"mine", expect=of_bytes(b"it was there"))
    with refusing("file.stale"):
        await bound.remove("n", expect=of_bytes(b"first reading"))
    assert workspace.tree(workspace.ws) == {"n": b"outside change"}


async def test_removing_takes_the_file_and_only_the_empty_directories_named(
    workspace: Workspace, crib: Membrane
) -> None:
    bound = files(crib, "a/b/c/f", "a/b/g", "keep/f")
    made = await bound.write("a/b/c/f", b"1", expect=None)
    workspace.write("a/other")
    await bound.remove("a/b/c/f", expect=made.after, prune=("a", "a/b", "a/b/c", "unrelated"))
    (workspace.ws / "unrelated").mkdir()
    assert sorted(workspace.tree(workspace.ws)) == ["a", "a/other", "unrelated"]
    with refusing("file.missing"):
        await bound.remove("a/b/g", expect=made.after)
    os.symlink("other", workspace.ws / "a" / "link")
    with refusing("file.stale"):
        await files(crib, "a/other", "a/link").remove("a/link", expect=of_bytes(b""))
    assert (workspace.ws / "a" / "link").is_symlink()
    await files(crib, "a/other", "a/link").remove("a/link", expect=of_link("other"))
    assert sorted(workspace.tree(workspace.ws)) == ["a", "a/other", "unrelated"]


PROTECTED = [
    *(
        ".git/hooks/pre-commit",
        ".git/info/attributes",
        ".git/config",
        ".git//config",
        "./.git/config",
        ".git/./hooks/x",
        "sub/../.git/config",
        "sub/.git/x",
        ".git",
    ),
    *(
        ".GIT/config",
        ".git./config",
        ".git /x",
        ".gi\u200ct/x",
        "link/config",
        ".toolcrib/config.toml",
        "sub/.TOOLCRIB/x",
    ),
    *("conf/prod.env", "conf//PROD.env", "sub/cafe\u0301", "caf\u00e9/x"),
]


@pytest.mark.case("B123", "files")
@pytest.mark.parametrize("path", PROTECTED)
async def test_a_protected_path_is_never_written_by_any_spelling(workspace: Workspace, way: Way, path: str) -> None:
    workspace.write(".git/config", "old")
    workspace.write("sub/x")
    os.symlink(".git", workspace.ws / "link")
    async with opened(workspace.ws, way, protected=("conf/prod.env", "caf\u00e9")) as crib:
        place = await files(crib).place(path)
        bound = crib.within(scope(place.path, path))
        with refusing("file.protected", "file.not_regular"):
            await bound.write(path, b"pwned", expect=of_bytes(b"old") if place.kind == "file" else None)
        with refusing("file.protected", "file.not_regular"):
            await bound.remove(path, expect=of_bytes(b"old"))
    assert workspace.tree(workspace.ws) == {
        ".git": None,
        ".git/config": b"old",
        "link": ".git",
        "sub": None,
        "sub/x": b"",
    }


@pytest.mark.case("B143")
def test_protected_names_hold_in_any_case_and_look_alikes_stay_free(workspace: Workspace) -> None:
    with membrane(workspace.ws, protected=(".env", "id_rsa", ".ssh/")) as crib:
        for path in (".ENV", ".Git/config", "ID_RSA", ".SSH/config", "deep/.Env", "deep/Id_Rsa"):
            assert crib.protects(path)
        for path in (".GITIGNORE", ".env.example", "id_rsa.pub", "ssh/config", "git", ".envs/x", "my.env"):
            assert not crib.protects(path)
            crib.put(scope(path), Put(path=path, data=b"", expect=None))


@pytest.mark.case("B123", "files")
async def test_a_path_that_only_looks_like_a_protected_one_is_written(workspace: Workspace, crib: Membrane) -> None:
    for path in (".github/x", ".gitignore", "git/x", "a.git/x", ".toolcribs"):
        await files(crib, path).write(path, b"x", expect=None)
        assert workspace.read(path) == b"x"


@pytest.mark.case("B055")
async def test_binary_is_named_with_size_and_kind(workspace: Workspace, crib: Membrane) -> None:
    heads = {
        "data.txt": (b"PK\x03\x04\x14\0\0\0", "ZIP"),
        "prog": (b"\x7fELF\x02\x01\x01\0", "ELF"),
        "p.png": (b"\x89PNG\r\n\x1a\n\0\0\0\r", "PNG"),
        "x.bin": (b"ab\0cd", "unknown"),
        "t.gz": (b"\x1f\x8b\x08\0\0", "gzip"),
    }
    for name, (head, word) in heads.items():
        workspace.write(name, head + bytes(1000))
        with refusing("file.binary") as answer:
            await window(crib, name)
        assert word in answer.text
        assert f"{len(head) + 1000:,}" in answer.text
        assert "\0" not in answer.text


@pytest.mark.case("B057")
async def test_utf16_with_a_mark_is_read_as_text(workspace: Workspace, crib: Membrane) -> None:
    for name, codec, mark in (("le", "utf-16-le", b"\xff\xfe"), ("be", "utf-16-be", b"\xfe\xff")):
        workspace.write(name, mark + "one\r\nneedle \U0001f600\r\n".encode(codec))
        found = await window(crib, name)
        assert (found.lines, found.encoding, found.ending) == (("one", "needle \U0001f600"), codec, "crlf")


@pytest.mark.case("B058")
@pytest.mark.case("B021")
async def test_damage_is_marked_and_never_raw(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("d", b"x" * 99 + b"\n" + b"line\n" * 4096 + bytes(4096) + b"\xff\xfe\ntail caf\xe9\n")
    found = await window(crib, "d", -2)
    text = "\n".join(found.lines)
    text.encode()
    assert "\0" not in text
    assert found.lines[1] == "tail caf\\xe9"
    assert found.lines[0].startswith("\\x00\\x00")
    assert found.encoding == "bytes"
    assert found.clipped == ((4098, 4098),)


async def test_lines_are_those_of_an_editor(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "a\r\nb\rc\x0cd\u2028e\n\n")
    found = await window(crib, "f")
    assert found.lines == ("a", "b", "c\x0cd\u2028e", "")
    assert (found.total_lines, found.first, found.more, found.ending) == (4, 1, False, "mixed")
    assert found.digest == of_bytes(workspace.read("f")) == found.place.digest


@pytest.mark.case("B050")
@pytest.mark.case("B051")
async def test_windows_count_from_both_ends_and_say_what_they_left_out(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("ten", "".join(f"{number}\n" for number in range(1, 11)))
    workspace.write("empty")
    asked = {
        (1, 5): (("1", "2", "3", "4", "5"), 1, True),
        (9, 5): (("9", "10"), 9, False),
        (10, 1): (("10",), 10, False),
        (11, 5): ((), 11, False),
        (100, 5): ((), 100, False),
        (-1, 5): (("10",), 10, False),
        (-3, 2): (("8", "9"), 8, True),
        (-99, 1): (("1",), 1, True),
        (1, 10**12): (tuple(map(str, range(1, 11))), 1, False),
    }
    for (offset, limit), (lines, first, more) in asked.items():
        found = await window(crib, "ten", offset, limit)
        assert (found.lines, found.first, found.more, found.total_lines) == (lines, first, more, 10)
    found = await window(crib, "empty")
    assert (found.lines, found.total_lines, found.more, found.ending) == ((), 0, False, "none")


@pytest.mark.case("B059")
async def test_numbers_that_name_no_window_are_refused(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "x\n")
    for offset, limit in ((0, 1), (1, 0), (1, -1)):
        with refusing("args.invalid"):
            await window(crib, "f", offset, limit)


@pytest.mark.case("B049")
async def test_long_lines_and_many_bytes_are_cut_and_each_cut_is_named(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "short\n" + "\u00e9" * 1_700_000 + "\nend\n")
    found = await window(crib, "f")
    assert (found.lines[0], found.lines[2], len(found.lines[1])) == ("short", "end", 2000)
    assert found.clipped == ((2, 1_700_000),)
    found = await window(crib, "f", most_bytes=1000)
    assert (found.lines, found.more) == (("short",), True)
    found = await window(crib, "f", 2, most_bytes=1000)
    assert (len(found.lines), len(found.lines[0].encode()), found.clipped) == (1, 1000, ((2, 1_700_000),))


@pytest.mark.case("B048")
async def test_a_large_sparse_file_is_read_at_once_and_in_little_memory(workspace: Workspace, crib: Membrane) -> None:
    path = workspace.write("big.txt", "first line\n")
    os.truncate(path, 4 << 30)
    before, began = peak(), time.monotonic()
    first = await window(crib, "big.txt", 1, 1)
    second = await window(crib, "big.txt", 2, 1)
    last = await window(crib, "big.txt", -1, 1)
    assert time.monotonic() - began < 0.8
    assert peak() - before < 32 << 20
    assert (first.lines, first.digest, first.total_lines, first.more) == (("first line",), None, None, True)
    assert second.lines == ("\\x00" * 2000,)
    assert second.clipped == ((2, (4 << 30) - 11),)
    assert (last.lines, last.first) == (second.lines, -1)


def peak() -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no peak")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
async def test_a_file_above_the_cap_gives_the_same_lines_as_one_below_it(
    workspace: Workspace, codec: str, ending: str
) -> None:
    lines = [f"{number} \u00e9\U0001f600" + "x" * (number % 90) for number in range(25_000)]
    workspace.write("f", (ending.join(lines) + (ending if len(ending) > 1 else "")).encode(codec))
    async with opened(workspace.ws) as small, opened(workspace.ws, edit_bytes=1 << 19) as large:
        for offset in (1, 2, 12_500, 24_999, 25_000, 25_001, 30_000):
            one, other = await window(small, "f", offset, 3), await window(large, "f", offset, 3)
            assert (one.lines, one.more, one.clipped) == (other.lines, other.more, other.clipped)
            assert (one.encoding, one.ending) == (other.encoding, other.ending)
            assert (one.digest is None, other.digest, other.total_lines) == (False, None, None)
            assert one.first == other.first or not other.lines
        for offset in (-1, -2, -24_999, -25_000, -25_001):
            one, other = await window(small, "f", offset, 3), await window(large, "f", offset, 3)
            assert (one.lines, one.more) == (other.lines, other.more)
            assert other.first == (offset if offset > -25_000 else 1)


async def test_a_large_binary_file_is_refused_by_its_first_bytes(workspace: Workspace) -> None:
    workspace.write("f", b"a\nb" + bytes(100) + os.urandom(1 << 20))
    workspace.write("n", bytes(1 << 20))
    workspace.write("z", b"PK\x03\x04 text\n" * 100_000)
    async with opened(workspace.ws, edit_bytes=1 << 19) as crib:
        for name in ("f", "z", "n"):
            with refusing("file.binary"):
                await window(crib, name)


async def test_a_file_larger_than_asked_for_is_refused_with_both_sizes(workspace: Workspace, crib: Membrane) -> None:
    workspace.write("f", "x" * 1001)
    with refusing("file.too_large") as answer:
        await files(crib).load("f", most=1000)
    assert "1,000" in answer.text
    assert "1,001" in answer.text
    assert (await files(crib).load("f", most=1001)).digest == of_bytes(b"x" * 1001)


async def test_places_are_hashed_up_to_the_edit_cap(workspace: Workspace) -> None:
    workspace.write("f", "x" * 100)
    workspace.write("g", "x" * 101)
    async with opened(workspace.ws, edit_bytes=100) as crib:
        assert (await files(crib).place("f", digest=True)).digest == of_bytes(b"x" * 100)
        assert (await files(crib).place("f")).digest is None
        assert (await files(crib).place("g", digest=True)).digest is None


async def test_a_digest_is_never_an_old_one_however_soon_the_file_changes(workspace: Workspace, crib: Membrane) -> None:
    """Digests are remembered; a change within one tick of the clock of file times must show all the same."""
    path = workspace.write("f", "0000")
    for turn in range(300):
        text = f"{turn:04}".encode()
        path.write_bytes(text)
        os.utime(path, ns=(0, 0))  # the time of change, which cannot be set, is what is left
        assert (await files(crib).place("f", digest=True)).digest == of_bytes(text)


async def test_a_digest_that_is_known_is_not_taken_again(workspace: Workspace) -> None:
    path = workspace.write("f", "text")
    reading = Reading()
    async with opened(workspace.ws, calls=reading) as crib:
        before = -1
        while reading.count != before:
            before = reading.count
            await files(crib).place("f", digest=True)
        assert 0 < before < 1000
        assert (await files(crib).place("f", digest=True)).digest == of_bytes(b"text")
        assert reading.count == before
        path.write_text("more")
        assert (await files(crib).place("f", digest=True)).digest == of_bytes(b"more")


class Reading(Calls):
    """Counts the files opened for reading."""

    count = 0

    def again(self, handle: int, flags: int) -> int:
        self.count += 1
        return super().again(handle, flags)


async def test_reading_a_file_that_is_rewritten_in_place_gives_one_of_its_versions(
    workspace: Workspace, crib: Membrane
) -> None:
    path = workspace.write("f", b"a" * 300_000)
    versions = {of_bytes(each * 300_000) for each in (b"a", b"b")}
    stop = False

    def rewrite() -> None:
        letters = (b"b", b"a")
        turn = 0
        while not stop:
            path.write_bytes(letters[turn % 2] * 300_000)
            turn += 1

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, rewrite)
        for _ in range(40):
            try:
                found = await files(crib).load("f", most=1 << 20)
            except Refusal as refusal:
                assert refusal.name == "file.stale"
            else:
                assert found.digest in versions or not found.data.strip(found.data[:1])
        stop = True


def test_a_user_who_is_not_root_is_told_what_the_system_does_not_permit(workspace: Workspace, way: Way) -> None:
    workspace.write("mine", "old")
    os.chown(workspace.ws / "mine", 12345, 12345)
    workspace.write("theirs", "old").chmod(0o666)
    workspace.write("closed/f", "old").chmod(0o600)
    workspace.write("sealed/f", "old").chmod(0o666)
    (workspace.ws / "sealed").chmod(0o555)
    (workspace.ws / "shut").mkdir(mode=0o700)
    workspace.ws.chmod(0o777)
    with membrane(workspace.ws, way) as crib:
        bound = scope("mine", "theirs", "closed/f", "sealed/f", "sealed/g", "shut/g", "new")
        os.setegid(12345)
        os.seteuid(12345)
        try:
            for path in ("theirs", "closed/f", "sealed/f"):
                with refusing("file.denied"):
                    crib.put(bound, Put(path=path, data=b"new", expect=of_bytes(b"old")))
            for path in ("sealed/g", "shut/g"):
                with refusing("file.denied"):
                    crib.put(bound, Put(path=path, data=b"new", expect=None))
            with refusing("file.denied"):
                crib.load("closed/f", most=9)
            crib.put(bound, Put(path="mine", data=b"new", expect=of_bytes(b"old")))
            made = crib.put(bound, Put(path="new", data=b"new", expect=None))
        finally:
            os.seteuid(0)
            os.setegid(0)
    assert os.stat(workspace.ws / made.place.path).st_uid == 12345
    assert {workspace.read(path) for path in ("theirs", "closed/f", "sealed/f")} == {b"old"}
    assert sorted(os.listdir(workspace.ws)) == ["closed", "mine", "new", "sealed", "shut", "theirs"]


@pytest.mark.case("B122", "files")
async def test_editing_makes_no_repository_wherever_the_workspace_lies(workspace: Workspace, way: Way) -> None:
    def git(*arguments: str) -> str:
        plain = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(workspace.base)}
        done = await_process(["git", *arguments], cwd=workspace.ws / "sub", env=plain)
        return done.strip()

    for name in ("sub/a", "one/f", "two/f"):
        workspace.write(name, "old")
    for repository in ("", "one", "two"):
        await anyio.to_thread.run_sync(git, "init", "-q", str(workspace.ws / repository))
    top = await anyio.to_thread.run_sync(git, "rev-parse", "--show-toplevel")
    async with opened(workspace.ws / "sub", way) as inner, opened(workspace.ws, way) as outer:
        await files(inner, "a", "n").write("a", b"new", expect=of_bytes(b"old"))
        await files(inner, "n").write("n", b"new", expect=None)
        for path in ("one/f", "two/f"):
            await files(outer, path).write(path, b"new", expect=of_bytes(b"old"))
    assert await anyio.to_thread.run_sync(git, "rev-parse", "--show-toplevel") == top == str(workspace.ws)
    found = sorted(str(path.relative_to(workspace.ws)) for path in workspace.ws.rglob(".git"))
    assert found == [".git", "one/.git", "two/.git"]


def await_process(arguments: list[str], *, cwd: Path, env: dict[str, str]) -> str:
    return subprocess.run(arguments, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


async def test_parents_that_two_writes_need_are_made_once_and_both_land(workspace: Workspace, crib: Membrane) -> None:
    paths = [f"a/b/c/{number}" for number in range(12)]
    async with anyio.create_task_group() as group:
        for path in paths:
            group.start_soon(partial(files(crib, path).write, path, path.encode(), expect=None))
    assert {path: workspace.read(path) for path in paths} == {path: path.encode() for path in paths}


async def test_nothing_is_left_in_the_workspace_and_no_handle_stays_open(workspace: Workspace, crib: Membrane) -> None:
    before = handles()
    for _ in range(5):
        await files(crib, "a/b").write("a/b", b"1", expect=None)
        await files(crib, "a/b").write("a/b", b"2", expect=of_bytes(b"1"))
        await files(crib, "a/b").remove("a/b", expect=of_bytes(b"2"), prune=("a",))
        for path in ("../x", "none/x", "self", "a" * 300):
            with refusing("file.outside", "file.missing", "args.invalid"):
                await files(crib).load(path, most=9)
    assert (workspace.tree(workspace.ws), leftovers(workspace.ws)) == ({}, [])
    assert handles() == before
