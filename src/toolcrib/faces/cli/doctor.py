"""`toolcrib doctor`: does everything work here, and if not, what to do."""

from dataclasses import asdict

import click

from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.look import Style, paint, shown, table
from toolcrib.faces.cli.out import stdout
from toolcrib.faces.cli.session import REFUSED, drive
from toolcrib.wiring.checks import State
from toolcrib.wiring.doctor import examine

_STYLES: dict[State, Style] = {"ok": "green", "note": "yellow", "fail": "red"}


@click.command("doctor")
@flags("directory", "wide", "json")
def command(*, directory: str, wide: bool, as_json: bool) -> int:
    """Check the installation, the configuration, the workspace and its store. Exit 1 if something does not work."""

    async def work() -> int:
        checks = await examine(directory, wide=wide)
        bad = [check for check in checks if check.state == "fail"]
        out = stdout()
        if as_json:
            out.json({"ok": not bad, "checks": [asdict(check) for check in checks]})
        else:
            out.write(
                table(
                    [[each.name, each.state, each.found] for each in checks],
                    heads=("check", "state", "found"),
                    stream=out,
                )
            )
            for each in checks:
                if each.next:
                    out.line(f"{paint(each.state, _STYLES[each.state], out)} {each.name}: {shown(each.next, out)}")
        return REFUSED if bad else 0

    return drive(work, as_json=as_json)
