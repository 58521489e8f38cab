"""Both engines of content search give the same answers, on random files with random patterns."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import soak
from searching import ENGINES, WITHOUT_RIPGREP, Engine, Searches, searches
from toolcrib.ports.find import Found, GrepOutput, Query
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

# Letters with a case, with two, with none; digits and blanks of other scripts; what ends a line elsewhere.
LETTERS = st.sampled_from(
    [*"aabbc d_-.Z1é\tñßK", "ſ", "\u212a", "日", "٣", "\u2028", "\x0c", "\x85", "İ", "\U0001f171"]
)
LINE = st.text(LETTERS, max_size=12)
ODD = st.sampled_from([b"\xff", b"\xe9", b"\xc3", b"\xe0\x80", b"\x80", b"\xed\xa0\x80"])

ATOMS = st.sampled_from(
    [
        *("a", "b", "c", ".", r"\w", r"\d", r"\s", r"\W", r"\S", r"\D", "[ab]", "[^a]", "é", "K", "[a-c_]", r"[^\w]"),
        *(r"\.", " ", "(?i:k)", r"\p{L}", r"\P{L}", r"[\W_]", "[[:alpha:]]", "[^[:space:]]", r"\x{e9}", "ß", "s"),
        *(r"[\s\S]", r"\t", "-", "日", r"[^\W\d]", r"\r", r"\pN", r"[\PL]", "(?s:.)", "{", "]", "[[:^digit:]x]"),
    ]
)
ACROSS = st.sampled_from([r"\n", r"\s", "[^b]", r"\r\n"])
TIMES = st.sampled_from(["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "*?", "+?"])


def expressions(*, multiline: bool) -> st.SearchStrategy[str]:
    """Return patterns; ends of lines stand at the ends, because a place before a word's end is read apart."""
    atoms = st.tuples(ATOMS | ACROSS if multiline else ATOMS, TIMES).map("".join)
    words = st.sampled_from(["", "", "", "", r"\b", r"\B"])
    parts = st.recursive(
        st.tuples(words, atoms, words).map("".join),
        lambda inner: (
            st.tuples(st.lists(inner, min_size=1, max_size=2).map("|".join), TIMES).map(
                lambda each: f"({each[0]}){each[1]}"
            )
            | st.lists(inner, min_size=1, max_size=3).map("".join)
        ),
        max_leaves=5,
    )
    return st.tuples(st.sampled_from(["", "", "^"]), parts, st.sampled_from(["", "", "$"])).map("".join)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join(draw(st.lists(LINE, max_size=7))) + draw(st.sampled_from(["", end]))
    form = draw(st.integers(0, 9))
    if form < 5:
        return text.encode()
    if form == 5:
        return b"\xef\xbb\xbf" + text.encode()
    if form == 6:
        return text.encode("utf-16")
    if form == 7:
        return b"\xfe\xff" + text.encode("utf-16-be")
    if form == 8:
        return b"x" * draw(st.sampled_from([0, 9000])) + b"\n" + text.encode() + b"\0" + text.encode()
    raw = text.encode()
    at = draw(st.integers(0, len(raw)))
    return raw[:at] + draw(ODD) + raw[at:]


NAMES = st.sampled_from(["f.txt", "d/f.txt", "e:1/g\nh.py", "é.md", "k", "d/x y.js", "-n.txt"])
OUTPUTS: tuple[GrepOutput, ...] = ("lines", "lines", "count", "files")


@st.composite
def queries(draw: st.DrawFn) -> Query:
    multiline = draw(st.integers(0, 2)) == 0
    plain = draw(st.integers(0, 3)) == 0
    return Query(
        pattern=draw(st.text(LETTERS, min_size=1, max_size=4) if plain else expressions(multiline=multiline)),
        mode="plain" if plain else "regex",
        multiline=multiline,
        ignore_case=draw(st.booleans()),
        context=draw(st.sampled_from([0, 0, 1])),
        output=draw(st.sampled_from(OUTPUTS)),
        limit=draw(st.sampled_from([2, 1000])),
    )


async def answer(at: Searches, query: Query) -> Found | tuple[str, str]:
    try:
        return await at.find.grep(query)
    except Refusal as refusal:
        return refusal.name, refusal.message


async def all_answers(root: Path, engine: Engine, sought: list[Query]) -> list[Found | tuple[str, str]]:
    async with searches(root, engine) as at:
        found = [await answer(at, query) for query in sought]
        took_part = engine not in WITHOUT_RIPGREP and any(isinstance(each, Found) for each in found)
        assert bool(at.launcher.ran) == took_part, "ripgrep took part where it was to"
        return found


def is_text(data: bytes) -> bool:
    try:
        data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8")
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.soak("fuzz")
@settings(max_examples=soak.count(1_600), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    files=st.dictionaries(NAMES, texts(), min_size=1, max_size=5),
    asked=st.lists(queries(), min_size=5, max_size=5),
)
async def test_ripgrep_and_our_own_engine_give_the_same_answers(files: dict[str, bytes], asked: list[Query]) -> None:
    root = Path(tempfile.mkdtemp(prefix="engines-"))
    # Beside bytes that are no characters the two disagree about where words end; the reference says so.
    whole = all(is_text(data) for data in files.values())
    try:
        for path, data in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(data)
        sought = [each for each in asked if whole or not any(sign in each.pattern for sign in (r"\b", r"\B"))]
        answers = {engine: await all_answers(root, engine, sought) for engine in ENGINES}
        for engine in ENGINES:
            assert answers[engine] == answers["own"], engine
    finally:
        shutil.rmtree(root)


@pytest.mark.soak("fuzz")
@settings(max_examples=soak.count(6_000))
@given(pattern=st.text(st.sampled_from(list("ab()[]{}*+?|\\^$.-,01dwsbBpPLAzkx<>:!=i&é\n")), min_size=1, max_size=10))
async def test_any_text_is_searched_for_or_refused_alike(pattern: str) -> None:
    assume("\\b" not in pattern)
    root = Path(tempfile.mkdtemp(prefix="engines-"))
    try:
        (root / "t").write_text("ab ba\nab(1)[0]{2}*\nbé.\\\n")
        sought = [Query(pattern=pattern, mode="regex", multiline=multiline) for multiline in (False, True)]
        answers = {engine: await all_answers(root, engine, sought) for engine in ENGINES}
        assert answers["ripgrep"] == answers["counting"] == answers["own"]
        for found in answers["own"]:
            assert isinstance(found, Found) or found[0] == "grep.invalid"
    finally:
        shutil.rmtree(root)
