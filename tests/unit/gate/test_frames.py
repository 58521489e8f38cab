"""Lines of JSON-RPC: whatever arrives is a message or a fault, and whatever leaves is one line of JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from toolcrib.faces.gate.frames import HEADROOM, Fault, read, write

DEPTH = 64
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters())
"""Texts with every code point, lone surrogates too."""
VALUES = st.recursive(
    SCALARS | TEXTS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@pytest.mark.soak("fuzz")
@given(st.binary())
def test_any_bytes_are_a_message_or_a_fault(line: bytes) -> None:
    found = read(line, depth=DEPTH)
    assert isinstance(found, Fault | JSONRPCRequest | JSONRPCNotification | JSONRPCResponse)


@pytest.mark.soak("fuzz")
@given(VALUES)
def test_any_json_is_a_message_or_a_fault(value: Any) -> None:
    read(json.dumps(value).encode("utf-8", "surrogatepass"), depth=DEPTH)


@pytest.mark.soak("fuzz")
@given(st.integers() | st.text(st.characters(exclude_categories=["Cs"])), TEXTS, st.dictionaries(TEXTS, VALUES))
def test_a_request_comes_through_as_it_was_sent(known: int | str, method: str, params: dict[str, Any]) -> None:
    sent = {"jsonrpc": "2.0", "id": known, "method": method, "params": params}
    found = read(json.dumps(sent).encode(), depth=DEPTH)
    assert isinstance(found, JSONRPCRequest)
    assert (found.id, found.method, found.params) == (known, method, params)


@pytest.mark.soak("fuzz")
@given(st.dictionaries(TEXTS, VALUES))
def test_any_answer_is_one_line_of_json_without_lone_surrogates(result: dict[str, Any]) -> None:
    line = write(JSONRPCResponse.model_construct(jsonrpc="2.0", id=1, result=result))
    assert line.endswith(b"\n")
    text = line.decode("utf-8")
    assert text.splitlines() == [text[:-1]]
    assert json.loads(text)["id"] == 1
    json.loads(text, object_pairs_hook=_no_surrogates)


def _no_surrogates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, value in pairs:
        key.encode()
        if isinstance(value, str):
            value.encode()
    return dict(pairs)


def test_what_is_no_unicode_shows_as_what_it_is() -> None:
    line = write(JSONRPCResponse.model_construct(jsonrpc="2.0", id=1, result={"a\udce9": "b\ud800\\"}))
    assert json.loads(line)["result"] == {"a\\xe9": "b\\ud800\\"}


@pytest.mark.parametrize("levels", [10, DEPTH + HEADROOM, DEPTH + HEADROOM + 1, 900, 5000, 1_000_000])
def test_nesting_of_any_depth_is_read_and_stays_too_deep(levels: int) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + b"[" * levels + b"]" * levels + b',"b":"]["}}'
    found = read(line, depth=DEPTH)
    assert isinstance(found, JSONRPCRequest)
    assert found.params is not None
    assert found.params["b"] == "]["
    deep, inner = 0, found.params["a"]
    while inner:
        deep, inner = deep + 1, inner[0]
    assert deep == levels - 1 or DEPTH < deep < levels


@pytest.mark.parametrize("text", ['{"a":' + "[" * 5000, "[" * 5000 + "}" * 5000, '"' + "[" * 5000])
def test_deep_text_that_is_no_json_is_a_fault(text: str) -> None:
    assert isinstance(read(text.encode(), depth=DEPTH), Fault)


def test_a_number_without_end_is_infinite_and_a_large_one_is_itself() -> None:
    for digits, wanted in (("9" * 5000, float("inf")), ("-" + "9" * 5000, float("-inf")), ("9" * 300, int("9" * 300))):
        found = read(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":%s}}' % digits.encode(), depth=DEPTH)
        assert isinstance(found, JSONRPCRequest)
        assert found.params == {"n": wanted}
