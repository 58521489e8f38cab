"""Each provider gets the same visible tools in the form that its `tools` field takes."""

import json

import pytest

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.overview import CLOSING, HEADING, overview
from toolcrib.catalog.wire import annotations, render
from toolcrib.tools import tools
from unit.catalog.declared import custom, declared, served

CATALOG = Catalog.build(tools())
PROVIDERS = ("mcp", "openai", "anthropic", "gemini")


@pytest.mark.seed("S-package-Definitions")
def test_every_form_holds_the_names_of_the_view_in_its_order() -> None:
    view = CATALOG.view(without={"grep"})
    names = list(view.names)
    assert "grep" not in names
    assert [each["name"] for each in render(view, "mcp")] == names
    assert [each["function"]["name"] for each in render(view, "openai")] == names
    assert [each["name"] for each in render(view, "anthropic")] == names
    assert [each["name"] for each in render(view, "gemini")[0]["functionDeclarations"]] == names
    lines = overview(view).splitlines()
    assert (lines[0], lines[-1]) == (HEADING, CLOSING)
    assert [line.split(" — ")[0] for line in lines[2:-2]] == names


def test_an_empty_view_renders_as_nothing() -> None:
    view = CATALOG.view(only=set())
    assert [render(view, "mcp"), render(view, "openai"), render(view, "anthropic"), render(view, "gemini")] == [[]] * 4
    assert overview(view) == f"{HEADING}\n\nNo tools are available."


def test_an_mcp_tool_carries_title_schemas_and_every_hint() -> None:
    for each in render(CATALOG.view(), "mcp"):
        assert set(each) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        assert set(each["annotations"]) == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert each["inputSchema"]["type"] == each["outputSchema"]["type"] == "object"


def test_what_is_rendered_is_a_copy_that_nobody_else_sees() -> None:
    before = json.dumps(render(CATALOG.view(), "mcp"))
    for each in render(CATALOG.view(), "mcp"):
        each["inputSchema"]["properties"].clear()
        each["outputSchema"].clear()
    assert json.dumps(render(CATALOG.view(), "mcp")) == before


@pytest.mark.parametrize(
    ("kind", "effect", "hints"),
    [
        ("read", "read", (True, False, True, False)),
        ("write", "reversible", (False, True, False, False)),
        ("write", "irreversible", (False, True, False, False)),
        ("effect", "irreversible", (False, True, False, True)),
        ("effect", "read", (True, False, True, True)),
        ("meta", "idempotent-write", (False, False, True, False)),
        ("meta", "read", (True, False, True, False)),
    ],
)
def test_hints_follow_the_effect_class(kind: str, effect: str, hints: tuple[bool, ...]) -> None:
    assert tuple(annotations(declared("x", kind=kind, effect=effect).descriptor).values()) == hints


def test_a_server_that_claims_to_be_harmless_is_still_open_world() -> None:
    hints = annotations(served("files", "x", effect="read").descriptor)
    assert hints["openWorldHint"] is True


def test_tools_that_share_a_name_carry_the_worst_hints_and_no_output_schema() -> None:
    (editor,) = render(CATALOG.view(dialect="openhands"), "mcp")
    assert editor["annotations"]["readOnlyHint"] is False
    assert editor["annotations"]["destructiveHint"] is True
    assert "outputSchema" not in editor


def test_symbols_are_left_out_of_the_wire_and_kept_in_the_overview() -> None:
    catalog = Catalog.build([*tools(), declared("scheme_repl", kind="effect")])
    view = catalog.view(dialect="standard")
    assert {each["name"] for each in render(view, "mcp")} == {"write_file", "edit_file", "scheme_repl"}
    assert "read_file" in overview(view)


def test_the_overview_names_the_habit_a_tool_replaces_in_the_words_of_the_dialect() -> None:
    built_in = declared("list_dir", prefer_over="list_dir or cat")
    catalog = Catalog.build([built_in, custom("a", "x", summary="a\n b")])
    assert "list_dir — Does list_dir. (use this instead of list_dir or cat)" in overview(catalog.view())
    said = "list_directory — Does list_directory. (use this instead of list_directory or cat)"
    assert said in overview(catalog.view(dialect="gemini"))
    assert "x — a b" in overview(catalog.view())
