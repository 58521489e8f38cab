"""The port `Jobs` on the real store and on the fake: where each call stands, as its entries leave it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shelved import Hands, at, call, closed, received
from toolcrib.ports.jobs import Jobs
from toolcrib.ports.tape import Tape
from toolcrib.terms.records import Entry, Stage
from toolcrib.testing.ledger import MemoryTape

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Both:
    """A tape and the jobs that are read off it."""

    tape: Tape
    jobs: Jobs


@pytest.fixture(params=["store", "memory"])
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Both]:
    if request.param == "memory":
        memory = MemoryTape(Hands())
        yield Both(memory, memory)
        return
    async with at(tmp_path / "store") as store:
        yield Both(store.tape, store.jobs)


def step(call_id: str, stage: Stage) -> Entry:
    return Entry(stage=stage, call_id=call_id, data={})


async def test_a_job_is_what_its_entries_say_of_it(both: Both) -> None:
    first = received("c1", kind="system_tool", tool="move_file", principal="ann", thread="t7", owner="o9")
    await both.tape.append([first, step("c1", "judged")])
    job = await both.jobs.find("c1")
    assert job is not None
    assert (job.kind, job.tool, job.principal, job.thread, job.owner) == ("system_tool", "move_file", "ann", "t7", "o9")
    assert (job.stage, job.seq, job.started, job.outcome, job.text) == ("judged", 2, False, None, "")
    assert await both.jobs.find("c2") is None


async def test_each_entry_moves_the_job_and_started_is_remembered(both: Both) -> None:
    stages: list[Stage] = ["received", "judged", "asked", "answered", "started"]
    await both.tape.append([received("c1")])
    for stage in stages[1:]:
        await both.tape.append([step("c1", stage)])
        job = await both.jobs.find("c1")
        assert job is not None
        assert (job.stage, job.started) == (stage, stage == "started")
    end = closed("c1", changed=["a.py"], text="what the model read")
    taped = await both.tape.append([end])
    job = await both.jobs.find("c1")
    assert job is not None
    assert (job.stage, job.started, job.seq) == ("closed", True, taped[0].seq)
    assert job.outcome == end.data["outcome"]
    assert job.text == "what the model read"


async def test_a_large_outcome_comes_back_whole(both: Both) -> None:
    await both.tape.append([received("c1"), closed("c1", text="long line\n" * 5000)])
    job = await both.jobs.find("c1")
    assert job is not None
    assert job.text == "long line\n" * 5000


async def test_facts_of_no_call_are_no_job(both: Both) -> None:
    await both.tape.append([Entry(stage="config", data={"x": 1})])
    assert await both.jobs.find("") is None
    assert list(await both.jobs.unfinished()) == []


async def test_jobs_are_found_by_the_start_of_their_id_newest_first_and_ten_at_most(both: Both) -> None:
    for number in range(12):
        await both.tape.append(call(f"ab{number:02}"))
    await both.tape.append(call("a%_c"))
    assert [job.call_id for job in await both.jobs.matching("ab")] == [f"ab{number:02}" for number in range(11, 1, -1)]
    assert [job.call_id for job in await both.jobs.matching("ab07")] == ["ab07"]
    assert [job.call_id for job in await both.jobs.matching("a%")] == ["a%_c"]
    assert list(await both.jobs.matching("AB")) == []


async def test_calls_that_changed_something_are_listed_newest_first(both: Both) -> None:
    for number in range(6):
        await both.tape.append(call(f"c{number}", changed=["a.py"] if number % 2 else []))
    found = await both.jobs.changed()
    assert [job.call_id for job in found] == ["c5", "c3", "c1"]
    assert all(job.outcome and job.outcome["evidence"]["changed"] for job in found)
    assert [job.call_id for job in await both.jobs.changed(limit=2)] == ["c5", "c3"]
    assert [job.call_id for job in await both.jobs.changed(since=found[2].seq)] == ["c5", "c3"]


async def test_a_refused_call_that_changed_something_is_listed_too(both: Both) -> None:
    change = {"path": "a", "before": None, "after": None}
    outcome = {"kind": "refused", "name": "call.interrupted", "evidence": {"changed": [change]}}
    await both.tape.append([received("c1"), Entry(stage="closed", call_id="c1", data={"outcome": outcome, "text": ""})])
    assert [job.call_id for job in await both.jobs.changed()] == ["c1"]


async def test_what_is_not_closed_is_unfinished_and_told_apart_by_owner(both: Both) -> None:
    await both.tape.append([received("c1", owner="gone"), step("c1", "started")])
    await both.tape.append([received("c2", owner="here")])
    await both.tape.append([received("c3", owner="gone"), closed("c3")])
    assert {job.call_id for job in await both.jobs.unfinished()} == {"c1", "c2"}
    assert [job.call_id for job in await both.jobs.unfinished(dead=["gone", "never"])] == ["c1"]
    assert list(await both.jobs.unfinished(dead=[])) == []


async def test_an_answer_that_comes_after_the_end_leaves_the_job_closed(both: Both) -> None:
    await both.tape.append([received("c1"), step("c1", "asked"), closed("c1", text="waits")])
    await both.tape.append([step("c1", "answered")])
    job = await both.jobs.find("c1")
    assert job is not None
    assert (job.stage, job.text) == ("closed", "waits")
