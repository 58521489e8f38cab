"""The ports `Approvals` and `Grants` on the real store and on the fake: one answer, one use, no life after expiry."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

import soak
from shelved import Hands, Running, answers, approval, asked, at, child, grant
from toolcrib.ports.approvals import Approvals, Grants
from toolcrib.ports.tape import Tape
from toolcrib.store import approvals as module
from toolcrib.store import term
from toolcrib.store.store import Store
from toolcrib.terms.records import Approval
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.ledger import MemoryApprovals, MemoryTape

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Desk:
    """The ports, the tape they write to, and the hands of their clock."""

    tape: Tape
    approvals: Approvals
    grants: Grants
    clock: Hands

    async def asked(self, **more: Any) -> Approval:
        """Store a pending approval."""
        made = approval(self.clock, **more)
        await self.approvals.ask(made, asked(made))
        return made


@pytest.fixture(params=["store", "memory"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk]:
    clock = Hands()
    if request.param == "memory":
        tape = MemoryTape(clock)
        memory = MemoryApprovals(clock, tape)
        yield Desk(tape, memory, memory, clock)
        return
    async with at(tmp_path / "store", clock) as store:
        yield Desk(store.tape, store.approvals, store.grants, clock)


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncGenerator[Desk]:
    """Only the real store: what the fake does not promise."""
    clock = Hands()
    async with at(tmp_path / "store", clock) as store:
        yield Desk(store.tape, store.approvals, store.grants, clock)


async def refusal(answer: Any) -> str:
    """Return the name that awaiting `answer` is refused with."""
    with pytest.raises(Refusal) as caught:
        await answer
    assert caught.value.message
    return caught.value.name


async def test_an_ask_comes_back_as_it_was_stored_with_its_entries(desk: Desk) -> None:
    made = await desk.asked(args={"deep": [1, None, {"é": "\ud800"}]}, diff="x" * 20_000)
    assert await desk.approvals.find(made.id) == made
    assert list(await desk.approvals.pending()) == [made]
    assert [each.stage for each in await desk.tape.page(call_id=made.call_id)] == ["received", "asked"]


async def test_an_approval_is_found_by_the_start_or_the_end_of_its_id_where_there_is_only_one(desk: Desk) -> None:
    one = await desk.asked(id="01aaaabbbb")
    other = await desk.asked(id="01aaaacccc")
    assert await desk.approvals.find("01aaaab") == one
    assert await desk.approvals.find("cccc") == other
    assert await desk.approvals.find("01aaaa") is None
    assert await desk.approvals.find("zzzz") is None
    assert await desk.approvals.find("") is None


async def test_the_first_answer_counts_and_every_later_one_is_stale(desk: Desk) -> None:
    made = await desk.asked()
    answered = await desk.approvals.answer(made.id, decision="once", words="go on", by="ann")
    assert (answered.state, answered.decision, answered.words, answered.by) == ("granted", "once", "go on", "ann")
    assert await desk.approvals.find(made.id) == answered
    for decision in ("once", "always", "deny"):
        assert await refusal(desk.approvals.answer(made.id, decision=decision, words="", by="bob")) == "approval.stale"
    assert list(await desk.approvals.pending()) == []
    said = [dict(each.data) for each in await desk.tape.page(call_id=made.call_id) if each.stage == "answered"]
    assert said == [{"approval": made.id, "decision": "once", "words": "go on", "by": "ann"}]


async def test_a_denial_stands_and_cannot_be_consumed(desk: Desk) -> None:
    made = await desk.asked()
    await desk.approvals.answer(made.id, decision="deny", words="not now", by="ann")
    assert await desk.approvals.consume(effect=made.effect, principal=made.principal) is None
    standing = await desk.approvals.standing(effect=made.effect, principal=made.principal)
    assert standing is not None
    assert (standing.state, standing.words) == ("denied", "not now")


async def test_a_yes_is_used_once_by_its_own_effect_and_principal(desk: Desk) -> None:
    made = await desk.asked()
    assert await desk.approvals.consume(effect=made.effect, principal=made.principal) is None
    await desk.approvals.answer(made.id, decision="always", words="", by="ann")
    assert await desk.approvals.consume(effect="f" * 64, principal=made.principal) is None
    assert await desk.approvals.consume(effect=made.effect, principal="else") is None
    taken = await desk.approvals.consume(effect=made.effect, principal=made.principal)
    assert taken is not None
    assert (taken.id, taken.state, taken.decision) == (made.id, "consumed", "always")
    assert await desk.approvals.consume(effect=made.effect, principal=made.principal) is None
    assert await desk.approvals.standing(effect=made.effect, principal=made.principal) is None


async def test_of_many_at_once_one_consumes_and_one_answers(desk: Desk) -> None:
    made = await desk.asked()
    tries = (desk.approvals.answer(made.id, decision="once", words=str(n), by="ann") for n in range(20))
    found = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(each, Approval) for each in found) == 1
    takes = (desk.approvals.consume(effect=made.effect, principal=made.principal) for _ in range(20))
    assert sum(each is not None for each in await asyncio.gather(*takes)) == 1


async def test_the_newest_standing_ask_of_an_effect_is_given(desk: Desk) -> None:
    await desk.asked(id="a1")
    desk.clock.pass_by(1)
    newest = await desk.asked(id="a2")
    await desk.asked(id="a3", effect="f" * 64)
    assert await desk.approvals.standing(effect=newest.effect, principal="me") == newest


async def test_an_expired_ask_is_neither_pending_nor_answerable(desk: Desk) -> None:
    made = await desk.asked(seconds=60)
    granted = await desk.asked(seconds=60, effect="f" * 64)
    await desk.approvals.answer(granted.id, decision="once", words="", by="ann")
    desk.clock.pass_by(59)
    assert list(await desk.approvals.pending()) == [made]
    desk.clock.pass_by(2)
    assert list(await desk.approvals.pending()) == []
    assert await desk.approvals.standing(effect=made.effect, principal="me") is None
    assert await refusal(desk.approvals.answer(made.id, decision="once", words="", by="ann")) == "approval.expired"
    assert await desk.approvals.consume(effect=granted.effect, principal="me") is None
    for each in (made, granted):
        found = await desk.approvals.find(each.id)
        assert found is not None
        assert found.state == "expired"


async def test_waiting_ends_at_once_with_an_answer_given_here(desk: Desk) -> None:
    made = await desk.asked()
    waiting = asyncio.ensure_future(desk.approvals.wait(made.id, seconds=10))
    await asyncio.sleep(0)
    await desk.approvals.answer(made.id, decision="once", words="", by="ann")
    assert (await asyncio.wait_for(waiting, 2)).state == "granted"


async def test_waiting_ends_as_things_stand_when_the_time_is_up(desk: Desk) -> None:
    made = await desk.asked()
    assert await desk.approvals.wait(made.id, seconds=0) == made
    waiting = asyncio.ensure_future(desk.approvals.wait(made.id, seconds=30))
    await asyncio.sleep(0)
    desk.clock.pass_by(31)
    assert (await asyncio.wait_for(waiting, 2)).state == "pending"


async def test_waiting_ends_when_the_ask_expires(desk: Desk) -> None:
    made = await desk.asked(seconds=5)
    waiting = asyncio.ensure_future(desk.approvals.wait(made.id, seconds=30))
    await asyncio.sleep(0)
    desk.clock.pass_by(6)
    assert (await asyncio.wait_for(waiting, 2)).state == "expired"


async def test_a_lease_makes_attended_until_it_ends(desk: Desk) -> None:
    assert not await desk.approvals.attended()
    await desk.approvals.lease("console", seconds=10)
    await desk.approvals.lease("watch", seconds=20)
    assert await desk.approvals.attended()
    desk.clock.pass_by(15)
    assert await desk.approvals.attended()
    await desk.approvals.lease("watch", seconds=0)
    assert not await desk.approvals.attended()
    await desk.approvals.lease("watch", seconds=10)
    desk.clock.pass_by(11)
    assert not await desk.approvals.attended()


async def test_grants_are_listed_by_root_and_counted_down(desk: Desk) -> None:
    free, twice = grant(desk.clock, id="g1"), grant(desk.clock, id="g2", uses=2)
    for each in (free, twice, grant(desk.clock, id="g3", root="/else")):
        await desk.grants.add(each)
    assert list(await desk.grants.active("/root")) == [free, twice]
    assert [await desk.grants.use("g2") for _ in range(3)] == [True, True, False]
    assert [await desk.grants.use("g1") for _ in range(3)] == [True, True, True]
    assert list(await desk.grants.active("/root")) == [free]
    assert await desk.grants.revoke("g1", by="ann")
    assert not await desk.grants.revoke("g1", by="ann")
    assert not await desk.grants.use("g1")
    assert not await desk.grants.use("never")
    assert list(await desk.grants.active("/root")) == []


async def test_a_grant_is_used_no_oftener_than_its_count_by_many_at_once(desk: Desk) -> None:
    await desk.grants.add(grant(desk.clock, id="g1", uses=7))
    used = await asyncio.gather(*(desk.grants.use("g1") for _ in range(20)))
    assert sum(used) == 7


async def test_an_expired_grant_is_not_active(desk: Desk) -> None:
    await desk.grants.add(grant(desk.clock, id="g1", expires=desk.clock.now() + 60))
    assert len(await desk.grants.active("/root")) == 1
    desk.clock.pass_by(61)
    assert list(await desk.grants.active("/root")) == []


async def test_an_expired_grant_cannot_be_used(kept: Desk) -> None:
    for uses in (None, 3):
        await kept.grants.add(grant(kept.clock, id=f"g{uses}", uses=uses, expires=kept.clock.now() + 60))
    kept.clock.pass_by(61)
    assert not await kept.grants.use("gNone")
    assert not await kept.grants.use("g3")


async def test_every_change_is_on_the_tape(kept: Desk) -> None:
    made = await kept.asked()
    await kept.approvals.answer(made.id, decision="once", words="", by="ann")
    await kept.approvals.consume(effect=made.effect, principal="me")
    await kept.grants.add(grant(kept.clock, id="g1", uses=1))
    await kept.grants.use("g1")
    await kept.grants.revoke("g1", by="ann")
    found = (await kept.tape.page())[2:]
    assert [(each.stage, each.call_id) for each in found] == [("answered", made.call_id)] * 2 + [("config", "")] * 3
    assert found[1].data == {"approval": made.id, "consumed": True}
    assert [each.data["change"] for each in found[2:]] == ["added", "used", "revoked"]
    assert found[3].data["uses"] == 0
    assert (await kept.tape.verify()).broken is None


async def test_a_denial_no_longer_stands_once_it_has_expired(kept: Desk) -> None:
    made = await kept.asked(seconds=60)
    await kept.approvals.answer(made.id, decision="deny", words="", by="ann")
    kept.clock.pass_by(61)
    assert await kept.approvals.standing(effect=made.effect, principal="me") is None


async def test_what_was_never_asked_cannot_be_answered_or_waited_for(kept: Desk) -> None:
    assert await refusal(kept.approvals.answer("a9", decision="once", words="", by="ann")) == "approval.stale"
    assert await refusal(kept.approvals.wait("a9", seconds=5)) == "approval.stale"


async def test_an_ask_whose_entries_cannot_be_taped_is_not_stored(kept: Desk) -> None:
    made = await kept.asked()
    again = approval(kept.clock)
    with pytest.raises(Exception, match="already"):
        await kept.approvals.ask(again, asked(made))
    assert await kept.approvals.find(again.id) is None
    assert len(await kept.tape.page()) == 2


ANSWERER = """
import asyncio, sys
from shelved import Running, at
async def main():
    async with at(sys.argv[1], Running()) as store:
        await store.approvals.lease("child", seconds=60)
        print("leased", flush=True)
        sys.stdin.readline()
        await store.approvals.answer(sys.argv[2], decision="once", words="from afar", by="ann")
        print("answered", flush=True)
        sys.stdin.readline()
asyncio.run(main())
"""


async def test_another_process_answers_and_its_lease_ends_with_it(tmp_path: Path) -> None:
    async with at(tmp_path / "store", Running()) as store:
        made = approval(Running())
        await store.approvals.ask(made, asked(made))
        with child(ANSWERER, str(tmp_path / "store"), made.id) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            try:
                assert await to_thread.run_sync(other.stdout.readline) == "leased\n"
                assert await store.approvals.attended()
                waiting = asyncio.ensure_future(store.approvals.wait(made.id, seconds=10))
                other.stdin.write("\n")
                other.stdin.flush()
                found = await waiting
                assert (found.state, found.words) == ("granted", "from afar")
            finally:
                other.kill()
        assert not await store.approvals.attended()
        assert len(await to_thread.run_sync(store.dead_owners)) == 1


def taker(place: Path) -> str:
    """Return code that tries to consume, and says whether it did."""
    return f"""
import asyncio
from shelved import at
async def main():
    async with at({str(place)!r}) as store:
        print(await store.approvals.consume(effect="e" * 64, principal="me") is not None)
asyncio.run(main())
"""


async def test_of_several_processes_one_consumes(tmp_path: Path) -> None:
    place = tmp_path / "store"
    async with at(place) as store:
        made = approval(Hands())
        await store.approvals.ask(made, asked(made))
        await store.approvals.answer(made.id, decision="once", words="", by="ann")
        takers = [child(taker(place)) for _ in range(3)]
        said = [(await to_thread.run_sync(each.communicate))[0].strip() for each in takers]
    assert sorted(said) == ["False", "False", "True"]


@pytest.mark.parametrize("table", ["approvals", "grants"])
async def test_a_row_that_was_changed_by_hand_is_refused(tmp_path: Path, table: str) -> None:
    clock = Hands()
    async with at(tmp_path / "store", clock) as store:
        made = approval(clock)
        await store.approvals.ask(made, asked(made))
        await store.grants.add(grant(clock, uses=1))
        change = "UPDATE approvals SET state = 'granted'" if table == "approvals" else "UPDATE grants SET root = '/'"
        assert await to_thread.run_sync(answers, tmp_path / "store", change) == [[]]
        look = store.approvals.find(made.id) if table == "approvals" else store.grants.active("/")
        assert await refusal(look) == "store.unavailable"


@pytest.mark.attack("A155")
@pytest.mark.parametrize("jump", [3600, -3600, 10 * 365 * 86400, -10 * 365 * 86400])
async def test_a_jump_of_the_wall_clock_never_prolongs_an_ask_a_yes_or_a_grant(kept: Desk, jump: float) -> None:
    asked_for = await kept.asked(seconds=600)
    yes = await kept.asked(seconds=600, effect="f" * 64)
    await kept.approvals.answer(yes.id, decision="once", words="", by="ann")
    await kept.grants.add(grant(kept.clock, expires=kept.clock.now() + 600))
    await kept.approvals.lease("console", seconds=600)
    kept.clock.wall += jump
    live = jump < 0 or jump < 600
    assert bool(await kept.approvals.pending()) == live
    assert bool(await kept.grants.active("/root")) == live
    assert await kept.approvals.attended()
    # The naive reference: a wall clock that was set back would let all of it live on.
    kept.clock.steady += 601
    assert (kept.clock.wall < asked_for.expires) == (jump < 0)
    assert list(await kept.approvals.pending()) == []
    assert await kept.approvals.consume(effect=yes.effect, principal="me") is None
    assert await refusal(kept.approvals.answer(asked_for.id, decision="once", words="", by="x")) == "approval.expired"
    assert list(await kept.grants.active("/root")) == []
    assert not await kept.approvals.attended()


@pytest.mark.attack("A155")
async def test_the_order_of_the_tape_is_its_numbers_whatever_the_clock_says(kept: Desk) -> None:
    for jump in (3600, -7200, 86400 * 3650, -86400 * 7300):
        kept.clock.wall += jump
        made = await kept.asked()
        assert (await kept.tape.latest(limit=1))[0].call_id == made.call_id
    found = await kept.tape.page()
    assert [each.seq for each in found] == list(range(1, 9))
    assert [each.at for each in found] != sorted(each.at for each in found)
    assert (await kept.tape.verify()).broken is None


@pytest.mark.attack("A155")
async def test_after_a_restart_of_the_machine_a_clock_that_was_set_back_expires_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Hands()
    async with at(tmp_path / "store", clock) as store:
        made = approval(clock, seconds=86400.0)
        await store.approvals.ask(made, asked(made))
        await store.approvals.lease("console", seconds=86400.0)
    monkeypatch.setattr(term, "BOOT", "another")
    monkeypatch.setattr("toolcrib.store.leases.BOOT", "another")
    clock.steady = 5.0

    async def pending(store: Store) -> int:
        return len(await store.approvals.pending())

    async with at(tmp_path / "store", clock) as store:
        clock.wall = made.created + 100
        assert await pending(store) == 1
        assert not await store.approvals.attended()
        clock.wall = made.created - 100
        assert await pending(store) == 0
        clock.wall = made.expires + 1
        assert await pending(store) == 0


async def test_taking_an_always_makes_its_grant_as_it_was_shown_and_a_yes_or_an_ungrantable_one_makes_none(
    desk: Desk,
) -> None:
    for number, (decision, grantable) in enumerate((("always", True), ("once", True), ("always", False))):
        made = await desk.asked(effect=f"{number}" * 64, pattern=f"p{number}", grantable=grantable, root="/root")
        await desk.approvals.answer(made.id, decision=decision, words="", by="ann")  # pyright: ignore[reportArgumentType] - a tuple's
        assert len(await desk.grants.active("/root")) == min(number, 1)
        await desk.approvals.consume(effect=made.effect, principal=made.principal)
        (grant,) = await desk.grants.active("/root")
        assert (grant.pattern, grant.by, grant.root, grant.expires) == ("p0", "ann", "/root", None)


async def test_grants_that_have_ended_are_still_among_every_one_and_can_be_taken_back(desk: Desk) -> None:
    for name, more in (("g1", {}), ("g2", {"expires": desk.clock.now() + 60}), ("g3", {"uses": 1})):
        await desk.grants.add(grant(desk.clock, id=name, **more))
    await desk.grants.use("g3")
    desk.clock.pass_by(61)
    assert [each.id for each in await desk.grants.active("/root")] == ["g1"]
    assert [each.id for each in await desk.grants.every("/root")] == ["g1", "g2", "g3"]
    assert await desk.grants.revoke("g2", by="ann")
    assert [each.id for each in await desk.grants.every("/root")] == ["g1", "g3"]


@pytest.mark.attack("A108")
@pytest.mark.soak("tape")
async def test_open_questions_are_bounded_and_none_is_dropped_or_becomes_a_yes(
    kept: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = soak.count(10_000)
    monkeypatch.setattr(module, "MOST_OPEN", most)
    naive: dict[str, str] = {}
    for number in range(most + 50):
        naive[f"q{number}"] = "pending"
    assert len(naive) > most, "a program without a bound keeps them all"
    first = await kept.asked(seconds=60, effect="f" * 64)
    for _ in range(most - 1):
        await kept.asked(seconds=600)
    before = len(await kept.tape.page(limit=100_000))
    for _ in range(3):
        made = approval(kept.clock)
        assert await refusal(kept.approvals.ask(made, asked(made))) == "call.limit"
        assert await kept.approvals.find(made.id) is None
    assert len(await kept.approvals.pending()) == most
    assert len(await kept.tape.page(limit=100_000)) == before
    assert await kept.approvals.consume(effect=first.effect, principal=first.principal) is None
    kept.clock.pass_by(61)
    await kept.asked(seconds=600)
    assert len(await kept.approvals.pending()) == most
    assert (await kept.approvals.find(first.id) or first).state == "expired"
    kept.clock.pass_by(601)
    assert list(await kept.approvals.pending()) == []
    assert await kept.approvals.consume(effect="e" * 64, principal="me") is None
    assert [each for each in await kept.tape.page(limit=100_000) if each.stage == "answered"] == []


@pytest.mark.attack("A107")
@pytest.mark.soak("races")
async def test_of_two_approvers_who_answer_yes_and_no_at_once_one_decides(tmp_path: Path) -> None:
    clock, fooled = Hands(), 0
    async with at(tmp_path / "store", clock) as one, at(tmp_path / "store", clock) as two:
        for number in range(soak.count(1000)):
            fooled += await _naive_round()
            made = approval(clock, effect=f"{number:064x}")
            await one.approvals.ask(made, asked(made))
            yes = one.approvals.answer(made.id, decision="once", words="", by="ann")
            no = two.approvals.answer(made.id, decision="deny", words="", by="bob")
            told = await asyncio.gather(*((yes, no) if number % 2 else (no, yes)), return_exceptions=True)
            (decided,) = [each for each in told if isinstance(each, Approval)]
            (late,) = [each for each in told if isinstance(each, Refusal)]
            assert late.name == "approval.stale"
            assert f"by {decided.by}" in late.message
            takes = (each.approvals.consume(effect=made.effect, principal=made.principal) for each in (one, two, one))
            taken = [each for each in await asyncio.gather(*takes) if each is not None]
            assert len(taken) == (decided.decision == "once")
            stored = [each.data for each in await one.tape.page(call_id=made.call_id) if "decision" in each.data]
            assert [each["decision"] for each in stored] == [decided.decision]
    assert fooled, "a program that looks and then writes takes both answers"


async def _naive_round() -> bool:
    """Let two approvers answer a program that looks first and writes later; tell whether both counted."""
    state, said = {"decision": ""}, list[str]()

    async def answer(decision: str) -> None:
        if not state["decision"]:
            await asyncio.sleep(0)
            state["decision"] = decision
            said.append(decision)

    await asyncio.gather(answer("once"), answer("deny"))
    return len(said) == 2
