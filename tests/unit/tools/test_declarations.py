"""What the tools declare: texts, schemas, footprints, and refusals held to the code that speaks them."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, get_args

import pytest

from toolcrib import tools as package
from toolcrib.terms.refusals import RefusalName
from toolcrib.terms.tool import Tool
from toolcrib.tools import FAMILIES, tools
from toolcrib.tools.prose import load

TOOLS = tools()
PROVIDED: dict[str, set[str]] = {
    "Files": {
        *("file.outside", "file.missing", "file.not_regular", "file.not_directory", "file.denied", "file.too_large"),
        *("workspace.gone", "args.invalid"),
    },
    "Find": {
        *("find.invalid", "cursor.invalid", "file.missing", "file.not_directory", "file.outside", "workspace.gone"),
    },
    "Artifacts": {"store.unavailable"},
    "Snapshots": {"snapshot.missing", "snapshot.conflict", "snapshot.damaged"},
    "Context": set(),
    "Toolbox": set(),
}
"""What a power may refuse on its own, by the words of its port."""


def named(tool: Tool) -> str:
    return tool.descriptor.raw_name


def helpers(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the module and every helper module of the package that it imports, families apart."""
    yield module
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("toolcrib.tools."):
            below = import_module(node.module)
            if below not in FAMILIES:
                yield from helpers(below)


def spoken(module: ModuleType) -> set[str]:
    """Return the refusal names written in a module and its helpers as the first argument of `Refusal`."""
    found: set[str] = set()
    for each in helpers(module):
        for node in ast.walk(ast.parse(inspect.getsource(each))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
                name = node.args[0]
                assert isinstance(name, ast.Constant)
                found.add(str(name.value))
    return found


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every property of a schema, those of items included."""
    for name, each in schema.get("properties", {}).items():
        yield name, each
        yield from properties(each)
        yield from properties(each.get("items", {}))


def test_the_tools_are_those_of_the_design_in_order() -> None:
    assert [named(tool) for tool in TOOLS] == [
        *("read_file", "write_file", "edit_file", "apply_patch", "move_file", "delete_file"),
        *("list_dir", "glob", "grep", "fff_search", "artifact_read", "tool_search", "rewind"),
    ]


def test_every_family_has_a_page_with_a_heading_for_each_tool_and_no_other() -> None:
    for family in FAMILIES:
        name = family.__name__.rpartition(".")[2]
        declared = {named(tool) for tool in vars(family).values() if isinstance(tool, Tool)}
        assert set(load(name)) == declared
    with pytest.raises(FileNotFoundError):
        load("nothing")


@pytest.mark.parametrize("tool", TOOLS, ids=named)
def test_the_texts_stand_by_themselves_and_are_short(tool: Tool) -> None:
    about = tool.descriptor
    assert 80 < len(about.description.encode()) < 2048
    assert about.summary.endswith(".")
    assert len(about.summary) < 100
    assert "\n" not in about.summary
    assert not re.search(r"\b(todo|see above|see below)\b", about.description, re.IGNORECASE)


@pytest.mark.parametrize("tool", TOOLS, ids=named)
def test_the_schema_is_what_every_provider_takes(tool: Tool) -> None:
    schema = dict(tool.descriptor.schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    assert "$ref" not in str(schema)
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", named(tool))
    for name, each in properties(schema):
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,31}", name)
        assert each.get("description"), name
        assert len(each["description"]) < 200
        assert len(each.get("enum", ())) < 20


@pytest.mark.parametrize("tool", TOOLS, ids=named)
def test_the_payload_has_a_schema(tool: Tool) -> None:
    assert tool.descriptor.returns is not None
    assert tool.descriptor.returns["type"] == "object"


@pytest.mark.parametrize("tool", TOOLS, ids=named)
def test_every_name_it_may_answer_with_is_declared_once_and_known(tool: Tool) -> None:
    declared = tool.descriptor.refusals
    assert len(set(declared)) == len(declared)
    assert set(declared) <= set(get_args(RefusalName))
    owed = set[str]().union(*(PROVIDED[power] for power in tool.descriptor.powers))
    assert owed <= set(declared)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_what_a_family_and_its_helpers_speak_is_declared_by_its_tools(family: ModuleType) -> None:
    declared = {name for tool in vars(family).values() if isinstance(tool, Tool) for name in tool.descriptor.refusals}
    assert spoken(family) <= declared


def test_the_reading_of_spoken_names_sees_through_helpers() -> None:
    assert "file.ambiguous" in spoken(import_module("toolcrib.tools.edit"))
    assert package.FAMILIES is FAMILIES


def test_kind_effect_and_approval_are_those_of_the_design() -> None:
    stated = {named(t): (t.descriptor.kind, t.descriptor.effect, t.descriptor.approval) for t in TOOLS}
    reads = dict.fromkeys(("read_file", "list_dir", "glob", "grep", "fff_search"), ("read", "read", "required"))
    assert stated == {
        **reads,
        "artifact_read": ("read", "read", "never"),
        "tool_search": ("read", "read", "never"),
        "edit_file": ("write", "reversible", "required"),
        "apply_patch": ("write", "reversible", "required"),
        "move_file": ("write", "reversible", "required"),
        "delete_file": ("write", "irreversible", "required"),
        "write_file": ("write", "irreversible", "required"),
        "rewind": ("write", "irreversible", "required"),
    }
    assert [named(t) for t in TOOLS if t.descriptor.person_only] == ["rewind"]
    assert all(t.pins and t.preview for t in TOOLS if t.descriptor.kind == "write")


def test_footprints_name_what_is_read_and_written() -> None:
    edits = [{"old": "a", "new": "b"}]
    args: dict[str, dict[str, Any]] = {
        "read_file": {"path": "p"},
        "list_dir": {"path": "p"},
        "glob": {"pattern": "x", "cwd": "p"},
        "grep": {"pattern": "x", "path": "p"},
        "fff_search": {"query": "x", "cwd": "p"},
        "write_file": {"path": "p", "content": ""},
        "edit_file": {"path": "p", "edits": edits},
        "delete_file": {"path": "p"},
    }
    for tool in TOOLS:
        if named(tool) in args:
            found = tool.footprint(tool.parameters.model_validate(args[named(tool)]))
            assert found.reads == ("p",)
            assert found.writes == (("p",) if tool.descriptor.kind == "write" else ())
