"""Both engines of content search give the same answers, on random files with random patterns."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import soak
from patterned import NAMES, is_text, queries, texts
from searching import ENGINES, WITHOUT_RIPGREP, Engine, Searches, searches
from toolcrib.ports.find import Found, Query
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio


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
