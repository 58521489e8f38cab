"""The search tools: what they ask of `Find`, and how its answers read."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from toolcrib.ports.find import Counted, Find, Found, Listed, Match, Page, Query, Scored
from toolcrib.terms.outcome import Bounds
from toolcrib.tools.search import fff_search, glob, grep, list_dir
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio


@dataclass
class Canned:
    """A `Find` that notes what it was asked and gives what it was told to."""

    answer: Any
    asked: list[Any] = field(default_factory=list[Any])

    async def listing(self, path: str, *, depth: int, limit: int, cursor: str | None) -> Page[Listed]:
        self.asked.append((path, depth, limit, cursor))
        return self.answer

    async def glob(self, pattern: str, *, under: str, limit: int, cursor: str | None) -> Page[str]:
        self.asked.append((pattern, under, limit, cursor))
        return self.answer

    async def grep(self, query: Query) -> Found:
        self.asked.append(query)
        return self.answer

    async def fuzzy(self, query: str, *, under: str, limit: int, cursor: str | None) -> Page[Scored]:
        self.asked.append((query, under, limit, cursor))
        return self.answer


def hand(answer: object) -> tuple[Hand, Canned]:
    find = Canned(answer)
    return Hand(powers={Find: find}), find


async def test_a_listing_names_kinds_sizes_targets_and_marks() -> None:
    entries = (
        Listed(path=".hidden", kind="file", size=3, hidden=True),
        Listed(path="broken", kind="symlink", target="nowhere"),
        Listed(path="dist", kind="directory", ignored=True),
        Listed(path="link", kind="directory", target="src"),
        Listed(path="main.py", kind="file", size=12_345),
        Listed(path="pipe", kind="fifo"),
        Listed(path="caf\udce9", kind="file", size=1),
    )
    caller, find = hand(Page(items=entries, total=7))
    caller.files.directory("sub")
    answer = await caller.call(list_dir, path="sub", depth=2)
    assert find.asked == [("sub", 2, 100, None)]
    assert answer.payload.text().splitlines() == [
        ".hidden  3",
        "broken -> nowhere  (broken link)",
        "dist/  (ignored)",
        "link -> src",
        "main.py  12,345",
        "pipe  (fifo)",
        "caf\\xe9  1",
        "[7 entries in sub]",
    ]
    assert not answer.bounds


async def test_an_empty_directory_is_called_empty() -> None:
    caller, _ = hand(Page(items=(), total=0))
    assert (await caller.call(list_dir)).payload.text() == "[. is an empty directory]"


async def test_a_directory_of_which_nothing_may_be_shown_is_not_called_empty() -> None:
    caller, _ = hand(Page(items=(), total=0, bounds=Bounds(skipped_denied=2)))
    assert (await caller.call(list_dir)).payload.text() == "[0 entries in .; 2 denied by a rule skipped]"


@pytest.mark.case("B075")
async def test_a_cut_result_gives_the_total_and_the_way_on() -> None:
    bounds = Bounds(truncated=True, next_cursor="next")
    caller, find = hand(Page(items=tuple(f"f{n:03}.txt" for n in range(100)), total=205, bounds=bounds))
    answer = await caller.call(glob, pattern="*.txt")
    assert answer.payload.text().splitlines()[-1] == "[100 of 205 files matching *.txt; continue with cursor=next]"
    assert answer.payload.total == 205
    assert answer.bounds == bounds
    assert "bounds" not in answer.payload.model_dump()
    await caller.call(glob, pattern="*.txt", cursor="next", limit=7, cwd=".")
    assert find.asked[1] == ("*.txt", ".", 7, "next")


async def test_a_capped_count_is_called_unknown() -> None:
    bounds = Bounds(truncated=True, scan_capped="20 seconds", next_cursor="n")
    caller, _ = hand(Page(items=("a", "b"), total=None, bounds=bounds))
    last = (await caller.call(glob, pattern="**")).payload.text().splitlines()[-1]
    assert last == (
        "[2 files shown, an unknown number in all, matching **; stopped early: 20 seconds; continue with cursor=n]"
    )


async def test_nothing_found_says_what_was_searched_and_what_was_skipped() -> None:
    bounds = Bounds(skipped_binary=3, skipped_large=1, skipped_ignored=1200, skipped_unreadable=("closed",))
    caller, _ = hand(Found(total_lines=0, total_files=0, bounds=bounds))
    caller.files.directory("src")
    text = (await caller.call(grep, pattern="needle", path="src")).payload.text()
    assert text == (
        "[0 lines for plain 'needle' under src; 3 binary skipped; 1 too large skipped; 1,200 ignored skipped; "
        "not readable: closed]"
    )


@pytest.mark.case("B090")
async def test_matches_read_as_path_line_column_and_text() -> None:
    found = Found(
        matches=(
            Match(path="a:12:b.txt", line=1, column=7, text="x: y: needle"),
            Match(path="dir:name/file.txt", line=40, column=1, text="\tneedle"),
        ),
        total_lines=2,
        total_files=2,
    )
    caller, find = hand(found)
    answer = await caller.call(grep, pattern="needle")
    assert find.asked == [Query(pattern="needle")]
    assert answer.payload.text().splitlines() == [
        "a:12:b.txt:1:7: x: y: needle",
        "dir:name/file.txt:40:1: \tneedle",
        "[2 lines in 2 files for plain 'needle']",
    ]
    assert answer.payload.model_dump()["matches"][0] == {
        "path": "a:12:b.txt",
        "line": 1,
        "column": 7,
        "text": "x: y: needle",
    }


async def test_context_lines_are_told_apart_and_gaps_shown() -> None:
    rows = [(1, True), (2, False), (3, True), (8, False), (9, True)]
    found = Found(
        matches=tuple(Match(path="a", line=n, column=None if c else 1, text=f"t{n}", context=c) for n, c in rows),
        total_lines=2,
        total_files=1,
    )
    caller, _ = hand(found)
    answer = await caller.call(grep, pattern="t", context=1)
    assert answer.payload.text().splitlines() == [
        "a-1- t1",
        "a:2:1: t2",
        "a-3- t3",
        "--",
        "a:8:1: t8",
        "a-9- t9",
        "[2 lines in 1 file for plain 't']",
    ]


async def test_every_parameter_of_grep_reaches_the_search() -> None:
    caller, find = hand(Found(total_lines=0, total_files=0))
    caller.files.directory("src")
    args: dict[str, Any] = {
        "pattern": "a+",
        "mode": "regex",
        "path": "src",
        "glob": "*.py",
        "context": 2,
        "ignore_case": True,
        "multiline": True,
        "output": "count",
        "include_ignored": True,
        "limit": 9,
        "cursor": "c",
    }
    await caller.call(grep, **args)
    assert find.asked == [Query(**args)]


@pytest.mark.parametrize(("output", "lines"), [("files", ["a", "b"]), ("count", ["a: 1,000", "b: 1"])])
async def test_files_and_counts_are_listed(output: str, lines: list[str]) -> None:
    files = (Counted(path="a", count=1000), Counted(path="b", count=1))
    caller, _ = hand(Found(files=files, total_lines=1001, total_files=2))
    answer = await caller.call(grep, pattern="x", output=output)
    assert answer.payload.text().splitlines() == [*lines, "[2 files for plain 'x']"]
    assert answer.payload.total == 2


@pytest.mark.case("B097")
async def test_the_total_is_of_all_lines_though_few_are_shown() -> None:
    matches = tuple(Match(path="a", line=n, column=1, text="hit") for n in range(1, 11))
    found = Found(matches=matches, total_lines=115, total_files=2, bounds=Bounds(truncated=True, next_cursor="n"))
    caller, _ = hand(found)
    last = (await caller.call(grep, pattern="hit", limit=10)).payload.text().splitlines()[-1]
    assert last == "[10 of 115 lines in 2 files for plain 'hit'; continue with cursor=n]"


async def test_ranked_names_come_with_scores() -> None:
    caller, find = hand(Page(items=(Scored(path="src/main.go", score=97.4),), total=1))
    answer = await caller.call(fff_search, query="maingo")
    assert find.asked == [("maingo", ".", 50, None)]
    assert answer.payload.text() == "src/main.go  97\n[1 file like 'maingo']"


@pytest.mark.case("B080")
async def test_empty_patterns_and_wild_limits_are_argument_errors() -> None:
    caller, _ = hand(None)
    for tool, args in (
        (grep, {"pattern": ""}),
        (glob, {"pattern": ""}),
        (fff_search, {"query": ""}),
        (grep, {"pattern": "x", "limit": 0}),
        (grep, {"pattern": "x", "limit": 10_001}),
        (grep, {"pattern": "x", "mode": "magic"}),
        (list_dir, {"depth": 0}),
        (list_dir, {"path": ""}),
        (glob, {"pattern": "x", "depth": 1}),
    ):
        with pytest.raises(ValidationError):
            tool.parameters.model_validate(args)
    assert caller.seen == {}
