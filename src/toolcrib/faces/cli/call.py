"""`toolcrib call`: one tool through the line."""

from collections.abc import Sequence

import click

from toolcrib.faces.cli.arguments import for_tool
from toolcrib.faces.cli.ask import asker
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.keys import prompts
from toolcrib.faces.cli.look import diff, paint, shown
from toolcrib.faces.cli.out import stderr, stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, opened, principal
from toolcrib.faces.cli.waiting import Waiting
from toolcrib.terms.call import Decision
from toolcrib.terms.outcome import Ok, Outcome, Refused
from toolcrib.terms.settings import Mode
from toolcrib.terms.visible import one_line
from toolcrib.wiring.crib import Crib


@click.command("call", epilog="Example: toolcrib call grep pattern=TODO glob='*.py'")
@click.argument("tool", metavar="TOOL")
@click.argument("words", metavar="[KEY=VALUE]...|JSON", nargs=-1)
@flags("directory", "wide", "mode", "without", "json", "yes", "deny")
def command(
    *,
    tool: str,
    words: tuple[str, ...],
    directory: str,
    wide: bool,
    mode: Mode | None,
    without: tuple[str, ...],
    as_json: bool,
    yes: bool,
    deny: bool,
) -> int:
    """Call TOOL and print its outcome.

    A value is text unless the tool's parameter is of another type; it starts after the first '='. One argument that
    starts with '{' is the whole object of arguments. When the call needs a yes, a terminal asks with the diff in view;
    --yes and --deny answer beforehand. Without a terminal the call waits as an approval for `toolcrib approve`.
    """
    if yes and deny:
        raise click.UsageError("--yes and --deny cannot both be the answer")
    given: Decision | None = "once" if yes else "deny" if deny else None

    async def work() -> int:
        async with opened(directory, mode=mode, without=without, wide=wide) as crib:
            outcome = await _call(crib, tool, words, given, as_json)
        tell(outcome, as_json=as_json)
        return REFUSED if isinstance(outcome, Refused) else 0

    return drive(work, as_json=as_json)


async def _call(crib: Crib, tool: str, words: Sequence[str], given: Decision | None, as_json: bool) -> Outcome:
    call = crib.make(tool, for_tool(crib, tool, words), given=given, principal=principal())
    waiting = Waiting(one_line(tool, most=40), None if as_json else stderr())
    with waiting.told():
        asks = waiting.around(asker(prompts(as_json=as_json))) if terminal() else None
        return await crib.submit(call, asker=asks)


def tell(outcome: Outcome, *, as_json: bool, change: bool = True) -> None:
    """Print an outcome: one JSON object, or the text a model reads; of a change also the diff and the call's id.

    `change` is false where the diff was shown already.
    """
    if as_json:
        stdout().json(outcome.to_json())
    elif isinstance(outcome, Refused):
        _tell_refused(outcome)
    else:
        _tell_ok(outcome, change=change)


def _tell_ok(outcome: Ok, *, change: bool) -> None:
    out = stdout()
    text, hunks = str(outcome), (outcome.evidence.diff or "").strip("\n")
    before, found, after = text.partition(hunks) if hunks else (text, "", "")
    if before:
        out.line(shown(before.rstrip("\n"), out))
    if hunks and (change or found):
        out.line(diff(hunks, out))
    if after.strip("\n"):
        out.line(shown(after.strip("\n"), out))
    if outcome.evidence.changed:
        out.line(paint(f"call {outcome.call_id}", "dim", out))


def _tell_refused(outcome: Refused) -> None:
    err = stderr()
    head, _, rest = (str(outcome) or f"refused {outcome.name}: {outcome.message}").partition("\n")
    err.line(shown(head, err, style="red"))
    for line in rest.split("\n") if rest else ():
        err.line(("  " if line.startswith("next: ") else "") + shown(line, err))
    if outcome.evidence.changed:
        err.line(paint(f"call {outcome.call_id}", "dim", err))
