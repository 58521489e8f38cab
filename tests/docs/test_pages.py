"""Every sample of README.md and docs/ runs and prints what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import transcripts

PAGES = [transcripts.ROOT / "README.md", *sorted((transcripts.ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")


def name(path: Path) -> str:
    return str(path.relative_to(transcripts.ROOT))


@pytest.mark.promise("P-readme")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text("utf-8")], ids=name)
def test_a_console_sample_prints_what_the_page_shows(page: Path) -> None:
    for sample, printed in transcripts.play(page.read_text(encoding="utf-8")):
        assert transcripts.alike(printed) == transcripts.alike(sample.shown), f"$ {sample.command}\n{printed}"


@pytest.mark.promise("P-readme")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "```python" in page.read_text("utf-8") and page.parent.name != "reference"],
    ids=name,
)
def test_a_python_sample_runs(page: Path, tmp_path: Path) -> None:
    project, home = transcripts.lay(tmp_path), tmp_path / "home"
    home.mkdir()
    for number, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8"))):
        file = project / f"sample{number}.py"
        file.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "error", str(file)],
            cwd=project,
            env=transcripts.environment(home),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_link_of_a_page_leads_to_a_file(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
