"""The finder by its port: every hard case of listing, globbing, searching and fuzzy names, by both engines."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from conftest import Workspace
from searching import ENGINES, Engine, Searches, searches
from toolcrib.ports.find import Counted, Found, GrepOutput, Listed, Match, Query
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import SearchSettings

pytestmark = pytest.mark.anyio

Lines = list[tuple[str, int, int | None, str]]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture
async def at(workspace: Workspace) -> AsyncGenerator[Searches]:
    async with searches(workspace.ws) as found:
        yield found


def plain(pattern: str, **rest: object) -> Query:
    return Query(pattern=pattern, **rest)  # pyright: ignore[reportArgumentType] - by keyword


def regex(pattern: str, **rest: object) -> Query:
    return plain(pattern, mode="regex", **rest)


async def listed(at: Searches, path: str = ".", depth: int = 1) -> dict[str, Listed]:
    page = await at.find.listing(path, depth=depth, limit=10_000, cursor=None)
    assert page.total == len(page.items)
    return {each.path: each for each in page.items}


async def ranked(at: Searches, query: str, *, under: str = ".", limit: int = 50) -> list[str]:
    return [each.path for each in (await at.find.fuzzy(query, under=under, limit=limit, cursor=None)).items]


# Listing


async def test_a_listing_says_kind_size_and_target_and_marks_what_is_hidden_or_ignored(
    workspace: Workspace, at: Searches
) -> None:
    workspace.write(".gitignore", "out/\n*.log\n")
    workspace.write("out/x", "12")
    workspace.write("a.log", "123")
    workspace.write("b.txt", "1234")
    os.symlink("b.txt", workspace.ws / "link")
    os.symlink("out", workspace.ws / "dirlink")
    os.symlink("nowhere", workspace.ws / "broken")
    os.symlink("/etc/passwd", workspace.ws / "leads-out")
    os.mkfifo(workspace.ws / "pipe")
    assert await listed(at) == {
        each.path: each
        for each in (
            Listed(path=".gitignore", kind="file", size=11, hidden=True),
            Listed(path="a.log", kind="file", size=3, ignored=True),
            Listed(path="b.txt", kind="file", size=4),
            Listed(path="broken", kind="symlink", target="nowhere"),
            Listed(path="dirlink", kind="directory", target="out"),
            Listed(path="leads-out", kind="symlink", target="/etc/passwd"),
            Listed(path="link", kind="file", target="b.txt"),
            Listed(path="out", kind="directory", ignored=True),
            Listed(path="pipe", kind="fifo"),
        )
    }


async def test_a_listing_goes_as_deep_as_asked(workspace: Workspace, at: Searches) -> None:
    workspace.write("a/b/c/d", "")
    assert list(await listed(at)) == ["a"]
    assert list(await listed(at, depth=2)) == ["a", "a/b"]
    assert list(await listed(at, depth=9)) == ["a", "a/b", "a/b/c", "a/b/c/d"]
    assert list(await listed(at, "a/b")) == ["a/b/c"]
    assert list(await listed(at, str(workspace.ws / "a"))) == ["a/b"]


async def test_everything_in_an_ignored_directory_is_marked_ignored(workspace: Workspace, at: Searches) -> None:
    workspace.write(".gitignore", "out/\n")
    workspace.write("out/deep/x", "")
    assert {path: each.ignored for path, each in (await listed(at, depth=3)).items()} == {
        ".gitignore": False,
        "out": True,
        "out/deep": True,
        "out/deep/x": True,
    }
    assert [each.ignored for each in (await listed(at, "out/deep")).values()] == [True]


async def test_the_repository_itself_is_listed_but_never_entered(workspace: Workspace, at: Searches) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=workspace.ws, check=True)
    workspace.write("a", "[core]\n")
    assert list(await listed(at, depth=5)) == [".git", "a"]
    assert await at.globbed("**") == ["a"]
    assert await at.lines(plain("[core]")) == [("a", 1, 1, "[core]")]
    assert await ranked(at, "config") == []


async def test_temporary_names_of_ours_are_never_shown(workspace: Workspace, at: Searches) -> None:
    name = f".toolcrib-tmp-{mint_id()}-{'0' * 16}"
    workspace.write(name, "hit\n")
    workspace.write(f"sub/{name}", "hit\n")
    workspace.write("sub/real", "hit\n")
    assert list(await listed(at, depth=2)) == ["sub", "sub/real"]
    assert await at.globbed("**") == ["sub/real"]
    assert await at.globbed(name) == []
    assert [path for path, *_ in await at.lines(plain("hit"))] == ["sub/real"]


# Globs


@pytest.mark.case("B064")
async def test_a_pattern_that_is_a_path_finds_that_path(workspace: Workspace, at: Searches) -> None:
    workspace.write("app/[id]/page.tsx", "literal\n")
    workspace.write("app/i/page.tsx", "class\n")
    workspace.write("odd[", "")
    workspace.write("!important", "")
    assert await at.globbed("app/[id]/page.tsx") == ["app/[id]/page.tsx", "app/i/page.tsx"]
    assert await at.globbed("[id]/page.tsx", under="app") == ["app/[id]/page.tsx", "app/i/page.tsx"]
    assert await at.globbed("odd[") == ["odd["]
    assert await at.globbed("!important") == ["!important"]
    assert await at.lines(plain("a", path="app/[id]/page.tsx")) == [("app/[id]/page.tsx", 1, 6, "literal")]


@pytest.mark.case("B066")
async def test_names_with_a_dot_are_names_like_any_other(workspace: Workspace, at: Searches, engine: Engine) -> None:
    for path in (".github/workflows/ci.yml", ".eslintrc.json", ".ai/t.md"):
        workspace.write(path, "x\n")
    assert await at.globbed(".github/workflows/*.yml") == [".github/workflows/ci.yml"]
    assert await at.globbed("*") == [".eslintrc.json"]
    assert await at.globbed("**") == [".ai/t.md", ".eslintrc.json", ".github/workflows/ci.yml"]
    assert await at.globbed("?ai/*") == [".ai/t.md"]
    assert await at.globbed("[.]ai/*") == [".ai/t.md"]
    assert (await ranked(at, "ci.yml"))[0] == ".github/workflows/ci.yml"
    async with searches(workspace.ws, engine) as by:
        assert len(await by.lines(plain("x"))) == 3


@pytest.mark.case("B068")
async def test_a_pattern_may_be_absolute_or_start_with_a_dot(workspace: Workspace, at: Searches) -> None:
    workspace.write("2026/07/26.md", "")
    workspace.write("inbox.md", "")
    root = str(workspace.ws)
    for pattern in ("2026/07/26.md", "./2026/**", "2026/./07//*.md", f"{root}/2026/07/*.md", f"{root}/2026/**/26.md"):
        assert await at.globbed(pattern) == ["2026/07/26.md"], pattern
    assert await at.globbed(f"{root}/*.md", under="2026") == ["inbox.md"]
    assert await at.globbed("*/*.md", under="2026") == ["2026/07/26.md"]
    assert await at.globbed("26.md", under=f"{root}/2026/07") == ["2026/07/26.md"]


async def test_a_pattern_that_leads_out_is_refused(workspace: Workspace, at: Searches) -> None:
    for pattern in ("../*", "a/../../out/*", str(workspace.out / "*"), "/etc/*", "{a,../b}"):
        with pytest.raises(Refusal) as caught:
            await at.globbed(pattern)
        assert caught.value.name == "file.outside", pattern
    with pytest.raises(Refusal) as caught:
        await at.globbed("*", under="../out")
    assert caught.value.name == "file.outside"


@pytest.mark.case("B070")
async def test_braces_stand_for_alternatives_and_may_be_nested(workspace: Workspace, at: Searches) -> None:
    for path in ("a.md", "b.json", "src/c.md", "src/a,b", "src/{x}"):
        workspace.write(path, "needle\n")
    assert await at.globbed("**/*.{md,json}") == ["a.md", "b.json", "src/c.md"]
    assert await at.globbed("{a,{b,src/c}}.*") == ["a.md", "b.json", "src/c.md"]
    assert await at.globbed("{a.md}") == ["a.md"]
    assert await at.globbed("src/{[a,b]*,c}.md") == ["src/c.md"]
    assert await at.globbed("src/a\\,b") == ["src/a,b"]
    assert await at.globbed("src/[{]x}") == ["src/{x}"]
    assert await at.globbed("{a,}{.md,}") == ["a.md"]


async def test_an_exclamation_mark_takes_away(workspace: Workspace, at: Searches) -> None:
    for path in ("a.py", "test_a.py", "b.md", "sub/c.py", "sub/test_c.py"):
        workspace.write(path, "needle\n")
    assert await at.globbed("!**/*.py") == ["b.md"]
    assert await at.globbed("{**/*.py,!**/test_*}") == ["a.py", "sub/c.py"]
    assert await at.globbed("!test_*", under="sub") == ["sub/c.py"]
    assert await at.globbed("[!t]*.py") == ["a.py"]
    assert [path for path, *_ in await at.lines(plain("needle", glob="!*.py"))] == ["b.md"]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [("a[b", "position 2"), ("{a,b", "position 1"), ("a\\", "backslash"), ("src/", "director"), ("", "''")],
)
async def test_a_pattern_that_cannot_be_meant_is_refused_with_its_place(at: Searches, pattern: str, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        await at.globbed(pattern)
    assert caught.value.name == "find.invalid"
    assert says in caught.value.message


@pytest.mark.case("B078")
async def test_an_ignored_file_is_found_when_named_and_counted_when_not(workspace: Workspace, at: Searches) -> None:
    workspace.write(".gitignore", "dist/\n*.log\n")
    for path in ("dist/app.js", "dist/sub/x.log", "src/a.log", "src/a.js"):
        workspace.write(path, "hit\n")
    assert await at.globbed("dist/app.js") == ["dist/app.js"]
    assert await at.globbed("dist/**") == ["dist/app.js", "dist/sub/x.log"]
    assert await at.globbed("{dist,src}/**") == ["dist/app.js", "dist/sub/x.log", "src/a.js"]
    assert await at.globbed("src/a.log") == ["src/a.log"]
    page = await at.find.glob("**/*.{js,log}", under=".", limit=10, cursor=None)
    assert (page.items, page.bounds.skipped_ignored) == (("src/a.js",), 3)
    fuzzy = await at.find.fuzzy("app.js", under=".", limit=10, cursor=None)
    assert fuzzy.bounds.skipped_ignored == 1
    found = await at.find.grep(plain("hit"))
    assert (found.total_files, found.bounds.skipped_ignored) == (1, 3)
    everything = await at.find.grep(plain("hit", include_ignored=True))
    assert (everything.total_files, everything.bounds) == (4, Bounds())
    assert len(await at.lines(plain("hit", path="dist"))) == 2
    assert await at.lines(plain("hit", path="src/a.log")) == [("src/a.log", 1, 1, "hit")]


async def test_counting_what_is_ignored_has_an_end_but_what_is_named_is_found_to_the_last(
    workspace: Workspace, at: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.host.finder.walk.MOST_IGNORED", 30)
    workspace.write(".gitignore", "dist/\n")
    for number in range(20):
        workspace.write(f"dist/d{number}/f", "hit\n")
    page = await at.find.glob("**/f", under=".", limit=10, cursor=None)
    assert 0 < page.bounds.skipped_ignored < 20
    assert len(await at.globbed("dist/**")) == 20
    assert len(await at.globbed("**/f", under="dist")) == 20
    assert (await at.find.grep(plain("hit", include_ignored=True))).total_files == 20
    assert (await at.find.grep(plain("hit", path="dist"))).total_files == 20
    assert len(await ranked(at, "f", under="dist")) == 20


async def test_names_of_every_kind_are_found(workspace: Workspace, engine: Engine) -> None:
    names = ["a\nb", "[x]", "c:d", "-n", "é", "\udcff\udc80", "sp ace", "ti\tcks`", "*", "a\\b", "\u2028", "日本"]
    for name in names:
        workspace.write(f"d\n:\udcfe/{name}", "hit\n")
    paths = sorted(f"d\n:\udcfe/{name}" for name in names)
    async with searches(workspace.ws, engine) as at:
        assert await at.globbed("**") == paths
        assert sorted(await listed(at, "d\n:\udcfe")) == paths
        assert [path for path, *_ in await at.lines(plain("hit"))] == paths
        assert sorted(await ranked(at, "d")) == paths
        assert await at.globbed("*/?") == sorted(f"d\n:\udcfe/{name}" for name in names if len(name) == 1)
        assert await at.globbed("*/\udcff*") == ["d\n:\udcfe/\udcff\udc80"]
        assert await at.globbed("*/[\udcff]*") == ["d\n:\udcfe/\udcff\udc80"]


# Links, permissions, rules


@pytest.mark.case("B071")
@pytest.mark.case("B073", "files")
async def test_links_and_loops_are_listed_and_never_followed(workspace: Workspace, engine: Engine) -> None:
    workspace.write("a/f.txt", "hit\n")
    for target, name in ((".", "loop"), ("..", "a/up"), ("self", "self"), ("nowhere", "broken"), ("a/f.txt", "l.txt")):
        os.symlink(target, workspace.ws / name)
    os.symlink(workspace.out, workspace.ws / "out")
    (workspace.out / "secret.txt").write_text("hit\n")
    async with searches(workspace.ws, engine) as at:
        assert await at.globbed("**/*") == ["a/f.txt"]
        assert await at.globbed("l.txt") == []
        assert await at.globbed("loop/a/f.txt") == []
        assert await at.lines(plain("hit")) == [("a/f.txt", 1, 1, "hit")]
        assert await ranked(at, "txt") == ["a/f.txt"]
        found = await listed(at, depth=20)
        assert sorted(found) == ["a", "a/f.txt", "a/up", "broken", "l.txt", "loop", "out", "self"]
        assert await at.lines(plain("hit", path="loop/a")) == [("a/f.txt", 1, 1, "hit")]
        for path in ("out", "out/secret.txt", str(workspace.out)):
            with pytest.raises(Refusal) as caught:
                await at.lines(plain("hit", path=path))
            assert caught.value.name == "file.outside"


@pytest.mark.case("B072", "files")
async def test_what_cannot_be_read_is_named_and_the_rest_is_found(workspace: Workspace, engine: Engine) -> None:
    workspace.write("open/a.txt", "hit\n")
    workspace.write("closed/b.txt", "hit\n").parent.chmod(0)
    workspace.write("half/c.txt", "hit\n").parent.chmod(0o444)
    workspace.write("shut.txt", "hit\n").chmod(0)

    async with searches(workspace.ws, engine) as at:
        with as_somebody():
            page = await at.find.glob("**/*", under=".", limit=10, cursor=None)
            assert page.items == ("half/c.txt", "open/a.txt", "shut.txt")
            assert page.bounds.skipped_unreadable == ("closed",)
            listing = await at.find.listing(".", depth=9, limit=10, cursor=None)
            assert {each.path: each.kind for each in listing.items} == {
                "closed": "directory",
                "half": "directory",
                "half/c.txt": "file",
                "open": "directory",
                "open/a.txt": "file",
                "shut.txt": "file",
            }
            assert set(listing.bounds.skipped_unreadable) == {"closed", "half/c.txt"}
            found = await at.find.grep(plain("hit"))
            assert [each.path for each in found.matches] == ["open/a.txt"]
            assert set(found.bounds.skipped_unreadable) == {"closed", "half/c.txt", "shut.txt"}
    for name in ("closed", "half"):
        (workspace.ws / name).chmod(0o755)


@contextmanager
def as_somebody() -> Generator[None]:
    """Go on as a user whom permissions bind."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


async def test_what_a_rule_hides_is_counted_and_neither_shown_nor_opened(workspace: Workspace, engine: Engine) -> None:
    for path in ("a.txt", "secret/b.txt", "sub/.env", "sub/c.txt"):
        workspace.write(path, "hit\n")

    def may_read(path: str) -> bool:
        return not (path == "secret" or path.startswith("secret/") or path.endswith(".env"))

    async with searches(workspace.ws, engine, may_read=may_read) as at:
        found = await at.find.grep(plain("hit"))
        assert [each.path for each in found.matches] == ["a.txt", "sub/c.txt"]
        assert (found.total_lines, found.bounds.skipped_denied) == (2, 2)
        page = await at.find.glob("**", under=".", limit=10, cursor=None)
        assert (page.items, page.bounds.skipped_denied) == (("a.txt", "sub/c.txt"), 2)
        assert await at.globbed("sub/.env") == []
        listing = await at.find.listing(".", depth=9, limit=10, cursor=None)
        assert [each.path for each in listing.items] == ["a.txt", "sub", "sub/c.txt"]
        assert listing.bounds.skipped_denied == 2
        assert await ranked(at, "env") == []
        for path in ("secret", "sub/.env"):
            with pytest.raises(Refusal) as caught:
                await at.find.grep(plain("hit", path=path))
            assert caught.value.name == "file.denied"
        directories = [word for ran in at.launcher.ran for word in ran.argv if word in {b"./sub", b"./secret"}]
        assert directories == [], "ripgrep never sees a directory that holds something hidden"


async def test_a_missing_path_is_refused_with_the_nearest_names(workspace: Workspace, at: Searches) -> None:
    workspace.write("source/main.py", "")
    for call in (
        at.find.grep(plain("x", path="sorce")),
        at.find.glob("*", under="sorce", limit=1, cursor=None),
        at.find.listing("sorce", depth=1, limit=1, cursor=None),
        at.find.fuzzy("x", under="sorce/deeper", limit=1, cursor=None),
    ):
        with pytest.raises(Refusal) as caught:
            await call
        assert caught.value.name == "file.missing"
        assert "'source'" in caught.value.hint
    with pytest.raises(Refusal) as caught:
        await at.find.listing("source/main.py", depth=1, limit=1, cursor=None)
    assert caught.value.name == "file.not_directory"


async def test_a_workspace_that_is_gone_is_said_to_be(workspace: Workspace, at: Searches) -> None:
    shutil.rmtree(workspace.ws)
    for call in (
        at.find.grep(plain("x")),
        at.find.glob("*", under=".", limit=1, cursor=None),
        at.find.listing(".", depth=1, limit=1, cursor=None),
        at.find.fuzzy("x", under=".", limit=1, cursor=None),
    ):
        with pytest.raises(Refusal) as caught:
            await call
        assert caught.value.name == "workspace.gone"


# Contents


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
        assert found.bounds.skipped_large == 1


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
        assert bool(at.launcher.ran) == (engine == "ripgrep")
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
        assert await ranked(at, "main") == ["src/main.c"]


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
        pages = await all_pages(at, plain("hit", context=2, limit=1))
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
        assert (page.total, page.bounds.scan_capped) == (None, "stopped after 0 s")
    async with searches(workspace.ws, engine, settings=SearchSettings(max_paths=100)) as at:
        page = await at.find.glob("**", under=".", limit=10, cursor=None)
        assert (page.total, page.bounds.scan_capped) == (None, "stopped after 100 entries")


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
        assert len(at.launcher.ran) == (engine == "ripgrep")
        for argv in (Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdecimal()):
            with suppress(OSError):
                assert b"[ab]{100}" not in argv.read_bytes()


# Pages


async def all_pages(at: Searches, query: Query) -> list[Found]:
    pages = [await at.find.grep(query)]
    while pages[-1].bounds.next_cursor:
        pages.append(await at.find.grep(replace(query, cursor=pages[-1].bounds.next_cursor)))
        assert len(pages) < 1000
    return pages


async def page_of(at: Searches, kind: str, cursor: str | None) -> tuple[list[str], int | None, Bounds]:
    """Return the paths of a page of ten, the total and the bounds."""
    if kind == "glob":
        globbed = await at.find.glob("*.txt", under=".", limit=10, cursor=cursor)
        return list(globbed.items), globbed.total, globbed.bounds
    page = (
        await at.find.listing(".", depth=1, limit=10, cursor=cursor)
        if kind == "listing"
        else await at.find.fuzzy("f", under=".", limit=10, cursor=cursor)
    )
    return [each.path for each in page.items], page.total, page.bounds


@pytest.mark.case("B075")
@pytest.mark.case("B076")
@pytest.mark.parametrize("extra", [0, 1])
async def test_pages_join_to_the_whole_and_only_a_cut_one_says_so(
    workspace: Workspace, engine: Engine, extra: int
) -> None:
    names = [f"f{number:03}.txt" for number in range(20 + extra)]
    for name in names:
        workspace.write(name, "hit\nhit\n")
    async with searches(workspace.ws, engine) as at:
        for kind in ("glob", "listing", "fuzzy"):
            seen: list[str] = []
            cursor: str | None = None
            for number in range(2 + extra):
                paths, total, bounds = await page_of(at, kind, cursor)
                assert total == 20 + extra
                cursor = bounds.next_cursor
                assert bounds.truncated == (cursor is not None) == (number < 1 + extra)
                seen += paths
            assert seen == names
        outputs: tuple[GrepOutput, ...] = ("lines", "files", "count")
        for output in outputs:
            pages = await all_pages(at, plain("hit", output=output, limit=7))
            assert {(page.total_lines, page.total_files) for page in pages} == {(2 * len(names), len(names))}
            lines = [(each.path, each.line) for page in pages for each in page.matches]
            files = [each.path for page in pages for each in page.files]
            whole = [(name, line) for name in names for line in (1, 2)]
            assert (lines, files) == ((whole, []) if output == "lines" else ([], names))


async def test_a_cursor_of_another_query_is_refused(workspace: Workspace, at: Searches) -> None:
    for number in range(4):
        workspace.write(f"d/f{number}", "hit\n")
    cursor = (await at.find.glob("**", under=".", limit=2, cursor=None)).bounds.next_cursor
    assert cursor is not None
    for call in (
        at.find.glob("*", under="d", limit=2, cursor=cursor),
        at.find.fuzzy("f", under=".", limit=2, cursor=cursor),
        at.find.listing("d", depth=1, limit=2, cursor=cursor),
        at.find.grep(plain("hit", cursor=cursor)),
        *(
            at.find.glob("**", under=".", limit=2, cursor=bad)
            for bad in ("", "x", cursor[:-3], cursor + "AA", "é", "{}")
        ),
    ):
        with pytest.raises(Refusal) as caught:
            await call
        assert caught.value.name == "cursor.invalid"
    assert (await at.find.glob("**", under=".", limit=3, cursor=cursor)).items == ("d/f2", "d/f3")


async def test_a_page_goes_on_behind_its_key_whatever_came_and_went(workspace: Workspace, at: Searches) -> None:
    for name in "bdfh":
        workspace.write(name, "")
    cursor = (await at.find.glob("*", under=".", limit=2, cursor=None)).bounds.next_cursor
    for name in "aceg":
        workspace.write(name, "")
    (workspace.ws / "d").unlink()
    assert (await at.find.glob("*", under=".", limit=9, cursor=cursor)).items == ("e", "f", "g", "h")


@pytest.mark.case("B079")
async def test_equal_trees_give_equal_answers(workspace: Workspace, engine: Engine) -> None:
    names = [f"n{number:03}" for number in range(300)]
    answers: set[str] = set()
    for tree, seed in (("one", 1), ("two", 2)):
        random.Random(seed).shuffle(names)
        for name in names:
            workspace.write(f"{tree}/{name}", "hit\n")
        async with searches(workspace.ws / tree, engine) as at:
            for _ in range(3):
                (workspace.ws / tree / names[7]).touch()
                found = await at.find.grep(plain("hit", limit=50))
                globbed = await at.find.glob("n*", under=".", limit=50, cursor=None)
                listing = await at.find.listing(".", depth=1, limit=50, cursor=None)
                scored = await at.find.fuzzy("n1", under=".", limit=50, cursor=None)
                answers.add(repr((found.matches, globbed.items, listing.items, scored.items)))
    assert len(answers) == 1


# Fuzzy names


@pytest.mark.case("B080")
async def test_a_loose_query_finds_its_file_first(workspace: Workspace, at: Searches) -> None:
    files = (
        "features/groups/groups-view.tsx",
        "invoice_2026.pdf",
        "main.go",
        "src/maintenance/goal.md",
        "go/main/x.md",
    )
    for path in (*files, "docs/groups.md", "features/view.tsx", "invoice_2025.pdf", "Makefile"):
        workspace.write(path, "")
    for query, path in (
        ("features groups-view", files[0]),
        ("groups veiw", files[0]),
        ("invoice 2026", files[1]),
        ("invioce 2026", files[1]),
        ("INVOICE_2026", files[1]),
        ("main go", files[2]),
        ("maingo", files[2]),
        ("main.go", files[2]),
        ("makefile", "Makefile"),
        ("mkfile", "Makefile"),
    ):
        assert (await ranked(at, query))[0] == path, query
    scores = (await at.find.fuzzy("groups", under=".", limit=50, cursor=None)).items
    assert [(-each.score, each.path) for each in scores] == sorted((-each.score, each.path) for each in scores)
    assert all(0 <= each.score <= 100 for each in scores)
    for query in ("", "   ", "x" * 201):
        with pytest.raises(Refusal) as caught:
            await ranked(at, query)
        assert caught.value.name == "find.invalid"


async def test_a_fuzzy_search_beneath_a_directory_sees_no_other(workspace: Workspace, at: Searches) -> None:
    for path in ("a/name.txt", "name/b.txt"):
        workspace.write(path, "")
    assert await ranked(at, "name", under="a") == ["a/name.txt"]
    assert await ranked(at, "name", under="name") == []
