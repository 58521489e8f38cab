"""Editing a client's configuration in place: one entry is put, and every other byte stays."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.faces.cli.jsonc import JsonError, put

ENTRY = {"command": "toolcrib", "args": ["mcp", "-C", "."]}

ZED = """// Zed settings
{
  "theme": "One", // dark
  /* servers */
  "context_servers": {
    // the other one
    "other": {
      "command": "x", // why
    },
  },
  "vim_mode": false,
}
"""


def edited(text: str, *, comments: bool = False, key: str = "mcpServers") -> str:
    """Put the entry."""
    return put(text, key, "toolcrib", ENTRY, comments=comments)


def test_an_empty_file_becomes_a_whole_one() -> None:
    for text in ("", "  \n"):
        assert json.loads(edited(text)) == {"mcpServers": {"toolcrib": ENTRY}}


def test_other_servers_and_layout_stay() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"other": {"command": "x",   "args": []}\n\t},\n\t"more": [1,2]\n}\n'
    after = edited(text)
    assert '"other": {"command": "x",   "args": []},\n\t\t"toolcrib": {\n\t\t\t"command"' in after
    assert after.endswith('\n\t},\n\t"more": [1,2]\n}\n')
    assert json.loads(after)["mcpServers"]["toolcrib"] == ENTRY


def test_comments_and_last_commas_stay_and_every_old_line_is_still_there() -> None:
    after = edited(ZED, comments=True, key="context_servers")
    rest = iter(after.splitlines())
    assert all(line in rest for line in ZED.splitlines())
    assert '    },\n    "toolcrib": {\n' in after


def test_a_comment_after_the_last_member_does_not_swallow_the_comma() -> None:
    text = '{\n  "servers": {\n    "x": {} // mine\n  }\n}\n'
    after = edited(text, comments=True, key="servers")
    assert '"x": {}, // mine\n    "toolcrib": {' in after


def test_windows_line_ends_and_a_byte_order_mark_stay() -> None:
    after = edited('\ufeff{\r\n  "mcpServers": {}\r\n}\r\n')
    assert after.startswith("\ufeff{\r\n")
    assert "\n" not in after.replace("\r\n", "")


def test_a_compact_file_stays_compact() -> None:
    after = edited('{"mcpServers": {"x": {"command": "y"}}}')
    assert "\n" not in after
    assert list(json.loads(after)["mcpServers"]) == ["x", "toolcrib"]


def test_the_same_entry_changes_nothing_and_another_one_is_replaced_where_it_stands() -> None:
    once = edited('{\n  "mcpServers": {\n    "toolcrib": {"command": "old"},\n    "z": {}\n  }\n}\n')
    assert edited(once) == once
    assert list(json.loads(once)["mcpServers"]) == ["toolcrib", "z"]
    assert "old" not in once


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1,\n  "b" 2\n}', 3, 7),
        ('{\n  "mcpServers": {\n', 3, 1),
        ("[]", 1, 1),
        ('{"mcpServers": []}', 1, 16),
        ('{"mcpServers": {}, "mcpServers": {}}', 1, 20),
        ('{"mcpServers": {"toolcrib": 1, "toolcrib": 2}}', 1, 32),
        ('{"a": tru}', 1, 7),
        ('{"a": "x\n"}', 1, 7),
        ('{"a": 1,}', 1, 8),
        ('{"a": 1} x', 1, 10),
        ('// no\n{"a": 1}', 1, 1),
        ("{'a': 1}", 1, 2),
        ('{"a": NaN}', 1, 7),
        ('{"a": 01}', 1, 7),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", 1, 207),
    ],
)
def test_a_broken_file_is_refused_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(JsonError) as error:
        edited(text)
    assert (error.value.line, error.value.column) == (line, column)
    assert f"line {line}, column {column}: " in str(error.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NOISE = ("", " ", "\n", "\t", "\r\n", " // note {\n", "/* , } */", "/*\n*/ ")


def scrambled(value: Any, noise: random.Random) -> str:
    """Write a value as JSON with comments, blanks and last commas at random places."""

    def blank() -> str:
        return noise.choice(NOISE)

    if isinstance(value, dict):
        inside: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        parts = [f"{blank()}{json.dumps(k)}{blank()}:{blank()}{scrambled(v, noise)}" for k, v in inside.items()]
        return "{" + f"{blank()},".join(parts) + ("," if parts and noise.random() < 0.3 else "") + blank() + "}"
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return "[" + ",".join(blank() + scrambled(each, noise) + blank() for each in items) + blank() + "]"
    return json.dumps(value)


@settings(max_examples=60)
@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3), st.dictionaries(st.text(max_size=5), VALUES), st.randoms()
)
def test_any_document_keeps_everything_it_held_comments_included(
    document: dict[str, Any], servers: dict[str, Any], noise: random.Random
) -> None:
    servers.pop("toolcrib", None)
    document["context_servers"] = servers
    text = scrambled(document, noise)
    after = put(text, "context_servers", "toolcrib", ENTRY, comments=True)
    assert put(after, "context_servers", "toolcrib", ENTRY, comments=True) == after
    letters = iter(after)
    assert all(letter in letters for letter in text if letter not in " \t\r\n"), "something of the old text is gone"
    for note in ("// note {", "/* , } */"):
        assert after.count(note) == text.count(note)
