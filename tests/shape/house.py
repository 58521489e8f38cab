"""What the shape tests read: every module of the program, parsed once."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "toolcrib"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Module:
    """One source file: its path below the package, its lines and its tree."""

    name: str
    lines: tuple[str, ...]
    tree: ast.Module

    def under(self, *places: str) -> bool:
        """Say whether the module is one of `places` (files), or lies in one of them (folders end in `/`)."""
        return any(self.name == place or (place.endswith("/") and self.name.startswith(place)) for place in places)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree."""
        return tuple(ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        """Yield every function and method, nested ones included."""
        for node in self.nodes:
            if isinstance(node, Function):
                yield node


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of the program."""
    found: list[Module] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(PACKAGE).as_posix()
        found.append(Module(name, tuple(text.splitlines()), ast.parse(text, filename=name)))
    return tuple(found)


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a chain of attributes over a name, else the empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def imported(module: Module) -> Iterator[tuple[str, int]]:
    """Yield each imported name in full (`subprocess`, `asyncio.create_subprocess_exec`), with its line."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


@cache
def mentioned(module: Module) -> frozenset[tuple[str, int]]:
    """Return each name the module imports or reaches by attributes, with its line."""
    reached = [(dotted(node), node.lineno) for node in module.nodes if isinstance(node, ast.Attribute | ast.Name)]
    return frozenset([*imported(module), *((name, line) for name, line in reached if name)])
