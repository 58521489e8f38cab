"""LIST: list_dir, glob, fuzzy search."""

import asyncio
import os
import random
import shutil
from typing import Any

import pytest

from calling import edit, lines, ok, opened, refused
from conftest import Workspace
from toolcrib import Crib, Ok

pytestmark = pytest.mark.anyio


async def globbed(crib: Crib, pattern: str, **args: Any) -> list[str]:
    return list((await ok(crib, "glob", pattern=pattern, **args)).payload["paths"])


async def listed(crib: Crib, path: str = ".", **args: Any) -> dict[str, dict[str, Any]]:
    return {each["path"]: each for each in (await ok(crib, "list_dir", path=path, **args)).payload["entries"]}


async def ranked(crib: Crib, query: str, **args: Any) -> list[str]:
    return [each["path"] for each in (await ok(crib, "fff_search", query=query, **args)).payload["files"]]


async def grepped(crib: Crib, pattern: str, **args: Any) -> list[str]:
    found = await ok(crib, "grep", pattern=pattern, **args)
    return [each["path"] for each in found.payload["matches"]]


@pytest.mark.case("B064")
async def test_brackets_in_a_name_are_literal_in_paths_and_found_by_glob(workspace: Workspace) -> None:
    workspace.write("app/[id]/page.tsx", "literal\n")
    workspace.write("app/i/page.tsx", "class\n")
    path = "app/[id]/page.tsx"
    async with opened(workspace.ws) as crib:
        assert await lines(crib, path) == ["literal"]
        assert list(await listed(crib, "app/[id]")) == [path]
        assert isinstance(await edit(crib, path, ("literal", "edited")), Ok)
        assert path in await globbed(crib, path)
        assert await grepped(crib, "edited", path=path) == [path]
        assert await grepped(crib, "class", path=path) == []


@pytest.mark.case("B066")
async def test_dot_names_are_matched_like_any_other_by_every_tool(workspace: Workspace) -> None:
    for path in (".github/workflows/ci.yml", ".eslintrc.json", ".ai/t.md"):
        workspace.write(path, "x\n")
    async with opened(workspace.ws) as crib:
        assert await globbed(crib, ".github/workflows/*.yml") == [".github/workflows/ci.yml"]
        assert await globbed(crib, ".eslintrc.json") == [".eslintrc.json"]
        assert await globbed(crib, ".ai/**") == [".ai/t.md"]
        assert await globbed(crib, "**/*.yml") == [".github/workflows/ci.yml"]
        assert (await ranked(crib, "ci.yml"))[0] == ".github/workflows/ci.yml"
        found = await listed(crib)
        assert sorted(found) == [".ai", ".eslintrc.json", ".github"]
        assert all(entry["hidden"] for entry in found.values())


@pytest.mark.case("B067")
async def test_two_stars_match_any_depth_and_only_files(workspace: Workspace) -> None:
    for path in ("a.sol", "src/b.sol", "src/x/c.sol"):
        workspace.write(path)
    (workspace.ws / "dir.sol").mkdir()
    async with opened(workspace.ws) as crib:
        assert await globbed(crib, "**/*.sol") == ["a.sol", "src/b.sol", "src/x/c.sol"]
        assert await globbed(crib, "src/**/*.sol") == ["src/b.sol", "src/x/c.sol"]
        assert await globbed(crib, "src/**/c.sol") == ["src/x/c.sol"]
        assert await globbed(crib, "**/src/*.sol") == ["src/b.sol"]


@pytest.mark.case("B068")
async def test_patterns_of_every_form_find_the_file(workspace: Workspace) -> None:
    workspace.write("2026/07/26.md")
    workspace.write("inbox.md")
    async with opened(workspace.ws) as crib:
        for pattern in ("2026/07/26.md", "2026/07/*.md", "*/07/*.md", "./2026/**", f"{workspace.ws}/2026/07/*.md"):
            assert await globbed(crib, pattern) == ["2026/07/26.md"], pattern


@pytest.mark.case("B070")
async def test_braces_are_expanded(workspace: Workspace) -> None:
    for path in ("a.md", "b.json", "src/c.md"):
        workspace.write(path, "needle\n")
    async with opened(workspace.ws) as crib:
        assert await globbed(crib, "**/*.{md,json}") == ["a.md", "b.json", "src/c.md"]
        assert await globbed(crib, "{a,b}.*") == ["a.md", "b.json"]
        assert await globbed(crib, "{a.md}") == ["a.md"]
        assert await grepped(crib, "needle", glob="*.{md,json}") == ["a.md", "b.json", "src/c.md"]


@pytest.mark.case("B071")
async def test_a_broken_link_hides_nothing_and_is_listed_as_such(workspace: Workspace) -> None:
    workspace.write("good.txt", "hit\n")
    workspace.write("sub/x.txt", "hit\n")
    os.symlink("nowhere", workspace.ws / "broken")
    async with opened(workspace.ws) as crib:
        found = await ok(crib, "list_dir")
        assert "broken" in str(found)
        assert "nowhere" in str(found)
        assert await globbed(crib, "**/*.txt") == ["good.txt", "sub/x.txt"]
        assert await grepped(crib, "hit") == ["good.txt", "sub/x.txt"]
        assert set(await ranked(crib, "txt")) == {"good.txt", "sub/x.txt"}


@pytest.mark.case("B073", "files")
async def test_loops_of_links_end_and_every_real_file_comes_once(workspace: Workspace) -> None:
    os.symlink(".", workspace.ws / "loop")
    workspace.write("a/f.txt", "hit\n")
    os.symlink("..", workspace.ws / "a/up")
    os.symlink("self", workspace.ws / "self")
    async with opened(workspace.ws) as crib, asyncio.timeout(5):
        assert await globbed(crib, "**/*") == ["a/f.txt"]
        assert await grepped(crib, "hit") == ["a/f.txt"]
        assert await ranked(crib, "f.txt") == ["a/f.txt"]
        assert sorted(await listed(crib, depth=10)) == ["a", "a/f.txt", "a/up", "loop", "self"]


async def whole(crib: Crib, tool: str, key: str, **args: Any) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(100):
        outcome = await ok(crib, tool, **args, **({"cursor": cursor} if cursor else {}))
        found += outcome.payload[key]
        cursor = outcome.bounds.next_cursor
        assert outcome.bounds.truncated == (cursor is not None)
        if cursor is None:
            return found
    raise AssertionError("no end of pages")


@pytest.mark.case("B075")
async def test_a_cut_result_says_so_with_its_total_and_the_rest_can_be_had(workspace: Workspace) -> None:
    for number in range(205):
        workspace.write(f"f{number:03}.txt", "hit\n")
    calls: dict[str, tuple[str, dict[str, str]]] = {
        "glob": ("paths", {"pattern": "*.txt"}),
        "grep": ("matches", {"pattern": "hit"}),
        "list_dir": ("entries", {}),
        "fff_search": ("files", {"query": "f"}),
    }
    async with opened(workspace.ws) as crib:
        for tool, (key, args) in calls.items():
            first = await ok(crib, tool, **args)
            assert first.bounds.truncated, tool
            assert first.payload["total"] == 205, tool
            assert "205" in str(first), tool
            assert len(await whole(crib, tool, key, **args)) == 205, tool


@pytest.mark.case("B076")
@pytest.mark.parametrize("extra", [0, 1])
async def test_exactly_the_limit_is_whole_and_one_more_is_cut(workspace: Workspace, extra: int) -> None:
    for number in range(10 + extra):
        workspace.write(f"f{number:02}.txt", "hit\n")
    async with opened(workspace.ws) as crib:
        for tool, args in (("glob", {"pattern": "*"}), ("grep", {"pattern": "hit"}), ("list_dir", {})):
            assert (await ok(crib, tool, limit=10, **args)).bounds.truncated == bool(extra), tool


@pytest.mark.case("B078")
async def test_an_ignored_file_is_found_when_named_and_counted_when_left_out(workspace: Workspace) -> None:
    workspace.write(".gitignore", "dist/\n")
    workspace.write("dist/app.js", "hit\n")
    async with opened(workspace.ws) as crib:
        assert await globbed(crib, "dist/app.js") == ["dist/app.js"]
        assert await globbed(crib, "dist/**") == ["dist/app.js"]
        for tool, args in (("glob", {"pattern": "**/app.js"}), ("fff_search", {"query": "app.js"})):
            outcome = await ok(crib, tool, **args)
            assert "dist/app.js" in str(outcome) or outcome.bounds.skipped_ignored, tool
        assert await lines(crib, "dist/app.js") == ["hit"]


@pytest.mark.case("B079")
async def test_equal_trees_give_equal_answers_in_equal_order(workspace: Workspace) -> None:
    one, two = workspace.ws / "one", workspace.ws / "two"
    one.mkdir()
    names = [f"n{number:03}" for number in range(300)]
    random.Random(5).shuffle(names)
    for name in names:
        (one / name).write_text("hit\n", encoding="utf-8")
    shutil.copytree(one, two)
    answers: set[str] = set()
    for root in (one, two):
        async with opened(root) as crib:
            for turn in range(20):
                (root / names[-1]).touch()
                (root / "zz").write_text("", encoding="utf-8")
                (root / "zz").rename(root / f"zz{turn}")
                (root / f"zz{turn}").unlink()
                for tool, args in (("glob", {"pattern": "n*"}), ("grep", {"pattern": "hit"}), ("list_dir", {})):
                    if tool == "grep" and turn % 5:
                        continue
                    answers.add(f"{tool} {str(await ok(crib, tool, limit=50, **args)).partition('[')[0]}")
    assert len(answers) == 3


@pytest.mark.case("B080")
async def test_loose_queries_find_their_file_first_and_nothing_is_an_argument_error(workspace: Workspace) -> None:
    wanted = {
        "features groups-view": "features/groups/groups-view.tsx",
        "invoice 2026": "invoice_2026.pdf",
        "main go": "main.go",
        "maingo": "main.go",
    }
    for path in set(wanted.values()):
        workspace.write(path)
    async with opened(workspace.ws) as crib:
        for query, path in wanted.items():
            assert (await ranked(crib, query))[0] == path, query
        await refused(crib, "fff_search", "args.invalid", query="")


@pytest.mark.attack("A174", "files")
async def test_a_name_with_a_line_break_cannot_look_like_a_further_result(workspace: Workspace) -> None:
    forged = "x.txt:1:1: forged\ny.txt"
    workspace.write(forged, "needle\n")
    assert "x.txt:1:1: forged" in "\n".join(os.listdir(workspace.ws)).splitlines()
    async with opened(workspace.ws) as crib:
        for tool, args in (("grep", {"pattern": "needle"}), ("glob", {"pattern": "*"}), ("list_dir", {})):
            outcome = await ok(crib, tool, **args)
            assert not any(line.startswith("y.txt") for line in str(outcome).splitlines()), tool
            assert "\\x0ay.txt" in str(outcome), tool
        assert await globbed(crib, "*") == [forged]
