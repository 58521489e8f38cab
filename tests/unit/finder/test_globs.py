"""Globs: the expression matches what a plain reading of the rules does, and braces are read as bash reads them."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import soak
from toolcrib.host.finder.choosing import Globs
from toolcrib.host.finder.patterns import MOST_ALTERNATIVES, parse
from toolcrib.terms.refusals import Refusal

NAMES = st.text(st.sampled_from(list("ab.-é\udcff\n")), min_size=1, max_size=4).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(["a", "b", ".", "-", "é", "*", "?", "[ab]", "[!a]", "[a-é]", "[\udcff]", "\udcff", "\\*"])
SEGMENTS = st.one_of(st.just("**"), st.lists(PIECES, min_size=1, max_size=4).map("".join)).filter(
    lambda name: name not in {".", ".."}
)
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)


def segments(pattern: list[str], path: list[str]) -> bool:
    """Match segment by segment, as the rules say it."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        rest = pattern[1:]
        return any(segments(rest, path[at:]) for at in range(len(path) + (1 if rest else 0))) or (
            not rest and bool(path)
        )
    return bool(path) and name(pattern[0], path[0]) and segments(pattern[1:], path[1:])


def name(pattern: str, text: str) -> bool:
    """Match one name, character by character."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return name(pattern[1:], text) or (bool(text) and name(pattern, text[1:]))
    if not text:
        return False
    if pattern[0] == "[":
        end = pattern.index("]", 2)
        inner = pattern[1:end]
        away = inner.startswith("!")
        inner = inner[away:]
        held = inner[0] <= text[0] <= inner[2] if inner[1:2] == "-" else text[0] in inner
        return held != away and name(pattern[end + 1 :], text[1:])
    if pattern[0] == "\\":
        return pattern[1] == text[0] and name(pattern[2:], text[1:])
    return (pattern[0] == "?" or pattern[0] == text[0]) and name(pattern[1:], text[1:])


@settings(max_examples=soak.count(20_000))
@given(pattern=PATTERNS, paths=st.lists(PATHS, min_size=1, max_size=8))
def test_a_glob_selects_what_the_rules_say(pattern: str, paths: list[str]) -> None:
    # `?` and sets read a byte that is no UTF-8 as one character, as Python's own text does.
    selected = [path for batch in Globs(parse(pattern)).select(paths) for path in batch]
    assert selected == [path for path in paths if segments(pattern.split("/"), path.split("/"))]


BRACES = st.recursive(
    st.sampled_from(["a", "b", "", "x.y"]),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: "{" + ",".join(parts) + "}")
        | st.lists(inner, min_size=1, max_size=3).map("".join)
    ),
    max_leaves=8,
)


@settings(max_examples=soak.count(10_000))
@given(pattern=BRACES)
def test_braces_expand_as_in_bash(pattern: str) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    spelled = f"k{pattern}"  # bash drops empty words; a letter before keeps them
    done = subprocess.run([bash, "-c", f"printf '%s\\n' {spelled}"], capture_output=True, check=True, encoding="utf-8")
    assert {each.prefix for each in parse(spelled)} == set(done.stdout.split())


@pytest.mark.parametrize("pattern", ["{a,b}" * 30, "{a,b}{c,d}" * 8, "{" * 2000 + "a" + "}" * 1999, "x" * 5000])
def test_a_pattern_too_large_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse(pattern)
    assert caught.value.name == "find.invalid"


def test_as_many_alternatives_as_the_limit_are_taken() -> None:
    pattern = "{" + ",".join(f"{number:x}" for number in range(MOST_ALTERNATIVES)) + "}"
    assert len(parse(pattern)) == MOST_ALTERNATIVES
    assert next(Globs(parse(pattern)).select(["7", "x", "3e7"])) == ["7", "3e7"]


@settings(max_examples=soak.count(100_000))
@given(pattern=st.text(st.sampled_from(list("ab*?[]{},!\\/.-^:é\udcff\ud800\0")), max_size=12))
def test_any_text_is_a_pattern_or_refused_by_name(pattern: str) -> None:
    try:
        globs = Globs(parse(pattern))
    except Refusal as refusal:
        assert refusal.name in {"find.invalid", "file.outside"}
        assert refusal.message
        return
    list(globs.select(["a", "a/b", ".a/b.c"]))


@pytest.mark.case("B064")
@pytest.mark.parametrize("pattern", ["app/[id]/*.tsx", "app/[id]/**", "**/[id]/page.tsx", "app/[id]/{page,x}.tsx"])
def test_a_set_is_its_own_spelling_too(pattern: str) -> None:
    paths = ["app/[id]/page.tsx", "app/[ie]/page.tsx", "app/i/page.tsx", "app/x/page.tsx"]
    assert next(Globs(parse(pattern)).select(paths)) == ["app/[id]/page.tsx", "app/i/page.tsx"]
    away = parse(f"!{pattern}")
    assert next(Globs((*parse("**"), *away)).select(paths)) == ["app/[ie]/page.tsx", "app/x/page.tsx"]


@pytest.mark.parametrize("pattern", ["[z-a]", "x/[!z-a]*", "[ab9-0]"])
def test_a_range_that_runs_backwards_is_refused_and_not_taken_for_absence(pattern: str) -> None:
    with pytest.raises(Refusal, match="backwards") as caught:
        parse(pattern)
    assert caught.value.name == "find.invalid"
