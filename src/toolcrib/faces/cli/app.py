"""The command line's front: the list of commands, exit codes, and errors of the product as two lines.

Help is listed from the tuple below; a command's module is loaded when it runs, and nothing else is.
"""

import sys
import traceback
from importlib import import_module
from types import TracebackType
from typing import Any, NoReturn, cast

import click

from toolcrib._version import __version__
from toolcrib.faces.cli.flags import Commands, Listed, flags
from toolcrib.faces.cli.out import UnwritableError, stderr, stdout
from toolcrib.terms.errors import ToolcribError

REFUSED = 1
USAGE = 2
DEFECT = 70
CONFIGURATION = 78
INTERRUPTED = 130

LONGEST = 500
"""Characters shown of what a defect says."""

_HERE = "toolcrib.faces.cli"

COMMANDS: tuple[Listed, ...] = (
    Listed("tools", f"{_HERE}.tools", "command", "List the tools; switch one on or off."),
    Listed("call", f"{_HERE}.call", "command", "Call one tool."),
    Listed("approve", f"{_HERE}.approve", "command", "Answer the calls that wait for a yes."),
    Listed("grants", f"{_HERE}.grants", "command", "List the standing yeses; take them back."),
    Listed("tape", f"{_HERE}.tape", "command", "Show what happened; verify that nothing was altered."),
    Listed("rewind", f"{_HERE}.rewind", "command", "Put files back as they were before a call."),
    Listed("undo", f"{_HERE}.rewind", "undo", "The same as rewind."),
    Listed("policy", f"{_HERE}.policy", "command", "Explain a ruling; check the rules."),
    Listed("trust", f"{_HERE}.trust", "command", "Trust this project's own configuration."),
    Listed("doctor", f"{_HERE}.doctor", "command", "Check that everything works here."),
    Listed("init", f"{_HERE}.init", "command", "Connect Claude Code, Cursor, VS Code or Zed."),
    Listed("mcp", f"{_HERE}.mcp", "command", "Serve this workspace's tools to an MCP client over stdio."),
    Listed("version", f"{_HERE}.version", "command", "Print the version."),
)
"""Every command, in the order of the help."""


@click.group(
    "toolcrib",
    cls=Commands,
    listed=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 refused, 2 usage, 70 a defect, 78 configuration or start, 130 interrupted.",
)
@flags("directory", "wide", "mode", "json", "yes", "deny", "without")
@click.version_option(__version__, message="toolcrib %(version)s")
@click.pass_context
def group(ctx: click.Context, **given: Any) -> int:
    """One governed toolset for AI agents.

    Every call is judged, approved where it must be, checkpointed, recorded on a tape, and can be taken back.

    Without a command: what this directory offers, and how to connect a client. The flags below may stand before the
    command or after it, where the command has them.
    """
    if ctx.invoked_subcommand is None:
        return import_module(f"{_HERE}.home").show(**given)
    return 0


def run(argv: list[str]) -> int:
    """Run one command line and return its exit code. What nobody expected ends the process, with code 70."""
    sys.excepthook = _defect
    try:
        code = group.main(args=argv, prog_name="toolcrib", standalone_mode=False)
    except click.UsageError as error:
        _usage(error)
        return USAGE
    except click.ClickException as error:
        stderr().line(f"toolcrib: {error.format_message()}")
        return USAGE
    except ToolcribError as error:
        _failed(error, as_json="--json" in argv)
        return CONFIGURATION
    except UnwritableError as error:
        stderr().line(f"toolcrib: the output could not be written ({error})")
        return REFUSED
    except (KeyboardInterrupt, click.Abort):
        stderr().line("toolcrib: interrupted")
        return INTERRUPTED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else REFUSED
    return code if isinstance(code, int) else 0


def _defect(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> NoReturn:
    """Tell a fault of this program in two lines, as the interpreter's last word."""
    if not isinstance(fault, Exception):  # Ctrl-C outside a command is no defect
        raise SystemExit(INTERRUPTED)
    load = import_module("toolcrib.wiring.load")
    err = stderr()
    if load.wants_traces():
        err.write("".join(traceback.format_exception(kind, fault, trace)))
    fault = _innermost(fault)
    safe = import_module("toolcrib.terms.visible").one_line
    said = safe(f"{type(fault).__name__}: {fault}".removesuffix(": "), most=LONGEST)
    err.line(f"toolcrib: this is a defect of toolcrib: {said}")
    err.line("  next: please report it; TOOLCRIB_DEBUG=1 shows where it happened")
    raise SystemExit(DEFECT)


def _innermost(fault: BaseException) -> BaseException:
    """Return the one fault that groups of one are wrapped around."""
    if not isinstance(fault, BaseExceptionGroup):
        return fault
    group = cast("BaseExceptionGroup[BaseException]", fault)
    return _innermost(group.exceptions[0]) if len(group.exceptions) == 1 else group


def _usage(error: click.UsageError) -> None:
    where = error.ctx.command_path if error.ctx else "toolcrib"
    stderr().line(f"toolcrib: {error.format_message()}")
    stderr().line(f"  next: {where} --help")


def _failed(error: ToolcribError, *, as_json: bool) -> None:
    safe = import_module("toolcrib.terms.visible").one_line
    if as_json:
        kind = type(error).__name__
        stdout().json({"kind": "error", "name": kind, "message": error.message, "hint": error.hint})
    stderr().line(f"toolcrib: {safe(error.message)}")
    if error.hint:
        stderr().line(f"  next: {safe(error.hint)}")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
