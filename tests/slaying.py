"""Runs a program that kills children of its own, and returns what it found after each."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def kill(program: Path, base: Path, points: int, seed: str, *how: str) -> list[dict[str, Any]]:
    """Kill at so many points and return what was found after each."""
    base.mkdir()
    command = [sys.executable, str(program), str(base), str(points), seed, *how]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
