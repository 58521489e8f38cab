"""Arguments that no tool should ever see."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.engine.arguments import lossy, shape_faults
from toolcrib.terms.settings import CallSettings

LIMITS = CallSettings()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=5))
def test_ordinary_json_has_no_fault(args: dict[str, Any]) -> None:
    assert shape_faults(args, limits=LIMITS) == []


def nested(levels: int) -> dict[str, Any]:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return {"deep": value}


def test_depth_is_counted_without_recursion() -> None:
    assert shape_faults(nested(LIMITS.args_depth - 1), limits=LIMITS) == []
    (fault,) = shape_faults(nested(100_000), limits=LIMITS)
    assert "levels deep" in fault


def test_ten_mebibytes_are_too_much() -> None:
    (fault,) = shape_faults({"content": "x" * (10 << 20)}, limits=LIMITS)
    assert "bytes in all" in fault


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb", "\udbff\n"])
def test_lone_surrogates_are_named_with_their_place(value: str) -> None:
    (fault,) = shape_faults({"path": value}, limits=LIMITS)
    assert fault.startswith("path: lone surrogate")


def test_bytes_that_are_not_utf_8_may_stand_in_a_name() -> None:
    assert shape_faults({"path": "caf\udce9"}, limits=LIMITS) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1, 2}, object()])
def test_what_is_not_json_is_named(value: object) -> None:
    assert shape_faults({"x": value}, limits=LIMITS)


def test_every_fault_is_told_at_once() -> None:
    faults = shape_faults({"a": "\ud800", "b": b"", "c": {"d": "\ud900"}}, limits=LIMITS)
    assert {fault.partition(":")[0] for fault in faults} == {"a", "b", "c.d"}


NUMBERS: dict[str, Any] = {
    "properties": {
        "n": {"type": "integer"},
        "m": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "flag": {"type": "boolean"},
        "rows": {"items": {"properties": {"flag": {"type": "boolean"}}}},
    }
}


@pytest.mark.parametrize(
    "args",
    [
        {"n": 3},
        {"n": "3"},
        {"n": 3.0},
        {"n": "-7"},
        {"m": None},
        {"m": "4"},
        {"flag": True},
        {"flag": "false"},
        {"x": True},
    ],
)
def test_what_loses_nothing_is_taken(args: dict[str, Any]) -> None:
    assert list(lossy(args, NUMBERS)) == []


@pytest.mark.parametrize(
    "args",
    [{"n": True}, {"n": "1_0"}, {"n": " 3 "}, {"m": False}, {"flag": 1}, {"flag": "yes"}, {"rows": [{"flag": "on"}]}],
)
def test_what_would_lose_something_is_named_with_its_place(args: dict[str, Any]) -> None:
    ((path, fault),) = lossy(args, NUMBERS)
    assert path[0] in args
    assert fault.startswith("expected")
