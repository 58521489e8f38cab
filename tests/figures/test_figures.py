"""The figures that are promised, measured briefly. `script/bench` measures them in full.

A test machine is rarely idle, so a limit is stretched by how slow the machine is at this moment: the same fixed mix of
work is timed beside each measurement. The best of a few measurements counts.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
TRIES = 3


def best(name: str, figure: str) -> tuple[float, float]:
    """Return how far a figure is from its demand, 1 being just met and less being better, and the stretch allowed."""
    tries: list[tuple[float, float]] = []
    for _ in range(TRIES):
        command = [sys.executable, str(BENCH / f"{name}.py"), "--brief", "--json"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        told: dict[str, Any] = json.loads(done.stdout)
        (found,) = [each for each in told["figures"] if each["name"].startswith(figure) and each["demand"]]
        value, demand = found["value"], found["demand"]
        tries.append((value / demand if found["most"] else demand / value, max(1.0, told["slowness"])))
        if tries[-1][0] <= tries[-1][1]:
            break
    return min(tries, key=lambda each: each[0] / each[1])


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        pytest.param("read_file", "read_file 4 KiB in process", marks=pytest.mark.promise("P-speed-read")),
        pytest.param("read_file", "read_file 4 KiB over stdio", marks=pytest.mark.promise("P-speed-read-mcp")),
        pytest.param("edit_file", "edit_file on 1 MiB", marks=pytest.mark.promise("P-speed-edit")),
        pytest.param("tape", "durable appends a second", marks=pytest.mark.promise("P-speed-tape")),
        pytest.param("start", "toolcrib --help", marks=pytest.mark.promise("P-cli-help")),
        pytest.param("start", "toolcrib mcp, tools/list", marks=pytest.mark.promise("P-gate-cold")),
    ],
)
def test_a_promised_figure_is_met(name: str, figure: str) -> None:
    excess, stretch = best(name, figure)
    assert excess <= stretch, f"{figure}: {excess:.2f} times the demand, on a machine {stretch:.2f} times as slow"
