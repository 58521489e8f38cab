"""`toolcrib grants`: the standing yeses of this workspace, and taking them back."""

import time
from collections.abc import Sequence

import click

from toolcrib.faces.cli.ask import answerer
from toolcrib.faces.cli.flags import Commands, Listed, flags
from toolcrib.faces.cli.keys import confirm, prompts
from toolcrib.faces.cli.look import paint, table
from toolcrib.faces.cli.out import Stream, stderr, stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, opened, refused
from toolcrib.terms.question import span
from toolcrib.terms.records import Grant
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.grants import Standing

_HERE = "toolcrib.faces.cli.grants"

BELOW: tuple[Listed, ...] = (
    Listed("list", _HERE, "listing", "List the standing yeses (the default)."),
    Listed("lint", f"{_HERE}_looked", "lint", "Find those that are broad, over, or of no use."),
    Listed("replay", f"{_HERE}_looked", "replay", "Show the past calls that one would have let run."),
    Listed("revoke", _HERE, "revoke", "Take standing yeses back."),
)
"""The commands below `grants`."""


@click.group("grants", cls=Commands, listed=BELOW, invoke_without_command=True)
@flags("directory", "wide", "json")
@click.pass_context
def command(ctx: click.Context, *, directory: str, wide: bool, as_json: bool) -> int:
    """List the standing yeses of this workspace: what the answer "always" allowed from then on.

    --json prints an array of {id, tool, pattern, state, by, created, expires, uses, ...}.
    """
    return 0 if ctx.invoked_subcommand is not None else _listed(directory, wide=wide, as_json=as_json)


@click.command("list")
@flags("directory", "wide", "json")
def listing(*, directory: str, wide: bool, as_json: bool) -> int:
    """List the standing yeses of this workspace, those that have ended too."""
    return _listed(directory, wide=wide, as_json=as_json)


def _listed(directory: str, *, wide: bool, as_json: bool) -> int:
    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            found = await crib.standings()
        if as_json:
            stdout().json([each.to_json() for each in found])
        else:
            _show(found)
        return 0

    return drive(work, as_json=as_json)


def _show(found: Sequence[Standing]) -> None:
    out, err = stdout(), stderr()
    if found:
        heads = ("grant", "tool", "given", "by", "holds", "covers")
        out.write(table([_row(each) for each in found], heads=heads, stream=out))
    hint = "toolcrib grants revoke ID takes one back" if found else "nothing is granted here"
    err.line(paint(hint, "dim", err))


def _row(each: Standing) -> list[str]:
    grant = each.grant
    given = time.strftime("%Y-%m-%d", time.localtime(grant.created))
    return [grant.id[-8:], grant.tool, given, grant.by, _holds(each), on(grant)]


def _holds(each: Standing) -> str:
    """Say how long a grant holds."""
    grant = each.grant
    if each.state != "active":
        return each.state
    left = [] if grant.expires is None else [span(grant.expires - time.time())]
    if grant.uses is not None:
        left.append(f"{grant.uses} use{'s' if grant.uses != 1 else ''}")
    return ", ".join(left) or "until revoked"


def on(grant: Grant) -> str:
    """Return what a grant covers, as its pattern says it."""
    return grant.pattern or "every call that names no path"


@click.command("revoke")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Take back every one of this workspace.")
@flags("directory", "wide", "json", "yes")
def revoke(*, ids: tuple[str, ...], everything: bool, directory: str, wide: bool, as_json: bool, yes: bool) -> int:
    """Take standing yeses back: the next call that one would have covered asks again, in running programs too.

    ID is a grant's id, or the start or the end of it. A terminal asks first, --yes does not.
    """
    if everything == bool(ids):
        raise click.UsageError("name the grants to take back, or --all for every one of this workspace")

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            wanted = await _wanted(crib, ids, everything=everything)
            if wanted and not yes and not await _sure(wanted, as_json=as_json):
                return REFUSED
            gone = await crib.revoke(*(grant.id for grant in wanted), by=answerer() if terminal() else "flag")
        _tell(gone, as_json=as_json)
        return 0

    return drive(work, as_json=as_json)


async def _wanted(crib: Crib, ids: Sequence[str], *, everything: bool) -> list[Grant]:
    if everything:
        return [each.grant for each in await crib.standings()]
    return list({grant.id: grant for grant in [await crib.grant(each) for each in ids]}.values())


async def _sure(wanted: Sequence[Grant], *, as_json: bool) -> bool:
    if not terminal():
        hint = "run it in a terminal, or say --yes"
        message = "taking grants back needs a yes, and nobody can be asked here"
        refused("approval.unattended", message, hint=hint, as_json=as_json)
        return False
    out = prompts(as_json=as_json)
    out.write(_lines(wanted, out))
    if await confirm("Take this back?" if len(wanted) == 1 else f"Take these {len(wanted)} back?", out):
        return True
    refused("approval.denied", "nothing was taken back", as_json=as_json)
    return False


def _lines(grants: Sequence[Grant], stream: Stream) -> str:
    rows = [[grant.id[-8:], grant.tool, on(grant)] for grant in grants]
    return table(rows, heads=("grant", "tool", "covers"), stream=stream)


def _tell(gone: Sequence[Grant], *, as_json: bool) -> None:
    out = stdout()
    if as_json:
        out.json({"revoked": [grant.id for grant in gone]})
        return
    out.line(f"took back {len(gone)} grant{'s' if len(gone) != 1 else ''}")
    if gone:
        out.write(_lines(gone, out))
