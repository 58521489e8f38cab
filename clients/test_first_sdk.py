"""The first generation of the MCP SDK as a client."""

import json
import subprocess
import sys
from pathlib import Path

from place import Place


def test_it_reads_and_its_person_answers_by_forms(clients: Path, place: Place) -> None:
    (place.ws / "a.txt").write_text("hello\n")
    # The name by which this client introduces itself.
    (place.config / "config.toml").write_text("[approvers]\nmcp = true\n")
    program = [str(clients / "sdk" / "bin" / "python"), str(Path(__file__).with_name("first_sdk.py"))]
    keep = [f"{name}={value}" for name, value in place.environment.items()]
    server = ["/usr/bin/env", *keep, sys.executable, "-m", "toolcrib", "mcp", "-C", str(place.ws)]
    done = subprocess.run([*program, *server], capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["revision"] == "2025-11-25"
    assert {"read_file", "write_file"} <= set(seen["tools"])
    assert seen["read"]["payload"]["lines"] == ["hello"]
    assert seen["wrote"]["kind"] == "ok"
    assert (place.ws / "b.txt").read_text() == "by a form\n"
    assert seen["denied"]["name"] == "approval.denied"
    assert not (place.ws / "c.txt").exists()
    assert len(seen["asked"]) == 2
    assert seen["tape"] >= 12
