"""Runs the console samples of a page in a small project and compares, or rewrites, what they print.

`python tests/docs/transcripts.py PAGE...` puts the real output into the page; the test runs the same and compares with
ids, digests and times made alike.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
ELSEWHERE = ("script/", "toolcrib approve", "toolcrib init", "toolcrib mcp", "toolcrib tape --follow", "cd ")
"""Commands that need a person, a client or a clean machine; they are tried by other tests."""

ALIKE = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-hjkmnp-tv-z]{26}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  [0-9a-hjkmnp-tv-z]{8}"), "<time>  <id>"),
    (re.compile(r"(approv(?:e|al)) [0-9a-hjkmnp-tv-z]{8}\b"), r"\1 <id>"),
    (re.compile(r"cli:\d+"), "cli:<uid>"),
    (re.compile(r"/tmp/\S+/project"), "<project>"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One command of a page and what stands behind it."""

    command: str
    shown: str


def samples(block: str) -> list[Sample]:
    """Return the commands of a block, each with its output."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    pairs = [part.partition("\n") for part in parts[1:]]
    return [Sample(command, shown) for command, _, shown in pairs]


def runs(command: str) -> bool:
    """Tell whether a sample's command is run here."""
    return not command.startswith(ELSEWHERE)


def alike(text: str) -> str:
    """Return `text` with what differs from run to run made alike."""
    for pattern, name in ALIKE:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def environment(home: Path) -> dict[str, str]:
    """Return the environment of the samples: a home of their own, this Python's programs first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **_source()}


def _source() -> dict[str, str]:
    found = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": found} if found else {}


def lay(top: Path) -> Path:
    """Make the small project that the samples run in."""
    project = top / "project"
    (project / "src").mkdir(parents=True)
    (project / "README.md").write_text("# A small project\n\nTODO: say what it does.\n", encoding="utf-8")
    (project / "src" / "app.py").write_text('def main():\n    print("hello")\n', encoding="utf-8")
    return project


def run(command: str, project: Path, home: Path) -> str:
    """Run one command as a person would type it and return what it prints, both streams together."""
    done = subprocess.run(
        ["/bin/bash", "-c", f"exec 2>&1; {command}"],
        cwd=project,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.stdout


def play(page: str) -> list[tuple[Sample, str]]:
    """Run every sample of a page in order and return each with what it really prints."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        project, home = lay(Path(top)), Path(top) / "home"
        home.mkdir()
        return [
            (sample, run(sample.command, project, home))
            for block in BLOCK.findall(page)
            for sample in samples(block)
            if runs(sample.command)
        ]


def rewritten(page: str) -> str:
    """Return the page with the real output behind every command that is run."""
    outputs = iter(play(page))

    def block(found: re.Match[str]) -> str:
        rows: list[str] = []
        for sample in samples(found[1]):
            shown = next(outputs)[1] if runs(sample.command) else sample.shown
            rows.append(f"$ {sample.command}\n{shown}")
        return "```console\n" + "".join(rows) + "```\n"

    return BLOCK.sub(block, page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        target = Path(name)
        target.write_text(rewritten(target.read_text(encoding="utf-8")), encoding="utf-8")
