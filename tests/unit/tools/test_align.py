"""Aligning lines: the blocks lead from the old list to the new one, and are as few as the budget lets them be."""

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.tools.align import Block, blocks

texts = st.lists(st.sampled_from("abcd"), max_size=30)


def applied(old: list[str], new: list[str], found: list[Block]) -> list[str]:
    made: list[str] = []
    at = 0
    for block in found:
        made += old[at : block.start] + new[block.to : block.until]
        at = block.end
    return made + old[at:]


def shortest(old: list[str], new: list[str]) -> int:
    """Return the fewest lines removed and added, by the textbook table."""
    row = list(range(len(new) + 1))
    for index, one in enumerate(old, 1):
        above, row = row, [index]
        for at, other in enumerate(new, 1):
            row.append(above[at - 1] if one == other else 1 + min(above[at], row[at - 1]))
    return row[-1]


@given(texts, texts)
def test_the_blocks_lead_from_old_to_new(old: list[str], new: list[str]) -> None:
    assert applied(old, new, blocks(old, new)) == new


@given(texts, texts)
def test_the_blocks_are_the_shortest_edit_where_the_budget_allows(old: list[str], new: list[str]) -> None:
    changed = sum(block.end - block.start + block.until - block.to for block in blocks(old, new))
    disjoint = set(old).isdisjoint(new)
    assert changed == (len(old) + len(new) if disjoint else shortest(old, new))


@given(texts, texts)
def test_no_two_blocks_touch_and_none_is_empty(old: list[str], new: list[str]) -> None:
    found = blocks(old, new)
    assert all(block.end > block.start or block.until > block.to for block in found)
    assert all(b.start > a.end and b.to > a.until for a, b in pairwise(found))


@given(texts, texts)
def test_past_the_budget_one_block_covers_what_differs(old: list[str], new: list[str]) -> None:
    found = blocks(old, new, steps=-1)
    assert len(found) <= 1 or applied(old, new, found) == new
    assert applied(old, new, found) == new


def test_two_long_lists_that_share_little_are_aligned_in_bounded_time() -> None:
    old = [f"old {number}" if number % 7 else "same" for number in range(20_000)]
    new = [f"new {number}" if number % 5 else "same" for number in range(20_000)]
    began = time.perf_counter()
    assert applied(old, new, blocks(old, new)) == new
    assert time.perf_counter() - began < 2
