"""`toolcrib approve`: list the calls that wait for a yes, and answer them with the diff in view."""

import asyncio
import secrets
import time
from collections.abc import Sequence

import anyio
import click

from toolcrib.faces.cli.ask import answerer, choices, unknown
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.keys import ask_line
from toolcrib.faces.cli.look import paint, table
from toolcrib.faces.cli.out import stderr, stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, opened, refused
from toolcrib.faces.cli.view import about, always, request
from toolcrib.ports.ask import Answered
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Fields
from toolcrib.terms.question import span
from toolcrib.terms.records import Approval
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.visible import one_line
from toolcrib.wiring.crib import Crib

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""What a code is made of: nothing that looks like something else."""

CODE = 4
TRIES = 3
LOOK = 0.5
"""Seconds between two looks for new approvals with --watch."""

RULE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" * 60
"""Stands between two questions of --watch."""

LEASE = 10.0
"""Seconds that one lease holds; it is renewed in half that time."""


@click.command("approve")
@click.argument("approval_id", metavar="[ID]", required=False)
@click.option("--watch", is_flag=True, help="Stay, and ask about each call as it comes, until Ctrl-C.")
@flags("directory", "wide", "json")
def command(*, approval_id: str | None, watch: bool, directory: str, wide: bool, as_json: bool) -> int:
    """List the calls of this workspace that wait for a yes; with ID, look at one and answer it.

    ID may be the start or the end of an approval's id. Answering needs a terminal, and a yes needs the code that stands
    under the diff. A call that waits goes on at once; one that has ended uses the yes when it is repeated unchanged.
    """
    if approval_id is not None and watch:
        raise click.UsageError("name one approval, or --watch for all of them")
    answering = watch or approval_id is not None
    if answering and as_json:
        raise click.UsageError("--json lists approvals; it cannot answer one")
    if answering and not terminal():
        hint = "open a terminal in the workspace and run the same command there"
        refused("approval.unattended", "approving needs a person at a terminal", hint=hint)
        return REFUSED

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            if watch:
                await _watch(crib)
                return 0
            if approval_id is not None:
                return await _one(crib, approval_id)
            _list(await crib.pending(), as_json=as_json)
            return 0

    return drive(work, as_json=as_json, endless=watch)


def _list(waiting: Sequence[Approval], *, as_json: bool) -> None:
    out, now = stdout(), time.time()
    if as_json:
        out.json([_plain(each) for each in waiting])
        return
    rows = [[each.id[-8:], each.tool, each.principal, span(each.expires - now), about(each)] for each in waiting]
    if rows:
        out.write(table(rows, heads=("approval", "tool", "caller", "expires in", "about"), stream=out))
    err = stderr()
    hint = "toolcrib approve ID shows one and takes the answer" if rows else "nothing waits for a yes"
    err.line(paint(hint, "dim", err))


def _plain(each: Approval) -> Fields:
    names = (
        "id",
        "call_id",
        "tool",
        "principal",
        "root",
        "subject",
        "headline",
        "diff",
        "reason",
        "created",
        "expires",
    )
    found: Fields = {name: getattr(each, name) for name in names}
    return {**found, "args": dict(each.args), "state": each.state}


async def _one(crib: Crib, approval_id: str) -> int:
    found = await crib.approval(approval_id)
    if found is None:
        refused(
            "approval.stale",
            f"nothing waits under {approval_id!r} in {crib.root}",
            hint="is it in another workspace? name it with -C DIR; toolcrib approve lists what waits",
        )
        return REFUSED
    if found.state != "pending":
        refused(
            "approval.stale",
            f"approval {found.id[-8:]} was settled already: {found.settled}",
            hint="toolcrib approve lists what waits",
        )
        return REFUSED
    answered = await decide(found)
    if answered is None:
        stderr().line("not answered; it still waits")
        return REFUSED
    await _record(crib, found, answered)
    return 0


async def _record(crib: Crib, approval: Approval, answered: Answered) -> None:
    await crib.answer(approval.id, decision=answered.decision, words=answered.words, by=answered.by)
    out = stdout()
    if answered.decision == "deny":
        out.line(paint("denied", "red", out) + "; the caller is told")
    else:
        how = "once" if answered.decision == "once" else "always"
        out.line(
            paint(f"approved {how}", "green", out) + "; it runs now if its caller waits, else when the call is repeated"
        )


async def decide(approval: Approval) -> Answered | None:
    """Show an approval and return the person's answer; None leaves it waiting. A yes takes the code under the diff."""
    out = stdout()
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE))
    out.write(request(approval, out, now=time.time()))
    out.write(always(approval, out))
    out.line(f"To say yes, type this code when asked: {paint(code, 'bold', out)}")
    while True:
        answer = await ask_line(f"Allow? {choices(approval)}, Enter = leave it waiting  ", out)
        match (answer or "").lower():
            case "":
                return None
            case "n" | "no" | "deny":
                words = await ask_line("What should the caller be told? (Enter for nothing)  ", out)
                return Answered("deny", words=words or "", by=answerer())
            case "y" | "yes" | "once":
                return Answered("once", by=answerer()) if await _typed(code) else None
            case "a" | "always" if approval.grantable:
                return Answered("always", by=answerer()) if await _typed(code) else None
            case _:
                out.line(unknown(approval))


async def _typed(code: str) -> bool:
    out = stdout()
    for _ in range(TRIES):
        typed = await ask_line("Code: ", out)
        if typed is None:
            return False
        if secrets.compare_digest(typed.upper().encode(), code.encode()):
            return True
        out.line("that is not the code")
    return False


async def _watch(crib: Crib) -> None:
    holder = f"{answerer()}:{mint_id()}"
    stdout().line("watching for calls that need a yes; Ctrl-C ends it")
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_lease, crib, holder)
            await _ask_each(crib)
    finally:
        with anyio.CancelScope(shield=True):
            await crib.watch(holder, seconds=0)


async def _lease(crib: Crib, holder: str) -> None:
    while True:
        await crib.watch(holder, seconds=LEASE)
        await asyncio.sleep(LEASE / 2)


async def _ask_each(crib: Crib) -> None:
    left: set[str] = set()
    out, rule = stdout(), ""
    while True:
        approval = await _next(crib, left)
        if approval is None:
            await asyncio.sleep(LOOK)
            continue
        if rule:
            out.line(paint(rule, "dim", out))
        rule = RULE
        answered = await decide(approval)
        left.add(approval.id)
        if answered is None:
            out.line("left waiting")
            continue
        try:
            await _record(crib, approval, answered)
        except Refusal as refusal:
            out.line(f"too late: {one_line(refusal.message)}")


async def _next(crib: Crib, left: set[str]) -> Approval | None:
    """Return the next approval to ask about, None where there is none: first those whose call has not ended."""
    waiting = [each for each in await crib.pending() if each.id not in left]
    for each in waiting if len(waiting) > 1 else ():
        if all(entry.stage != "closed" for entry in await crib.tape(call_id=each.call_id)):
            return each
    return waiting[0] if waiting else None
