"""The resident table holds what is on the disk, whatever happens to the directories while nobody asks."""

import os
import random
import shutil
import threading
from pathlib import Path

import pytest

import soak
from grown import PATIENCE, held, tree_of, wait_for, walked
from toolcrib.host.finder.tree.forest import MOST_DEPTH
from toolcrib.host.finder.tree.inotify import Inotify
from toolcrib.host.finder.tree.keeper import Keeper
from toolcrib.host.finder.tree.mounts import deaf, kinds
from toolcrib.host.finder.tree.shelves import MOST_CHANGES


class Churn:
    """Random changes beneath a root, none of which leaves it."""

    def __init__(self, root: Path, outside: Path, seed: str) -> None:
        self.root = root
        self.outside = outside
        self.dice = random.Random(seed)

    def directories(self) -> list[Path]:
        found = [self.root]
        for place, names, _ in os.walk(self.root):
            found += [Path(place, name) for name in names if not Path(place, name).is_symlink()]
        return [each for each in found if ".git" not in each.relative_to(self.root).parts]

    def files(self) -> list[Path]:
        found = [Path(place, name) for place, _, names in os.walk(self.root) for name in names]
        return [each for each in found if not each.is_symlink()] or [self.root / "none"]

    def fresh(self) -> Path:
        name = self.dice.choice("abcdefgh") + self.dice.choice(["", ".py", ".log"])
        return self.dice.choice(self.directories()) / name

    def step(self) -> str:
        kinds_of = ["make"] * 8 + ["nest"] * 4 + ["carry"] * 3
        kind = self.dice.choice([*kinds_of, "write", "replace", "rename", "delete", "fell", "ignore", "git", "link"])
        try:
            getattr(self, kind)()
        except OSError:
            return f"{kind} failed"
        return kind

    def make(self) -> None:
        with self.fresh().open("a") as file:
            file.write("x")

    def write(self) -> None:
        with self.dice.choice(self.files()).open("a") as file:
            file.write("y")

    def replace(self) -> None:
        (self.root / "zz").write_text("z")
        (self.root / "zz").replace(self.dice.choice(self.files()))

    def rename(self) -> None:
        self.dice.choice(self.files()).rename(self.fresh())

    def delete(self) -> None:
        self.dice.choice(self.files()).unlink()

    def nest(self) -> None:
        place = self.fresh() / self.dice.choice("xyz")
        place.mkdir(parents=True)
        (place / "new").write_text("new")

    def carry(self) -> None:
        chosen = self.dice.choice(self.directories())
        if chosen != self.root:
            chosen.rename(self.fresh())

    def fell(self) -> None:
        chosen = self.dice.choice(self.directories())
        if len(chosen.relative_to(self.root).parts) > 1:
            shutil.rmtree(chosen)

    def ignore(self) -> None:
        name = self.dice.choice([".gitignore", ".ignore", ".toolcribignore"])
        lines = self.dice.choices(["*.log", "a", "/b", "!a.log", "c/", "!*.py", "d/**"], k=2)
        (self.dice.choice(self.directories()) / name).write_text("\n".join(lines))

    def git(self) -> None:
        info = self.dice.choice(self.directories()) / ".git" / "info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "exclude").write_text(self.dice.choice(["*.py", "a", "!b.log", "c/"]))

    def link(self) -> None:
        chosen = self.dice.choice(self.files())
        chosen.unlink()
        chosen.symlink_to(self.outside)


@pytest.mark.soak("finder")
@pytest.mark.promise("P-search-table")
def test_the_table_is_what_a_walk_finds_after_any_changes(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    churn = Churn(root, outside, "one")
    for _ in range(150):
        churn.step()
    with tree_of(root) as tree:
        for turn in range(soak.count(10_000)):
            did = [churn.step() for _ in range(churn.dice.choice([1, 1, 1, 5, 40]))]
            assert held(tree.current()) == walked(root), (turn, did)
    assert len(churn.directories()) > 10, "the changes left something to look at"


@pytest.mark.promise("P-search-table")
def test_without_the_barrier_the_table_would_be_behind(tmp_path: Path) -> None:
    with tree_of(tmp_path) as tree:
        before = tree.current()
        (tmp_path / "new").write_text("new")
        assert held(before)[0] == []
        assert held(tree.current())[0] == ["new"]


def test_a_burst_is_taken_in_whole(tmp_path: Path) -> None:
    with tree_of(tmp_path) as tree:
        for number in range(MOST_CHANGES + 200):
            place = tmp_path / f"d{number % 40}" / "deep"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"f{number}").write_text("x")
        assert held(tree.current()) == walked(tmp_path)
        assert tree.standing().files == MOST_CHANGES + 200
        shutil.rmtree(tmp_path / "d1")
        assert held(tree.current()) == walked(tmp_path)


def test_the_excludes_of_the_person_and_of_a_repository_hold_once_they_change(tmp_path: Path) -> None:
    root, excludes = tmp_path / "root", tmp_path / "excludes"
    (root / ".git" / "info").mkdir(parents=True)
    for name in ("a.log", "b.tmp", "c"):
        (root / name).write_text(name)
    with tree_of(root, excludes=excludes) as tree:
        assert held(tree.current())[0] == ["a.log", "b.tmp", "c"]
        excludes.write_text("*.log\n")
        assert held(tree.current())[0] == ["b.tmp", "c"]
        (root / ".git" / "info" / "exclude").write_text("*.tmp\n")
        assert held(tree.current())[0] == ["c"]
        excludes.unlink()
        assert held(tree.current())[0] == ["a.log", "c"]


def test_the_excludes_of_a_repository_hold_however_old_they_look(tmp_path: Path) -> None:
    info = tmp_path / ".git" / "info"
    info.mkdir(parents=True)
    (tmp_path / "a.log").write_text("a")
    nested = tmp_path / "nested"
    nested.mkdir()
    (nested / "b.tmp").write_text("b")

    def exclude(place: Path, text: str) -> None:
        (place / "exclude").write_text(text)
        os.utime(place / "exclude", (1_000_000_000, 1_000_000_000))

    with tree_of(tmp_path) as tree:
        exclude(info, "*.log\n")  # before the first search, as unpacking an archive does
        assert held(tree.current()) == walked(tmp_path)
        (nested / ".git" / "info").mkdir(parents=True)
        assert held(tree.current()) == walked(tmp_path)
        exclude(nested / ".git" / "info", "*.tmp\n")
        assert held(tree.current()) == walked(tmp_path)
        exclude(info, "*.tmp\n")  # of the same length and time
        assert held(tree.current()) == walked(tmp_path) == (["a.log"], {"nested/b.tmp": "nested/b.tmp"})


def test_what_changed_is_told_by_version(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "gone").write_text("gone")
    with tree_of(tmp_path) as tree:
        tree.current()
        version = tree.version
        assert tree.changed_since(version) == frozenset()
        (tmp_path / "made").write_text("made")
        (tmp_path / "gone").unlink()
        with (tmp_path / "kept").open("a") as file:
            file.write("more")
        tree.current()
        assert tree.changed_since(version) == {"made", "gone", "kept"}
        assert tree.changed_since(tree.version) == frozenset()
        assert tree.changed_since(-1) is None


def test_what_the_event_loop_asks_waits_for_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").write_text("one")
    entered, release = threading.Event(), threading.Event()
    settle = Keeper.settle

    def slowly(keeper: Keeper) -> None:
        entered.set()
        assert release.wait(PATIENCE)
        settle(keeper)

    with tree_of(tmp_path) as tree:
        tree.current()
        monkeypatch.setattr(Keeper, "settle", slowly)
        search = threading.Thread(target=tree.current)
        search.start()
        try:
            assert entered.wait(PATIENCE)

            def ask() -> None:
                tree.start()
                assert tree.growing is False
                assert tree.changed_since(tree.version) == frozenset()

            loop = threading.Thread(target=ask, daemon=True)
            loop.start()
            loop.join(2)
            assert not loop.is_alive(), "it waits for a search that has the table"
        finally:
            release.set()
            search.join(PATIENCE)


def test_a_change_without_an_event_is_found_by_asking_every_file(tmp_path: Path) -> None:
    target = tmp_path / "root" / "linked"
    target.parent.mkdir()
    target.write_text("before")
    beside = tmp_path / "beside"
    with tree_of(target.parent) as tree:
        beside.hardlink_to(target)  # an event of the change of its links alone
        tree.current()
        version = tree.version
        beside.write_text("after!")
        tree.current()
        assert tree.verified() == {"linked"}
        assert "linked" in (tree.changed_since(version) or ())


def test_ignored_entries_that_come_and_go_leave_nothing_of_their_number(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("built/\n")
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    keeper = Keeper(handle, excludes=None, most_file=1 << 20)
    try:
        assert keeper.plant(lambda: False)
        for _ in range(3):
            place = tmp_path / "built" / "deep"
            place.mkdir(parents=True)
            keeper.settle()
            for number in range(10):
                (place / f"f{number}").write_text("x")
                keeper.settle()
            assert keeper.forest.in_ignored == 11
            for number in range(5):
                (place / f"f{number}").unlink()
                keeper.settle()
            assert keeper.forest.in_ignored == 6
            shutil.rmtree(tmp_path / "built")
            keeper.settle()
            assert keeper.forest.in_ignored == 0
    finally:
        keeper.close()
        os.close(handle)


def test_a_tree_too_deep_has_no_table_and_says_why(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(MOST_DEPTH + 3):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    with tree_of(tmp_path, ready=False) as tree:
        wait_for(tree, "off")
        assert "deep" in tree.standing().reason
        assert tree.current() is None


def test_a_lost_queue_is_grown_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.host.finder.tree.tree.AGAIN", 0.01)
    (tmp_path / "one").write_text("one")
    with tree_of(tmp_path) as tree:
        assert held(tree.current())[0] == ["one"]
        with monkeypatch.context() as broken:

            def overflowing(_self: Inotify, _most: float) -> list[object]:
                raise TimeoutError

            broken.setattr(Inotify, "barrier", overflowing)
            assert tree.current() is None
            assert tree.standing().stage == "off"
        wait_for(tree, "ready")
        (tmp_path / "two").write_text("two")
        assert held(tree.current())[0] == ["one", "two"]


def test_closing_ends_the_thread_and_gives_every_handle_back(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("one")
    with tree_of(tmp_path):
        pass
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with tree_of(tmp_path) as tree:
            tree.current()
        tree.close()
        assert tree.current() is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_file_systems_of_other_machines_are_told_apart() -> None:
    assert deaf("nfs4")
    assert deaf("fuse.sshfs")
    assert not deaf("ext4")
    assert not deaf(None)
    assert "proc" in kinds().values()
