"""Running a command's async part: one loop, clean ends on signals, refusals told, and who calls from here."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import click

from toolcrib.catalog.dialects import DEFAULT
from toolcrib.faces.cli.look import paint, shown
from toolcrib.faces.cli.out import stderr, stdout, terminal
from toolcrib.terms.call import Principal
from toolcrib.terms.names import mint_id, nearest
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import Mode
from toolcrib.wiring.build import open_crib
from toolcrib.wiring.crib import Crib

REFUSED = 1
INTERRUPTED = 130

Work = Callable[[], Coroutine[Any, Any, int]]
"""A command's async part; its result is the exit code."""


def drive(work: Work, *, as_json: bool = False, endless: bool = False) -> int:
    """Run `work` to its end and return its exit code; a refusal is told and is 1.

    Ctrl-C, a termination and a closed terminal cancel it, so that a call under way is closed on the tape. Where the
    work is `endless`, Ctrl-C is its proper end, and nothing is said of it.

    Raises:
        KeyboardInterrupt: Ctrl-C, after everything was closed, unless the work is endless.
    """
    try:
        return asyncio.run(_stoppable(work))
    except Refusal as refusal:
        refused(refusal.name, refusal.message, hint=refusal.hint, as_json=as_json)
        return REFUSED
    except KeyboardInterrupt:
        if not endless:
            raise
        if stderr().terminal:
            stderr().line()
        return INTERRUPTED


async def _stoppable(work: Work) -> int:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    got: list[int] = []

    def stop(number: int) -> None:
        got.append(number)
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        return await work()
    except asyncio.CancelledError:
        if got:
            return 128 + got[0]
        raise
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def opened(
    directory: str,
    *,
    wide: bool = False,
    mode: Mode | None = None,
    without: Sequence[str] = (),
    dialect: str = DEFAULT,
) -> AsyncGenerator[Crib]:
    """Open the workspace that the flags name.

    Raises:
        click.UsageError: `without` names no tool: a slip of the pen would take nothing away.
        ToolcribError: see `open_crib`.
    """
    async with open_crib(directory, mode=mode, without=without, wide=wide) as crib:
        if unknown := crib.catalog.unknown(without, dialect=dialect):
            near = nearest(unknown[0], [row["name"] for row in crib.catalog.roster(dialect=dialect)])
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise click.UsageError(f"--without {unknown[0]}: no tool is called so{hint}")
        yield crib


def refused(name: str, message: str, *, hint: str = "", as_json: bool = False) -> None:
    """Tell a refusal that belongs to no call: one object with `--json`, else two lines on standard error."""
    if as_json:
        stdout().json({"kind": "refused", "name": name, "message": message, "hint": hint})
        return
    err = stderr()
    err.line(paint("refused ", "red", err) + shown(f"{name}: {message}", err, style="red"))
    if hint:
        err.line("  next: " + shown(hint, err))


@cache
def principal() -> Principal:
    """Return who calls: this user at this command line; one conversation a process."""
    return Principal(id=f"cli:{os.getuid()}", face="cli", thread=mint_id(), attended=terminal())
