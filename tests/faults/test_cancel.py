"""Cancelling at every tick, for every ruling: one closing entry a call, and what it says is true."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import pytest

from toolcrib.catalog.catalog import Catalog
from toolcrib.engine.kit import Kit, Policy
from toolcrib.engine.line import Line
from toolcrib.policy.rules import Rule, version
from toolcrib.ports.approvals import Approvals
from toolcrib.ports.ask import Answered, Asker
from toolcrib.ports.snapshots import Plan
from toolcrib.terms.call import Call, Principal
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.outcome import Change, Outcome
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.records import Approval, Checkpoint, Entry, Held
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import Settings
from toolcrib.terms.tool import Tool, paths, tool
from toolcrib.testing.fakes import ManualClock, MemoryArtifacts, MemoryFiles
from toolcrib.testing.ledger import MemoryApprovals, MemoryTape

RULINGS = ("allow", "ask-once", "ask-deny", "ask-nobody", "deny", "flag")
Verdict = Literal["allow", "ask", "deny"]


class Put(Arguments):
    path: str


class Done(Payload):
    path: str

    def text(self) -> str:
        return self.path


class Plain:
    """Redacts nothing."""

    def text(self, text: str) -> tuple[str, int]:
        return text, 0

    def value(self, value: object) -> tuple[object, int]:
        return value, 0


class Pictures:
    """Checkpoints over the fake files."""

    def __init__(self, files: MemoryFiles) -> None:
        self.files = files

    async def hold(self, call_id: str, paths: Sequence[str]) -> Checkpoint:
        await asyncio.sleep(0)
        return Checkpoint(id=call_id, held=tuple(self._held(path) for path in paths))

    def _held(self, path: str) -> Held:
        data = self.files.data(path)
        digest = None if data is None else of_bytes(data)
        return Held(path=path, kind="missing" if data is None else "file", digest=digest)

    async def changes(self, checkpoint: Checkpoint) -> tuple[Change, ...]:
        await asyncio.sleep(0)
        now = [(held, self._held(held.path).digest) for held in checkpoint.held]
        return tuple(Change(held.path, held.digest, digest) for held, digest in now if digest != held.digest)

    async def plan(self, to: str | None, *, only: bool = False) -> Plan:
        raise Refusal("snapshot.missing", f"nothing to plan to {to} {only}")

    async def restore(self, plan: Plan) -> tuple[str, ...]:
        return tuple(step.held.path for step in plan.steps)

    async def diff(self, plan: Plan) -> str:
        return str(plan)


class Rig:
    """A line over fakes with one writing tool that yields to the loop before and after its effect."""

    def __init__(self, ruling: str) -> None:
        self.clock = ManualClock()
        self.files = MemoryFiles()
        self.files.put("a", b"before")
        self.ran = 0
        self.tape = MemoryTape(self.clock)
        approvals = MemoryApprovals(self.clock, self.tape)
        verdict: Verdict = "deny" if ruling == "deny" else "allow" if ruling == "allow" else "ask"
        rules = (Rule(effect=verdict, tool="put"),)
        catalog = Catalog.build([self._tool()])
        policy = Policy(rules=rules, mode="ask", version=version(rules, mode="ask"))
        kept: Approvals = approvals
        self.line = Line(
            Kit(
                root="/w",
                owner="me",
                settings=Settings(),
                catalog=lambda: catalog,
                policy=lambda: policy,
                clock=self.clock,
                tape=self.tape,
                jobs=self.tape,
                approvals=kept,
                grants=approvals,
                artifacts=MemoryArtifacts(),
                snapshots=Pictures(self.files),
                files=self.files.bound,
                powers={},
                redact=Plain(),
            )
        )
        self.asker = _asker(ruling)
        self.call = Call(
            id="c" * 26,
            tool="put",
            args={"path": "a"},
            principal=Principal(id="me", face="python", thread="t"),
            given="once" if ruling == "flag" else None,
        )

    def _tool(self) -> Tool:
        @tool(kind="write", effect="reversible", writes=paths("path"), name="put", description="Put.")
        async def put(args: Put) -> Answer[Done]:
            await asyncio.sleep(0)
            self.ran += 1
            self.files.put(args.path, b"after")
            await asyncio.sleep(0)
            return Answer(Done(path=args.path))

        return put

    def stages(self) -> list[str]:
        return [entry.stage for entry in self.tape.entries]


def _asker(ruling: str) -> Asker | None:
    if ruling not in {"ask-once", "ask-deny"}:
        return None

    async def ask(_approval: Approval) -> Answered:
        await asyncio.sleep(0)
        return Answered("once" if ruling == "ask-once" else "deny", by="me")

    return ask


async def cancelled_at(rig: Rig, tick: int) -> Outcome | None:
    """Run the call, cancel it after `tick` turns of the loop, and return its outcome, None if it was cancelled."""
    task = asyncio.ensure_future(rig.line.run(rig.call, asker=rig.asker))
    for _ in range(tick):
        await asyncio.sleep(0)
    task.cancel()
    try:
        return await asyncio.wait_for(task, 5)
    except asyncio.CancelledError:
        return None


def check(rig: Rig, outcome: Outcome | None) -> None:
    stages = rig.stages()
    if not stages:
        assert outcome is None
        assert rig.ran == 0
        return
    assert stages.count("closed") == 1, stages
    assert stages[-1] == "closed"
    closed = rig.tape.entries[-1].data["outcome"]
    changed = rig.files.data("a") == b"after"
    assert ("started" in stages) or not changed
    assert bool(closed["evidence"].get("changed")) == changed
    if closed["kind"] == "refused":
        assert (closed["happened"] == "yes") == changed
    if outcome is not None:
        assert outcome.to_json() == closed


@pytest.mark.promise("P-one-closing-entry")
@pytest.mark.soak("cancel")
@pytest.mark.parametrize("ruling", RULINGS)
def test_a_call_cancelled_at_any_tick_closes_exactly_once_and_truly(ruling: str) -> None:
    whole: list[int] = []
    for tick in range(200):
        rig = Rig(ruling)
        outcome = asyncio.run(cancelled_at(rig, tick))
        check(rig, outcome)
        if outcome is not None:
            whole.append(tick)
        if len(whole) == 3:
            break
    assert whole, "the call never outlived a cancellation: the last ticks were not reached"
    assert whole[0] >= 3


async def twice(rig: Rig, tick: int) -> None:
    task = asyncio.ensure_future(rig.line.run(rig.call, asker=rig.asker))
    for _ in range(tick):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=5)
    assert task.done()


@pytest.mark.promise("P-one-closing-entry")
@pytest.mark.parametrize("ruling", RULINGS)
def test_a_second_cancellation_during_the_closing_loses_nothing(ruling: str) -> None:
    for tick in range(40):
        rig = Rig(ruling)
        asyncio.run(twice(rig, tick))
        check(rig, None)


def broken_at(stage: str) -> Callable[[Sequence[Entry]], None]:
    def before(entries: Sequence[Entry]) -> None:
        if any(entry.stage == stage for entry in entries):
            raise Refusal("disk.full", "no space is left for the tape")

    return before


@pytest.mark.promise("P-no-tape-no-effect")
@pytest.mark.parametrize("stage", ["received", "started", "closed"])
def test_without_a_tape_nothing_runs_and_a_lost_closing_entry_is_said(stage: str) -> None:
    rig = Rig("allow")
    rig.tape.before = broken_at(stage)
    outcome = asyncio.run(_run(rig.line.run(rig.call)))
    assert outcome.kind == "refused"
    assert outcome.name == "disk.full"
    changed = rig.files.data("a") == b"after"
    assert changed == (stage == "closed")
    assert outcome.happened == ("yes" if changed else "no")


async def _run(running: Awaitable[Outcome]) -> Outcome:
    return await asyncio.wait_for(running, 5)
