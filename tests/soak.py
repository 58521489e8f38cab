"""The long form of repeating tests: how often they repeat, which parts there are, and the run that records them."""

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

VARIABLE = "TOOLCRIB_SOAK"
"""Set to 1 in the long form."""

SHARE = 200
"""The default form of a count is the count divided by this."""

PARTS: dict[str, str] = {
    "edits": "interleaved edits of many files: no false staleness, no lost update",
    "kill": "killed at any point of an edit, a write, a grant, a rewind, or of a question and its effect",
    "races": "paths that flip under reads and writes, readers during overwrites",
    "cancel": "a call is cancelled at every tick, for every ruling",
    "tape": "many appends, damaged stores, readings during writing",
    "finder": "searches after, and during, every kind of change by others; very large and very deep trees",
    "fuzz": "generated arguments, patterns, rules and texts in large numbers",
}
"""The parts of the soak; a test belongs to one by `@pytest.mark.soak("part")`."""

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "soak.md"
HEAD = """# Soak runs

`script/soak PART` runs the long form of the tests that repeat something: every count in full, where `script/test` runs
1/200 of it. A row is the last run of its part. *Code* is a digest over `src/` and `tests/`: a part that passed on the
same code is not run again.

| part | what repeats | tests | passed | seconds | code | date |
|---|---|---|---|---|---|---|
"""


def running() -> bool:
    """Say whether this is the long form."""
    return os.environ.get(VARIABLE) == "1"


def count(full: int) -> int:
    """Return how often to repeat: `full` in a soak run, else 1/200 of it, at least once."""
    return full if running() else max(1, full // SHARE)


def code_digest() -> str:
    """Return the first 12 hex characters of a digest over every file of src and tests."""
    sums = hashlib.sha256()
    for path in sorted(p for top in ("src", "tests") for p in (ROOT / top).rglob("*") if p.is_file()):
        if "__pycache__" not in path.parts:
            sums.update(f"{path.relative_to(ROOT)}\0".encode())
            sums.update(hashlib.sha256(path.read_bytes()).digest())
    return sums.hexdigest()[:12]


def log_of(part: str, code: str) -> Path:
    """Return the file that names the tests of `part` that passed on this code."""
    folder = ROOT / ".toolcrib-dev" / "soak" / code
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{part}.passed"


def lines(path: Path) -> list[str]:
    """Return the lines of a file, none if it is not there."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def collect() -> dict[str, list[str]]:
    """Return the names of the tests of every part."""
    table = ROOT / ".toolcrib-dev" / "soak" / "table"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-p",
        "no:randomly",
        "--soak-table",
        str(table),
        "tests",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if listed.returncode:
        sys.exit(listed.stdout + listed.stderr)
    found: dict[str, list[str]] = {part: [] for part in PARTS}
    for part, _, test in (line.partition("\t") for line in lines(table)):
        found.setdefault(part, []).append(test)
    return found


def run(part: str, tests: list[str], code: str) -> bool:
    """Run what is left of a part, record it, and say whether all of it has passed."""
    log = log_of(part, code)
    left = [test for test in tests if test not in set(lines(log))]
    if not tests:
        print(f"soak: {part}: no test belongs to this part")
        return False
    if not left:
        print(f"soak: {part}: all {len(tests)} tests passed on this code before")
        return True
    print(f"soak: {part}: {len(left)} of {len(tests)} tests to run", flush=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--soak",
        part,
        "--soak-log",
        str(log),
        "--timeout",
        "0",
        str(ROOT / "tests"),
    ]
    began = time.monotonic()
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, VARIABLE: "1"}, check=False).returncode
    passed = len(set(lines(log)) & set(tests))
    record(part, tests=len(tests), passed=passed, seconds=time.monotonic() - began, code=code)
    return status == 0 and passed == len(tests)


def record(part: str, *, tests: int, passed: int, seconds: float, code: str) -> None:
    """Write the row of a part into docs/soak.md, in place of its former one."""
    rows = {row.split("|")[1].strip(): row for row in lines(PAGE) if row.startswith("|")}
    today = time.strftime("%Y-%m-%d", time.gmtime())
    rows[part] = f"| {part} | {PARTS[part]} | {tests} | {passed} | {seconds:.0f} | {code} | {today} |"
    PAGE.write_text(HEAD + "".join(f"{rows[name]}\n" for name in PARTS if name in rows), encoding="utf-8")


def end(number: int, _frame: FrameType | None) -> None:
    """End the program as the signal asks."""
    sys.exit(128 + number)


def main() -> int:
    """List the parts, or run those named."""
    parser = argparse.ArgumentParser(
        prog="script/soak", description="Run the long form of the tests that repeat something."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}, or all")
    wanted = parser.parse_args().parts
    # Ending this program ends the tests it runs: `subprocess.run` kills them on the way out.
    signal.signal(signal.SIGTERM, end)
    unknown = [part for part in wanted if part not in PARTS and part != "all"]
    if unknown:
        print(f"soak: no part is named {', '.join(unknown)}; there are: {', '.join(PARTS)}, all", file=sys.stderr)
        return 2
    code = code_digest()
    (ROOT / ".toolcrib-dev" / "soak").mkdir(parents=True, exist_ok=True)
    table = collect()
    if not wanted:
        for part, about in PARTS.items():
            passed = set(lines(log_of(part, code))) & set(table[part])
            print(f"{part:<8}{len(passed):>4} of {len(table[part]):>3} passed on this code: {about}")
        return 0
    parts = list(PARTS) if "all" in wanted else wanted
    failed = [part for part in parts if not run(part, table[part], code)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
