"""No file says where it was made, and none is unfinished."""

import os
import pwd
import re
import subprocess
import tokenize
from functools import cache
from pathlib import Path

import pytest

from shape.house import ROOT

HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
    )
)
"""Package registries; a mirror's address is found by its shape."""
MIRROR = re.compile(r"https?://[\w.:-]+/(?:[\w.-]+/)*(?:simple|packages|debian|-)/")
UNFINISHED = ("NotImplemented" + "Error", "TO" + "DO", "FIX" + "ME", "XX" + "X")
LOOSE = re.compile(r"skip|xfail")
SKIPPED = re.compile(r"pytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip)\b")


@cache
def tracked() -> tuple[tuple[str, str], ...]:
    """Return name and text of each file that belongs to the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    found: list[tuple[str, str]] = []
    for name in sorted({os.fsdecode(raw) for raw in listed.stdout.split(b"\0") if raw}):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            found.append((name, path.read_bytes().decode("utf-8", "replace")))
    return tuple(found)


def test_no_file_holds_a_path_of_this_machine() -> None:
    places = {str(ROOT), pwd.getpwuid(os.getuid()).pw_dir} - {"/", "/tmp", "/nonexistent"}
    shape = re.compile(r"(?<![\w/.>}$-])(?:" + "|".join(re.escape(place) for place in sorted(places)) + r")/\w")
    assert [f"{name}: {hit[0]}" for name, text in tracked() if (hit := shape.search(text))] == []


def test_no_file_names_a_package_registry() -> None:
    wrong = [f"{name}: {host}" for name, text in tracked() for host in HOSTS if host in text]
    wrong += [f"{name}: {hit[0]}" for name, text in tracked() if (hit := MIRROR.search(text))]
    assert wrong == []


def test_no_lock_of_another_installer_is_kept() -> None:
    assert [name for name, _ in tracked() if Path(name).name in {"uv.lock", "poetry.lock", "package-lock.json"}] == []


def tokens(name: str, *kinds: int) -> list[tokenize.TokenInfo]:
    """Return the tokens of these kinds in a Python file."""
    with tokenize.open(ROOT / name) as file:
        return [token for token in tokenize.generate_tokens(file.readline) if token.type in kinds]


def test_nothing_is_left_unfinished() -> None:
    unfinished = re.compile("|".join(rf"\b{word}\b" for word in UNFINISHED))
    wrong = [
        f"{name}:{token.start[0]} {token.string}"
        for name, text in tracked()
        if name.startswith(("src/", "tests/", "bench/")) and name.endswith(".py") and unfinished.search(text)
        for token in tokens(name, tokenize.NAME, tokenize.COMMENT)
        if unfinished.search(token.string) and (token.type == tokenize.COMMENT or token.string == UNFINISHED[0])
    ]
    assert wrong == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    wrong: list[str] = []
    for name, text in tracked():
        if not (name.startswith("tests/") and name.endswith(".py") and "pytest" in text and LOOSE.search(text)):
            continue
        code = "".join(token.string for token in tokens(name, tokenize.NAME, tokenize.OP))
        wrong += [f"{name}: {hit[0]}" for hit in SKIPPED.finditer(code)]
    assert wrong == []


@pytest.mark.promise("P-house-setup")
def test_every_requirement_is_pinned_with_hashes() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        entries = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        loose = [
            e
            for e in entries
            if e.strip() and not e.lstrip().startswith("#") and not ("==" in e and "--hash=sha256:" in e)
        ]
        assert loose == [], path.name


@pytest.mark.promise("P-house-setup")
def test_every_dependency_of_the_product_is_pinned() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(
        r'^  "([A-Za-z0-9._-]+)[^"]*",$', text.partition("dependencies = [")[2].partition("]")[0], re.MULTILINE
    )
    pinned = re.findall(
        r"^([a-z0-9._-]+)==", (ROOT / "requirements" / "core.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert declared
    assert {name.lower() for name in declared} - set(pinned) == set()
