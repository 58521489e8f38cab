"""Which files are no text is remembered for as long as they do not change."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from toolcrib.host.finder import heads
from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.engine import Job, Proposal
from toolcrib.host.finder.reading import binaries

pytestmark = pytest.mark.anyio


class Noted:
    """Changes as they become known."""

    def __init__(self) -> None:
        self.version = 1
        self._log: list[tuple[int, str]] = []

    def note(self, path: str) -> None:
        """Take note of a change."""
        self.version += 1
        self._log.append((self.version, path))

    def changed_since(self, version: int) -> frozenset[str] | None:
        """Return what changed since."""
        return frozenset(path for number, path in self._log if number > version)


async def test_a_file_that_becomes_text_while_it_is_looked_at_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, truth = tmp_path / "a", Noted()
    target.write_bytes(b"\0needle\n")
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    job = Job(expression="needle", multiline=False, directories=[""], places=1, files=frozenset("a"), most_file=1000)
    proposal = Proposal(counts={}, doubtful=frozenset("a"), rest=True)

    def overtaken(root: int, paths: Iterable[str], most: int) -> set[str]:
        found = binaries(root, paths, most)
        target.write_bytes(b"needle\n")
        truth.note("a")  # by another search at the same time
        return found

    try:
        known = heads.Heads(handle, truth)
        monkeypatch.setattr(heads, "binaries", overtaken)
        for _ in range(2):
            told = await known.told(proposal, job, Budget(seconds=5, entries=10))
        monkeypatch.undo()
        told = await known.told(proposal, job, Budget(seconds=5, entries=10))
        assert told.doubtful == {"a"}
        assert told.binary == frozenset()
        target.write_bytes(b"\0needle\n")
        truth.note("a")
        told = await known.told(proposal, job, Budget(seconds=5, entries=10))
        assert told.binary == {"a"}, "what is no text is told once it was looked at"
    finally:
        os.close(handle)
