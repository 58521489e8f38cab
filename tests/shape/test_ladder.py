"""Imports go down the ladder: the contracts of pyproject.toml hold, and they name every package there is."""

import subprocess
import sys
import tomllib

from shape.house import PACKAGE, ROOT


def test_the_import_contracts_hold() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        "--no-cache",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_every_package_stands_on_a_rung() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(each for each in contracts if each["id"] == "ladder")["layers"]
    named = {name.strip(" ()") for layer in layers for name in layer.split("|")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages - named == set()


def test_every_folder_of_the_program_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [
        str(folder.relative_to(PACKAGE)) for folder in sorted(folders) if not (folder / "__init__.py").exists()
    ] == []
