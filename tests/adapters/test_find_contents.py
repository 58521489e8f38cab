"""The finder by its port: every hard case of searching contents, by both engines."""

import os
import random
import subprocess
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from conftest import Workspace
from searching import ENGINES, WITHOUT_RIPGREP, Engine, Searches, plain, regex, searches
from toolcrib.ports.find import Counted, Match
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import SearchSettings

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture
async def at(workspace: Workspace) -> AsyncGenerator[Searches]:
    async with searches(workspace.ws) as found:
        yield found


@pytest.mark.case("B053")
async def test_lines_are_counted_as_grep_counts_them(workspace: Workspace, engine: Engine) -> None:
    workspace.write("a.py", b"def a():\n    return 1\n\n\x0c\ndef b():\n    TARGET = 1\n")
    workspace.write("crlf.txt", b"one\r\n\xe2\x80\xa8two\r\nTARGET\r\n")
    control = subprocess.run(["grep", "-rn", "TARGET", "."], cwd=workspace.ws, capture_output=True, check=True)
    assert b"./a.py:6:" in control.stdout
    assert b"./crlf.txt:3:" in control.stdout
    async with searches(workspace.ws, engine) as at:
        assert await at.lines(plain("TARGET")) == [("a.py", 6, 5, "    TARGET = 1"), ("crlf.txt", 3, 1, "TARGET")]
        assert await at.lines(regex("^TARGET$")) == [("crlf.txt", 3, 1, "TARGET")]
        assert await at.lines(regex("^...$")) == [("crlf.txt", 1, 1, "one")]
        assert await at.lines(regex(r"\r")) == [
            ("crlf.txt", 1, 4, "one"),
            ("crlf.txt", 2, 5, "\u2028two"),
            ("crlf.txt", 3, 7, "TARGET"),
        ]


@pytest.mark.case("B057")
async def test_text_of_two_bytes_a_character_is_searched_where_a_mark_says_so(
    workspace: Workspace, engine: Engine
) -> None:
    workspace.write("le.txt", b"\xff\xfe" + "eins\r\nzwei näedle\n".encode("utf-16-le"))
    workspace.write("be.txt", b"\xfe\xff" + "eins\nzwei näedle".encode("utf-16-be"))
    workspace.write("eight.txt", b"\xef\xbb\xbf" + "näedle\n".encode())
    workspace.write("unmarked.txt", "näedle".encode("utf-16-le"))
    async with searches(workspace.ws, engine) as at:
        found = await at.find.grep(regex(r"\bnä\wdle$"))
        assert [(each.path, each.line, each.column, each.text) for each in found.matches] == [
            ("be.txt", 2, 6, "zwei näedle"),
            ("eight.txt", 1, 1, "näedle"),
            ("le.txt", 2, 6, "zwei näedle"),
        ]
        assert found.bounds.skipped_binary == 1
        assert await at.lines(regex("^nä")) == [("eight.txt", 1, 1, "näedle")]


@pytest.mark.case("B058")
async def test_damage_within_a_text_is_drawn_and_the_text_behind_it_is_found(
    workspace: Workspace, engine: Engine
) -> None:
    workspace.write("damaged.txt", b"text\n" * 4096 + b"\0" * 4096 + b"\xff\xfe" + b"\ntext tail\0\n")
    workspace.write("latin.txt", b"caf\xe9 tail\n")
    async with searches(workspace.ws, engine) as at:
        assert await at.lines(plain("tail")) == [
            ("damaged.txt", 4098, 6, "text tail␀"),
            ("latin.txt", 1, 6, "caf\udce9 tail"),
        ]


async def test_a_binary_file_is_skipped_and_counted_whether_or_not_it_would_match(
    workspace: Workspace, engine: Engine
) -> None:
    workspace.write("a.bin", b"\0needle")
    workspace.write("b.bin", b"text\0text\n")
    workspace.write("c.txt", "needle\n")
    async with searches(workspace.ws, engine) as at:
        found = await at.find.grep(plain("needle"))
        assert (found.total_files, found.total_lines, found.bounds.skipped_binary) == (1, 1, 2)


async def test_a_file_that_is_too_large_is_skipped_and_counted(workspace: Workspace, engine: Engine) -> None:
    workspace.write("large.txt", "needle\n" * 200)
    workspace.write("fits.txt", "needle\n" + "x" * 993)
    async with searches(workspace.ws, engine, settings=SearchSettings(max_file=1000)) as at:
        found = await at.find.grep(plain("needle"))
        assert [each.path for each in found.matches] == ["fits.txt"]
        assert found.bounds.skipped_large == (engine != "first")


@pytest.mark.case("B083")
async def test_a_pattern_is_never_an_option(workspace: Workspace, engine: Engine) -> None:
    patterns = ("--pre=./p.sh", "-v", "->", "-1", "-f/etc/hostname", "--files", "-", "--")
    workspace.write("p.sh", f"#!/bin/sh\ntouch '{workspace.ws}/pwned'\ncat\n").chmod(0o755)
    workspace.write("-v", "".join(f"{pattern}\n" for pattern in patterns))
    subprocess.run([workspace.ws / "p.sh"], check=True, stdin=subprocess.DEVNULL)
    (workspace.ws / "pwned").unlink()
    async with searches(workspace.ws, engine) as at:
        for number, pattern in enumerate(patterns, 1):
            for query in (plain(pattern), regex(pattern)):
                assert ("-v", number, 1, pattern) in await at.lines(query), pattern
        assert bool(at.launcher.ran) == (engine not in WITHOUT_RIPGREP)
    assert not (workspace.ws / "pwned").exists()


async def test_no_configuration_of_ripgrep_changes_the_answer(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = workspace.out / "rc"
    config.write_text("--max-count=1\n--glob=!b\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    workspace.write("a", "x\nx\n")
    workspace.write("b", "x\n")
    workspace.write(".rgignore", "a\n")
    async with searches(workspace.ws) as at:
        assert (await at.find.grep(plain("x"))).total_lines == 3
        assert [program.environment for program in at.launcher.ran] == [{}]


@pytest.mark.case("B085")
async def test_what_can_be_matched_in_linear_time_is_matched(workspace: Workspace, engine: Engine) -> None:
    workspace.write("t", "foobar\nfoobaz\n12\n")
    async with searches(workspace.ws, engine) as at:
        assert await at.lines(regex("(?i)FOOBAR")) == [("t", 1, 1, "foobar")]
        assert await at.lines(plain("FOOBAR", ignore_case=True)) == [("t", 1, 1, "foobar")]
        assert await at.lines(regex(r"\bfoo\w+\b")) == [("t", 1, 1, "foobar"), ("t", 2, 1, "foobaz")]
        assert await at.lines(regex(r"\d{2,}")) == [("t", 3, 1, "12")]
        assert await at.lines(regex("o{2}ba[rz]")) == [("t", 1, 2, "foobar"), ("t", 2, 2, "foobaz")]


@pytest.mark.case("B087")
async def test_the_common_signs_mean_the_same_to_both_engines(workspace: Workspace, engine: Engine) -> None:
    workspace.write("t", "color colour files movie series\n")
    async with searches(workspace.ws, engine) as at:
        for pattern, column in (("colou?r", 1), ("files+", 14), ("movie|series", 20), ("(movie|series)", 20)):
            assert [hit[2] for hit in await at.lines(regex(pattern))] == [column], pattern


@pytest.mark.case("B088")
async def test_a_pattern_that_runs_away_elsewhere_is_answered(workspace: Workspace, engine: Engine) -> None:
    workspace.write("t", "a" * 35 + "!\n")
    began = time.monotonic()
    async with searches(workspace.ws, engine) as at:
        for pattern in ("(a+)+$", "(a|aa)+$", "(a*)*b"):
            assert await at.lines(regex(pattern)) == []
    assert time.monotonic() - began < 3


@pytest.mark.case("B089")
async def test_a_search_across_lines_is_bounded_and_can_be_cancelled(workspace: Workspace, engine: Engine) -> None:
    workspace.write("a.py", "".join(f"def f{number}():\n    return {number}\n" for number in range(750)))
    query = regex(r"^def .*\n(?:.*\n){0,40}?.*zzName", multiline=True)
    async with searches(workspace.ws, engine) as at:
        with anyio.fail_after(10), anyio.move_on_after(1):
            assert (await at.find.grep(query)).matches == ()
        assert await at.lines(regex("^def f749")) == [("a.py", 1499, 1, "def f749():")]


async def test_a_match_across_lines_shows_all_of_them(workspace: Workspace, engine: Engine) -> None:
    for path, end in (("lf.rs", "\n"), ("crlf.rs", "\r\n")):
        workspace.write(path, f"use a;{end}struct A {{{end}  x: u8,{end}}}{end}struct B {{ }}{end}".encode())
    async with searches(workspace.ws, engine) as at:
        found = await at.find.grep(regex(r"struct \w+ \{[^}]*\}", multiline=True))
        expected = tuple(
            Match(path=path, line=line, column=column, text=text, context=column is None)
            for path in ("crlf.rs", "lf.rs")
            for line, column, text in (
                (2, 1, "struct A {"),
                (3, None, "  x: u8,"),
                (4, None, "}"),
                (5, 1, "struct B { }"),
            )
        )
        assert (found.matches, found.total_lines, found.total_files) == (expected, 4, 2)
        assert len(await at.lines(regex(r"\{\n  x", multiline=True))) == 2 * 2
        assert len(await at.lines(plain("{\n  x: u8,\n}"))) == 2 * 3
        assert len(await at.lines(regex(r"\Ause a;$\nstruct", multiline=True))) == 2 * 2


@pytest.mark.case("B090")
async def test_colons_and_line_breaks_in_names_stay_in_the_names(workspace: Workspace, engine: Engine) -> None:
    paths = ("a:12:b.txt", "dir:name/file.txt", "n\n./x:1:y.txt")
    for path in paths:
        workspace.write(path, "x: y: needle\n")
    async with searches(workspace.ws, engine) as at:
        assert await at.lines(plain("needle")) == [(path, 1, 7, "x: y: needle") for path in paths]


@pytest.mark.case("B092")
async def test_negated_rules_give_the_set_that_git_gives(workspace: Workspace, engine: Engine) -> None:
    workspace.write(".gitignore", "*\n!*.*\n!*/\n")
    for path in ("readme.txt", "mybinary", "src/main.c"):
        workspace.write(path, "needle\n")
    async with searches(workspace.ws, engine) as at:
        assert [path for path, *_ in await at.lines(plain("needle"))] == ["readme.txt", "src/main.c"]
        assert await at.ranked("main") == ["src/main.c"]


@pytest.mark.case("B094")
async def test_hidden_files_are_searched(workspace: Workspace, engine: Engine) -> None:
    workspace.write(".github/workflows/ci.yml", "env: GITHUB_TOKEN\n")
    for number in range(50):
        workspace.write(f"f{number}.txt", "nothing\n")
    async with searches(workspace.ws, engine) as at:
        for path in (".", ".github", ".github/workflows/ci.yml"):
            assert [hit[:2] for hit in await at.lines(plain("GITHUB_TOKEN", path=path))] == [
                (".github/workflows/ci.yml", 1)
            ]


@pytest.mark.case("B096")
async def test_a_long_line_is_clipped_around_the_hit(workspace: Workspace, engine: Engine) -> None:
    body = ("é" * 4000).join(["needle"] * 501)
    workspace.write("min.js", f"before\n{'z' * 100_000}{body}\nafter\n")
    workspace.write("short.js", "needle" + "x" * 494)
    async with searches(workspace.ws, engine) as at:
        found = await at.find.grep(plain("needle", context=2))
        first, hit, last, short = found.matches
        assert (first.text, last.text, short.text) == ("before", "after", "needle" + "x" * 494)
        assert (hit.path, hit.line, hit.column) == ("min.js", 2, 100_001)
        assert "needle" in hit.text
        assert hit.text.startswith("…z")
        assert hit.text.endswith("é…")
        assert len(hit.text) == 502
        assert found.bounds.clipped_lines == 1
        assert (await at.find.grep(plain("after", context=1))).bounds.clipped_lines == 1


@pytest.mark.case("B097")
async def test_totals_are_of_the_whole_search_and_the_limit_runs_across_files(
    workspace: Workspace, engine: Engine
) -> None:
    workspace.write("a.txt", "hit\n" * 113)
    workspace.write("b.txt", "hit\n" * 2)
    async with searches(workspace.ws, engine) as at:
        for limit in (10, 113, 114):
            found = await at.find.grep(plain("hit", limit=limit))
            assert (len(found.matches), found.total_lines, found.total_files) == (limit, 115, 2)
            assert found.bounds.truncated
        assert not (await at.find.grep(plain("hit", limit=115))).bounds.truncated
        counts = await at.find.grep(plain("hit", output="count"))
        assert counts.files == (Counted(path="a.txt", count=113), Counted(path="b.txt", count=2))
        assert (await at.find.grep(plain("hit", output="files", limit=1))).bounds.truncated


async def test_context_is_shown_once_and_never_beyond_a_match_that_is_not_shown(
    workspace: Workspace, engine: Engine
) -> None:
    workspace.write("a", "1\n2\nhit\n4\nhit\n6\n7\n8\n9\nhit\n")
    async with searches(workspace.ws, engine) as at:
        found = await at.find.grep(plain("hit", context=2))
        assert [each.line for each in found.matches] == [*range(1, 11)]
        assert [each.line for each in found.matches if not each.context] == [3, 5, 10]
        pages = await at.pages(plain("hit", context=2, limit=1))
        assert [[each.line for each in page.matches] for page in pages] == [[1, 2, 3, 4], [4, 5, 6, 7], [8, 9, 10]]
        assert [page.total_lines for page in pages] == [3, 3, 3]


async def test_a_filter_says_which_files_are_opened(workspace: Workspace, engine: Engine) -> None:
    for path in ("a.md", "b.json", "src/c.md", "src/deep/d.md"):
        workspace.write(path, "needle\n")

    async with searches(workspace.ws, engine) as at:

        async def paths(glob: str, path: str = ".") -> list[str]:
            return [hit[0] for hit in await at.lines(plain("needle", glob=glob, path=path))]

        assert await paths("*.{md,json}") == ["a.md", "b.json", "src/c.md", "src/deep/d.md"]
        assert await paths("src/*.md") == ["src/c.md"]
        assert await paths("src/*.md", "src") == ["src/c.md"]
        assert await paths("deep/*.md", "src") == ["src/deep/d.md"]
        assert await paths(f"{workspace.ws}/*.md") == ["a.md"]
        assert await paths("*.md", "a.md") == ["a.md"]
        assert await paths("*.json", "a.md") == []
        assert await paths("**/deep/**") == ["src/deep/d.md"]


async def test_a_fuzzy_search_finds_lines_with_letters_wrong(workspace: Workspace, engine: Engine) -> None:
    workspace.write("a.py", "def calculate_total(items):\n    return sum(items)\n\nx = 1\n")
    async with searches(workspace.ws, engine) as at:
        assert await at.lines(plain("calcualte totl", mode="fuzzy")) == [("a.py", 1, 5, "def calculate_total(items):")]
        assert await at.lines(plain("zzzzzzzz", mode="fuzzy")) == []


async def test_what_is_no_pattern_is_refused(at: Searches) -> None:
    for query in (plain(""), regex(""), plain("", mode="fuzzy"), plain("x" * 10_001), plain("a\ud800")):
        with pytest.raises(Refusal) as caught:
            await at.find.grep(query)
        assert caught.value.name == "grep.invalid"


async def test_a_search_out_of_time_says_so_and_gives_what_it_found(workspace: Workspace, engine: Engine) -> None:
    for number in range(200):
        workspace.write(f"f{number:03}", "hit\n")
    async with searches(workspace.ws, engine, settings=SearchSettings(seconds=0.0)) as at:
        found = await at.find.grep(plain("hit"))
        assert (found.total_lines, found.total_files) == (None, None)
        assert found.bounds.scan_capped == "stopped after 0 s"
        page = await at.find.glob("**", under=".", limit=10, cursor=None)
        # The resident table has them all at hand, so that nothing of the answer is cut.
        told = (200, None) if engine.startswith("kept") else (None, "stopped after 0 s")
        assert (page.total, page.bounds.scan_capped) == told
    async with searches(workspace.ws, engine, settings=SearchSettings(max_paths=100)) as at:
        page = await at.find.glob("**", under=".", limit=10, cursor=None)
        told = (200, None) if engine.startswith("kept") else (None, "stopped after 100 entries")
        assert (page.total, page.bounds.scan_capped) == told


async def test_a_cancelled_search_ends_at_once_and_kills_ripgrep(workspace: Workspace, engine: Engine) -> None:
    text = "".join(random.Random(1).choices("ab\n", [50, 50, 1], k=300_000))
    for number in range(20):
        workspace.write(f"f{number:02}", text)
    async with searches(workspace.ws, engine, settings=SearchSettings(seconds=60)) as at:
        began = time.monotonic()
        with anyio.move_on_after(0.5) as scope:
            await at.find.grep(regex(r"[ab]*a[ab]{100}[cd]", multiline=True))
        assert scope.cancelled_caught
        assert time.monotonic() - began < 2.5
        assert len(at.launcher.ran) == (engine not in WITHOUT_RIPGREP)
        for argv in (Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdecimal()):
            with suppress(OSError):
                assert b"[ab]{100}" not in argv.read_bytes()
