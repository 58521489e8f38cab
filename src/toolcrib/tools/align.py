"""Which lines differ between two lists of lines: a bounded difference search.

After E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). The search stops at a budget of steps;
what it did not align is one block.
"""

from collections.abc import Sequence
from typing import NamedTuple

STEPS = 100_000
"""Steps spent on aligning one pair of lists, about 40 ms."""


class Block(NamedTuple):
    """Lines `start` to `end` of the old list become lines `to` to `until` of the new one."""

    start: int
    end: int
    to: int
    until: int


def blocks(old: Sequence[str], new: Sequence[str], *, steps: int = STEPS) -> list[Block]:
    """Return the blocks that differ, in order, none touching another."""
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail, most = 0, most - head
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    if not before and not after:
        return []
    whole = [Block(0, len(before), 0, len(after))]
    found = whole
    if before and after and not set(before).isdisjoint(after):
        found = _search(before, after, steps) or whole
    return [Block(a + head, b + head, c + head, d + head) for a, b, c, d in found]


def _search(old: Sequence[str], new: Sequence[str], steps: int) -> list[Block] | None:
    """Return the shortest edit as blocks, or None when it takes more than `steps`."""
    rows: list[list[int]] = []
    reach: dict[int, int] = {1: 0}
    for depth in range(len(old) + len(new) + 1):
        row: list[int] = []
        for diagonal in range(-depth, depth + 1, 2):
            down = diagonal == -depth or (diagonal != depth and reach[diagonal - 1] < reach[diagonal + 1])
            x = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            first, y = x, x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x += 1
                y += 1
            reach[diagonal] = x
            row.append(x)
            steps -= 1 + x - first
            if x >= len(old) and y >= len(new):
                return _walked(rows, diagonal, x)
        rows.append(row)
        if steps < 0:
            return None
    return None


def _walked(rows: Sequence[Sequence[int]], diagonal: int, x: int) -> list[Block]:
    """Walk back from the end over the recorded rows, collecting the steps that were not common lines."""
    found: list[Block] = []
    for depth in range(len(rows), 0, -1):
        row = rows[depth - 1]
        left, right = _at(row, depth - 1, diagonal - 1), _at(row, depth - 1, diagonal + 1)
        down = diagonal == -depth or (diagonal != depth and left < right)
        diagonal += 1 if down else -1
        x = right if down else left
        y = x - diagonal
        step = Block(x, x, y, y + 1) if down else Block(x, x + 1, y, y)
        if found and (step.end, step.until) == (found[-1].start, found[-1].to):
            step = Block(step.start, found[-1].end, step.to, found.pop().until)
        found.append(step)
    found.reverse()
    return found


def _at(row: Sequence[int], depth: int, diagonal: int) -> int:
    index = (diagonal + depth) // 2
    return row[index] if 0 <= index < len(row) else -1
