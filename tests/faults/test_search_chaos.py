"""Three processes change a tree while four callers search it: no answer fails, hangs, or tells of what never was."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

import rampage
import soak
from calling import ok
from churning import WORD
from conftest import Workspace
from oracle import truth
from rampage import History
from toolcrib import Crib, open_crib

pytestmark = [pytest.mark.anyio, pytest.mark.soak("finder")]

SECONDS = 60 if soak.running() else 4
BOUND = 5
"""Seconds that one answer may take on a machine on which five processes want two cores."""
CALLERS = 4
WORKERS = ("w0", "w1", "w2")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search told, and when it was asked and answered. `whole`: of every file that was there."""

    kind: str
    began: int
    ended: int
    paths: frozenset[str]


@contextmanager
def rampaging(root: Path, logs: Path) -> Generator[None]:
    """Let three processes loose on the tree; all have ended, and written down what they did, after the context."""
    command = [sys.executable, str(Path(rampage.__file__).resolve()), str(root)]
    processes = [
        subprocess.Popen([*command, name, str(logs / name)], stdin=subprocess.PIPE, env={**os.environ})
        for name in WORKERS
    ]
    try:
        yield
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
        codes = [process.wait(10) for process in processes]
    assert codes == [0, 0, 0]


async def searched(crib: Crib, dice: random.Random) -> Answer:
    """Search in one of several ways, within the bound."""
    kind = dice.choice(("glob", "glob", "grep", "grep", "lines", "regex", "fuzzy", "list"))
    began = time.monotonic_ns()
    with anyio.fail_after(BOUND):
        if kind == "glob":
            paths = (await ok(crib, "glob", pattern="**", limit=1000)).payload["paths"]
        elif kind == "grep":
            found = await ok(crib, "grep", pattern=WORD, output="files", limit=1000)
            paths = [each["path"] for each in found.payload["files"]]
        elif kind in {"lines", "regex"}:
            pattern = WORD if kind == "lines" else rf"^{WORD} (w\d \d+|shared)$"
            mode = "plain" if kind == "lines" else "regex"
            matches = (await ok(crib, "grep", pattern=pattern, mode=mode, limit=300)).payload["matches"]
            paths = [each["path"] for each in matches]
            assert all(WORD in each["text"] for each in matches)
            assert len({(each["path"], each["line"]) for each in matches}) == len(matches)
        elif kind == "fuzzy":
            paths = [each["path"] for each in (await ok(crib, "fff_search", query="f1 py", limit=100)).payload["files"]]
        else:
            entries = (await ok(crib, "list_dir", depth=20, limit=1000)).payload["entries"]
            paths = [each["path"] for each in entries if each["kind"] == "file"]
    ended = time.monotonic_ns()
    assert len(paths) == len(set(paths)) or kind in {"lines", "regex"}, (kind, twice(paths))
    return Answer(kind, began, ended, frozenset(paths))


def twice(paths: Iterable[str]) -> list[str]:
    """Return what stands in a list more than once."""
    return sorted(path for path, number in Counter(paths).items() if number > 1)


def insane(answer: Answer, history: History) -> str:
    """Return what is wrong with an answer by what was there meanwhile, empty when nothing is."""
    own = [path for path in answer.paths if not path.startswith("shared/")]
    ghosts = [path for path in own if not history.possible(path, answer.began, answer.ended)]
    if ghosts:
        return f"{answer.kind}: was not there at any time of the call: {ghosts[:5]} ({len(ghosts)})"
    if answer.kind not in {"glob", "grep", "list"}:
        return ""
    # Ignored files come and go with the rules, and rules hold no text that is searched for.
    there = [path for path in history.throughout(answer.began, answer.ended) if path.endswith((".py", ".txt"))]
    missed = [path for path in there if path not in answer.paths]
    return f"{answer.kind}: was there all the time, and missed: {missed[:5]} ({len(missed)})" if missed else ""


async def call_for(crib: Crib, seed: str, answers: list[Answer]) -> None:
    """Search for a while, one call after another."""
    dice = random.Random(seed)
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        answers.append(await searched(crib, dice))


async def exact(crib: Crib, root: Path) -> None:
    """Demand that searches agree with the disk."""
    seen = truth(root, root.parent / "no-excludes", git=False)
    globbed = (await ok(crib, "glob", pattern="**", limit=1000)).payload
    grepped = (await ok(crib, "grep", pattern=WORD, output="files", limit=1000)).payload
    assert set(globbed["paths"]) == set(seen.files)
    assert {each["path"] for each in grepped["files"]} == seen.holding(WORD)
    assert (globbed["total"], grepped["total"]) == (len(seen.files), len(seen.holding(WORD)))


@pytest.mark.promise("P-search-fresh")
@pytest.mark.timeout(0 if soak.running() else 60)
async def test_four_callers_search_while_three_processes_change_everything(workspace: Workspace) -> None:
    for number in range(60):
        workspace.write(f"still/s{number}.py", f"{WORD} still\n")
    answers: list[Answer] = []
    async with open_crib(workspace.ws) as one, open_crib(workspace.ws) as other:
        with rampaging(workspace.ws, workspace.base):
            async with anyio.create_task_group() as callers:
                for number in range(CALLERS):
                    callers.start_soon(call_for, (one, other)[number % 2], f"caller {number}", answers)
        for crib in (one, other):
            await exact(crib, workspace.ws)
    history = await to_thread.run_sync(lambda: told(workspace.base))
    for path in (f"still/s{number}.py" for number in range(60)):
        history.lives[path].append(rampage.Life(0, 0))
    faults = [wrong for answer in answers if (wrong := insane(answer, history))]
    assert faults[:5] == []
    assert len(answers) > SECONDS
    assert history.steps > SECONDS * 50


def told(logs: Path) -> History:
    """Return what all processes wrote down."""
    history = History()
    for name in WORKERS:
        history.read(logs / name)
    return history


def test_the_check_itself_tells_a_ghost_and_a_miss(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('[10, 20, ["w0/a.py"], [], ["w0/a.py"]]\n[50, 60, [], ["w0/a.py"], []]\n')
    history = History()
    history.read(log)

    def wrong(began: int, ended: int, *paths: str) -> str:
        return insane(Answer("glob", began, ended, frozenset(paths)), history)

    assert wrong(15, 30) == wrong(15, 30, "w0/a.py") == "", "while it comes, either is right"
    assert "missed" in wrong(30, 40)
    assert wrong(30, 40, "w0/a.py") == ""
    assert wrong(55, 70, "w0/a.py") == wrong(55, 70) == "", "while it goes, either is right"
    assert "not there" in wrong(61, 70, "w0/a.py")
    assert "not there" in wrong(1, 9, "w0/a.py")
