"""`script/soak` runs one part in full, records it, and goes on behind what has passed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shape.house import ROOT

TESTS = """
import os, pytest, soak
from pathlib import Path

RUNS = Path(__file__).parents[1] / "runs"

@pytest.mark.soak("edits")
@pytest.mark.parametrize("name", ["sound", "flawed"])
def test_repeats(name):
    with RUNS.open("a") as file:
        file.write(f"{name} {soak.count(1000)}\\n")
    assert name == "sound" or os.environ.get("MENDED")

@pytest.mark.soak("kill")
def test_of_another_part():
    raise AssertionError

def test_of_no_part():
    raise AssertionError
"""


def soak(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the soak of a project."""
    command = [sys.executable, str(project / "tests" / "soak.py"), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with this one's soak and a few tests of its own."""
    top = tmp_path / "project"
    for folder in ("tests", "src", "docs"):
        (top / folder).mkdir(parents=True)
    for name in ("tests/conftest.py", "tests/soak.py", "pyproject.toml"):
        shutil.copy(ROOT / name, top / name)
    (top / "tests" / "test_long.py").write_text(TESTS, encoding="utf-8")
    return top


@pytest.mark.timeout(120)
def test_a_soak_runs_one_part_in_full_records_it_and_resumes(project: Path) -> None:
    first = soak(project, "edits")
    assert first.returncode == 1, first.stdout + first.stderr
    runs = (project / "runs").read_text(encoding="utf-8").split("\n")
    assert sorted(filter(None, runs)) == ["flawed 1000", "sound 1000"]
    page = (project / "docs" / "soak.md").read_text(encoding="utf-8")
    assert "| edits |" in page
    assert "| 2 | 1 |" in page

    second = soak(project, "edits", MENDED="1")
    assert second.returncode == 0, second.stdout + second.stderr
    runs = (project / "runs").read_text(encoding="utf-8").split("\n")
    assert sorted(filter(None, runs)) == ["flawed 1000", "flawed 1000", "sound 1000"]
    page = (project / "docs" / "soak.md").read_text(encoding="utf-8")
    assert page.count("| edits |") == 1
    assert "| 2 | 2 |" in page

    third = soak(project, "edits")
    assert (third.returncode, "passed on this code before" in third.stdout) == (0, True)


@pytest.mark.timeout(120)
def test_an_unknown_part_is_a_usage_error(project: Path) -> None:
    done = soak(project, "no-such-part")
    assert (done.returncode, "there are: edits" in done.stderr) == (2, True)
