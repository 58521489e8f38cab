"""The order of every projection: alphabetical or configured, never silently another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.order import REST, arrange, check
from toolcrib.terms.errors import ConfigError

KNOWN = frozenset({"glob", "grep", "read_file", "write_file"})


@pytest.mark.seed("S-package-OrderToolNames")
def test_listed_names_come_in_their_order_and_the_rest_at_the_marker() -> None:
    assert arrange(KNOWN, None) == ("glob", "grep", "read_file", "write_file")
    assert arrange(KNOWN, ["read_file", REST, "glob"]) == ("read_file", "grep", "write_file", "glob")
    assert arrange(["grep"], ["write_file", REST, "glob"]) == ("grep",)


@pytest.mark.seed("S-package-ToolOrderRest")
@pytest.mark.seed("S-package-ValidateToolOrder")
@pytest.mark.seed("S-package-UnknownToolOrderNames")
@pytest.mark.parametrize(
    ("order", "said"),
    [
        (["glob"], f"the marker '{REST}' is missing"),
        ([], f"the marker '{REST}' is missing"),
        ([REST, REST], f"'{REST}' stands 2 times"),
        (["glob", REST, "glob"], "'glob' stands 2 times"),
        (["globb", REST], "'globb' is no tool (nearest: 'glob')"),
        (["mcp__down__x", REST], "'mcp__down__x' is no tool"),
    ],
)
def test_an_order_that_is_none_is_an_error_that_says_why(order: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(order, known=KNOWN)
    assert said in caught.value.message


def test_tools_of_a_configured_server_that_is_down_are_known() -> None:
    check(["mcp__down__x", REST, "glob"], known=KNOWN, servers=["down"])


def test_every_fault_of_an_order_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check(["x1", "glob", "glob", "y1"], known=KNOWN)
    assert all(part in caught.value.message for part in ("'x1'", "'y1'", "2 times", "missing"))


@given(st.sets(st.sampled_from(sorted(KNOWN))), st.permutations([*sorted(KNOWN), REST]), st.integers(0, 4))
def test_arranging_adds_nothing_and_loses_nothing(visible: set[str], order: list[str], left_out: int) -> None:
    shorter = [name for name in order if name == REST or name not in sorted(KNOWN)[:left_out]]
    assert sorted(arrange(visible, shorter)) == sorted(visible)
