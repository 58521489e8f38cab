"""Each dependency has one door: who may name what, over the whole program."""

import ast
from dataclasses import dataclass

import pytest

from shape.house import dotted, imported, mentioned, modules


@dataclass(frozen=True)
class Door:
    """Names that only some places may use. A name stands for everything below it, too."""

    what: str
    names: tuple[str, ...]
    places: tuple[str, ...]


DOORS = (
    Door(
        "processes are started",
        (
            *(
                "subprocess",
                "pty",
                "multiprocessing",
                "asyncio.create_subprocess_exec",
                "asyncio.create_subprocess_shell",
            ),
            *(
                "asyncio.subprocess",
                "anyio.open_process",
                "anyio.run_process",
                "anyio.to_process",
                "concurrent.futures.process",
            ),
            *("os.system", "os.popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.posix_spawnp"),
            *("os.execl", "os.execle", "os.execlp", "os.execlpe", "os.execv", "os.execve", "os.execvp", "os.execvpe"),
            *(
                "os.spawnl",
                "os.spawnle",
                "os.spawnlp",
                "os.spawnlpe",
                "os.spawnv",
                "os.spawnve",
                "os.spawnvp",
                "os.spawnvpe",
            ),
        ),
        ("host/process/launcher.py",),
    ),
    Door("the database driver", ("apsw", "sqlite3"), ("store/database.py",)),
    Door("the environment is read", ("os.environ", "os.getenv", "os.environb", "os.putenv"), ("wiring/load.py",)),
    Door(
        "HTTP clients",
        ("httpx", "httpx2", "urllib.request", "http.client", "requests", "aiohttp"),
        ("host/net/fetch.py", "faces/client/"),
    ),
    Door("the MCP SDK", ("mcp", "mcp_types"), ("host/mcp/", "faces/gate/")),
    Door("the agent library", ("pydantic_ai",), ("agents/loop.py", "agents/toolset.py")),
    Door("web frameworks", ("starlette", "uvicorn", "sse_starlette"), ("faces/daemon/",)),
    Door("command-line frameworks", ("click", "rich", "typer"), ("faces/cli/",)),
    Door(
        "sockets",
        ("socket", "socketserver", "ssl"),
        ("host/process/", "host/net/", "host/lsp/", "faces/daemon/", "faces/client/"),
    ),
    Door(
        "code made at run time",
        ("pickle", "marshal", "shelve", "ctypes"),
        ("host/sandbox/", "host/workspace/", "host/finder/"),
    ),
    Door(
        "imports at run time",
        ("importlib.import_module", "runpy", "__import__"),
        ("__init__.py", "__main__.py", "faces/cli/"),
    ),
)

PURE = ("terms/", "ports/", "catalog/", "policy/", "mixer/", "desk/", "skills/", "delegation/", "engine/", "tools/")
"""The half that never touches the operating system."""

FILE_CALLS = (
    "open",
    "io.open",
    "os.open",
    "os.stat",
    "os.scandir",
    "os.listdir",
    "os.replace",
    "os.rename",
    "os.unlink",
)
PATH_METHODS = ("read_text", "read_bytes", "write_text", "write_bytes", "unlink", "iterdir", "rglob", "mkdir", "touch")
OWN_TEXT = ("tools/prose.py",)
"""Reads the texts that ship inside the package, nothing else."""
BROAD = ("engine/line.py", "engine/execute.py")
"""The two files in which a fault of anything becomes an outcome."""


LATE = ("faces/gate/light.py",)
"""Puts off the loading of a library, so that what it takes from it has to come after."""
HANDS_OVER = ("store/lanes.py",)
"""A thread's loop, which gives whatever a task raised to the one who waits for it: nothing is swallowed."""


def within(name: str, names: tuple[str, ...]) -> bool:
    """Say whether `name` is one of `names` or below one."""
    return any(name == each or name.startswith(each + ".") for each in names)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.what)
def test_a_dependency_is_named_only_behind_its_door(door: Door) -> None:
    strays = [
        f"{module.name}:{line} {name}"
        for module in modules()
        if not module.under(*door.places)
        for name, line in mentioned(module)
        if within(name, door.names)
    ]
    assert sorted(set(strays)) == []


def test_the_pure_half_opens_no_file() -> None:
    strays: list[str] = []
    for module in (m for m in modules() if m.under(*PURE) and not m.under(*OWN_TEXT)):
        for node in module.nodes:
            if isinstance(node, ast.Call):
                name = dotted(node.func)
                method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if name in FILE_CALLS or (method in PATH_METHODS and not name.startswith("self.")):
                    strays.append(f"{module.name}:{node.lineno} {name or method}")
    assert strays == []


def test_no_import_stands_inside_a_function() -> None:
    inside = [
        f"{module.name}:{node.lineno} in {function.name}"
        for module in modules()
        if not module.under(*LATE)
        for function in module.functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_no_import_is_relative_or_of_everything() -> None:
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and (node.level or any(alias.name == "*" for alias in node.names))
    ]
    assert wrong == []


def test_nothing_inside_takes_a_name_from_the_package_root() -> None:
    public = {"toolcrib"} | {f"toolcrib.{name}" for name in ("tool", "open_crib", "Crib", "__version__")}
    wrong = [
        f"{module.name}:{line} {name}"
        for module in modules()
        for name, line in imported(module)
        if name in public and module.name not in {"__init__.py", "__main__.py"}
    ]
    assert wrong == []


def ends_in_raise(handler: ast.ExceptHandler) -> bool:
    """Say whether a handler only cleans up: its last statement lets the exception go on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_everything_is_caught_only_in_the_two_files_of_the_engine() -> None:
    wrong: list[str] = []
    for module in modules():
        for node in module.nodes:
            if not isinstance(node, ast.ExceptHandler):
                continue
            types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {"" if each is None else dotted(each) for each in types}
            if (
                names & {"", "Exception", "BaseException"}
                and not ends_in_raise(node)
                and not module.under(*BROAD, *HANDS_OVER)
            ):
                wrong.append(f"{module.name}:{node.lineno}")
    assert wrong == []
