"""Patterns over paths, names, hosts and commands: what they match, how specifically, and never for long."""

import fnmatch
import time
import unicodedata
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolcrib.policy.match import (
    ALTERNATIVES,
    LONGEST,
    Level,
    PatternError,
    argv_level,
    compiled,
    denier,
    escaped,
    folded,
    host_level,
    path_level,
    text_matches,
    tool_level,
)
from toolcrib.policy.rules import Verdict

NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAME, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "path", "level"),
    [
        ("secrets/a", "secrets/a", Level.EXACT),
        ("secrets", "secrets", Level.EXACT),
        ("./secrets", "secrets", Level.EXACT),
        ("secrets", "secrets/a/b", Level.GLOB),
        ("secrets/", "secrets/a", Level.GLOB),
        ("secrets/", "secrets", Level.GLOB),
        ("secrets/**", "secrets/a/b", Level.GLOB),
        ("secrets/**", "secrets", Level.GLOB),
        ("secrets/**", "secrets2/a", None),
        ("secrets", "x/secrets", None),
        ("**/secrets", "secrets", Level.GLOB),
        ("**/secrets", "a/b/secrets/c", Level.GLOB),
        ("**/*.pem", "a/b/key.pem", Level.GLOB),
        ("**/*.pem", "key.pem", Level.GLOB),
        ("*.pem", "a/key.pem", None),
        ("a/**/z", "a/z", Level.GLOB),
        ("a/**/z", "a/b/c/z", Level.GLOB),
        ("a/**/m/**/z", "a/m/x/m/q/z", Level.GLOB),
        ("a/**/m/**/z", "a/q/z", None),
        ("a/*/z", "a/b/z", Level.GLOB),
        ("a/*/z", "a/b/c/z", None),
        ("a?c", "abc", Level.GLOB),
        ("a?c", "a/c", None),
        ("[ab]c", "bc", Level.GLOB),
        ("[!ab]c", "bc", None),
        ("[^ab]c", "dc", Level.GLOB),
        ("[!x]", "/", None),
        ("[a-c]1", "b1", Level.GLOB),
        ("[]a]1", "]1", Level.GLOB),
        ("[.]env", ".env", Level.GLOB),
        ("{src,test}/**", "test/a", Level.GLOB),
        ("{src,t{e,a}st}/a", "tast/a", Level.GLOB),
        ("{src,test}/**", "docs/a", None),
        ("a\\*b", "a*b", Level.EXACT),
        ("a\\*b", "axb", None),
        ("a\\{b\\}", "a{b}", Level.EXACT),
        ("a**b", "axxb", Level.GLOB),
        ("**", "a/b", Level.GLOB),
        ("**", ".", Level.GLOB),
        (".", "a/b", Level.GLOB),
        (".env", ".env.example", None),
        (".env", ".environment", None),
        ("(a|b)", "a", None),
        ("a.c", "abc", None),
    ],
)
def test_a_pattern_matches_as_documented(pattern: str, path: str, level: Level | None) -> None:
    effects: tuple[Verdict, ...] = ("allow", "ask", "deny")
    assert [path_level(pattern, path, effect=effect) for effect in effects] == [level] * 3


def test_a_pattern_that_ends_in_a_wildcard_covers_what_is_beneath_only_when_it_tightens() -> None:
    assert path_level("src/*", "src/a/b", effect="allow") is None
    assert path_level("src/*", "src/a/b", effect="ask") is Level.GLOB
    assert path_level("src/*", "src/a/b", effect="deny") is Level.GLOB


@pytest.mark.parametrize("pattern", [".env", "**/.env", "{.env,x}", ".[e]nv"])
@pytest.mark.parametrize("path", [".ENV", ".Env", ".ｅｎｖ"])
def test_a_deny_matches_in_any_case_and_normal_form_and_an_allow_does_not(pattern: str, path: str) -> None:
    folds = "[" not in pattern or path.isascii()
    assert (path_level(pattern, path, effect="deny") is not None) == (folds or path == ".ｅｎｖ")
    assert path_level(pattern, path, effect="allow") is None
    assert path_level(pattern, path, effect="ask") is None


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_deny_holds_in_every_normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    for pattern in ("résumé/ﬁle", "RÉSUMÉ/FILE", "rés*/ﬁ?e"):
        path = unicodedata.normalize(form, "résumé/ﬁle")
        assert path_level(unicodedata.normalize(form, pattern), path, effect="deny") is not None
        assert path_level(pattern, path, effect="deny") is not None


def test_folding_never_makes_a_separator_or_a_wildcard() -> None:
    assert folded("a／b").count("/") == 0
    assert path_level("x*y", "x／y", effect="deny") is not None
    assert path_level("＊", "anything", effect="deny") is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("~/x", "absolute"),
        ("a/../b", "`..`"),
        ("a//b", "empty name"),
        ("a/./b", "`.`"),
        ("!a", "leading `!`"),
        ("[a", "bracket at character 1 is not closed"),
        ("a[b/c]d", "holds a `/`"),
        ("[z-a]", "runs backwards"),
        ("{a,b", "brace at character 1 is not closed"),
        ("a\\", "ends in a backslash"),
        ("a\0b", "NUL"),
        ("x" * (LONGEST + 1), "longer than"),
        ("{a,b}" * 7, f"more than {ALTERNATIVES}"),
    ],
)
def test_a_pattern_that_is_none_says_why(pattern: str, said: str) -> None:
    with pytest.raises(PatternError) as caught:
        compiled(pattern)
    assert said in str(caught.value)


@given(PATHS, st.sampled_from(["allow", "ask", "deny"]))
def test_an_escaped_path_matches_itself_exactly(path: str, effect: Verdict) -> None:
    assume(not path.startswith("~"))
    assert path_level(escaped(path), path, effect=effect) is Level.EXACT


@given(PATHS, PATHS)
def test_an_escaped_path_covers_no_sibling(path: str, other: str) -> None:
    assume(not path.startswith("~") and other != path and not other.startswith(f"{path}/"))
    assert path_level(escaped(path), other, effect="allow") is None


@pytest.mark.soak("fuzz")
@given(PATHS, st.sampled_from(["**/{}", "{}/**", "**", "{}", "*/**", "**/*", "?*/**"]))
def test_a_deny_matches_whatever_an_allow_matches(path: str, template: str) -> None:
    assume(not path.startswith("~"))
    pattern = template.replace("{}", escaped(path))
    if path_level(pattern, path, effect="allow") is not None:
        assert path_level(pattern, path, effect="ask") is not None
        assert path_level(pattern, path, effect="deny") is not None


@pytest.mark.soak("fuzz")
@given(st.lists(PATHS, min_size=1, max_size=4), PATHS)
def test_many_denials_at_once_say_what_each_says(paths: list[str], other: str) -> None:
    assume(not any(path.startswith("~") for path in paths))
    patterns = [escaped(path) for path in paths] + ["**/[A-C]*", "ß/"]
    denied = denier(patterns)
    for path in (*paths, other, other.upper(), f"{paths[0]}/x"):
        assert denied(path) == any(path_level(each, path, effect="deny") is not None for each in patterns)


@pytest.mark.soak("fuzz")
@given(st.text("ab*?[]!-", min_size=1, max_size=8), st.text("abc-!", min_size=1, max_size=6))
def test_one_name_matches_as_the_standard_library_says(pattern: str, name: str) -> None:
    assume(not pattern.startswith("!"))
    try:
        found = path_level(pattern, name, effect="allow") is not None
    except PatternError:
        return
    assert found == fnmatch.fnmatchcase(name, pattern.replace("[^", "[!"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 4000),
        ("**/" * 100 + "b", "a/" * 1000 + "a"),
        ("/".join(["**", "*a*a*a*a"] * 20) + "/b", "/".join(["aaaaaaaa"] * 400)),
        ("{*a,*b}" * 5 + "c", "ab" * 2000),
        ("?" * 2000 + "*" * 2000 + "b", "a" * 4000),
    ],
)
def test_no_pattern_makes_a_match_run_away(pattern: str, path: str) -> None:
    began = time.perf_counter()
    assert path_level(pattern, path, effect="deny") is None
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(
    ("pattern", "name", "level"),
    [
        ("write_file", "write_file", Level.TOOL),
        ("write_file", "write_fil", None),
        ("*", "agent/send", Level.TOOL_PATTERN),
        ("mcp__files__*", "mcp__files__x", Level.TOOL_PATTERN),
        ("mcp__*__read", "mcp__files__read", Level.TOOL_PATTERN),
        ("{read,write}_file", "write_file", Level.TOOL_PATTERN),
        ("read_*", "Read_file", None),
    ],
)
def test_tools_match_by_name_or_by_pattern(pattern: str, name: str, level: Level | None) -> None:
    assert tool_level(pattern, name) is level


@pytest.mark.parametrize(
    ("pattern", "host", "level"),
    [
        ("example.com", "example.com", Level.EXACT),
        ("Example.com", "EXAMPLE.com.", Level.EXACT),
        ("example.com", "example.com:8080", Level.EXACT),
        ("example.com:443", "example.com:8080", None),
        ("example.com", "a.example.com", None),
        ("*.example.com", "a.b.example.com", Level.GLOB),
        ("*.example.com", "example.com", None),
        ("*.example.com", "example.com.evil.org", None),
        ("*", "[::1]:80", Level.GLOB),
    ],
)
def test_hosts_match_without_case_and_never_by_their_end_alone(pattern: str, host: str, level: Level | None) -> None:
    assert host_level(pattern, host) is level


@pytest.mark.parametrize(
    ("prefix", "argv", "level"),
    [
        (("git", "log"), ("git", "log", "-3"), Level.EXACT),
        (("git", "log"), ("git", "logout"), None),
        (("git", "log"), ("git",), None),
        (("npm", "test"), ("npm", "testify"), None),
        (("ls",), ("./ls",), None),
    ],
)
def test_a_command_rule_covers_whole_words(prefix: tuple[str, ...], argv: tuple[str, ...], level: Level | None) -> None:
    assert argv_level(prefix, argv) is level


@given(st.text(max_size=20))
def test_an_escaped_text_matches_only_itself(text: str) -> None:
    assert text_matches(escaped(text), text)
    assert not text_matches(escaped(text), text + "x")
