"""Names are given by the host: collision-free, bound to their origin, and never two that a provider could confuse."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.naming import LIMIT, ClashError, Declared, mint, normal
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import BUILTIN, Origin

ALPHA, BETA = Origin("custom", "alpha"), Origin("pack", "beta")


@pytest.mark.seed("S-catalog-names")
def test_two_origins_with_one_name_are_both_renamed() -> None:
    assert mint([(ALPHA, "search")]) == {(ALPHA, "search"): "search"}
    assert mint([(ALPHA, "search"), (BETA, "search")]) == {
        (ALPHA, "search"): "alpha__search",
        (BETA, "search"): "beta__search",
    }


def test_a_built_in_keeps_its_name_and_the_other_is_renamed() -> None:
    assert mint([(ALPHA, "grep"), (BUILTIN, "grep")]) == {
        (BUILTIN, "grep"): "grep",
        (ALPHA, "grep"): "alpha__grep",
    }


def test_a_file_gives_its_name_without_the_extension() -> None:
    names = mint([(Origin("custom", "tools/a.json"), "x"), (Origin("custom", "tools/b.json"), "x")])
    assert sorted(names.values()) == ["tools_a__x", "tools_b__x"]


@pytest.mark.parametrize(
    "pair",
    [
        ((Origin("mcp", "files"), "read-file"), (Origin("mcp", "files"), "read_file")),
        ((Origin("mcp", "files"), "read.file"), (Origin("mcp", "files"), "READ_file")),
        ((Origin("mcp", "foo-bar"), "search"), (Origin("mcp", "foo_bar"), "search")),
        ((Origin("mcp", "a__b"), "c"), (Origin("mcp", "a"), "b__c")),
        ((ALPHA, "search-a"), (BETA, "search_a")),
        ((BUILTIN, "read_file"), (ALPHA, "Read-File")),
        ((ALPHA, "twice"), (ALPHA, "twice")),
    ],
)
def test_names_that_meet_after_normalisation_fail_closed_and_name_both_origins(pair: tuple[Declared, Declared]) -> None:
    messages: set[str] = set()
    for order in itertools.permutations(pair):
        with pytest.raises(ClashError) as caught:
            mint(order)
        assert set(caught.value.origins) == {origin for origin, _ in pair}
        assert all(str(origin) in caught.value.message for origin, _ in pair)
        messages.add(caught.value.message)
    assert len(messages) == 1


def test_a_long_name_is_cut_with_a_digest_and_stays_the_same() -> None:
    server = Origin("mcp", "s" * 40)
    names = mint([(server, "t" * 50), (server, "t" * 51)])
    assert names == mint([(server, "t" * 51), (server, "t" * 50)])
    assert len(set(names.values())) == 2
    assert all(re.fullmatch(r"mcp__s{40}__[A-Za-z0-9_-]{1,17}", name) and len(name) == LIMIT for name in names.values())


def test_a_name_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"custom:alpha declares a tool without a name"):
        mint([(ALPHA, "")])


@given(
    st.lists(
        st.tuples(
            st.builds(Origin, st.sampled_from(["custom", "mcp", "pack"]), st.text(max_size=60)),
            st.text(min_size=1, max_size=80),
        ),
        max_size=6,
        unique=True,
    )
)
def test_every_name_fits_every_provider_and_no_two_meet(declared: list[Declared]) -> None:
    try:
        names = mint(declared)
    except ClashError:
        return
    assert set(names) == set(declared)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in names.values())
    assert len({normal(name) for name in names.values()}) == len(declared)
    assert names == mint(declared[::-1])
