"""Killed anywhere between a question and its effect: never an effect without its yes, never a yes used twice."""

from pathlib import Path

import pytest

import soak
from slaying import kill

POINTS = 10_000
PROGRAM = Path(__file__).with_name("consenting.py")
CONTROL = 12


@pytest.mark.soak("kill")
@pytest.mark.parametrize("seed", ["one", "two"])
@pytest.mark.parametrize("way", ["calls", "clock"])
@pytest.mark.promise("P-approval-kill")
@pytest.mark.invariant("I11")
@pytest.mark.invariant("I15")
def test_no_effect_is_without_its_yes_no_yes_is_used_twice_and_no_answer_is_lost(
    tmp_path: Path, way: str, seed: str
) -> None:
    points = max(1, soak.count(POINTS) // 4)
    found = kill(PROGRAM, tmp_path / "kill", points, seed, way)
    assert [each for each in found if each["faults"]] == []
    killed = [each for each in found if each["killed"]]
    assert len(killed) >= points * 0.9
    if soak.running():
        assert {each["killed_in"] for each in killed} >= {"ask", "answer", "repeat", "again"}


@pytest.mark.promise("P-approval-kill")
def test_the_same_kills_make_a_program_that_marks_its_yeses_late_pay_twice(tmp_path: Path) -> None:
    found = kill(PROGRAM, tmp_path / "kill", CONTROL, "control", "calls", "naive")
    assert [each for each in found if any("paid 2 times by 1 yeses" in fault for fault in each["faults"])]
