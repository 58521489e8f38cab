"""Searching, seen from outside."""

import os
import subprocess
from typing import Any

import pytest

from calling import edit, ok, opened, refused
from conftest import Workspace
from toolcrib import Crib, Ok

pytestmark = pytest.mark.anyio

SEARCHES = ("glob", "grep", "fff_search", "list_dir")


def nowhere(_search_path: str) -> None:
    """Stand for a machine without ripgrep."""


async def seen(crib: Crib) -> dict[str, set[str]]:
    """Return which files each search knows of."""
    globbed = (await ok(crib, "glob", pattern="**/*")).payload["paths"]
    grepped = (await ok(crib, "grep", pattern="needle", output="files", limit=1000)).payload["files"]
    ranked = (await ok(crib, "fff_search", query="txt", limit=1000)).payload["files"]
    listed = (await ok(crib, "list_dir", depth=9, limit=1000)).payload["entries"]
    return {
        "glob": set(globbed),
        "grep": {each["path"] for each in grepped},
        "fff_search": {each["path"] for each in ranked},
        "list_dir": {each["path"] for each in listed if each["kind"] == "file"},
    }


@pytest.mark.promise("P-search-fresh")
async def test_every_search_sees_the_files_as_they_are_now_whoever_changed_them(workspace: Workspace) -> None:
    workspace.write("a.txt", "needle\n")
    async with opened(workspace.ws) as crib, opened(workspace.ws) as other:

        async def expect(*names: str) -> None:
            for each in (crib, other):
                assert await seen(each) == {each: set(names) for each in SEARCHES}

        await expect("a.txt")
        await ok(crib, "write_file", path="b/c.txt", content="needle\n")
        await expect("a.txt", "b/c.txt")
        workspace.write("d.txt", "needle\n")
        await expect("a.txt", "b/c.txt", "d.txt")
        os.rename(workspace.ws / "b", workspace.ws / "e")
        (workspace.ws / "a.txt").unlink()
        await expect("e/c.txt", "d.txt")
        subprocess.run(["cp", "d.txt", "f.txt"], cwd=workspace.ws, check=True)
        await expect("e/c.txt", "d.txt", "f.txt")
        assert isinstance(await edit(other, "f.txt", ("needle", "thread")), Ok)
        assert (await seen(crib))["grep"] == {"e/c.txt", "d.txt"}
        stamp = (workspace.ws / "d.txt").stat()
        workspace.write("d.txt", "noodle\n")
        os.utime(workspace.ws / "d.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert (await seen(crib))["grep"] == {"e/c.txt"}
        workspace.write(".gitignore", "e/\n")
        assert (await seen(crib))["grep"] == set()


GREPS: tuple[dict[str, Any], ...] = (
    {"pattern": "needle"},
    {"pattern": "NEEDLE", "ignore_case": True},
    {"pattern": "n[e]+dle", "mode": "regex"},
    {"pattern": r"^\s*needle\b", "mode": "regex"},
    {"pattern": r"needle\nand", "mode": "regex", "multiline": True},
    {"pattern": r"(?i)\bN\w+E\b", "mode": "regex", "context": 1},
    {"pattern": "neadle", "mode": "fuzzy"},
    {"pattern": "needle", "output": "files"},
    {"pattern": "needle", "output": "count"},
    {"pattern": "needle", "glob": "*.{py,md}"},
    {"pattern": "needle", "glob": "!sub/**"},
    {"pattern": "needle", "include_ignored": True},
    {"pattern": "needle", "path": "sub"},
    {"pattern": "needle", "path": "sub/b.md"},
    {"pattern": "needle", "limit": 3},
    {"pattern": "\u00e9t\u00e9"},
    {"pattern": "$", "mode": "regex", "path": "sub"},
    {"pattern": "."},
    {"pattern": "(", "mode": "regex"},
    {"pattern": "nothing like it"},
)


@pytest.mark.promise("P-search-engines")
async def test_ripgrep_and_the_engine_without_it_give_the_same_answers(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("a.py", "needle\nand thread\n  needle needle\nNeedle\n")
    workspace.write("sub/b.md", "one needle\r\nand more\r\n\u00e9t\u00e9 needle\r\n")
    workspace.write("sub/deep/c.txt", "no end needle")
    workspace.write(".hidden/d.txt", "needle\n")
    workspace.write("skipped/e.txt", "needle\n")
    workspace.write(".gitignore", "skipped/\n")
    workspace.write("bin", b"needle\0\xff\n" * 9)
    workspace.write("wide.txt", "\ufeffneedle\n".encode("utf-16-le"))
    workspace.write("odd.txt", b"caf\xe9 needle\n")
    workspace.write("long.txt", "y" * 4000 + " needle " + "z" * 4000 + "\n")
    workspace.write("empty", "")

    async def answers() -> list[Any]:
        async with opened(workspace.ws) as crib:
            found = [await crib.submit(crib.make("grep", args)) for args in GREPS]
            return [{**each.to_json(), "call_id": ""} for each in found]

    fast = await answers()

    monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", nowhere)
    plain = await answers()
    for args, one, other in zip(GREPS, fast, plain, strict=True):
        assert one == other, args
    assert [each["kind"] for each in fast].count("refused") == 1
    assert len(fast[0]["payload"]["matches"]) > 6


@pytest.mark.promise("P-search-pages")
async def test_lists_are_sorted_and_their_pages_together_are_the_whole_of_it(workspace: Workspace) -> None:
    names = [f"{letter}{number}/{name}.txt" for letter in "bAa" for number in (10, 9) for name in ("y", "X", "z")]
    for name in names:
        workspace.write(name, "needle\nneedle\n")
    async with opened(workspace.ws) as crib:
        for name, args, key in (
            ("glob", {"pattern": "**/*.txt"}, "paths"),
            ("list_dir", {"depth": 3}, "entries"),
            ("grep", {"pattern": "needle"}, "matches"),
            ("grep", {"pattern": "needle", "output": "count"}, "files"),
            ("fff_search", {"query": "txt"}, "files"),
        ):
            whole = await ok(crib, name, **args, limit=1000)
            assert not whole.bounds
            rows = whole.payload[key]
            assert len(rows) == whole.payload["total"] >= len(names)
            if name != "fff_search":
                paths = [row if isinstance(row, str) else row["path"] for row in rows]
                again = (await ok(crib, name, **args, limit=1000)).payload[key]
                assert rows == again
                assert [path.split("/")[0] for path in paths] == sorted(path.split("/")[0] for path in paths)
            pages: list[Any] = []
            cursor = None
            for _ in range(50):
                page = await ok(crib, name, **args, limit=5, **({"cursor": cursor} if cursor else {}))
                pages += page.payload[key]
                cursor = page.bounds.next_cursor
                assert page.bounds.truncated == (cursor is not None)
                if cursor is None:
                    break
                assert len(page.payload[key]) == 5
            assert pages == rows, name
        await refused(crib, "glob", "cursor.invalid", pattern="**/*.txt", cursor="nonsense")


TREE = (
    *("a.py", "b.md", "src/a.py", "src/deep/c.py", "src/[x].py", ".dot/d.py", "src/A.PY", "src/e.pyc"),
    *("test/f_test.py", "src/\u00e9.py"),
)
PATTERNS: dict[str, set[str]] = {
    "*.py": {"a.py"},
    "**/*.py": {name for name in TREE if name.endswith(".py")},
    "src/*.py": {"src/a.py", "src/[x].py", "src/\u00e9.py"},
    "src/**": {name for name in TREE if name.startswith("src/")},
    "src/?.py": {"src/a.py", "src/\u00e9.py"},
    "src/[ab].py": {"src/a.py"},
    "src/[[]x].py": {"src/[x].py"},
    "{a,b}.{py,md}": {"a.py", "b.md"},
    "**/{deep,.dot}/*.py": {"src/deep/c.py", ".dot/d.py"},
    "!src/**": {name for name in TREE if not name.startswith("src/")},
}


@pytest.mark.promise("P-search-grammar")
@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_glob_means_the_same_to_every_tool_and_engine(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    for name in TREE:
        workspace.write(name, "needle\n")
    for engine in ("ripgrep", "plain"):
        if engine == "plain":
            monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", nowhere)
        async with opened(workspace.ws) as crib:

            async def globbed(pattern: str, **more: str) -> set[str]:
                return set((await ok(crib, "glob", pattern=pattern, **more)).payload["paths"])

            async def grepped(pattern: str) -> set[str]:
                found = await ok(crib, "grep", pattern="needle", glob=pattern, output="files")
                return {each["path"] for each in found.payload["files"]}

            assert await globbed(pattern) == PATTERNS[pattern]
            if "/" in pattern:
                assert await grepped(pattern) == PATTERNS[pattern]
            else:
                # For grep a pattern without a slash is about names: it is the same pattern at any depth.
                assert await grepped(pattern) == await globbed(f"**/{pattern}") == await grepped(f"**/{pattern}")
            if pattern.startswith("src/"):
                assert await globbed(pattern.removeprefix("src/"), cwd="src") == PATTERNS[pattern]
