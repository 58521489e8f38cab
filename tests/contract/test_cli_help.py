"""The help of every command, as people read it. `python tests/contract/test_cli_help.py` writes the snapshot anew."""

from collections.abc import Iterator
from pathlib import Path

import click

from toolcrib.faces.cli.app import group
from toolcrib.faces.cli.flags import MODES
from toolcrib.terms.settings import MODES as REAL_MODES

SNAPSHOT = Path(__file__).with_name("cli-help.txt")
WIDTH = 100


def pages(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yield the help of a command and of every command below it."""
    context = command.make_context(name, [], parent, terminal_width=WIDTH, resilient_parsing=True)
    context.max_content_width = WIDTH
    yield f"$ {context.command_path} --help\n\n{command.get_help(context)}\n"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from pages(found, below, context)


def whole() -> str:
    """Return every page, one after the other."""
    return "\n\n".join(page.rstrip() for page in pages(group, "toolcrib")) + "\n"


def test_help_reads_as_it_did() -> None:
    assert whole() == SNAPSHOT.read_text(encoding="utf-8")


def test_every_listed_command_is_the_one_that_its_module_holds() -> None:
    context = click.Context(group)
    for listed in group.listed:
        command = group.get_command(context, listed.name)
        assert command is not None
        assert command.name == listed.name
        assert command.help


def test_the_modes_of_the_help_are_the_modes_there_are() -> None:
    assert MODES == REAL_MODES


if __name__ == "__main__":
    SNAPSHOT.write_text(whole(), encoding="utf-8")
