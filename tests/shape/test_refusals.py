"""The closed list of refusal names: nothing outside it is said, and a tool answers only with what it declares."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import get_args

from shape.house import Module, dotted, modules
from toolcrib.terms.refusals import RefusalName
from toolcrib.terms.tool import Tool
from toolcrib.tools import FAMILIES

NAMES: tuple[str, ...] = get_args(RefusalName)
NAME = re.compile(r"[a-z]+\.[a-z_]+")
MAKERS = ("Refusal", "Refused", "refused")


@cache
def spoken(module: Module) -> tuple[tuple[str, int], ...]:
    """Return each refusal name written as a literal argument of a maker, with its line."""
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    makers = [call for call in calls if dotted(call.func).rpartition(".")[2] in MAKERS]
    given = [arg for call in makers for arg in (*call.args[:1], *(k.value for k in call.keywords if k.arg == "name"))]
    words = [(arg.value, arg.lineno) for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return tuple((word, line) for word, line in words if NAME.fullmatch(word))


def tools() -> Iterator[tuple[str, Tool]]:
    """Yield each built-in tool with the name of its family's module."""
    for family in FAMILIES:
        for each in vars(family).values():
            if isinstance(each, Tool):
                yield f"tools/{family.__name__.rpartition('.')[2]}.py", each


def test_every_refusal_spoken_is_in_the_closed_list() -> None:
    assert [f"{m.name}:{line} {name}" for m in modules() for name, line in spoken(m) if name not in NAMES] == []


def test_the_closed_list_has_no_name_twice() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_a_family_speaks_only_names_that_its_tools_declare() -> None:
    declared: dict[str, set[str]] = {}
    for file, tool in tools():
        declared.setdefault(file, set()).update(tool.descriptor.refusals)
    wrong = [
        f"{m.name}:{line} {name}"
        for m in modules()
        if m.name in declared
        for name, line in spoken(m)
        if name not in declared[m.name]
    ]
    assert declared
    assert wrong == []


def test_every_name_a_tool_declares_is_spoken_somewhere() -> None:
    places = ("tools/", "host/", "store/", "engine/")
    said = {name for module in modules() if module.under(*places) for name, _ in spoken(module)}
    wrong = [
        f"{file} {tool.descriptor.raw_name}: {name}"
        for file, tool in tools()
        for name in tool.descriptor.refusals
        if name not in said
    ]
    assert wrong == []
