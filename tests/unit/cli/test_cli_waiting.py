"""What a person sees while a call takes its time: a line that counts, and nothing of it afterwards or in a question."""

import asyncio
import io
from typing import Any, cast

import anyio
import pytest

from toolcrib.faces.cli import waiting
from toolcrib.faces.cli.out import Stream
from toolcrib.faces.cli.waiting import Waiting
from toolcrib.ports.ask import Answered
from toolcrib.terms.records import Approval

pytestmark = pytest.mark.anyio


class Screen(Stream):
    """A terminal that keeps what is written, and tells when something is."""

    def __init__(self, *, terminal: bool = True) -> None:
        super().__init__(io.TextIOWrapper(io.BytesIO()))
        self.terminal = terminal
        self.text = ""
        self.written = anyio.Event()

    def write(self, text: str) -> None:
        self.text += text
        self.written.set()

    async def next(self) -> None:
        """Wait for the next word."""
        self.written = anyio.Event()
        with anyio.fail_after(10):
            await self.written.wait()

    @property
    def seen(self) -> str:
        """What stands on the line now."""
        line = ""
        for each in self.text.split("\r"):
            line = each + line[len(each) :]
        return line.rstrip()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    monkeypatch.setenv("NO_COLOR", "1")


async def test_a_long_call_is_told_and_its_line_is_wiped() -> None:
    screen = Screen()
    with Waiting("grep", screen).told():
        await screen.next()
        assert screen.seen == "grep runs, 0 s; Ctrl-C cancels it"
    assert screen.seen == ""
    before = screen.text
    await anyio.wait_all_tasks_blocked()
    assert screen.text == before


async def test_a_question_is_asked_without_the_line_in_its_way() -> None:
    screen = Screen()
    told = Waiting("grep", screen)
    lines: list[str] = []

    async def asker(approval: Approval) -> Answered | None:
        lines.append(screen.seen)
        before = screen.text
        await anyio.wait_all_tasks_blocked()
        assert screen.text == before
        return None

    with told.told():
        await screen.next()
        await told.around(asker)(cast("Any", None))
        await screen.next()
        lines.append(screen.seen)
    assert lines == ["", "grep runs, 0 s; Ctrl-C cancels it"]


async def test_nobody_is_told_where_nobody_watches() -> None:
    for screen in (Screen(terminal=False), None):
        before = asyncio.all_tasks()
        with Waiting("grep", screen).told():
            assert asyncio.all_tasks() == before
