"""Killed at any point of an edit, write, grant or rewind: what was acknowledged is there, the rest whole or not."""

from pathlib import Path

import pytest

import soak
from slaying import kill

POINTS = 10_000
PROGRAM = Path(__file__).with_name("killing.py")
CONTROL = 12


@pytest.mark.soak("kill")
@pytest.mark.parametrize("seed", ["one", "two"])
@pytest.mark.parametrize("way", ["calls", "clock"])
@pytest.mark.promise("P-tape-kill")
@pytest.mark.invariant("I15")
@pytest.mark.attack("A144", "files")
def test_no_acknowledged_change_is_lost_no_file_is_torn_and_nothing_is_left_over(
    tmp_path: Path, way: str, seed: str
) -> None:
    points = max(1, soak.count(POINTS) // 4)
    found = kill(PROGRAM, tmp_path / "kill", points, seed, way)
    assert [each for each in found if each["faults"]] == []
    killed = [each for each in found if each["killed"]]
    assert len(killed) >= points * 0.9
    if soak.running():
        assert {each["killed_in"] for each in killed} >= {"edit", "write", "create", "grant", "rewind"}


@pytest.mark.attack("A144", "files")
def test_the_same_kills_tear_the_files_of_a_program_that_writes_in_place(tmp_path: Path) -> None:
    found = kill(PROGRAM, tmp_path / "kill", CONTROL, "control", "calls", "naive")
    assert [each for each in found if any(fault.startswith("file ") for fault in each["faults"])]
