"""Starting costs what it needs: help loads none of the heavy libraries."""

import subprocess
import sys

import pytest

HEAVY = (
    "mcp",
    "pydantic",
    "apsw",
    "asyncio",
    "anyio",
    "re2",
    "rapidfuzz",
    "starlette",
    "httpx2",
    "pathspec",
    "hypothesis",
)
RUN = "import sys; sys.argv = ['toolcrib', *sys.argv[1:]]; from toolcrib.__main__ import main; main()"


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a run of the command line imports."""
    command = [sys.executable, "-X", "importtime", "-c", RUN, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("arguments", [("--help",), ("version",)], ids=" ".join)
def test_help_and_version_load_no_heavy_library(arguments: tuple[str, ...]) -> None:
    loaded = loaded_by(*arguments)
    assert "toolcrib.__main__" in loaded
    assert loaded & set(HEAVY) == set()


def test_importing_the_package_loads_no_heavy_library() -> None:
    script = "import sys, toolcrib; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert set(done.stdout.split()) & set(HEAVY) == set()
