"""`toolcrib mcp`: this workspace's tools for an MCP client over stdio."""

import click

from toolcrib.catalog.dialects import DEFAULT, DIALECTS
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.look import shown
from toolcrib.faces.cli.out import stderr, terminal
from toolcrib.faces.cli.session import drive, opened
from toolcrib.faces.gate.server import serve_stdio
from toolcrib.terms.settings import Mode


@click.command("mcp")
@click.option(
    "--dialect",
    metavar="D",
    type=click.Choice(tuple(DIALECTS)),
    default=DEFAULT,
    help="Names and arguments as this dialect has them.",
)
@flags("directory", "wide", "mode", "without")
def command(*, dialect: str, directory: str, wide: bool, mode: Mode | None, without: tuple[str, ...]) -> int:
    """Serve this workspace's tools to an MCP client over standard input and output, until it closes them.

    The client starts this command; `toolcrib init` writes it into the client's configuration.
    """

    async def work() -> int:
        async with opened(directory, mode=mode, without=without, wide=wide, dialect=dialect) as crib:
            if terminal():
                stderr().line(
                    f"serving {shown(str(crib.root), stderr())}: an MCP client starts this command, and speaks to it"
                )
                stderr().line("  next: Ctrl-D ends it; toolcrib init connects a client")
            await serve_stdio(crib, dialect=dialect)
        return 0

    return drive(work)
