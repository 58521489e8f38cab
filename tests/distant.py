"""A crib in a process of its own, which a test may stop, or have less of the machine."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolcrib import open_crib


class Distant:
    """The other process. Each answer is the outcome as JSON, with `paths` for what was found."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.pid = process.pid

    def call(self, tool: str, **args: Any) -> dict[str, Any]:
        """Call a tool there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([tool, args]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process ended with {self._process.wait(5)}"
        return json.loads(answer)

    def globbed(self, pattern: str = "**") -> set[str]:
        """Return what a glob finds."""
        outcome = self.call("glob", pattern=pattern, limit=1000)
        assert outcome["kind"] == "ok", outcome
        return set(outcome["payload"]["paths"])

    def grepped(self, pattern: str) -> set[str]:
        """Return the files that hold a text."""
        outcome = self.call("grep", pattern=pattern, output="files", limit=1000)
        assert outcome["kind"] == "ok", outcome
        return {each["path"] for each in outcome["payload"]["files"]}


@contextmanager
def distant(root: Path, *, before: Sequence[str] = ()) -> Generator[Distant]:
    """Start a crib over `root` in another process; `before` is a command that starts it."""
    command = [*before, sys.executable, str(Path(__file__).resolve()), str(root)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield Distant(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)


async def serve(root: Path) -> None:
    """Answer calls, one JSON list a line, until there are no more."""
    async with open_crib(root, mode="work") as crib:
        while line := await asyncio.to_thread(sys.stdin.readline):
            tool, args = json.loads(line)
            print(json.dumps((await crib.call(tool, **args)).to_json()), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
