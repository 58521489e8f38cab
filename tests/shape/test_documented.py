"""Everything a reader can reach says what it is for."""

import ast
from collections.abc import Iterator

from shape.house import Function, Module, modules

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_things(module: Module) -> Iterator[tuple[str, Documented]]:
    """Yield the public classes, functions and methods of a module; what is private or inside a function is not one."""

    def visit(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Documented]]:
        for node in body:
            if isinstance(node, Documented) and not node.name.startswith("_"):
                yield prefix + node.name, node
                if isinstance(node, ast.ClassDef):
                    yield from visit(node.body, f"{prefix}{node.name}.")

    yield from visit(module.tree.body, "")


def inherits_its_words(node: Documented) -> bool:
    """Say whether a method is marked as an override or a further overload, whose words stand elsewhere."""
    marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
    return isinstance(node, Function) and bool(marks & {"override", "overload"})


def test_the_first_line_of_every_module_says_what_it_is_for() -> None:
    wrong: list[str] = []
    for module in modules():
        first = (ast.get_docstring(module.tree) or "").partition("\n")[0]
        if not first.endswith((".", ":")) or len(first.split()) < 2:
            wrong.append(f"{module.name}: {first!r}")
    assert wrong == []


def test_every_public_thing_is_documented() -> None:
    bare = [
        f"{module.name}:{node.lineno} {name}"
        for module in modules()
        for name, node in public_things(module)
        if not ast.get_docstring(node) and not inherits_its_words(node)
    ]
    assert bare == []
