"""Writes the pages of docs/reference that follow from the code: tools, command line, Python."""

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

import toolcrib
from toolcrib.catalog.dialects import DEFAULT, dialect
from toolcrib.catalog.shapes import schema_of
from toolcrib.faces.cli.app import group
from toolcrib.terms.tool import Tool
from toolcrib.tools import tools

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference"
MADE = "<!-- Written by script/docs from the code; change the code, not this page. -->\n"

EFFECTS = {
    "read": "reads only",
    "idempotent-write": "writes, and again changes nothing more",
    "reversible": "writes, and can be taken back",
    "irreversible": "replaces or deletes; the checkpoint before it is what can be put back",
}


def shape(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Return a schema as a short text: `string`, `integer or null`, `list of {old, new}`."""
    if "$ref" in schema:
        return shape(defs[schema["$ref"].rpartition("/")[2]], defs)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(shape(each, defs) for each in schema[union]))
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {shape(schema.get('items', {}), defs)}"
    if schema.get("type") == "object" and schema.get("properties"):
        return "{" + ", ".join(schema["properties"]) + "}"
    return str(schema.get("type", "any value"))


def cell(text: str) -> str:
    """Return a text as it may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of a tool's arguments."""
    defs = schema.get("$defs", {})
    required = schema.get("required", [])
    yield "| argument | type | default | |"
    yield "|---|---|---|---|"
    for name, each in schema.get("properties", {}).items():
        default = (
            "required"
            if name in required
            else f"`{json.dumps(each['default'])}`"
            if each.get("default") is not None
            else ""
        )
        yield f"| `{name}` | {cell(shape(each, defs))} | {cell(default)} | {cell(each.get('description', ''))} |"


def tool_section(tool: Tool) -> Iterator[str]:
    """Yield the section of one tool."""
    what = tool.descriptor
    yield f"## `{what.raw_name}`\n"
    yield what.description + "\n"
    asks = "never asks" if what.approval == "never" else "asks where the mode and the rules say so"
    who = "; called by a person only" if what.person_only else ""
    effect = f"effect `{what.effect}` ({EFFECTS[what.effect]})"
    yield f"Kind `{what.kind}`, {effect}, approval `{what.approval}` ({asks}){who}.\n"
    if what.schema.get("properties"):
        spelt = dialect(DEFAULT).shape_of(what.raw_name, builtin=True)
        yield from arguments({**what.schema, **schema_of(spelt, what.schema)} if spelt else what.schema)
        yield ""
    if what.refusals:
        yield "Refuses with " + ", ".join(f"`{name}`" for name in what.refusals) + ".\n"


def tools_page() -> str:
    """Return the page of every built-in tool."""
    parts = ["# Tools\n", MADE]
    parts.append("Every tool may also answer with the refusals of the line itself (see [Refusals](refusals.md)).\n")
    parts += ["| tool | kind | effect | |", "|---|---|---|---|"]
    for tool in tools():
        what = tool.descriptor
        parts.append(f"| [`{what.raw_name}`](#{what.raw_name}) | {what.kind} | {what.effect} | {cell(what.summary)} |")
    parts.append("")
    for tool in tools():
        parts += tool_section(tool)
    return "\n".join(parts).rstrip() + "\n"


def helps(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    """Yield the help of a command and of those below it."""
    settings: dict[str, Any] = {**command.context_settings, "max_content_width": 100, "terminal_width": 100}
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, **settings)
    yield f"## `{path}`\n"
    yield "```text\n" + command.get_help(context).rstrip() + "\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from helps(below, f"{path} {name}", context)


def cli_page() -> str:
    """Return the page of every command's help."""
    return "\n".join(["# Command line\n", MADE, *helps(group, "toolcrib", None)]).rstrip() + "\n"


def signature(function: Callable[..., Any]) -> str:
    """Return the parameters and the result of a function as its source writes them, without `self`."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for some in (node.args.posonlyargs, node.args.args):
        some[:] = [each for each in some if each.arg not in {"self", "cls"}]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){result}"


def declared(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the keywords of a function that takes them by a typed dictionary, each with what its source says."""
    unpacked = re.search(r"Unpack\[(\w+)\]", signature(function))
    if unpacked is None:
        return
    (node,) = ast.parse(inspect.getsource(function.__globals__[unpacked[1]])).body
    assert isinstance(node, ast.ClassDef)
    for each, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
        if isinstance(each, ast.AnnAssign):
            said = after.value if isinstance(after, ast.Expr) else None
            words = f": {cell(str(said.value))}" if isinstance(said, ast.Constant) else ""
            yield f"- `{ast.unparse(each.target)}: {cell(ast.unparse(each.annotation))}`{words}"


def plain(member: object) -> Callable[..., Any] | None:
    """Return the function behind a member of a class, None where there is none."""
    if isinstance(member, property):
        return member.fget
    function: object = getattr(member, "__func__", member)
    return function if inspect.isfunction(function) else None


def members(value: type) -> Iterator[str]:
    """Yield the public methods and properties of a class with their first sentence."""
    for name, each in vars(value).items():
        what = plain(each)
        if name.startswith("_") or what is None:
            continue
        first = (inspect.getdoc(what) or "").partition("\n\n")[0]
        wait = "await " if inspect.iscoroutinefunction(what) else ""
        given = "" if isinstance(each, property) else signature(what)
        yield f"- `{cell(wait + name + given)}`: {cell(first)}"


def python_page() -> str:
    """Return the page of the public names of the package."""
    parts = ["# Python\n", MADE, "Everything public stands in `toolcrib` itself, but for `toolcrib.testing`.\n"]
    for name in sorted(toolcrib.__all__):
        value = getattr(toolcrib, name)
        parts.append(f"### `{name}`\n")
        if isinstance(value, str):
            parts.append(f"The version of the package, `{value}`.\n")
            continue
        is_class = inspect.isclass(value)
        if not is_class and callable(value):
            parts.append(f"```python\n{name}{signature(value)}\n```\n")
        parts.append((inspect.getdoc(value) or "").strip() + "\n" if is_class or callable(value) else f"`{value}`\n")
        if inspect.isfunction(value) and (keywords := list(declared(value))):
            parts += [*keywords, ""]
        if is_class and value.__module__.startswith("toolcrib") and (lines := list(members(value))):
            parts += [*lines, ""]
    return "\n".join(parts).rstrip() + "\n"


GENERATED: dict[str, Callable[[], str]] = {"tools.md": tools_page, "cli.md": cli_page, "python.md": python_page}
"""Each page with what writes it."""


def main(arguments: list[str]) -> int:
    """Write the pages; with `--check` only compare them."""
    stale = False
    for name, make in GENERATED.items():
        path, text = PAGES / name, make()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"docs: {path.name} is not current: run script/docs", file=sys.stderr)
            stale = True
        else:
            path.write_text(text, encoding="utf-8")
            print(f"docs: wrote docs/reference/{name}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
