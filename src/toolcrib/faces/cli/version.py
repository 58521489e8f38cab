"""`toolcrib version`: which version this is."""

import click

from toolcrib._version import __version__
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.out import stdout


@click.command("version")
@flags("json")
def command(*, as_json: bool) -> int:
    """Print the version."""
    if as_json:
        stdout().json({"name": "toolcrib", "version": __version__})
    else:
        stdout().line(f"toolcrib {__version__}")
    return 0
