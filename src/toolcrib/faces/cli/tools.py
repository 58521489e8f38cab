"""`toolcrib tools`: the roster of tools, and switching one on or off."""

from collections.abc import Sequence
from typing import Any

import click

from toolcrib.catalog.dialects import DEFAULT, DIALECTS
from toolcrib.faces.cli.flags import Commands, Listed, flags
from toolcrib.faces.cli.look import paint, table
from toolcrib.faces.cli.out import stderr, stdout
from toolcrib.faces.cli.session import drive, opened
from toolcrib.terms.outcome import Fields
from toolcrib.terms.settings import Mode
from toolcrib.wiring.crib import Crib

SWITCHES: tuple[Listed, ...] = (
    Listed("enable", "toolcrib.faces.cli.switch", "enable", "Switch a tool on again."),
    Listed("disable", "toolcrib.faces.cli.switch", "disable", "Switch a tool off, everywhere, until it is enabled."),
)
"""The commands below `tools`."""


@click.group("tools", cls=Commands, listed=SWITCHES, invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Also the tools that a model is not offered, with the reason.")
@click.option(
    "--dialect",
    metavar="D",
    type=click.Choice(tuple(DIALECTS)),
    default=DEFAULT,
    help="The names as this dialect shows them.",
)
@flags("directory", "wide", "mode", "without", "json")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    everything: bool,
    dialect: str,
    directory: str,
    wide: bool,
    mode: Mode | None,
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """List the tools that a model is offered here.

    --json prints an array of {name, canonical, surface, state, why, digest}.
    """
    if ctx.invoked_subcommand is not None:
        return 0

    async def work() -> int:
        async with opened(directory, mode=mode, without=without, wide=wide, dialect=dialect) as crib:
            rows = [
                row
                for row in crib.catalog.roster(dialect=dialect, without=without)
                if everything or row["state"] == "visible"
            ]
            if as_json:
                stdout().json(rows)
            else:
                _show(crib, rows, everything=everything, dialect=dialect)
        return 0

    return drive(work, as_json=as_json)


def _show(crib: Crib, rows: Sequence[Fields], *, everything: bool, dialect: str) -> None:
    out = stdout()
    out.write(table([_row(crib, row, everything) for row in rows], heads=_heads(everything), stream=out))
    hidden = len(crib.catalog.roster(dialect=dialect)) - len(rows)
    if hidden > 0 and not everything:
        err = stderr()
        err.line(paint(f"{hidden} more not offered: toolcrib tools --all", "dim", err))


def _heads(everything: bool) -> tuple[str, ...]:
    return ("tool", "effect", "state", "what it does, or why not") if everything else ("tool", "effect", "what it does")


def _row(crib: Crib, row: Fields, everything: bool) -> list[str]:
    descriptor = crib.catalog.named[row["canonical"]].descriptor
    name: str = row["name"] if row["name"] == row["canonical"] else f"{row['name']} ({row['canonical']})"
    cells: list[Any] = [name, descriptor.effect]
    if everything:
        why = row["why"] if row["why"] != row["state"] else ""
        cells += [row["state"], why or descriptor.summary]
    else:
        cells.append(descriptor.summary)
    return [str(cell) for cell in cells]
