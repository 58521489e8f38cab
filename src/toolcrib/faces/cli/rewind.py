"""`toolcrib rewind` and `undo`: put files back as they were before a call, after showing what that changes."""

import click

from toolcrib.faces.cli.call import tell
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.keys import confirm, prompts
from toolcrib.faces.cli.look import diff, paint
from toolcrib.faces.cli.out import stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, opened, principal, refused
from toolcrib.faces.cli.tape import summary
from toolcrib.ports.snapshots import Plan
from toolcrib.terms.outcome import Refused
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.visible import one_line
from toolcrib.wiring.crib import Crib

HELP = """Put files back as they were just before CALL: that call and everything after it is taken back.

CALL is a call's id, or the start or the end of it; without one, the last call that changed something and was not taken
back yet. The change is shown first; a terminal asks, --yes does not. What was put back can be rewound too.
"""


LONGEST = 300
"""Characters shown of a call that is taken back."""

_NONE_LEFT = "found none"
"""How the refusal ends that no call is left to take back."""


def _build(name: str) -> click.Command:
    @click.command(name, help=HELP)
    @click.argument("call", required=False)
    @click.option("--only", is_flag=True, help="Take back that call alone, not the later ones.")
    @click.option("--dry-run", is_flag=True, help="Show what would change, and stop.")
    @flags("directory", "wide", "json", "yes")
    def rewind(
        *, call: str | None, only: bool, dry_run: bool, directory: str, wide: bool, as_json: bool, yes: bool
    ) -> int:
        async def work() -> int:
            async with opened(directory, wide=wide) as crib:
                plan, change = await _planned(crib, call, only=only)
                if dry_run:
                    return await _show(crib, plan, change, as_json=as_json)
                if not yes:
                    if not terminal():
                        return _unasked(as_json)
                    await _show(crib, plan, change, as_json=False)
                    if not await confirm("Put this back?", prompts(as_json=as_json)):
                        refused("approval.denied", "nothing was put back", as_json=as_json)
                        return REFUSED
                outcome = await crib.rewind(plan, principal=principal(), given="once", only=only)
            tell(outcome, as_json=as_json, change=yes)
            return REFUSED if isinstance(outcome, Refused) else 0

        return drive(work, as_json=as_json)

    return rewind


command = _build("rewind")
undo = _build("undo")


async def _planned(crib: Crib, call: str | None, *, only: bool) -> tuple[Plan, str]:
    """Return what to put back and its diff; where nothing is left to take back, the refusal names no next step."""
    if call is not None:
        return await crib.rewind_plan(await crib.find_call(call), only=only)
    try:
        return await crib.rewind_plan(None, only=only)
    except Refusal as refusal:
        if refusal.name != "snapshot.missing" or not refusal.message.endswith(_NONE_LEFT):
            raise
        nothing = "nothing to take back: no call changed a file here, or each was taken back already"
        raise Refusal(refusal.name, nothing) from refusal


async def _show(crib: Crib, plan: Plan, change: str, *, as_json: bool) -> int:
    calls = [await _named(crib, call) for call in plan.calls]
    out = stdout()
    if as_json:
        paths = [step.held.path for step in plan.steps]
        out.json({"kind": "plan", "to": plan.to, "calls": list(plan.calls), "paths": paths, "diff": change})
        return 0
    out.line(paint(f"Takes back {len(calls)} call{'s' if len(calls) != 1 else ''}, newest first:", "bold", out))
    for line in calls:
        out.line(f"  {line}")
    out.line()
    out.line(diff(change.rstrip("\n"), out))
    out.line()
    return 0


async def _named(crib: Crib, call_id: str) -> str:
    for entry in await crib.tape(call_id=call_id, limit=10):
        if entry.stage == "received":
            return one_line(f"{call_id}  {summary(entry)}", most=LONGEST)
    return one_line(call_id)


def _unasked(as_json: bool) -> int:
    hint = "run it in a terminal, or say --yes; --dry-run shows what would change"
    refused(
        "approval.unattended",
        "putting files back needs a yes, and nobody can be asked here",
        hint=hint,
        as_json=as_json,
    )
    return REFUSED
