"""`toolcrib trust`: let this project's own configuration say more than "stricter"."""

import click

from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.keys import confirm, prompts
from toolcrib.faces.cli.look import paint, shown
from toolcrib.faces.cli.out import stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, refused
from toolcrib.wiring.load import PROJECT_CONFIG
from toolcrib.wiring.project import Project, project
from toolcrib.wiring.trust import trust


@click.command("trust")
@click.option("--revoke", is_flag=True, help="Take the trust back.")
@flags("directory", "wide", "json", "yes")
def command(*, revoke: bool, directory: str, wide: bool, as_json: bool, yes: bool) -> int:
    """Trust this project's .toolcrib/config.toml as it is now.

    An untrusted project can only tighten what your own configuration allows. The file is shown, with what it would
    change. A later change of the file takes the trust back by itself.
    """
    found = project(directory, wide=wide)
    if revoke:
        return _revoke(found, as_json=as_json)
    if found.text is None:
        refused(
            "file.missing", f"this project has no {PROJECT_CONFIG}", hint="there is nothing to trust", as_json=as_json
        )
        return REFUSED
    if found.now.trusted:
        return _done(found, "trusted already", as_json=as_json)
    if not as_json or not yes:
        _show(found)
    if not yes and not _asked(as_json):
        return REFUSED
    trust(found.where.state, found.root, found.now.project_digest)
    return _done(found, "trusted", as_json=as_json)


def _asked(as_json: bool) -> bool:
    if not terminal():
        hint = "run it in a terminal, or say --yes"
        refused("approval.unattended", "trusting needs a yes, and nobody can be asked here", hint=hint, as_json=as_json)
        return False

    async def work() -> int:
        return 0 if await confirm("Trust this configuration?", prompts(as_json=as_json)) else REFUSED

    if drive(work) == 0:
        return True
    refused("approval.denied", "not trusted; the project can still tighten", as_json=as_json)
    return False


def _show(found: Project) -> None:
    out = prompts()
    assert found.text is not None
    out.line(paint(f"{found.file} (sha256 {str(found.now.project_digest)[:12]})", "bold", out))
    for line in found.text.rstrip("\n").split("\n"):
        out.line("  " + shown(line, out))
    out.line()
    gains = found.gains()
    out.line(paint("Trusting it would change:" if gains else "Trusting it would change nothing now.", "bold", out))
    for line in gains:
        out.line("  " + shown(line, out))
    out.line()


def _revoke(found: Project, *, as_json: bool) -> int:
    trust(found.where.state, found.root, None)
    return _done(found, "not trusted", as_json=as_json)


def _done(found: Project, state: str, *, as_json: bool) -> int:
    out = stdout()
    if as_json:
        out.json({"workspace": found.root, "state": state, "digest": found.now.project_digest})
    else:
        out.line(f"{shown(found.root, out)}: {state}")
    return 0
