"""Every search engine by its contract: what it proposes is true of the files, and what it does not know it leaves."""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import soak
from patterned import NAMES, is_text, queries, texts
from proposing import KINDS, Changes, Kind, budget, engine, job, scanned, wrong
from searching import RIPGREP, Counting, plain, regex, searches
from toolcrib.host.finder.engine import NOTHING
from toolcrib.host.finder.remembered import Remembered
from toolcrib.host.finder.rg import Direct, Ripgrep
from toolcrib.ports.find import Query
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

PLACES = st.sampled_from(["", "src/", ".hidden/", "node_modules/x/", "build/"])


def write(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def is_asked(query: Query, *, whole: bool) -> bool:
    """Tell whether all engines are to agree on a query: beside bytes that are no characters words end differently."""
    return whole or not any(sign in query.pattern for sign in (r"\b", r"\B"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.soak("fuzz")
@settings(max_examples=soak.count(1_600), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    files=st.dictionaries(st.tuples(PLACES, NAMES).map("".join), texts(), min_size=1, max_size=8),
    later=st.dictionaries(st.tuples(PLACES, NAMES).map("".join), texts(), max_size=2),
    asked=st.lists(queries(), min_size=12, max_size=12),
)
async def test_no_engine_misses_a_file_or_counts_wrong(
    kind: Kind, files: dict[str, bytes], later: dict[str, bytes], asked: list[Query]
) -> None:
    root = Path(tempfile.mkdtemp(prefix="proposing-"))
    whole = all(is_text(data) for data in (*files.values(), *later.values()))
    truth = Changes()
    try:
        write(root, files)
        async with engine(root, kind, truth) as made:
            for number, query in enumerate(asked):
                if number == len(asked) // 2:
                    write(root, later)
                    truth.changed(*later)
                try:
                    one = job(root, query)
                except Refusal:
                    continue
                if is_asked(query, whole=whole):
                    found = await scanned(root, query, one.files)
                    for _ in range(2 if kind == "remembered" else 1):
                        assert wrong(await made.propose(one, budget()), found) == [], query
    finally:
        shutil.rmtree(root)


TREE = {
    **{f"src/{number}.py": f"def f{number}():\n    return {number}\n".encode() for number in range(300)},
    "src/needle.py": b"needle = 1\n",
    "upper.txt": b"a NEEDLE in capitals\n",
    "folded.txt": "\u212aelvin and \u017fharp\n".encode(),
    "wide.txt": "\ufeffneedle\n".encode("utf-16-le"),
    "late.txt": b"x" * 9000 + b"\n\0\nneedle\n",
    "binary.txt": b"\0needle\n",
    "text.png": b"needle\n",
    "text.db": b"needle\n",
    ".hidden/needle.txt": b"needle\n",
    "node_modules/a/needle.js": b"needle\n",
    "target/debug/needle.rs": b"needle\n",
    "ignored/needle.txt": b"needle\n",
    ".gitignore": b"ignored/\n",
    "odd-\udcff.txt".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"): b"needle\n",
    "odd-\ufffd.txt": b"nothing here\n",
    "new\nline {a,b} !x.txt": b"needle\n",
    "empty": b"",
}
TELLING = [
    plain("needle"),
    plain("NEEDLE"),
    plain("needle", ignore_case=True),
    plain("kelvin", ignore_case=True),
    plain("sharp", ignore_case=True),
    plain("return 7"),
    plain(" return"),
    plain("a\\n"),
    plain("absent"),
    regex(r"need(le|ed)\s*=", ignore_case=True),
    regex(r"^needle$"),
    regex(r"\bkelvin\b", ignore_case=True),
    regex(r"(?i:k)elvin"),
    regex(r"[^a]eedle"),
    regex(r"f1{2}\(\):"),
    regex(r"nee[a-e]{1,3}"),
    regex(r"e{2}d"),
    regex(r"src/|needle"),
]


@pytest.mark.parametrize("kind", KINDS)
async def test_files_that_an_engine_does_not_look_into_are_left_to_us(kind: Kind, tmp_path: Path) -> None:
    write(tmp_path, TREE)
    unanswered: list[str] = []
    async with engine(tmp_path, kind, Changes()) as made:
        for query in TELLING:
            one = job(tmp_path, query)
            proposal = await made.propose(one, budget())
            assert wrong(proposal, await scanned(tmp_path, query, one.files)) == [], query
            unanswered += [] if proposal.rest else [query.pattern]
    # An engine that says nothing shows nothing; with too many candidates for our scanner, nothing is right.
    assert unanswered == ([" return"] if kind == "fff" else [])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_large_file_is_searched_all_the_same(kind: Kind, tmp_path: Path) -> None:
    write(tmp_path, {"large.txt": b"zzzzzzz\n" * (11 << 17) + b"needle\n", "small.txt": b"hay\n"})
    query = plain("needle")
    async with engine(tmp_path, kind, Changes()) as made:
        one = job(tmp_path, query)
        proposal = await made.propose(one, budget())
        assert proposal.rest
        assert wrong(proposal, await scanned(tmp_path, query, one.files)) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_what_changed_meanwhile_is_left_to_us_until_the_engine_has_seen_it(kind: Kind, tmp_path: Path) -> None:
    write(tmp_path, TREE)
    truth = Changes()
    query = plain("needle")
    async with engine(tmp_path, kind, truth) as made:
        for number in range(20):
            path = f"src/{number}.py"
            data = (
                b"\0 needle" if number % 3 == 0 else b"x\n" * 5000 + b"\0 needle\n" if number % 3 == 1 else b"needle\n"
            )
            write(tmp_path, {path: data})
            truth.changed(path)
            one = job(tmp_path, query)
            assert wrong(await made.propose(one, budget()), await scanned(tmp_path, query, one.files)) == []


async def test_an_engine_that_does_not_know_what_changed_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    truth = Changes()
    one = job(tmp_path, plain("needle"))
    async with engine(tmp_path, "fff", truth) as made:
        assert (await made.propose(one, budget())).rest
        truth.lost = True
        assert await made.propose(one, budget()) == NOTHING


@pytest.mark.parametrize("kind", KINDS)
async def test_an_engine_that_is_closed_says_nothing_wrong(kind: Kind, tmp_path: Path) -> None:
    write(tmp_path, TREE)
    query = plain("needle")
    async with engine(tmp_path, kind, Changes()) as made:
        await made.close()
        one = job(tmp_path, query)
        assert wrong(await made.propose(one, budget()), await scanned(tmp_path, query, one.files)) == []


async def test_an_answer_is_remembered_for_as_long_as_it_is_known_what_changed(tmp_path: Path) -> None:
    write(tmp_path, TREE)
    truth = Changes()
    launcher = Counting()
    handle = os.open(tmp_path, os.O_RDONLY)
    made = Remembered([Ripgrep(launcher, RIPGREP or "", handle)], truth)
    query = plain("needle")

    async def ask() -> int:
        one = job(tmp_path, query)
        assert wrong(await made.propose(one, budget()), await scanned(tmp_path, query, one.files)) == []
        narrow = replace(one, files=frozenset(path for path in one.files if path.startswith("src/")))
        assert wrong(await made.propose(narrow, budget()), await scanned(tmp_path, query, narrow.files)) == []
        return len(launcher.ran)

    try:
        assert await ask() == await ask() == 1
        write(tmp_path, {"src/7.py": b"needle\n", "src/new.py": b"needle\n"})
        truth.changed("src/7.py", "src/new.py")
        (tmp_path / "src/needle.py").unlink()
        truth.changed("src/needle.py")
        assert await ask() == 1
        truth.lost = True
        assert await ask() > 1
    finally:
        await made.close()
        os.close(handle)


RULES = st.lists(
    st.sampled_from(
        [
            *("*.txt", "*.py", "d/", "/d", "d", "!f.txt", "d/*", "!d/f.txt", "**/k", "d/**", "**/d/**", "[dk]", "?"),
            *("*", "!*/", "!*.py", "# comment", "", "\\!f.txt", "f.txt ", "é.md", "e:1", "x y.js", "!x y.js", "-n.txt"),
        ]
    ),
    max_size=4,
)
IGNORES = st.sampled_from([".gitignore", ".ignore", ".toolcribignore", ".git/info/exclude", "e:1/.git/info/exclude"])


@pytest.mark.soak("fuzz")
@settings(max_examples=soak.count(2_400), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    files=st.dictionaries(NAMES, texts(), min_size=1, max_size=6),
    rules=st.dictionaries(st.tuples(st.sampled_from(["", "", "d/"]), IGNORES).map("".join), RULES, max_size=4),
    excluded=RULES,
    query=queries(),
)
async def test_ripgrep_walking_by_itself_leaves_nothing_out_that_our_rules_search(
    files: dict[str, bytes], rules: dict[str, list[str]], excluded: list[str], query: Query
) -> None:
    root = Path(tempfile.mkdtemp(prefix="direct-"))
    excludes = Path(tempfile.mkdtemp(prefix="direct-")) / "excludes"
    try:
        write(root, files)
        write(root, {path: "\n".join(lines).encode() for path, lines in rules.items()})
        excludes.write_text("\n".join(excluded))
        try:
            one = job(root, query)
        except Refusal:
            return
        async with searches(root, "own", excludes=excludes) as at:
            found = await at.globbed("**")
        handle = os.open(root, os.O_RDONLY)
        try:
            direct = Direct(
                expression=one.expression,
                multiline=one.multiline,
                under="",
                excludes=str(excludes),
                most_file=one.most_file,
            )
            walked = await Ripgrep(Counting(), RIPGREP or "", handle).direct(direct, budget())
        finally:
            os.close(handle)
        again = any(".toolcribignore" in path and any("!" in each for each in lines) for path, lines in rules.items())
        if walked is None:
            assert again
        elif not again and is_asked(query, whole=all(map(is_text, files.values()))):
            seen = await scanned(root, query, frozenset(found))
            assert [path for path, each in seen.items() if each.count and path not in walked.candidates] == []
            assert not any(path.startswith(".git/") for path in walked.candidates)
    finally:
        shutil.rmtree(root)
        shutil.rmtree(excludes.parent)


@pytest.mark.parametrize("what", [".rgignore", "a link", "taken in again"])
async def test_ripgrep_does_not_walk_by_itself_where_it_would_leave_out_files(tmp_path: Path, what: str) -> None:
    write(tmp_path, {"f.txt": b"needle\n", ".gitignore": b"x\n"})
    handle = os.open(tmp_path, os.O_RDONLY)
    direct = Direct(expression="needle", multiline=False, under="", excludes=None, most_file=1 << 20)
    made = Ripgrep(Counting(), RIPGREP or "", handle)
    try:
        walked = await made.direct(direct, budget())
        assert walked is not None
        assert walked.candidates == {"f.txt"}
        if what == ".rgignore":
            write(tmp_path, {".rgignore": b""})
        elif what == "a link":
            (tmp_path / ".ignore").symlink_to("f.txt")
        else:
            write(tmp_path, {".toolcribignore": b"!f.txt\n"})
        assert await made.direct(direct, budget()) is None
    finally:
        os.close(handle)
