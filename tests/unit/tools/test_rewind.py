"""`rewind`: carries out exactly the plan that was shown, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from toolcrib.ports.snapshots import Plan, Snapshots, Step
from toolcrib.terms.outcome import Change
from toolcrib.terms.records import Checkpoint, Held
from toolcrib.tools.rewind import rewind
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio

PLAN = Plan(
    to="c1",
    calls=("c2", "c1"),
    steps=(
        Step(call_id="c1", held=Held(path="a", kind="file", digest="1" * 64), expect="2" * 64),
        Step(call_id="c2", held=Held(path="new", kind="missing"), expect="3" * 64),
    ),
)


@dataclass
class Shelf:
    """Snapshots that know one plan."""

    known: Plan = PLAN
    restored: list[Plan] = field(default_factory=list[Plan])
    asked: list[tuple[str | None, bool]] = field(default_factory=list[tuple[str | None, bool]])

    async def hold(self, call_id: str, paths: Sequence[str]) -> Checkpoint:
        return Checkpoint(id=call_id, held=())

    async def changes(self, checkpoint: Checkpoint) -> tuple[Change, ...]:
        return ()

    async def plan(self, to: str | None, *, only: bool = False) -> Plan:
        self.asked.append((to, only))
        return self.known

    async def restore(self, plan: Plan) -> tuple[str, ...]:
        self.restored.append(plan)
        return tuple(step.held.path for step in plan.steps)

    async def diff(self, plan: Plan) -> str:
        return "the diff"


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def hand(shelf: Shelf) -> Hand:
    return Hand(powers={Snapshots: shelf})


async def test_the_plan_shown_is_carried_out(hand: Hand, shelf: Shelf) -> None:
    shown = await hand.preview(rewind, call="c1", paths=["new", "a"])
    assert (shown.headline, shown.diff) == ("take back 2 calls: put 2 paths back", "the diff")
    assert shelf.restored == []
    answer = await hand.call(rewind, call="c1", paths=["new", "a"], only=True)
    assert shelf.restored == [PLAN]
    assert shelf.asked == [("c1", False), ("c1", True)]
    assert answer.payload.model_dump() == {"to": "c1", "calls": ("c2", "c1"), "paths": ("a", "new")}
    assert answer.payload.text() == "took back 2 calls: c2, c1\n2 paths put back:\na\nnew"
    assert answer.evidence.diff == "the diff"
    assert answer.evidence.changed == (Change("a", "2" * 64, "1" * 64), Change("new", "3" * 64, None))


@pytest.mark.parametrize("paths", [["a"], ["a", "new", "more"], ["other"]])
async def test_a_plan_that_now_touches_other_paths_is_stale(hand: Hand, shelf: Shelf, paths: list[str]) -> None:
    await hand.refused(rewind, "approval.stale", call="c1", paths=paths)
    assert shelf.restored == []


def test_it_is_for_people_and_its_footprint_is_the_plans_paths() -> None:
    assert rewind.descriptor.person_only
    args = rewind.parameters.model_validate({"call": "c1", "paths": ["a", "b"]})
    assert rewind.footprint(args).writes == ("a", "b")
