"""Races, crashes and failing disks: what a write leaves when anything happens at any moment."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import soak
from beneath import SITES, WAYS, Faulty, Killed, Way, handles, leftovers, membrane, refusing, scope
from conftest import Workspace
from toolcrib.host.workspace import read
from toolcrib.host.workspace.calls import Calls
from toolcrib.host.workspace.lines import View
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.host.workspace.write import Put
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.names import TEMP_PREFIX, mint_id
from toolcrib.terms.refusals import Refusal

FLIP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
here = os.open(sys.argv[1], os.O_RDONLY)
one, other = sys.argv[2].encode(), sys.argv[3].encode()
number = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
print("ready", flush=True)
while True:
    libc.syscall(number, here, one, here, other, 2)
"""


@contextmanager
def flipping(where: Path, one: str, other: str) -> Generator[None]:
    """Let another process swap two names without pause."""
    process = subprocess.Popen([sys.executable, "-c", FLIP, where, one, other], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def leaks(root: Path, path: str, secret: bytes, tries: int) -> bool:
    """Resolve, check, then open by name: the variant that a race beats. Tell whether it did."""
    for _ in range(tries):
        with suppress(OSError):
            real = os.path.realpath(root / path)
            if real.startswith(f"{root}/") and (root / path).read_bytes() == secret:
                return True
    return False


@pytest.mark.attack("A025")
@pytest.mark.soak("races")
@pytest.mark.parametrize("way", WAYS)
def test_a_directory_that_flips_with_a_link_to_outside_leaks_nothing(workspace: Workspace, way: Way) -> None:
    workspace.write("d/f", b"inside")
    (workspace.out / "f").write_bytes(b"the secret")
    os.symlink("../out", workspace.ws / "l")
    before = workspace.tree()
    rounds = soak.count(1_000_000) // (2 * len(WAYS))
    done: list[int] = []

    def work(number: int, crib: Membrane) -> None:
        bound = scope(*(f"{parent}/w{number}" for parent in "dl"))
        good = 0
        for turn in range(rounds // 16 + 1):
            path = "dl"[turn % 2]
            with suppress(Refusal):
                assert crib.load(f"{path}/f", most=99).data == b"inside"
                good += 1
            with suppress(Refusal):
                crib.place(f"{path}/w{number}", digest=True)
            with suppress(Refusal):
                handle = crib.open_directory(path)
                assert "canary" not in os.listdir(handle)
                os.close(handle)
            if turn % 8 == 0:
                with suppress(Refusal):
                    written = crib.put(bound, Put(path=f"{path}/w{number}", data=b"w", expect=None))
                    crib.remove(bound, written.place.path, expect=written.after)
        done.append(good)

    with flipping(workspace.ws, "d", "l"):
        assert leaks(workspace.ws, "d/f", b"the secret", 100_000), "void: the control did not leak"
        with membrane(workspace.ws, way) as crib, ThreadPoolExecutor(16) as pool:
            for each in [pool.submit(work, number, crib) for number in range(16)]:
                each.result()
    assert workspace.tree() == before
    assert sum(done) > rounds // 20
    assert leftovers(workspace.ws) == []


@pytest.mark.attack("A026")
@pytest.mark.soak("races")
@pytest.mark.parametrize("way", WAYS)
def test_a_leaf_that_flips_with_a_link_to_the_canary_leaves_it_unchanged(workspace: Workspace, way: Way) -> None:
    secret = (workspace.out / "canary").read_bytes()
    before = workspace.tree()
    rounds = soak.count(100_000) // len(WAYS)
    outcomes = {"done": 0, "refused": 0}
    said = ""
    with tiny(workspace.ws, "16m"), flipping(workspace.ws, "a", "b"), membrane(workspace.ws, way) as crib:
        for turn in range(rounds):
            if turn % 25 == 0:
                _set_out(workspace)
            if turn == 0:
                assert leaks(workspace.ws, "a", secret, 100_000), "void: the control did not leak"
            try:
                loaded = crib.load("a", most=999)
                assert loaded.data != secret
                crib.put(scope("a", "b"), Put(path="a", data=str(turn).encode(), expect=loaded.digest))
                outcomes["done"] += 1
            except Refusal as refusal:
                assert refusal.name in {"file.outside", "file.stale", "file.denied", "file.missing", "file.exists"}
                outcomes["refused"] += 1
                said += refusal.message
        names = set(os.listdir(workspace.ws)) - {"a", "b"}
        assert leftovers(workspace.ws) == []
    assert workspace.tree() == before
    assert all(outcomes.values())
    assert [name for name in names if name not in said] == []  # what had to be kept aside was said


def _set_out(workspace: Workspace) -> None:
    """Put a regular file and a link to the canary at the two names, under the flips."""
    workspace.write("file", "0")
    (workspace.ws / "link").symlink_to("../out/canary")
    os.replace(workspace.ws / "file", workspace.ws / "a")
    os.replace(workspace.ws / "link", workspace.ws / "b")


@pytest.mark.attack("A032")
@pytest.mark.soak("races")
def test_readers_see_whole_old_or_whole_new_bytes(workspace: Workspace) -> None:
    sizes = [4 << 10, 64 << 10, 1 << 20, 4 << 20]
    versions = [bytes([65 + index]) * size for index, size in enumerate(sizes)]
    whole = {of_bytes(each) for each in versions}
    target = workspace.ws / "f"

    def torn(write: Callable[[bytes], None], turns: int) -> int:
        stop = threading.Event()
        seen: list[str] = []

        def look() -> None:
            while not stop.is_set():
                with suppress(FileNotFoundError):
                    seen.append(of_bytes(target.read_bytes()))

        readers = [threading.Thread(target=look) for _ in range(2)]
        for each in readers:
            each.start()
        for turn in range(turns):
            write(versions[turn % len(versions)])
        stop.set()
        for each in readers:
            each.join()
        assert seen
        return sum(digest not in whole for digest in seen)

    def naive(data: bytes) -> None:
        with target.open("wb") as file:
            for start in range(0, len(data), 1 << 16):
                file.write(data[start : start + (1 << 16)])
                file.flush()

    digest = of_bytes(versions[0])
    with tiny(workspace.ws, "64m"), membrane(workspace.ws) as crib:
        target.write_bytes(versions[0])
        assert torn(naive, 40), "void: no reader saw a torn file under plain writes"
        target.write_bytes(versions[0])

        def careful(data: bytes) -> None:
            nonlocal digest
            digest = crib.put(scope("f"), Put(path="f", data=data, expect=digest)).after

        assert torn(careful, soak.count(10_000)) == 0


def test_a_path_is_never_answered_by_the_name_of_a_temporary_file(workspace: Workspace) -> None:
    """A handle taken just before a replacement has, for a moment, the name of the displaced file."""
    workspace.write("f", "0")
    seen: set[str] = set()
    naive: set[str] = set()
    stop = threading.Event()
    with tiny(workspace.ws), membrane(workspace.ws) as crib:
        digest = crib.put(scope("f"), Put(path="f", data=b"0", expect=None)).after

        def look() -> None:
            while not stop.is_set():
                seen.add(crib.place("f").path)
                with suppress(OSError), open(workspace.ws / "f", "rb") as file:
                    naive.add(os.readlink(f"/proc/self/fd/{file.fileno()}"))

        readers = [threading.Thread(target=look) for _ in range(3)]
        for each in readers:
            each.start()
        for turn in range(3000):
            digest = crib.put(scope("f"), Put(path="f", data=str(turn).encode(), expect=digest)).after
            if turn > 200 and any(TEMP_PREFIX in name for name in naive):
                break
        stop.set()
        for each in readers:
            each.join()
    assert any(TEMP_PREFIX in name for name in naive), "void: no handle was seen under another name"
    assert seen == {"f"}


@pytest.mark.attack("A031")
@pytest.mark.soak("races")
def test_two_sessions_editing_one_file_lose_no_acknowledged_edit(workspace: Workspace) -> None:
    target = workspace.ws / "f"
    rounds = max(20, soak.count(1_000))

    def both(edit: Callable[[int, str], bool]) -> tuple[list[str], list[str]]:
        acknowledged: list[str] = []
        target.write_bytes(b"start\n")

        def session(number: int) -> None:
            for turn in range(rounds):
                line = f"{number} {turn}"
                if edit(number, line):
                    acknowledged.append(line)

        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(session, number) for number in range(2)]:
                each.result()
        return acknowledged, target.read_text(encoding="utf-8").splitlines()

    def naive(_number: int, line: str) -> bool:
        old = target.read_bytes()
        time.sleep(0)
        target.with_suffix(f".{_number}").write_bytes(old + f"{line}\n".encode())
        os.replace(target.with_suffix(f".{_number}"), target)
        return True

    with tiny(workspace.ws, "16m"), membrane(workspace.ws) as one, membrane(workspace.ws) as other:
        lost = 0
        for _ in range(20):
            acknowledged, final = both(naive)
            lost += len(set(acknowledged) - set(final))
        assert lost, "void: plain read and replace lost nothing"

        def careful(number: int, line: str) -> bool:
            crib = (one, other)[number]
            old = crib.load("f", most=1 << 20)
            try:
                crib.put(scope("f"), Put(path="f", data=old.data + f"{line}\n".encode(), expect=old.digest))
            except Refusal as refusal:
                assert refusal.name == "file.stale"
                return False
            return True

        acknowledged, final = both(careful)
        assert os.listdir(workspace.ws) == ["f"]
    assert final == ["start", *sorted(final[1:], key=final.index)]
    assert set(acknowledged) <= set(final)
    assert set(final) - {"start"} == set(acknowledged)


# --- every site -------------------------------------------------------------------------------------------------

OLD, NEW = b"old text\n" * 50, b"new and longer text\n" * 70


@dataclass(frozen=True)
class Protocol:
    """One way of changing a file: what stands there first, the change, and the two states it may leave."""

    name: str
    path: str
    before: bytes | None
    after: bytes | None
    act: Callable[[Membrane, Scope], object]

    def prepare(self, root: Path) -> None:
        """Put the first state in place."""
        for each in sorted(root.rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() else each.unlink()
        if self.before is not None:
            target = root / self.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.before)
            target.chmod(0o640)
            os.setxattr(target, "user.note", b"kept")
            os.chown(target, 12345, 12345)

    def found(self, root: Path) -> bytes | None:
        """Return what stands at the path."""
        target = root / self.path
        return target.read_bytes() if target.exists() else None

    def paths(self) -> dict[str, str | None]:
        """Return the footprint as a checkpoint holds it: each path, missing parents included, with its pre-image."""
        digest = None if self.before is None else of_bytes(self.before)
        above = self.path.split("/")[:-1] if self.before is None else []
        return {**{"/".join(above[: count + 1]): None for count in range(len(above))}, self.path: digest}


def _put(data: bytes, before: bytes | None, path: str) -> Callable[[Membrane, Scope], object]:
    expect = None if before is None else of_bytes(before)
    return lambda crib, bound: crib.put(bound, Put(path=path, data=data, expect=expect))


PROTOCOLS = (
    Protocol("create", "x/y/f", None, NEW, _put(NEW, None, "x/y/f")),
    Protocol("replace", "d/f", OLD, NEW, _put(NEW, OLD, "d/f")),
    Protocol("remove", "d/f", OLD, None, lambda crib, bound: crib.remove(bound, "d/f", expect=of_bytes(OLD))),
)
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)


def run(protocol: Protocol, root: Path, calls: Faulty, call_id: str = "") -> str:
    """Carry the protocol out and return how it ended."""
    with membrane(root, calls=calls) as crib:
        try:
            protocol.act(crib, scope(protocol.path, call_id=call_id))
        except Refusal as refusal:
            return f"{refusal.name} {refusal.happened}"
        except Killed:
            return "killed"
    return "done"


def sites(protocol: Protocol, root: Path) -> list[str]:
    """Return the name of each site that the protocol passes, in order."""
    protocol.prepare(root)
    calls = Faulty()
    assert run(protocol, root, calls) == "done"
    assert protocol.found(root) == protocol.after
    return calls.seen


def sweep(protocol: Protocol, root: Path, call_id: str) -> tuple[str, ...]:
    """Recover as the next start does, and demand that a second time finds nothing."""
    with membrane(root) as crib:
        pre = protocol.paths()
        kept = crib.sweep(call_id, list(pre), pre)
        assert crib.clear(call_id, list(pre), pre) == ()
    return kept


@each_protocol
def test_the_protocol_syncs_before_and_after_the_names_change(workspace: Workspace, protocol: Protocol) -> None:
    seen = sites(protocol, workspace.ws)
    change = max(index for index, name in enumerate(seen) if name in {"exchange", "settle"})
    assert seen[-1] == "sync"
    assert seen.index("sync") < change or protocol.after is None
    assert set(seen) <= set(SITES)


@pytest.mark.attack("A145", "files")
@pytest.mark.attack("A034")
@each_protocol
def test_a_stop_at_any_call_leaves_old_or_new_and_nothing_else(workspace: Workspace, protocol: Protocol) -> None:
    left: set[bool] = set()
    for at in range(1, len(sites(protocol, workspace.ws)) + 1):
        protocol.prepare(workspace.ws)
        call_id = mint_id()
        assert run(protocol, workspace.ws, Faulty(at, "kill"), call_id) == "killed"
        left.add(bool(leftovers(workspace.ws)))
        assert sweep(protocol, workspace.ws, call_id) == ()
        found = protocol.found(workspace.ws)
        assert found in {protocol.before, protocol.after}, at
        assert leftovers(workspace.ws) == [], at
        if found is None and protocol.before is None:
            assert os.listdir(workspace.ws) == [], at
        elif protocol.before is not None and found is not None:
            assert os.getxattr(workspace.ws / protocol.path, "user.note") == b"kept"
    assert left == {True, False}  # the control: without recovery some stops do leave a file behind


@pytest.mark.attack("A145", "files")
@pytest.mark.soak("kill")
@each_protocol
def test_a_real_end_of_the_process_is_no_different(workspace: Workspace, protocol: Protocol) -> None:
    """The process ends by `_exit` at each site, at every eighth outside of a soak; one child starts them all."""
    here = Path(__file__).resolve()
    places = [str(here.parent), str(here.parent.parent)]
    script = f"import sys; sys.path[:0] = {places!r}; import test_races; test_races.child()"
    struck = range(1, len(sites(protocol, workspace.ws)) + 1, 1 if soak.running() else 8)
    for at in struck:
        protocol.prepare(workspace.ws)
        (workspace.base / f"{at}").mkdir()
        os.rename(workspace.ws, workspace.base / f"{at}" / "work")
        workspace.ws.mkdir()
    arguments = [str(workspace.base), protocol.name, *map(str, struck)]
    done = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    calls = done.stdout.split()
    for at, call_id in zip(struck, calls, strict=True):
        root = workspace.base / f"{at}" / "work"
        assert sweep(protocol, root, call_id) == ()
        assert protocol.found(root) in {protocol.before, protocol.after}
        assert leftovers(root) == []


def child() -> None:
    """Run one protocol once a site, each in a process of its own that ends there; print the call ids."""
    base, name, *struck = sys.argv[1:]
    protocol = next(each for each in PROTOCOLS if each.name == name)
    for at in map(int, struck):
        call_id = mint_id()
        process = os.fork()
        if process == 0:
            run(protocol, Path(base, str(at), "work"), Faulty(at, "exit"), call_id)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9
        print(call_id)


FAULTS: Mapping[str, int | Literal["short"]] = {
    **{name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EDQUOT", "EINTR", "EROFS", "EMFILE", "EACCES")},
    "short": "short",
}


@pytest.mark.attack("A150")
@each_protocol
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_call_is_a_refusal_and_changes_nothing(
    workspace: Workspace, protocol: Protocol, fault: str
) -> None:
    seen = sites(protocol, workspace.ws)
    before = handles()
    for at, site in enumerate(seen, 1):
        protocol.prepare(workspace.ws)
        outcome = run(protocol, workspace.ws, Faulty(at, FAULTS[fault]))
        found = protocol.found(workspace.ws)
        if fault == "short":
            assert (outcome, found) == ("done", protocol.after), (at, site)
        elif at == len(seen):
            # the sync at the very end: the names have changed, and whether that lasts is not known
            assert (outcome.partition(" ")[2], found) == ("maybe", protocol.after), (at, site)
        else:
            assert outcome not in {"done", "killed"}, (at, site)
            assert (outcome.partition(" ")[2], found) == ("no", protocol.before), (at, site)
        name = outcome.partition(" ")[0]
        if fault in {"ENOSPC", "EDQUOT"}:
            assert name == "disk.full", (at, site)
        if fault == "EROFS":
            assert name == "file.read_only", (at, site)
        assert leftovers(workspace.ws) == [], (at, site)
        if protocol.before is None and found is None:
            assert os.listdir(workspace.ws) == [], (at, site)
    assert handles() == before


@pytest.mark.attack("A150")
def test_a_failed_sync_is_not_tried_again(workspace: Workspace) -> None:
    """The control: a second fsync after a failed one does return success, and the data may be gone."""
    protocol = PROTOCOLS[1]
    first = sites(protocol, workspace.ws).index("sync") + 1
    protocol.prepare(workspace.ws)
    calls = Faulty(first, errno.EIO)
    handle = os.open(workspace.ws, os.O_RDONLY)
    other = Faulty(1, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        other.sync(handle)
    other.sync(handle)
    os.close(handle)
    assert run(protocol, workspace.ws, calls) == "call.fault no"
    assert calls.seen[first - 1 :].count("sync") == 1
    assert protocol.found(workspace.ws) == OLD


@pytest.mark.attack("A150")
@each_protocol
def test_a_disk_that_fails_for_good_loses_nothing_and_says_where_it_stands(
    workspace: Workspace, protocol: Protocol
) -> None:
    """From a site on everything fails, the cleaning up too: recovery later removes what was left."""

    class Broken(Faulty):
        def strike(self, name: str, call: object, args: tuple[object, ...]) -> object:
            self.seen.append(name)
            if len(self.seen) >= self.at:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            assert callable(call)
            return call(*args)

    for at in range(1, len(sites(protocol, workspace.ws)) + 1):
        protocol.prepare(workspace.ws)
        call_id = mint_id()
        outcome = run(protocol, workspace.ws, Broken(at), call_id)
        assert outcome.startswith("call.fault ")
        sweep(protocol, workspace.ws, call_id)
        found = protocol.found(workspace.ws)
        assert found in {protocol.before, protocol.after}, at
        assert found == protocol.before or outcome.endswith((" maybe", " yes")), at
        assert [name for name in os.listdir(workspace.ws) if name.startswith(TEMP_PREFIX)] == []


@pytest.mark.attack("A034")
def test_what_a_crash_left_never_becomes_the_file(workspace: Workspace) -> None:
    protocol = PROTOCOLS[1]
    dead, count = mint_id(), len(sites(protocol, workspace.ws))
    at = sites(protocol, workspace.ws).index("exchange") + 1
    assert at < count
    protocol.prepare(workspace.ws)
    assert run(protocol, workspace.ws, Faulty(at, "kill"), dead) == "killed"
    (stale,) = leftovers(workspace.ws)
    assert (workspace.ws / stale).read_bytes() == NEW  # the control: renaming it by name would make stale content live
    with membrane(workspace.ws) as crib:
        for text in (b"second session", b"third"):
            old = workspace.read("d/f")
            crib.put(scope("d/f", call_id=dead), Put(path="d/f", data=text, expect=of_bytes(old)))
            assert workspace.read("d/f") == text
        assert leftovers(workspace.ws) == [stale]
        assert crib.sweep(dead, ["d/f"], {"d/f": of_bytes(OLD)}) == ()
    assert workspace.tree(workspace.ws) == {"d": None, "d/f": b"third"}


@pytest.mark.attack("A034")
@pytest.mark.parametrize("moment", ["displaced", "ours replaced", "ours removed"])
def test_recovery_never_loses_what_another_program_wrote(workspace: Workspace, moment: str) -> None:
    """A process died between exchange and proof, and what it displaced was another program's."""
    workspace.write("f", OLD)
    call_id = mint_id()

    class Raced(Faulty):
        def exchange(self, directory: int, one: bytes, other: bytes) -> None:
            if self.seen.count("exchange") > 1:
                return Calls.exchange(self, directory, one, other)
            workspace.write("theirs", "another program's")
            os.replace(workspace.ws / "theirs", workspace.ws / "f")
            return Calls.exchange(self, directory, one, other)

    calls = Raced()
    with membrane(workspace.ws, calls=calls) as crib:
        with refusing("file.stale"):
            crib.put(scope("f"), Put(path="f", data=NEW, expect=of_bytes(OLD)))
        assert workspace.tree(workspace.ws) == {"f": b"another program's"}
        workspace.write("f", OLD)
        calls.at, calls.fault = calls.seen.index("exchange") + 2, "kill"
        calls.seen.clear()
        with pytest.raises(Killed):
            crib.put(scope("f", call_id=call_id), Put(path="f", data=NEW, expect=of_bytes(OLD)))
    assert len(leftovers(workspace.ws)) == 1
    assert workspace.read("f") == NEW
    if moment == "ours replaced":
        workspace.write("later", "later still")
        os.replace(workspace.ws / "later", workspace.ws / "f")
    if moment == "ours removed":
        (workspace.ws / "f").unlink()
    with membrane(workspace.ws) as crib:
        kept = crib.sweep(call_id, ["f"], {"f": of_bytes(OLD)})
    contents = set(workspace.tree(workspace.ws).values())
    assert b"another program's" in contents
    assert leftovers(workspace.ws) == []
    if moment == "ours replaced":
        assert workspace.read("f") == b"later still"
        assert [workspace.read(name) for name in kept] == [b"another program's"]
    else:
        assert (workspace.tree(workspace.ws), kept) == ({"f": b"another program's"}, ())


# --- disks ------------------------------------------------------------------------------------------------------


@contextmanager
def tiny(where: Path, size: str = "256k") -> Generator[None]:
    """Mount a small file system in memory."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(where)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


def fill(where: Path) -> Path:
    """Fill the file system of `where` to the last byte."""
    filler = where / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return filler


@pytest.mark.attack("A147")
def test_a_full_workspace_is_said_leaves_nothing_and_works_again(workspace: Workspace) -> None:
    with tiny(workspace.ws), membrane(workspace.ws) as crib:
        workspace.write("f", OLD)
        filler = fill(workspace.ws)
        with suppress(OSError):
            workspace.write("naive", NEW * 10)
        assert (workspace.ws / "naive").stat().st_size < len(NEW * 10)  # the control: a plain write leaves a part
        (workspace.ws / "naive").unlink()
        names = sorted(os.listdir(workspace.ws))
        for _ in range(2):
            with refusing("disk.full"):
                crib.put(scope("f"), Put(path="f", data=NEW * 10, expect=of_bytes(OLD)))
            with refusing("disk.full"):
                crib.put(scope("x/y/g"), Put(path="x/y/g", data=NEW * 10, expect=None))
            assert sorted(os.listdir(workspace.ws)) == names
            assert crib.load("f", most=9999).data == OLD
        filler.unlink()
        crib.put(scope("f"), Put(path="f", data=NEW, expect=of_bytes(OLD)))
        crib.put(scope("x/y/g"), Put(path="x/y/g", data=NEW, expect=None))
        assert (workspace.read("f"), workspace.read("x/y/g")) == (NEW, NEW)


@pytest.mark.attack("A149")
def test_a_read_only_workspace_is_read_and_writing_is_refused(workspace: Workspace) -> None:
    with tiny(workspace.ws):
        workspace.write("f", OLD)
        subprocess.run(["mount", "-o", "remount,ro", str(workspace.ws)], check=True)
        with pytest.raises(OSError, match="Read-only"):
            workspace.write("f", NEW)
        with membrane(workspace.ws) as crib:
            assert crib.load("f", most=9999).data == OLD
            for operation in (
                lambda: crib.put(scope("f"), Put(path="f", data=NEW, expect=of_bytes(OLD))),
                lambda: crib.put(scope("x/g"), Put(path="x/g", data=NEW, expect=None)),
                lambda: crib.remove(scope("f"), "f", expect=of_bytes(OLD)),
            ):
                with refusing("file.read_only"):
                    operation()


@pytest.mark.attack("A181")
def test_a_huge_file_of_one_line_is_read_in_a_window_of_little_memory(workspace: Workspace) -> None:
    with (workspace.ws / "one").open("wb") as file:
        for _ in range(80):
            file.write(b"x" * (1 << 20))
    sparse = workspace.write("wide", "\ufefffirst\n".encode("utf-16-le"))
    os.truncate(sparse, 2 << 30)
    view = View(offset=1, limit=1, most_bytes=50_000, line_chars=2000)
    with membrane(workspace.ws) as crib:
        before = _resident()
        naive = (workspace.ws / "one").read_bytes()
        assert _resident() - before > 64 << 20  # the control: reading it whole takes its size
        del naive
        before, began = _resident(), time.monotonic()
        found = read.window(_base(crib), Scope(), "one", view)
        assert (found.lines, found.clipped) == (("x" * 2000,), ((1, 80 << 20),))
        assert read.window(_base(crib), Scope(), "wide", view).lines == ("first",)
        assert _resident() - before < 32 << 20
        assert time.monotonic() - began < 3


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _base(crib: Membrane) -> read.Base:
    return crib._base  # pyright: ignore[reportPrivateUsage] - the window is asked for without an event loop
