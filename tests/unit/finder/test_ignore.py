"""Ignore files: the same entries are left out as git leaves out, on random trees with random rules."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import soak
from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.ignore import Rules
from toolcrib.host.finder.walk import Level, Plan, Walk

NAMES = ["a", "b", "ab", "a.b", ".c", "foo", "foobar", "x y", "é", "a-b", "]", "b ", "#", "!a", "*", "[ab]", "a\\b"]
PIECES = [
    *("a", "b", "*", "**", "?", "/", "/", "foo", ".", "[ab]", "[!a]", "[^b]", "[a-c]", "[]]", "\\a", "\\*", "!", "é"),
    *("bar", " ", "[[:alpha:]]", "***", "[", "]", "-", "x y", "\\", "#", "\\ ", "[\\]]", "[a-]", "[-a]", "[[:x:]]"),
]

Tree = dict[str, list[str] | None]
"""Path to the rules of a file, or None for a plain file; directories end in a slash and hold rules."""


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    line = st.tuples(
        st.sampled_from(["", "", "", "!"]),
        st.sampled_from(["", "", "", "/", "**/"]),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join),
        st.sampled_from(["", "", "", "/", "/**", "  ", "\r"]),
    ).map("".join)
    tree: Tree = {"": draw(st.lists(line, max_size=4))}
    for _ in range(draw(st.integers(3, 12))):
        directories = [each for each in tree if not each or each.endswith("/")]
        path = draw(st.sampled_from(directories)) + draw(st.sampled_from(NAMES))
        if path in tree or path + "/" in tree:
            continue
        if draw(st.booleans()):
            tree[path + "/"] = draw(st.lists(line, max_size=3)) if draw(st.integers(0, 3)) == 0 else []
        else:
            tree[path] = None
    return tree


def planted(root: Path, tree: Tree) -> None:
    for path, rules in tree.items():
        if path.endswith("/") or not path:
            (root / path).mkdir(exist_ok=True)
            if rules:
                (root / path / ".gitignore").write_bytes("\n".join(rules).encode() + b"\n")
        else:
            (root / path).touch()


def git(root: Path, *words: str, data: bytes | None = None) -> bytes:
    environment = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=root, input=data, stdout=subprocess.PIPE, env=environment, check=False)
    assert done.returncode in {0, 1}
    return done.stdout


def by_git(root: Path) -> set[str]:
    """Return the topmost entries that `git check-ignore` names."""
    everything: list[str] = []
    for place, directories, files in os.walk(root):
        if ".git" in directories:
            directories.remove(".git")
        everything += [os.path.relpath(os.path.join(place, name), root) for name in (*directories, *files)]
    listed = b"".join(os.fsencode(path) + b"\0" for path in everything)
    named = git(root, "check-ignore", "--no-index", "-z", "--stdin", data=listed)
    ignored = {os.fsdecode(path) for path in named.split(b"\0") if path}
    return {path for path in ignored if not any(path.startswith(f"{other}/") for other in ignored)}


def levels(root: Path, rules: Rules) -> list[Level]:
    handle = os.open(root, os.O_RDONLY)
    try:
        walk = Walk(handle, Plan(shows=None, budget=Budget(seconds=20, entries=10**6)))
        return list(walk.levels(handle, "", rules))
    finally:
        os.close(handle)


def by_us(root: Path, rules: Rules | None = None) -> set[str]:
    return {level.path + name for level in levels(root, rules or Rules()) for name in level.ignored} - {".git"}


@settings(max_examples=soak.count(4_000), suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees())
def test_the_ignored_entries_are_those_of_git(tree: Tree) -> None:
    root = Path(tempfile.mkdtemp(prefix="ignore-"))
    try:
        git(root, "init", "-q")
        planted(root, tree)
        assert by_us(root) == by_git(root)
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize(
    "rule", ["d/*", "d/**", "/d/*", "d/?", "*/*", "d*/", "**/d", "d/**/", "!d/*", "d/**/f", "d**/*", "d**/f", "d**/"]
)
def test_a_rule_for_what_is_in_a_directory_does_not_take_the_directory(tmp_path: Path, rule: str) -> None:
    git(tmp_path, "init", "-q")
    tree_of(tmp_path, ["d/f", "d/e/f", "dd/d/f"])
    (tmp_path / "empty").mkdir()
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    assert by_us(tmp_path) == by_git(tmp_path)


def tree_of(root: Path, files: Sequence[str]) -> None:
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def test_a_repositorys_own_excludes_and_the_persons_are_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    tree_of(tmp_path, ["a", "b", "c", "sub/a"])
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/exclude").write_text("a\n!c\n")
    person = Rules().with_excludes(b"b\nc\n")
    assert by_us(tmp_path, person) == {"a", "sub/a", "b"}
    (tmp_path / "person").write_text("b\nc\n")
    git(tmp_path, "config", "core.excludesFile", str(tmp_path / "person"))
    assert by_git(tmp_path) == {"a", "sub/a", "b"}


def test_the_further_files_count_more_than_gits_wherever_they_stand(tmp_path: Path) -> None:
    tree_of(tmp_path, ["sub/a", "sub/b", "sub/c"])
    (tmp_path / "sub/.gitignore").write_text("a\n!b\n")
    (tmp_path / ".ignore").write_text("!a\nb\nc\n")
    (tmp_path / ".toolcribignore").write_text("!c\n")
    assert by_us(tmp_path) == {"sub/b"}


def test_an_ignore_file_that_is_a_link_or_a_fifo_is_not_read(tmp_path: Path) -> None:
    tree_of(tmp_path, ["a", "one/a", "two/a"])
    (tmp_path / "rules").write_text("a\n")
    os.symlink("../rules", tmp_path / "one/.gitignore")
    git(tmp_path, "init", "-q")
    assert by_git(tmp_path) == set()
    os.mkfifo(tmp_path / "two/.gitignore")  # git itself waits here for ever
    assert by_us(tmp_path) == set()


def test_rules_too_many_or_too_odd_for_one_expression_hold_all_the_same(tmp_path: Path) -> None:
    tree_of(tmp_path, ["name1999", "name7", "keep"])
    many = "".join(f"name{number}\n" for number in range(2000))
    (tmp_path / ".gitignore").write_text(f"{many}[\n{'*' * 5000}!\n")
    assert by_us(tmp_path) == {"name1999", "name7"}


@pytest.mark.attack("A178")
def test_rules_made_to_run_away_cost_nothing(tmp_path: Path) -> None:
    tree_of(tmp_path, ["a" * 200, *(f"{'a' * 100}{number}" for number in range(200))])
    (tmp_path / ".gitignore").write_text("*a" * 100 + "b\n" + "**/" * 100 + "b\n")
    assert by_us(tmp_path) == set()
