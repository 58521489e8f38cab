"""GREP: grep."""

import asyncio
import os
import subprocess
import time
from typing import Any

import pytest

from calling import edit, ok, opened, refused
from conftest import Workspace
from toolcrib import Crib, Ok, Refused

pytestmark = pytest.mark.anyio


def nowhere(_search_path: str) -> None:
    """Stand for a machine without ripgrep."""


async def matches(crib: Crib, pattern: str, **args: Any) -> list[tuple[str, int, str]]:
    found = await ok(crib, "grep", pattern=pattern, **args)
    return [(each["path"], each["line"], each["text"]) for each in found.payload["matches"]]


@pytest.mark.case("B083")
@pytest.mark.parametrize("mode", ["plain", "regex"])
async def test_patterns_that_look_like_options_are_patterns(workspace: Workspace, mode: str) -> None:
    patterns = ("--pre=./p.sh", "-v", "->", "-1", "-f/etc/hostname", "--files")
    workspace.write("p.sh", "#!/bin/sh\ntouch pwned\n").chmod(0o755)
    workspace.write("t", "".join(f"{pattern}\n" for pattern in patterns))
    control = subprocess.run(
        ["/bin/sh", "-c", "./p.sh"], cwd=workspace.ws, check=True, env={"PATH": os.defpath}, capture_output=True
    )
    assert control.returncode == 0
    (workspace.ws / "pwned").unlink()
    async with opened(workspace.ws) as crib:
        for number, pattern in enumerate(patterns, 1):
            assert ("t", number, pattern) in await matches(crib, pattern, mode=mode), pattern
    assert not (workspace.ws / "pwned").exists()


@pytest.mark.case("B085")
async def test_constructs_hit_rightly_or_are_named_as_unsupported(workspace: Workspace) -> None:
    workspace.write("t", "foobar\nfoobaz\n12\n")
    async with opened(workspace.ws) as crib:
        for pattern, construct in (("foo(?!baz)", "look"), ("(?<=foo)bar", "look"), (r"(o)\1", "back")):
            outcome = await refused(crib, "grep", "grep.invalid", pattern=pattern, mode="regex")
            assert construct in str(outcome).lower(), str(outcome)
        assert await matches(crib, "(?i)FOOBAR", mode="regex") == [("t", 1, "foobar")]
        assert await matches(crib, r"\bfoo\w+\b", mode="regex") == [("t", 1, "foobar"), ("t", 2, "foobaz")]
        assert await matches(crib, r"\d{2,}", mode="regex") == [("t", 3, "12")]


@pytest.mark.case("B086")
@pytest.mark.parametrize("pattern", ["(", "[a-", "*a", "a{2,1}", "\\", "html(json.data"])
async def test_broken_patterns_are_refused_with_the_place_and_a_hint_at_plain(
    workspace: Workspace, pattern: str
) -> None:
    workspace.write("t", f"{pattern}\n")
    async with opened(workspace.ws) as crib:
        outcome = await refused(crib, "grep", "grep.invalid", pattern=pattern, mode="regex")
        assert any(letter.isdigit() for letter in outcome.message), outcome.message
        assert "plain" in outcome.hint
        assert await matches(crib, pattern) == [("t", 1, pattern)]


@pytest.mark.case("B087")
@pytest.mark.parametrize("ripgrep", [True, False])
async def test_both_engines_give_the_same_hits(
    workspace: Workspace, ripgrep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not ripgrep:
        monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", nowhere)
    workspace.write("t", "color colour files movie series\nnone\n")
    async with opened(workspace.ws) as crib:
        for pattern in ("colou?r", "files+", "movie|series", "(movie|series)"):
            found = await ok(crib, "grep", pattern=pattern, mode="regex")
            assert [(each["path"], each["line"]) for each in found.payload["matches"]] == [("t", 1)], pattern
        found = await ok(crib, "grep", pattern="movie|series", mode="regex")
        assert found.payload["matches"][0]["column"] == 20


@pytest.mark.case("B088")
@pytest.mark.parametrize("ripgrep", [True, False])
async def test_a_pattern_that_runs_away_elsewhere_ends_and_others_are_not_held_up(
    workspace: Workspace, ripgrep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not ripgrep:
        monkeypatch.setattr("toolcrib.wiring.build.find_ripgrep", nowhere)
    workspace.write("t", "a" * 35 + "!\n")
    async with opened(workspace.ws) as crib, opened(workspace.ws) as other:
        for pattern in ("(a+)+$", "(a|aa)+$", "(a*)*b"):
            searching = asyncio.create_task(crib.call("grep", pattern=pattern, mode="regex"))
            began = time.monotonic()
            await ok(other, "read_file", path="t")
            assert time.monotonic() - began < 2
            outcome = await asyncio.wait_for(searching, 5)
            assert isinstance(outcome, Ok)
            assert outcome.payload["matches"] == []


@pytest.mark.case("B089")
async def test_a_multi_line_search_is_bounded_and_holds_up_nothing(workspace: Workspace) -> None:
    workspace.write("a.py", "".join(f"def f{number}():\n    return {number}\n" for number in range(750)))
    async with opened(workspace.ws) as crib:
        pattern = r"^def .*\n(?:.*\n){0,40}?.*zzName"
        search = asyncio.create_task(crib.call("grep", pattern=pattern, mode="regex", multiline=True))
        done, _ = await asyncio.wait({search}, timeout=1)
        if not done:
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
        else:
            assert isinstance(search.result(), Ok | Refused)
        assert isinstance(await asyncio.wait_for(edit(crib, "a.py", ("def f7()", "def g7()")), 5), Ok)


@pytest.mark.case("B090")
async def test_colons_in_names_and_lines_do_not_confuse(workspace: Workspace) -> None:
    workspace.write("dir:name/file.txt", "x: y: needle\n")
    workspace.write("a:12:b.txt", "x: y: needle\n")
    async with opened(workspace.ws) as crib:
        assert await matches(crib, "needle") == [
            ("a:12:b.txt", 1, "x: y: needle"),
            ("dir:name/file.txt", 1, "x: y: needle"),
        ]


@pytest.mark.case("B092")
async def test_negated_ignore_rules_give_the_set_that_git_gives(workspace: Workspace) -> None:
    workspace.write(".gitignore", "*\n!*.*\n!*/\n")
    for path in ("readme.txt", "mybinary", "src/main.c"):
        workspace.write(path, "needle\n")
    subprocess.run(["git", "init", "-q", "."], cwd=workspace.ws, check=True)
    async with opened(workspace.ws) as crib:
        assert [path for path, _, _ in await matches(crib, "needle")] == ["readme.txt", "src/main.c"]
        names = await ok(crib, "fff_search", query="m")
        paths = {each["path"] for each in names.payload["files"]}
        assert paths <= {"readme.txt", "src/main.c", ".gitignore"}
        assert {"readme.txt", "src/main.c"} <= paths


@pytest.mark.case("B094")
async def test_hidden_files_are_searched(workspace: Workspace) -> None:
    workspace.write(".github/workflows/ci.yml", "env: GITHUB_TOKEN\n")
    for number in range(50):
        workspace.write(f"f{number}.txt", "nothing\n")
    wanted = [(".github/workflows/ci.yml", 1, "env: GITHUB_TOKEN")]
    async with opened(workspace.ws) as crib:
        assert await matches(crib, "GITHUB_TOKEN") == wanted
        assert await matches(crib, "GITHUB_TOKEN", path=".github") == wanted


@pytest.mark.case("B096")
async def test_a_line_of_megabytes_is_clipped_around_the_hit(workspace: Workspace) -> None:
    piece = "y" * 4000
    line = piece.join(["needle"] * 501)
    workspace.write("min.js", f"before\n{'z' * 100_000}{line}\nafter\n")
    async with opened(workspace.ws) as crib:
        outcome = await ok(crib, "grep", pattern="needle", context=2)
        hit = next(each for each in outcome.payload["matches"] if each["column"] is not None)
        assert (hit["path"], hit["line"]) == ("min.js", 2)
        assert "needle" in hit["text"]
        assert len(hit["text"]) < 2000
        assert outcome.bounds.clipped_lines
        assert len(str(outcome)) < 20_000
        assert "before" in str(outcome)
        assert "after" in str(outcome)


@pytest.mark.case("B097")
async def test_a_file_with_many_hits_does_not_hide_another(workspace: Workspace) -> None:
    workspace.write("a.txt", "hit\n" * 113)
    workspace.write("b.txt", "hit\n" * 2)
    async with opened(workspace.ws) as crib:
        for args in ({}, {"limit": 10}):
            outcome = await ok(crib, "grep", pattern="hit", **args)
            assert outcome.payload["total"] == 115
            assert outcome.payload["total_files"] == 2
            assert outcome.bounds.truncated
        counts = await ok(crib, "grep", pattern="hit", output="count")
        assert counts.payload["files"] == [{"path": "a.txt", "count": 113}, {"path": "b.txt", "count": 2}]
