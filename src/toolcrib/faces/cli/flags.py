"""The flags that commands share, said before the command's name or after it, and groups whose commands load late."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import click

Body = Callable[..., Any]
F = TypeVar("F", bound=Body)

MODES = ("locked", "ask", "work", "read-only")
"""The modes by name; a test holds them to the settings, which cost too much to load for a help text."""


HELP = "help"

LONGEST = 80
"""Characters shown of a word that is no command."""


class Listed(NamedTuple):
    """One command as the help lists it: its name, the module and attribute it is loaded from, and a line about it."""

    name: str
    module: str
    attribute: str
    summary: str


_FLAGS: dict[str, Callable[[Body], Body]] = {
    "directory": click.option("-C", "directory", metavar="DIR", default=".", help="The workspace. Default: here."),
    "wide": click.option("--wide", is_flag=True, help="Allow / or the home directory as the workspace."),
    "mode": click.option(
        "--mode",
        type=click.Choice(MODES),
        metavar="M",
        default=None,
        help=f"Preset of rules: {', '.join(MODES)}.",
    ),
    "without": click.option(
        "--without", metavar="NAME", multiple=True, help="Leave a tool out. May be given several times."
    ),
    "json": click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    "yes": click.option("--yes", is_flag=True, help="Answer the question with yes, once."),
    "deny": click.option("--deny", is_flag=True, help="Answer the question with no."),
}


def flags(*names: str) -> Callable[[F], F]:
    """Give a command the named shared flags, in this order in its help."""

    def decorate(body: F) -> F:
        for name in reversed(names):
            _FLAGS[name](body)
        return body

    return decorate


class Commands(click.Group):
    """A group that lists its commands from a tuple and loads only the chosen one, which is handed the group's flags."""

    def __init__(self, *args: Any, listed: Sequence[Listed] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.listed = tuple(listed)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the tuple."""
        return [each.name for each in self.listed]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command."""
        for each in self.listed:
            if each.name == cmd_name:
                return getattr(import_module(each.module), each.attribute)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(each.name, each.summary) for each in self.listed])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command and hand it the flags that stood before its name; one that it does not have is an error.

        The word `help` is `--help`, of the command that follows it or of this group.
        """
        if args[0] == HELP:
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [*args[1:], "--help"]
        if args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0][:LONGEST]!r}{self._instead(args[0])}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, [*_given(ctx), *rest]

    def _instead(self, word: str) -> str:
        """Return what may have been meant by a word that is no command."""
        names = [each.name for each in self.listed]
        if near := import_module("toolcrib.terms.names").nearest(word, names, most=1):
            return f"; did you mean {near[0]}?"
        return "; a tool is called by: toolcrib call TOOL" if "call" in names else ""


def _given(ctx: click.Context) -> list[str]:
    given: list[str] = []
    for option in ctx.command.params:
        if not isinstance(option, click.Option):
            continue
        if ctx.get_parameter_source(option.name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = ctx.params.get(option.name)
        if option.is_flag:
            given.append(option.opts[0])
        else:
            for each in value if option.multiple and value else (value,):
                given += [option.opts[0], str(each)]
    return given
