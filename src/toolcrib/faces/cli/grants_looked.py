"""`toolcrib grants lint` and `replay`: which standing yeses are worth a look, and what one would have allowed."""

import time

import click

from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.grants import on
from toolcrib.faces.cli.look import paint, table
from toolcrib.faces.cli.out import stderr, stdout
from toolcrib.faces.cli.session import REFUSED, drive, opened
from toolcrib.terms.settings import Mode
from toolcrib.terms.visible import one_line
from toolcrib.wiring.replay import Replayed


@click.command("lint")
@flags("directory", "wide", "mode", "json")
def lint(*, directory: str, wide: bool, mode: Mode | None, as_json: bool) -> int:
    """Find standing yeses that have ended, whose tool is gone or changed, that a rule outweighs, or that are broad.

    Exit 1 when there is one. --json prints an array of {grant, tool, pattern, kind, says}.
    """

    async def work() -> int:
        async with opened(directory, mode=mode, wide=wide) as crib:
            found = await crib.lint_grants()
        out = stdout()
        if as_json:
            out.json(
                [
                    {"grant": each.grant.id, "tool": each.grant.tool, "pattern": each.grant.pattern}
                    | {"kind": each.kind, "says": each.says}
                    for each in found
                ]
            )
        elif found:
            rows = [[each.grant.id[-8:], each.kind, each.grant.tool, each.says] for each in found]
            out.write(table(rows, heads=("grant", "found", "tool", "why"), stream=out))
        else:
            err = stderr()
            err.line(paint("nothing to find fault with", "dim", err))
        return REFUSED if found else 0

    return drive(work, as_json=as_json)


@click.command("replay")
@click.argument("grant", metavar="[ID]", required=False)
@click.option("--tool", metavar="NAME", help="Instead of ID: the tool of a yes that is not given.")
@click.option("--pattern", metavar="P", default="", help="With --tool: a glob over paths, as in rules.")
@flags("directory", "wide", "json")
def replay(*, grant: str | None, tool: str | None, pattern: str, directory: str, wide: bool, as_json: bool) -> int:
    """Show the past calls of this workspace that a standing yes would have let run without asking.

    ID is a grant's id, or the start or the end of it. Each call is shown with what became of its question. Its expiry
    and count do not matter here; rules that ask or deny are taken as they are now.
    """
    if (grant is None) == (tool is None):
        raise click.UsageError("name a grant, or --tool and --pattern for one that is not given")
    if pattern and tool is None:
        raise click.UsageError("--pattern goes with --tool; a grant has its own")

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            found = await crib.replay(grant or "", tool=tool or "", pattern=pattern)
        if as_json:
            stdout().json(found.to_json())
        else:
            _show(found)
        return 0

    return drive(work, as_json=as_json)


def _show(found: Replayed) -> None:
    out = stdout()
    rows = [
        [
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(each.at)),
            each.call_id[-8:],
            each.became,
            each.principal,
            each.footprint.subject,
        ]
        for each in found.calls
    ]
    if rows:
        out.write(table(rows, heads=("when", "call", "became", "caller", "about"), stream=out))
    ran = sum(each.asked for each in found.calls)
    denied = sum(each.became == "denied" for each in found.calls)
    line = f"{found.grant.tool} on {on(found.grant)}: {ran} of {found.asked} calls that asked would not have"
    if denied:
        line += f"; a person said no to {denied}"
    err = stderr()
    err.line(paint(one_line(line), "dim", err))
