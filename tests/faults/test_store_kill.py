"""The store under SIGKILL at any moment: what was acknowledged is there, groups are whole, nothing is left behind."""

import asyncio
import json
import time
from pathlib import Path

import pytest

import soak
from shelved import child, opened

HARNESS = '''
import asyncio, json, os, random, select, signal, sys, time
from contextlib import suppress
from shelved import Hands, Running, approval, asked, call, grant, opened
from toolcrib.store.store import Store
from toolcrib.terms.refusals import Refusal

ORDER = ["pending", "granted", "consumed"]


def work(place, pipe, seed, early):
    """Do everything at once and acknowledge each step, until the end comes; `early` acknowledges too soon."""
    clock, chance = Running(), random.Random(seed)
    store = Store.open(place, clock=clock)

    def say(*words):
        os.write(pipe, (json.dumps(words) + "\\n").encode())

    async def calls(name):
        for turn in range(10_000):
            entries = call(f"{seed}-{name}-{turn}", text="t" * chance.choice([10, 9000]))
            if early:
                say("call", f"{seed}-{name}-{turn}", None)
            ends = [each.seq for each in await store.tape.append(entries)]
            if not early:
                say("call", f"{seed}-{name}-{turn}", ends)

    async def consent():
        for turn in range(10_000):
            made = approval(clock, id=f"{seed}-a{turn}", call_id=f"{seed}-c{turn}", effect=f"{seed}-e{turn}")
            await store.approvals.ask(made, asked(made))
            say("approval", made.id, "pending")
            await store.approvals.answer(made.id, decision="once", words="", by="ann")
            say("approval", made.id, "granted")
            assert await store.approvals.consume(effect=made.effect, principal="me")
            say("approval", made.id, "consumed")
            await store.grants.add(grant(clock, id=f"{seed}-g{turn}", uses=2))
            say("grant", f"{seed}-g{turn}", 2)
            await store.grants.use(f"{seed}-g{turn}")
            say("grant", f"{seed}-g{turn}", 1)

    async def blobs():
        for turn in range(10_000):
            data = chance.randbytes(chance.choice([50, 20_000, 300_000]))
            say("blob", await store.blobs.put(data))
            say("artifact", (await store.artifacts.put(data[::-1], media="text/plain")).id)

    async def main():
        await asyncio.gather(calls("x"), calls("y"), consent(), blobs())

    asyncio.run(main())


def struck(place, seed, seconds, early, opening):
    """Run the work in a process, kill it, and return what it acknowledged.

    It is killed so many seconds after its first acknowledgement, or after its start where it is to die `opening`.
    """
    end, pipe = os.pipe()
    worker = os.fork()
    if not worker:
        os.close(end)
        try:
            work(place, pipe, seed, early)
        finally:
            os._exit(3)
    os.close(pipe)
    said = b"" if opening or not select.select([end], [], [], 15)[0] else os.read(end, 1 << 16)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([end], [], [], left)[0]:
            more = os.read(end, 1 << 16)
            if not more:
                break
            said += more
    os.kill(worker, signal.SIGKILL)
    while more := os.read(end, 1 << 16):
        said += more
    os.close(end)
    assert os.WTERMSIG(os.waitpid(worker, 0)[1]) == signal.SIGKILL, "the worker ended by itself"
    return [json.loads(line) for line in said.decode().splitlines()]


async def compare(store, said):
    """Hold the store against everything that was ever acknowledged."""
    for kind, name, *rest in said:
        if kind == "call":
            found = await store.tape.page(call_id=name)
            assert len(found) == 3, (name, found)
            assert rest[0] in (None, [each.seq for each in found]), (name, found)
            assert (await store.jobs.find(name)).stage == "closed"
        elif kind == "approval":
            found = await store.approvals.find(name)
            assert ORDER.index(found.state) >= ORDER.index(rest[0]), (name, found.state, rest)
        elif kind == "grant":
            left = {each.id: each.uses for each in await store.grants.active("/root")}
            assert left[name] <= rest[0], (name, left[name], rest)
        elif kind == "blob":
            await store.blobs.get(name)
        else:
            await store.artifacts.read(name, offset=0, limit=1 << 20)
    verdict = await store.tape.verify()
    assert verdict.broken is None, verdict
    groups, consumed = {}, []
    for since in range(0, verdict.entries, 1000):
        for each in await store.tape.page(since=since, limit=1000):
            groups.setdefault(each.call_id, []).append(each.stage)
            consumed += [each.data["approval"]] if each.data.get("consumed") else []
    assert len(consumed) == len(set(consumed)), "an approval was used twice"
    for name, stages in groups.items():
        whole = ["received", "asked"] if "-c" in name else ["received", "judged", "closed"]
        assert not name or stages[: len(whole)] == whole, (name, stages)


def main(top, points, seed, early):
    chance, acknowledged, place, said = random.Random(seed), 0, "", []
    for point in range(points):
        if point % 10 == 0:
            place, said = f"{top}/store{point}", []
        seconds = chance.choice([0.001, 0.01, 0.05]) * chance.uniform(0.2, 1.8)
        fresh = struck(place, f"{seed}.{point}", seconds, early, point % 5 == 4)
        said += fresh
        acknowledged += len(fresh)
        with opened(place, Running()) as store:
            for owner in store.dead_owners():
                assert store.forget_owner(owner)
            asyncio.run(compare(store, fresh if point % 10 < 9 else said))
            assert os.listdir(f"{place}/owners") == [f"{store.owner}.lock"], os.listdir(f"{place}/owners")
            assert os.listdir(f"{place}/blobs/aside") == [], os.listdir(f"{place}/blobs/aside")
        assert set(os.listdir(place)) == {"store.db", "mark", "owners", "blobs"}, os.listdir(place)
        assert os.listdir(f"{place}/owners") == []
    print(json.dumps({"points": points, "acknowledged": acknowledged}))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "early")
'''


@pytest.mark.attack("A144", "files")
@pytest.mark.soak("kill")
def test_nothing_acknowledged_is_lost_wherever_the_process_is_killed(tmp_path: Path) -> None:
    points = soak.count(10_000)
    with child(HARNESS, str(tmp_path), str(points), "1", "in time") as process:
        said, _ = process.communicate()
    assert process.returncode == 0
    found = json.loads(said)
    assert found["points"] == points
    assert found["acknowledged"] > points


@pytest.mark.attack("A144", "files")
def test_the_harness_catches_a_store_that_acknowledges_too_early(tmp_path: Path) -> None:
    with child(HARNESS, str(tmp_path), "30", "2", "early", quiet=True) as process:
        process.communicate()
    assert process.returncode == 1


KILLED = """
import asyncio, os, sys
from shelved import Running, at, call, received
async def main():
    async with at(sys.argv[1], Running()) as store:
        for number in range(0, int(sys.argv[2]), 300):
            await store.tape.append([each for more in range(100) for each in call(f"c{number + more}", text="t" * 600)])
        await store.tape.append([received("open", owner=store.owner)])
        os.kill(os.getpid(), 9)
asyncio.run(main())
"""


@pytest.mark.attack("A160", "store")
@pytest.mark.soak("tape")
@pytest.mark.timeout(300)
def test_a_large_store_is_ready_within_two_seconds_after_a_kill(tmp_path: Path) -> None:
    records, place = soak.count(100_000), tmp_path / "store"
    with child(KILLED, str(place), str(records)) as process:
        assert process.wait(240) == -9
    began = time.monotonic()
    with opened(place) as store:
        # What recovery asks for: the calls that the killed process left open.
        left = asyncio.run(store.jobs.unfinished(dead=store.dead_owners()))
        ready = time.monotonic() - began
        assert [job.call_id for job in left] == ["open"]
        assert ready < 2
        assert asyncio.run(store.tape.verify()).entries > records
