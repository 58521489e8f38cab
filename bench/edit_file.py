"""Editing a file of 1 MiB, durable with its pre-image, beside the bare writes that this needs."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from _harness import Figure, Plan, main, p50, p95, workspace

import toolcrib

TIMES = 60
SIZE = 1 << 20
LINE = "line {:06d} of a large source file, with enough text in it to be a line of sixty-four\n"


async def edits(directory: Path, text: str, times: int) -> list[float]:
    """Return how long each edit took, in milliseconds; each cites the digest that the one before answered with."""
    took: list[float] = []
    (directory / "large.py").write_text(text)
    async with toolcrib.open_crib(directory, mode="work") as crib:
        read = await crib.call("read_file", path="large.py", limit=1)
        digest = read.evidence.digest
        for turn in range(times + 5):
            old = LINE.format(5000) if turn == 0 else f"edit {turn - 1:06d}\n"
            change = {"old": old, "new": f"edit {turn:06d}\n"}
            began = time.perf_counter()
            outcome = await crib.call("edit_file", path="large.py", digest=digest, edits=[change])
            took.append((time.perf_counter() - began) * 1000)
            assert outcome.kind == "ok", str(outcome)
            digest = outcome.evidence.digest
    return took[5:]


def floor(directory: Path, data: bytes, times: int) -> list[float]:
    """Return how long two durable files take: write, flush, rename and flush the directory, for pre-image and file."""
    took: list[float] = []
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(times):
        began = time.perf_counter()
        for name in ("pre-image", "file"):
            with open(directory / f"{name}.new", "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(directory / f"{name}.new", directory / name)
            os.fsync(handle)
        took.append((time.perf_counter() - began) * 1000)
    os.close(handle)
    return took


async def measure(plan: Plan) -> Sequence[Figure]:
    """Measure the edits, then the floor on the same disk."""
    text = "".join(LINE.format(number) for number in range(SIZE // len(LINE.format(0)) + 1))
    with workspace() as directory:
        took = await edits(directory, text, plan.times(TIMES))
        (directory / "floor").mkdir()
        bare = floor(directory / "floor", text.encode(), plan.times(TIMES))
    return [
        Figure("edit_file on 1 MiB, durable with its pre-image, p50", p50(took), "ms", 15),
        Figure("edit_file on 1 MiB, durable with its pre-image, p95", p95(took), "ms"),
        Figure("floor: two bare durable writes of 1 MiB, p50", p50(bare), "ms"),
        Figure("ratio to the floor", p50(took) / p50(bare), ""),
    ]


if __name__ == "__main__":
    main("Editing a file of 1 MiB", measure)
