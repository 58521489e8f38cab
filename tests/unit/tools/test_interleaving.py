"""Many hands on one file: no edit is called stale that need not be, and none is lost."""

import random

import pytest

import soak
from toolcrib.terms.refusals import Refusal
from toolcrib.tools.edit import edit_file
from toolcrib.tools.files import read_file
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio

LINES = 40
HANDS = 4


def text_of(values: list[int], ending: str) -> str:
    return "".join(f"slot {index:02} = {value};{ending}" for index, value in enumerate(values))


@pytest.mark.soak("edits")
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
async def test_edits_of_different_lines_always_land_whoever_read_when(ending: str) -> None:
    chance = random.Random(7)
    for _ in range(soak.count(250)):
        first = Hand()
        values = [0] * LINES
        first.files.put("f", text_of(values, ending))
        hands = [first, *(Hand(files=first.files) for _ in range(HANDS - 1))]
        for hand in hands:
            await hand.call(read_file, path="f")
        for step in range(1, 41):
            number = chance.randrange(HANDS)
            # each hand has lines of its own, and none ever reads again: every edit after another's is a rebase
            slot = chance.randrange(LINES // HANDS) * HANDS + number
            old, new = f"slot {slot:02} = {values[slot]};", f"slot {slot:02} = {step};"
            answer = await hands[number].call(edit_file, path="f", edits=[{"old": old, "new": new}])
            values[slot] = step
            assert answer.payload.replacements == (1,)
            assert first.files.data("f") == text_of(values, ending).encode()


@pytest.mark.soak("edits")
async def test_edits_of_the_same_line_lose_nothing_the_loser_is_told() -> None:
    chance = random.Random(11)
    for _ in range(soak.count(250)):
        first = Hand()
        first.files.put("f", "count = 0;\n")
        hands = [first, *(Hand(files=first.files) for _ in range(HANDS - 1))]
        known = [0] * HANDS
        current = 0
        for _ in range(40):
            number = chance.randrange(HANDS)
            hand = hands[number]
            edits = [{"old": f"count = {known[number]};", "new": f"count = {current + 1};"}]
            try:
                await hand.call(edit_file, path="f", edits=edits)
            except Refusal as refusal:
                assert known[number] != current
                assert refusal.name in {"file.stale", "file.no_match"}
                await hand.call(read_file, path="f")
            else:
                assert known[number] == current
                current += 1
            known[number] = current
            assert first.files.data("f") == f"count = {current};\n".encode()
