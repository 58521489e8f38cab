"""What a person may rely on of the resident table and the engines, through the public library."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from calling import ok, opened
from conftest import Workspace
from toolcrib.host.finder.engine import Job, Proposal
from toolcrib.host.finder.tree.tree import Tree
from toolcrib.wiring.doctor import examine

pytestmark = pytest.mark.anyio


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count the walks that searches make of their own."""
    made: list[str] = []
    from_disk = "toolcrib.host.finder.table.Walk"
    walk = __import__("toolcrib.host.finder.table", fromlist=["Walk"]).Walk

    def counted(*args: object) -> object:
        made.append("walk")
        return walk(*args)

    monkeypatch.setattr(from_disk, counted)
    return made


async def settled(condition: Callable[[], bool]) -> None:
    """Wait until the table is there."""
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.005)


@pytest.mark.promise("P-search-table")
async def test_once_there_is_a_table_no_search_walks_and_all_of_them_see_the_last_change(
    workspace: Workspace, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: list[Tree] = []
    begin = Tree.start

    def start(tree: Tree) -> None:
        trees.append(tree)
        begin(tree)

    monkeypatch.setattr(Tree, "start", start)
    workspace.write("a.txt", "needle\n")
    async with opened(workspace.ws) as crib:
        await ok(crib, "glob", pattern="**")
        await settled(lambda: trees[0].standing().stage == "ready")
        walks.clear()
        workspace.write("deep/er/b.txt", "needle\n")
        assert (await ok(crib, "glob", pattern="**/*.txt")).payload["paths"] == ["a.txt", "deep/er/b.txt"]
        found = await ok(crib, "grep", pattern="needle", output="files")
        assert [each["path"] for each in found.payload["files"]] == ["a.txt", "deep/er/b.txt"]
        assert (await ok(crib, "fff_search", query="b txt")).payload["files"][0]["path"] == "deep/er/b.txt"
        (workspace.ws / "a.txt").unlink()
        assert (await ok(crib, "glob", pattern="*")).payload["paths"] == []
        assert len(set(map(id, trees))) == 1
        assert walks == []


@pytest.mark.promise("P-search-first")
async def test_the_first_content_search_of_a_large_tree_leaves_the_walk_to_ripgrep(
    workspace: Workspace, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.host.finder.cold.LARGE", 20)
    workspace.write(".gitignore", "*.log\n")
    workspace.write(".toolcribignore", "secret/\n")
    for number in range(60):
        workspace.write(f"d{number}/f.txt", "needle\n" if number % 7 == 0 else "hay\n")
    workspace.write("d1/x.log", "needle\n")
    workspace.write("secret/s.txt", "needle\n")
    async with opened(workspace.ws) as crib:
        found = await ok(crib, "grep", pattern="needle", output="files")
        assert sorted(each["path"] for each in found.payload["files"]) == sorted(
            f"d{number}/f.txt" for number in range(0, 60, 7)
        )
        assert walks == ["walk"], "one look at whether the tree is large"
    walks.clear()
    async with opened(workspace.ws) as crib:
        nothing = await ok(crib, "grep", pattern="absent")
        assert (nothing.payload["total"], nothing.bounds.skipped_ignored) == (0, 2)
        assert len(walks) == 2, "that there is nothing is said after a walk of ours"


@pytest.mark.promise("P-search-none")
async def test_no_match_is_not_said_of_a_file_that_changed_without_an_event(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(_engines: object, job: Job, _budget: object) -> Proposal:
        assert job.files
        return Proposal(counts={}, doubtful=frozenset(), rest=True)

    for number in range(60):
        workspace.write(f"f{number}.txt", "hay\n")
    async with opened(workspace.ws) as crib:
        await ok(crib, "grep", pattern="needle")
        with anyio.fail_after(20):
            while (await ok(crib, "grep", pattern="needle")).payload["total"] != 0:
                await anyio.sleep(0.01)
        monkeypatch.setattr("toolcrib.host.finder.remembered.Remembered.propose", nothing)
        beside = tmp_path / "beside"
        beside.hardlink_to(workspace.ws / "f7.txt")
        await ok(crib, "glob", pattern="*")
        beside.write_text("needle\n")
        assert os.stat(workspace.ws / "f7.txt").st_size == len("needle\n")
        found = await ok(crib, "grep", pattern="needle")
        assert [each["path"] for each in found.payload["matches"]] == ["f7.txt"]


@pytest.mark.promise("P-search-limits")
async def test_doctor_says_how_searches_are_answered(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    found = {check.name: check for check in await examine(str(workspace.ws))}
    assert found["search table"].state == "ok"
    assert "1 file in 1 directory" in found["search table"].found
    assert found["accelerator"].state in {"ok", "note"}


@pytest.mark.promise("P-search-used")
async def test_files_that_were_used_lately_come_first_in_a_fuzzy_search(workspace: Workspace) -> None:
    for name in "abcdef":
        workspace.write(f"{name}/report.py", "x = 1\n")
    async with opened(workspace.ws) as crib:

        async def ranked(**args: object) -> tuple[list[str], str | None]:
            found = await ok(crib, "fff_search", query="report", **args)
            return [each["path"] for each in found.payload["files"]], found.bounds.next_cursor

        assert (await ranked())[0] == [f"{name}/report.py" for name in "abcdef"]
        await ok(crib, "read_file", path="e/report.py")
        await ok(crib, "write_file", path="d/report.py", content="x = 2\n", overwrite_existing=True)
        first, cursor = await ranked(limit=3)
        assert first == ["d/report.py", "e/report.py", "a/report.py"]
        await ok(crib, "read_file", path="f/report.py")
        assert (await ranked(limit=3, cursor=cursor))[0] == ["b/report.py", "c/report.py", "f/report.py"]
        assert (await ranked(limit=3))[0] == ["d/report.py", "f/report.py", "e/report.py"]
    async with opened(workspace.ws) as crib:
        again = await ok(crib, "fff_search", query="report", limit=1)
        assert again.payload["files"][0]["path"] == "d/report.py"


@pytest.mark.promise("P-search-table")
@pytest.mark.parametrize("pattern", ["a/**", "a/*.py", "a/[xy].py", "{work}/a/**", "{work}/alone/[xy].py"])
async def test_a_glob_that_leads_elsewhere_takes_nothing_beneath_the_searched_directory(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    trees: list[Tree] = []
    begin = Tree.start

    def start(tree: Tree) -> None:
        trees.append(tree)
        begin(tree)

    monkeypatch.setattr("toolcrib.host.finder.tree.shelves.MOST_CHANGES", 2)
    monkeypatch.setattr(Tree, "start", start)
    for path in ("a/x.py", "src/x.py", "src/deep/x.py", "alone/x.py", "src/b/y.txt"):
        workspace.write(path, "needle\n")
    glob = pattern.format(work=workspace.ws)
    async with opened(workspace.ws) as crib:
        walked = (await ok(crib, "grep", pattern="needle", path="src", glob=glob, output="files")).payload
        await settled(lambda: trees[0].standing().stage == "ready")
        found = (await ok(crib, "grep", pattern="needle", path="src", glob=glob, output="files")).payload
        assert found["files"] == walked["files"] == []
