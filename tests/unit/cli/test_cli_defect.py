"""What nobody expected is told as a defect in two lines, with a code of its own; where it happened only on request."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from toolcrib.faces.cli import app

def fails(**_):
    raise ExceptionGroup("group", [TypeError("no \\x1b[2J such thing")])

app.group.main = fails
sys.exit(app.run([]))
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_defect_is_two_lines_and_exit_70_and_where_only_on_request(debug: str) -> None:
    environment = {**os.environ, "TOOLCRIB_DEBUG": debug}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 70
    assert ran.stdout == ""
    assert ran.stderr.endswith(
        "toolcrib: this is a defect of toolcrib: TypeError: no \\x1b[2J such thing\n"
        "  next: please report it; TOOLCRIB_DEBUG=1 shows where it happened\n"
    )
    assert ("Traceback" in ran.stderr) == bool(debug)
