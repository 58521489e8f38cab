"""The finder by its port: listings, globs, fuzzy names, pages, and what links, permissions and rules hide."""

import os
import random
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

import pytest

from conftest import Workspace
from searching import ENGINES, Engine, Searches, plain, searches
from toolcrib.ports.find import GrepOutput, Listed
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

Lines = list[tuple[str, int, int | None, str]]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture
async def at(workspace: Workspace) -> AsyncGenerator[Searches]:
    async with searches(workspace.ws) as found:
        yield found


async def listed(at: Searches, path: str = ".", depth: int = 1) -> dict[str, Listed]:
    page = await at.find.listing(path, depth=depth, limit=10_000, cursor=None)
    assert page.total == len(page.items)
    return {each.path: each for each in page.items}


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
    assert await at.ranked("config") == []


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
    assert (await at.ranked("ci.yml"))[0] == ".github/workflows/ci.yml"
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
    assert len(await at.ranked("f", under="dist")) == 20


async def test_names_of_every_kind_are_found(workspace: Workspace, engine: Engine) -> None:
    names = ["a\nb", "[x]", "c:d", "-n", "é", "\udcff\udc80", "sp ace", "ti\tcks`", "*", "a\\b", "\u2028", "日本"]
    for name in names:
        workspace.write(f"d\n:\udcfe/{name}", "hit\n")
    paths = sorted(f"d\n:\udcfe/{name}" for name in names)
    async with searches(workspace.ws, engine) as at:
        assert await at.globbed("**") == paths
        assert sorted(await listed(at, "d\n:\udcfe")) == paths
        assert [path for path, *_ in await at.lines(plain("hit"))] == paths
        assert sorted(await at.ranked("d")) == paths
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
        assert await at.ranked("txt") == ["a/f.txt"]
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
        assert await at.ranked("env") == []
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


# Pages


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
            pages = await at.pages(plain("hit", output=output, limit=7))
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
        assert (await at.ranked(query))[0] == path, query
    scores = (await at.find.fuzzy("groups", under=".", limit=50, cursor=None)).items
    assert [(-each.score, each.path) for each in scores] == sorted((-each.score, each.path) for each in scores)
    assert all(0 <= each.score <= 100 for each in scores)
    for query in ("", "   ", "x" * 201):
        with pytest.raises(Refusal) as caught:
            await at.ranked(query)
        assert caught.value.name == "find.invalid"


async def test_a_fuzzy_search_beneath_a_directory_sees_no_other(workspace: Workspace, at: Searches) -> None:
    for path in ("a/name.txt", "name/b.txt"):
        workspace.write(path, "")
    assert await at.ranked("name", under="a") == ["a/name.txt"]
    assert await at.ranked("name", under="name") == []
