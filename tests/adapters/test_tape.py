"""The port `Tape` on a real store: durable groups, the chain, large values beside it, several processes at once."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

import soak
from shelved import Hands, answers, at, call, child, closed, opened, outside, received
from toolcrib.ports.tape import Repeated
from toolcrib.store import chain
from toolcrib.store.store import Store
from toolcrib.terms.digest import of_bytes, of_json
from toolcrib.terms.records import Entry
from toolcrib.terms.refusals import Refusal

pytestmark = pytest.mark.anyio

FACT = Entry(stage="config", data={"what": "a fact"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store"


@pytest.fixture
def store(place: Path, clock: Hands) -> Iterator[Store]:
    with opened(place, clock) as found:
        yield found


def tamper(place: Path, *statements: str) -> None:
    """Change the closed database behind the store's back, triggers out of the way."""
    database = sqlite3.connect(place / "store.db")
    kept = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in kept:
        database.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        database.execute(statement)
    for _, sql in kept:
        database.execute(sql)
    database.commit()
    database.close()


async def test_entries_get_gapless_numbers_the_time_and_a_hash_over_all_of_it(store: Store, clock: Hands) -> None:
    first = await store.tape.append([FACT, FACT])
    clock.pass_by(5)
    second = await store.tape.append(call("c1"))
    found = [*first, *second]
    assert [each.seq for each in found] == [1, 2, 3, 4, 5]
    assert found[1].at == found[0].at == found[2].at - 5
    assert found[0].previous == "00" * 32
    for before, after in pairwise(found):
        assert after.previous == before.hash
    for each in found:
        assert each.hash == of_json([each.previous, each.seq, each.at, each.stage, each.call_id, dict(each.data)])


async def test_a_page_gives_back_what_was_appended(store: Store) -> None:
    appended = [taped for group in (call("c1"), call("c2"), [FACT]) for taped in await store.tape.append(group)]
    assert list(await store.tape.page()) == appended
    assert list(await store.tape.page(since=3, limit=2)) == appended[3:5]
    assert list(await store.tape.page(call_id="c2")) == appended[3:6]
    assert list(await store.tape.page(call_id="c2", since=4)) == appended[4:6]
    assert list(await store.tape.page(call_id="")) == appended[6:]
    assert list(await store.tape.latest(limit=2)) == appended[-2:]
    assert list(await store.tape.page(since=99)) == []


async def test_nothing_appended_is_nothing_on_the_tape(store: Store) -> None:
    assert list(await store.tape.append([])) == []
    assert (await store.tape.verify()).entries == 0


async def test_the_tape_goes_on_where_it_ended_after_it_was_closed(place: Path) -> None:
    for number in range(3):
        async with at(place) as store:
            await store.tape.append(call(f"c{number}"))
            assert (await store.tape.verify()).entries == 3 * (number + 1)


async def test_a_group_with_one_entry_that_cannot_be_written_is_not_appended_at_all(store: Store) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await store.tape.append([FACT, Entry(stage="config", data={"x": float("nan")})])
    with pytest.raises(TypeError):
        await store.tape.append([FACT, Entry(stage="config", data={"x": object()})])
    assert list(await store.tape.page()) == []
    assert (await store.tape.append([FACT]))[0].seq == 1


async def test_a_call_is_received_once_and_closed_once(store: Store) -> None:
    await store.tape.append(call("c1"))
    with pytest.raises(Repeated, match="c1"):
        await store.tape.append([FACT, received("c1")])
    with pytest.raises(Repeated, match="c1"):
        await store.tape.append([FACT, closed("c1")])
    with pytest.raises(Repeated):
        await store.tape.append([received("c2"), received("c2")])
    assert len(await store.tape.page()) == 3


async def test_what_fails_takes_nothing_else_of_its_commit_with_it(store: Store) -> None:
    await store.tape.append(call("c1"))
    groups = [[FACT] if number % 3 else [FACT, received("c1")] for number in range(30)]
    answers = await asyncio.gather(*(store.tape.append(group) for group in groups), return_exceptions=True)
    failed = [number for number, answer in enumerate(answers) if isinstance(answer, Repeated)]
    assert failed == list(range(0, 30, 3))
    assert (await store.tape.verify()).entries == 3 + 20


@pytest.mark.parametrize("size", [4000, 5000, 300_000])
async def test_a_large_value_is_kept_beside_the_chain_and_put_back(store: Store, place: Path, size: int) -> None:
    data = {"text": "é" * (size // 6), "small": 1, "other": {"nested": ["x" * size]}}
    taped = (await store.tape.append([Entry(stage="config", data=data)]))[0]
    assert (await store.tape.page())[0].data == data
    rows = (await to_thread.run_sync(answers, place, "SELECT data FROM entries"))[0]
    held = json.loads(rows[0][0])
    assert held["small"] == 1
    assert (held["other"] == data["other"]) == (size < chain.BODY_BYTES - 20)
    if size > chain.BODY_BYTES:
        body = json.dumps(data["other"], separators=(",", ":")).encode()
        assert held["other"] == {"$body": of_bytes(body), "size": len(body)}
    assert taped.hash == of_json([taped.previous, 1, taped.at, "config", "", held])
    assert (await store.tape.verify()).broken is None


async def test_a_value_that_looks_like_one_kept_aside_is_given_back_as_it_was(store: Store) -> None:
    data = {"args": {"$body": "ff" * 32, "size": 3}, "$body": "x", "list": [{"$body": 1}]}
    await store.tape.append([Entry(stage="config", data=data)])
    assert (await store.tape.page())[0].data == data
    assert (await store.tape.verify()).broken is None


async def test_pruned_values_are_marked_and_the_chain_still_holds(store: Store) -> None:
    for text in ("a" * 9000, "b" * 9000, "a" * 9000):
        await store.tape.append([Entry(stage="config", data={"text": text, "short": "s"})])
    assert await store.tape.prune(2) == 1
    first, second, third = await store.tape.page()
    assert first.data["text"] == third.data["text"] == "a" * 9000
    assert second.data["text"] == {"$body": of_bytes(b'"' + b"b" * 9000 + b'"'), "size": 9002, "pruned": True}
    assert second.data["short"] == "s"
    assert (await store.tape.verify()).broken is None
    await store.tape.append([Entry(stage="config", data={"text": "b" * 9000})])
    assert (await store.tape.page(since=1, limit=1))[0].data["text"] == "b" * 9000


@given(data=st.dictionaries(st.text(max_size=8), JSON, max_size=6), call_id=st.text(max_size=8))
def test_an_encoded_entry_is_its_canonical_json_and_comes_back_equal(data: dict[str, Any], call_id: str) -> None:
    coded = chain.encode(Entry(stage="received", call_id=call_id, data=data))
    bodies = dict(coded.bodies)
    assert chain.whole(coded.data, bodies.get) == json.loads(json.dumps(data))
    held = json.loads(coded.data)
    link = chain.link_hash(b"\x01" * 32, 7, 1.5, "received", call_id, coded.data)
    assert link.hex() == of_json(["01" * 32, 7, 1.5, "received", call_id, held])


DAMAGE = {
    "data": ("UPDATE entries SET data = replace(data, 'fact', 'lie') WHERE seq = 4", 4),
    "time": ("UPDATE entries SET at = at + 1 WHERE seq = 4", 4),
    "call": ("UPDATE entries SET call_id = 'other' WHERE seq = 4", 4),
    "stage": ("UPDATE entries SET stage = 'closed' WHERE seq = 4", 4),
    "hash": ("UPDATE entries SET hash = zeroblob(32) WHERE seq = 4", 4),
    "previous": ("UPDATE entries SET previous = zeroblob(32) WHERE seq = 4", 4),
    "an entry gone": ("DELETE FROM entries WHERE seq = 4", 4),
    "the first gone": ("DELETE FROM entries WHERE seq = 1", 1),
    "two exchanged": ("UPDATE entries SET seq = CASE seq WHEN 4 THEN 99 ELSE 4 END WHERE seq IN (4, 5)", 4),
    "a value changed": ("UPDATE bodies SET body = CAST('\"lie\"' AS BLOB)", 6),
    "a value gone": ("DELETE FROM bodies", 6),
}


@pytest.mark.parametrize("kind", sorted(DAMAGE))
async def test_verifying_names_the_first_entry_that_does_not_hold(place: Path, kind: str) -> None:
    statement, broken = DAMAGE[kind]
    async with at(place) as store:
        for _ in range(5):
            await store.tape.append([FACT])
        await store.tape.append([Entry(stage="config", data={"text": "x" * 9000})])
        await store.tape.append([FACT])
        assert (await store.tape.verify()).broken is None
    await to_thread.run_sync(tamper, place, statement)
    async with at(place) as store:
        verdict = await store.tape.verify()
        assert verdict.broken == broken
        assert verdict.entries == broken - 1
        assert verdict.why
        with pytest.raises(Refusal, match=r"store\.unavailable.*damaged"):
            await store.tape.page()


async def test_entries_missing_at_the_end_are_noticed(place: Path) -> None:
    async with at(place) as store:
        await store.tape.append(call("c1"))
        await store.tape.append(call("c2"))
    (place / "mark").unlink()
    await to_thread.run_sync(tamper, place, "DELETE FROM entries WHERE seq > 4")
    async with at(place) as store:
        verdict = await store.tape.verify()
        assert (verdict.entries, verdict.broken) == (4, 5)


async def test_the_tables_themselves_refuse_changes_and_removals(store: Store, place: Path) -> None:
    await store.tape.append([FACT, Entry(stage="config", data={"text": "x" * 9000})])
    for statement in (
        "UPDATE entries SET data = '{}'", "DELETE FROM entries", "UPDATE bodies SET body = x'00'", "DELETE FROM bodies",
    ):  # fmt: skip
        words = await to_thread.run_sync(answers, place, statement)
        assert words in (["the tape is append-only"], ["a body is only ever pruned"])
    assert len(await store.tape.page()) == 2


async def test_a_waiter_that_is_cancelled_leaves_a_whole_group_behind(store: Store) -> None:
    for number in range(30):
        waiting = asyncio.ensure_future(store.tape.append(call(f"c{number}")))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await store.tape.append([FACT])
    found = await store.tape.page()
    assert len(found) in range(1, 92)
    assert (len(found) - 1) % 3 == 0
    assert (await store.tape.verify()).broken is None


async def test_closing_commits_what_waits_and_refuses_what_comes_after(place: Path) -> None:
    store = await to_thread.run_sync(lambda: Store.open(str(place), clock=Hands()))
    waiting = [asyncio.ensure_future(store.tape.append(call(f"c{number}"))) for number in range(50)]
    await asyncio.sleep(0)
    await to_thread.run_sync(store.close)
    assert sorted(each.seq for group in await asyncio.gather(*waiting) for each in group) == list(range(1, 151))
    for late in (store.tape.append([FACT]), store.tape.page(), store.jobs.find("c1")):
        with pytest.raises(Refusal, match=r"store\.unavailable"):
            await late
    await to_thread.run_sync(store.close)
    async with at(place) as again:
        assert (await again.tape.verify()).entries == 150


async def test_an_event_loop_that_ended_takes_the_writer_nowhere(place: Path, store: Store) -> None:
    def abandoned() -> None:
        async def main() -> None:
            asyncio.ensure_future(store.tape.append([FACT]))  # noqa: RUF006 - abandoned on purpose
            await asyncio.sleep(0)

        asyncio.run(main())

    for _ in range(10):
        await to_thread.run_sync(abandoned)
    assert (await store.tape.append([FACT]))[0].seq == 11


async def test_a_forked_copy_of_the_process_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.tape.append([FACT])
    monkeypatch.setattr("os.getpid", lambda: 1)
    with pytest.raises(Refusal, match=r"store\.unavailable"):
        await store.tape.append([FACT])


@pytest.mark.soak("tape")
async def test_many_groups_at_once_share_commits_and_keep_their_order(store: Store) -> None:
    async def caller(name: int) -> list[int]:
        return [
            each.seq for turn in range(soak.count(2000)) for each in await store.tape.append(call(f"c{name}-{turn}"))
        ]

    numbers = await asyncio.gather(*(caller(name) for name in range(20)))
    assert sorted(seq for mine in numbers for seq in mine) == list(range(1, 60 * soak.count(2000) + 1))
    for mine in numbers:
        assert mine == sorted(mine)
        for start in range(0, len(mine), 3):
            assert mine[start : start + 3] == list(range(mine[start], mine[start] + 3))
    assert (await store.tape.verify()).broken is None


WRITER = """
import asyncio, sys
from shelved import Hands, answers, at, call, child, closed, opened, outside, received
async def main():
    async with at(sys.argv[1]) as store:
        for turn in range(int(sys.argv[3])):
            for each in await store.tape.append(call(f"{sys.argv[2]}-{turn}")):
                print(each.seq)
asyncio.run(main())
"""


@pytest.mark.soak("tape")
@pytest.mark.attack("A154", "store")
def test_several_processes_write_one_chain(place: Path) -> None:
    turns = soak.count(2000)
    writers = [child(WRITER, str(place), f"p{number}", str(turns)) for number in range(3)]
    seen = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert [writer.returncode for writer in writers] == [0] * 3
    assert sorted(seen) == list(range(1, 9 * turns + 1))
    with opened(place) as store:
        verdict = asyncio.run(store.tape.verify())
        assert (verdict.entries, verdict.broken) == (9 * turns, None)
        assert store.dead_owners() == ()


async def test_reading_goes_on_while_others_write(store: Store) -> None:
    done = threading.Event()

    async def write() -> None:
        for number in range(40):
            await store.tape.append(call(f"c{number}"))
        done.set()

    async def read() -> int:
        looks = 0
        while not done.is_set():
            found = await store.tape.latest(limit=10)
            assert len(found) % 3 == 1 or len(found) % 3 == 0
            looks += 1
        return looks

    _, looks = await asyncio.gather(write(), read())
    assert looks > 0


async def test_a_store_that_another_process_holds_too_long_is_said_to_be_unavailable(
    place: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.store.database.BUSY_SECONDS", 0.1)
    blocker = await to_thread.run_sync(outside, place, "BEGIN IMMEDIATE")
    assert blocker.stdout is not None
    await to_thread.run_sync(blocker.stdout.readline)
    found = await asyncio.gather(*(store.tape.append([FACT]) for _ in range(5)), return_exceptions=True)
    assert [answer.name for answer in found if isinstance(answer, Refusal)] == ["store.unavailable"] * 5
    assert store.trouble
    await to_thread.run_sync(blocker.communicate)
    assert (await store.tape.append([FACT]))[0].seq == 1
    assert store.trouble == ""
