"""Every search engine by its contract: what it proposes is true of the files, and what it does not know it leaves."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import soak
from patterned import NAMES, is_text, queries, texts
from proposing import KINDS, Changes, Kind, budget, engine, job, scanned, wrong
from searching import plain, regex
from toolcrib.host.finder.engine import NOTHING
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
                    proposal = await made.propose(one, budget())
                    assert wrong(proposal, await scanned(root, query, one.files)) == [], query
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
    "large.txt": b"y" * 99 + b"\n",
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
    with (tmp_path / "large.txt").open("ab") as file:
        file.write(b"z" * (11 << 20) + b"\nneedle\n")
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
