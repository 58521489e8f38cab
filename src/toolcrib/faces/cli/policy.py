"""`toolcrib policy`: explain a ruling, check the rules."""

from pathlib import Path
from typing import Any

import click

from toolcrib.faces.cli.arguments import for_tool
from toolcrib.faces.cli.flags import Commands, Listed, flags
from toolcrib.faces.cli.look import shown, table
from toolcrib.faces.cli.out import stdout
from toolcrib.faces.cli.session import drive, opened
from toolcrib.terms.outcome import Fields
from toolcrib.terms.settings import Mode
from toolcrib.wiring.check import checked, checked_file
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.project import project

_HERE = "toolcrib.faces.cli.policy"

BELOW: tuple[Listed, ...] = (
    Listed("check", _HERE, "check", "Load the rules, run their examples, say what is in force."),
    Listed("explain", _HERE, "explain", "Say how a call would be ruled, and why."),
)
"""The commands below `policy`."""


@click.group("policy", cls=Commands, listed=BELOW, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Explain a ruling; check the rules."""
    if ctx.invoked_subcommand is None:
        stdout().line(ctx.get_help())


@click.command("explain")
@click.argument("tool", required=False)
@click.argument("words", metavar="[KEY=VALUE]...|JSON", nargs=-1)
@flags("directory", "wide", "mode", "json")
def explain(
    *, tool: str | None, words: tuple[str, ...], directory: str, wide: bool, mode: Mode | None, as_json: bool
) -> int:
    """Say how a call of TOOL would be ruled, and every rule that was considered. Nothing is called.

    Without arguments: the ruling on a call that names no file. Without a tool: one line for every tool.
    """

    async def work() -> int:
        async with opened(directory, mode=mode, wide=wide) as crib:
            if tool is None:
                await _all(crib, as_json=as_json)
            else:
                fields, text = await crib.explain(tool, for_tool(crib, tool, words) if words else None)
                _tell(fields, text, as_json=as_json)
        return 0

    return drive(work, as_json=as_json)


@click.command("check")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@flags("directory", "wide", "mode", "json")
def check(*, file: Path | None, directory: str, wide: bool, mode: Mode | None, as_json: bool) -> int:
    """Load the configuration, run the examples of its rules, and say what is in force.

    With FILE: that file alone, as if it were your own. A configuration that does not load is exit 78, with its place.
    """
    found = project(directory, wide=wide, mode=mode) if file is None else None

    async def work() -> int:
        async with opened(directory, mode=mode, wide=wide) as crib:
            known = tuple(crib.catalog.named)
        result = checked_file(file, known) if file is not None else checked(found.now, known) if found else None
        if result is not None:
            _tell(result.to_json(), result.text(), as_json=as_json)
        return 0

    return drive(work, as_json=as_json)


async def _all(crib: Crib, *, as_json: bool) -> None:
    found = [(await crib.explain(row["name"]))[0] for row in crib.catalog.roster() if row["state"] in _CALLABLE]
    out = stdout()
    if as_json:
        out.json(found)
        return
    rows = [[str(each[name]) for name in ("tool", "ruling", "rule", "column")] for each in found]
    out.write(table(rows, heads=("tool", "ruling", "by", "judged as"), stream=out))


_CALLABLE = {"visible", "denied", "person only"}


def _tell(fields: Fields, text: str, *, as_json: bool) -> None:
    out, value = stdout(), dict[str, Any](fields)
    if as_json:
        out.json(value)
    else:
        out.line(shown(text, out))
