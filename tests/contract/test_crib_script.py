"""`script/crib`: the one command that runs the main job from a source tree."""

import subprocess
from pathlib import Path

import pytest

from conftest import Workspace

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.promise("P-cli-crib")
def test_alone_it_says_what_the_directory_offers_and_how_to_connect_a_client(workspace: Workspace) -> None:
    """The tests themselves run from what `script/setup` made, so that it has nothing left to do here."""
    ran = subprocess.run(
        [ROOT / "script" / "crib"], cwd=workspace.ws, capture_output=True, encoding="utf-8", check=False, timeout=18
    )
    assert ran.returncode == 0, ran.stderr
    assert str(workspace.ws) in ran.stdout
    assert "11 offered" in ran.stdout
    for title in ("Claude Code", "Cursor", "VS Code", "Zed"):
        assert title in ran.stdout
