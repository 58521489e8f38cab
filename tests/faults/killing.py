"""Kills a process at any point of its work on a workspace, opens what is left, and says what does not hold.

A program of its own, so that a prepared process without threads can fork a child for each point. It prints one JSON
object a child: `python killing.py BASE POINTS SEED calls|clock [naive]`. `calls` kills at one call of a function, in
whatever thread makes it; `clock` after a time. `naive` replaces the product by a program that writes in place: the
harness has to find fault with that.
"""

import gc
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from toolcrib import Answered, Approval, Crib, Ok, Refusal, open_crib

Files = dict[str, tuple[bytes, int]]
"""Relative path to bytes and mode."""

SECONDS = 30
"""What one child may take."""

TRIES = 4
"""Children for each point at most: one that ended before it was killed does not count."""

START: Files = {
    "small.txt": (b"small file, turn 0\nsecond line\n", 0o644),
    "large.txt": (
        b"large file, turn 0\n" + b"a line to fill the file with, of sixty-four characters in all..\n" * 3000,
        0o640,
    ),
    "sub/run.sh": (b"#!/bin/sh\necho turn 0\n" * 1 + b"# \r\n", 0o755),
}


@dataclass(frozen=True)
class Step:
    """One thing to do, and how every file is afterwards."""

    kind: str
    path: str
    data: bytes
    after: Files
    live: tuple["Step", ...]
    """The steps that a rewind could still take back, oldest first, once this one is done."""
    before: Files = field(default_factory=dict[str, tuple[bytes, int]])


def steps_of(dice: random.Random, *, many: int) -> list[Step]:
    """Return steps that make sense one after another."""
    now, made, live = dict(START), list[Step](), tuple[Step, ...]()
    for turn in range(1, many + 1):
        kind = dice.choice(["edit", "edit", "write", "create", "grant", "rewind", "rewind"])
        if kind == "rewind" and not live:
            kind = "edit"
        path, data, before = dice.choice(sorted(START)), b"", dict(now)
        if kind == "rewind":
            now, live = dict(live[-1].before), live[:-1]
            made.append(Step(kind, "", b"", now, live, before))
            continue
        if kind == "edit":
            if path not in now:
                path = "small.txt"
            data = _turned(now[path][0], turn)
        elif kind == "write":
            data = f"written whole, turn {turn}\n".encode() * dice.choice([1, 5000])
        else:
            path = f"{kind}/{turn}/file.txt"
            data = f"{kind} turn {turn}\n".encode() * dice.choice([1, 1000])
        now = {**now, path: (data, now[path][1] if path in now else 0o644)}
        step = Step(kind, path, data, now, live, before)
        live = (*live, step)
        made.append(Step(kind, path, data, now, live, before))
    return made


def _turned(data: bytes, turn: int) -> bytes:
    head, _, rest = data.partition(b"\n")
    return f"{head.decode()[:18]} edit {turn}".encode() + b"\n" + rest


def lay_out(directory: Path) -> None:
    """Write the files that everything starts from."""
    for path, (data, mode) in START.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(mode)


def found_in(directory: Path) -> Files:
    """Return every file below a directory, of whatever name."""
    return {
        str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(directory.rglob("*"))
        if not path.is_dir()
    }


async def work(ws: Path, steps: Sequence[Step], say: Callable[..., None], begin: Callable[[], None]) -> None:
    """Do the steps, saying when each begins and when it is acknowledged."""
    granting = False

    async def person(_approval: Approval) -> Answered:
        return Answered("always" if granting else "once", by="a person")

    async with open_crib(ws, mode="ask", approver=person) as crib:
        say(ready=True)
        begin()
        for number, step in enumerate(steps):
            granting = step.kind == "grant"
            say(begun=number)
            outcome = await _do(crib, step)
            assert isinstance(outcome, Ok), str(outcome)
            say(done=number, call=outcome.call_id)


async def _do(crib: Crib, step: Step) -> Any:
    if step.kind == "rewind":
        plan, _ = await crib.rewind_plan()
        return await crib.rewind(plan)
    if step.kind != "edit":
        text = step.data.decode()
        return await crib.call("write_file", path=step.path, content=text, overwrite_existing=step.kind == "write")
    old = step.before[step.path][0].partition(b"\n")[0].decode()
    new = step.data.partition(b"\n")[0].decode()
    read = await crib.call("read_file", path=step.path, limit=1)
    change = {"old": old, "new": new}
    return await crib.call("edit_file", path=step.path, digest=read.evidence.digest, edits=[change])


async def naive(ws: Path, steps: Sequence[Step], say: Callable[..., None], begin: Callable[[], None]) -> None:
    """Do the steps as a program does that writes in place."""
    say(ready=True)
    begin()
    for number, step in enumerate(steps):
        say(begun=number)
        for path in {*step.before} - {*step.after}:
            (ws / path).unlink()
        for path, (data, mode) in step.after.items():
            (ws / path).parent.mkdir(parents=True, exist_ok=True)
            with (ws / path).open("wb", 0) as file:
                for start in range(0, len(data), 4096):
                    file.write(data[start : start + 4096])
            (ws / path).chmod(mode)
        say(done=number, call="")


class Fuse:
    """Ends this process at the given one of the calls that its threads make once it burns."""

    def __init__(self, at: int | None) -> None:
        self._at = at
        self._burning = False
        self.seen = count(1)

    def lay(self) -> None:
        """Watch this thread and those that are started from now on."""
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def burn(self) -> None:
        """Count from here on."""
        self._burning = True

    def _count(self, _frame: object, event: str, _arg: object) -> None:
        if self._burning and event in {"call", "c_call"} and next(self.seen) == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


async def check(ws: Path, state: Path, steps: Sequence[Step], said: "Said") -> list[str]:
    """Open what is left and return what does not hold."""
    faults: list[str] = []
    async with open_crib(ws, mode="ask") as crib:
        left = found_in(ws)
        faults += _files(left, steps, said)
        faults += await _tape(crib, said)
        faults += await _taken_back(crib, ws, steps, said, left)
        faults += await _granted(crib, steps, said)
        verdict = await crib.verify()
        if verdict.broken is not None:
            faults.append(f"tape: broken at {verdict.broken}: {verdict.why}")
    aside = [str(each.relative_to(state)) for each in state.rglob("*") if each.parent.name in {"aside", "owners"}]
    faults += [f"left over in the state: {each}" for each in aside if not (state / each).is_dir()]
    return faults


def _files(left: Files, steps: Sequence[Step], said: "Said") -> list[str]:
    kept = steps[said.done - 1].after if said.done else START
    wanted = [kept, steps[said.done].after] if said.begun > said.done else [kept]
    faults: list[str] = []
    for path in sorted({*left, *(path for each in wanted for path in each)}):
        if left.get(path) not in [each.get(path) for each in wanted]:
            what = "missing" if path not in left else f"{len(left[path][0])} bytes, mode {left[path][1]:o}"
            faults.append(f"file {path}: {what}, in none of the states it may have")
    return faults


async def _tape(crib: Crib, said: "Said") -> list[str]:
    entries = await crib.tape(limit=100_000)
    faults: list[str] = []
    closings: dict[str, list[Any]] = {entry.call_id: [] for entry in entries if entry.stage == "received"}
    for entry in entries:
        if entry.stage == "closed":
            closings[entry.call_id].append(entry.data["outcome"])
    faults += [f"tape: {call} has {len(each)} closing entries" for call, each in closings.items() if len(each) != 1]
    for call in said.calls:
        if [each["kind"] for each in closings.get(call, [])] != ["ok"]:
            faults.append(f"tape: {call} was acknowledged and is not closed as ok")
    return faults


async def _taken_back(crib: Crib, ws: Path, steps: Sequence[Step], said: "Said", left: Files) -> list[str]:
    """Take back the last step, acknowledged or not, and hold the files against those before it."""
    live = steps[said.done - 1].live if said.done else ()
    if said.begun > said.done:
        current = steps[said.done]
        if current.kind == "rewind":
            return []
        if left == current.after and left != current.before:
            live = (*live, current)
    try:
        plan, _ = await crib.rewind_plan()
        outcome = await crib.rewind(plan)
    except Refusal as refusal:
        return [] if not live and refusal.name == "snapshot.missing" else [f"rewind: {refusal}"]
    if not isinstance(outcome, Ok) or not live:
        return [f"rewind: {outcome}"]
    return [] if found_in(ws) == live[-1].before else ["rewind: the files are not as they were before the last step"]


async def _granted(crib: Crib, steps: Sequence[Step], said: "Said") -> list[str]:
    faults: list[str] = []
    for step in steps[: said.done]:
        if step.kind == "grant":
            again = await crib.call("write_file", path=step.path, content="granted\n", overwrite_existing=True)
            if not isinstance(again, Ok):
                faults.append(f"grant for {step.path}: {again}")
    return faults


@dataclass
class Said:
    """What a child said before it ended."""

    ready: bool = False
    begun: int = 0
    """Steps that were begun."""
    done: int = 0
    """Steps that were acknowledged."""
    calls: list[str] = field(default_factory=list[str])
    events: int = 0
    seconds: float = 0.0

    def take(self, text: str) -> None:
        """Read the lines of a child; a last one that is cut short was not said."""
        for line in text.split("\n")[:-1]:
            found = json.loads(line)
            self.ready = self.ready or "ready" in found
            self.begun = found.get("begun", self.begun - 1) + 1
            self.done = found.get("done", self.done - 1) + 1
            self.calls += [found["call"]] if found.get("call") else []
            self.events = found.get("events", self.events)
            self.seconds = found.get("seconds", self.seconds)


def forked(body: Callable[[Callable[..., None]], Coroutine[Any, Any, None]], *, after: float | None = None) -> str:
    """Run `body` in a child and return what it said; with `after`, kill it so many seconds after it is ready."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)

        def say(**what: object) -> None:
            os.write(writing, json.dumps(what).encode() + b"\n")

        status = 1
        try:
            signal.alarm(SECONDS)
            anyio.run(body, say)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    said = bytearray()
    while data := os.read(reading, 1 << 16):
        said += data
        if after is not None and b"ready" in said:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
            after = None
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"a child failed: {said[-2000:]!r}")
    return said.decode()


def point(base: Path, dice: random.Random, way: str, doer: Any, size: "Said") -> dict[str, object]:
    """Kill one child and check what it left."""
    ws, state = base / "ws", base / "state"
    for each in (ws, state):
        shutil.rmtree(each, ignore_errors=True)
    shutil.copytree(base / "prepared-ws", ws)
    shutil.copytree(base / "prepared-state", state)
    steps = steps_of(dice, many=3)
    fuse = Fuse(dice.randrange(1, max(2, size.events)))
    after = dice.uniform(0, size.seconds) if way == "clock" else None

    async def body(say: Callable[..., None]) -> None:
        if way == "calls":
            fuse.lay()
        await doer(ws, steps, say, fuse.burn)

    said = Said()
    said.take(forked(body, after=after))
    answer = forked(lambda say: _checked(ws, state, steps, said, say))
    current = steps[said.done].kind if said.begun > said.done else ""
    return {"killed": said.done < len(steps), "killed_in": current, "faults": json.loads(answer)["faults"]}


async def _checked(ws: Path, state: Path, steps: Sequence[Step], said: Said, say: Callable[..., None]) -> None:
    say(faults=await check(ws, state, steps, said))


def prepare(base: Path, doer: Any, way: str) -> Said:
    """Lay out what every point starts from, and measure how much there is to kill."""
    os.environ["XDG_STATE_HOME"] = str(base / "state")
    ws, state = base / "ws", base / "state"
    lay_out(ws)
    state.mkdir()

    async def opened(say: Callable[..., None]) -> None:
        async with open_crib(ws, mode="ask"):
            say(ready=True)

    forked(opened)
    shutil.copytree(ws, base / "prepared-ws")
    shutil.copytree(state, base / "prepared-state")
    fuse = Fuse(None)

    async def measured(say: Callable[..., None]) -> None:
        began = time.monotonic()

        def begin() -> None:
            nonlocal began
            began = time.monotonic()
            fuse.burn()

        if way == "calls":
            fuse.lay()
        await doer(ws, steps_of(random.Random(0), many=3), say, begin)
        sys.setprofile(None)
        say(events=next(fuse.seen), seconds=time.monotonic() - began)

    said = Said()
    said.take(forked(measured))
    return said


def main() -> None:
    """Run the points and print what was found at each."""
    base, points, seed, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    doer = naive if "naive" in sys.argv[5:] else work
    gc.freeze()
    size = prepare(base, doer, way)
    killed = 0
    for number in range(points * TRIES):
        found = point(base, random.Random(f"{seed} {number}"), way, doer, size)
        killed += bool(found["killed"])
        print(json.dumps({"point": number, **found}), flush=True)
        if killed == points:
            return


if __name__ == "__main__":
    main()
