"""The family `rewind`: putting files back as they were before a call. For people only; no model is offered it."""

from pydantic import Field

from toolcrib.ports.snapshots import Plan, Snapshots
from toolcrib.terms.outcome import Change, Evidence
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Previewed, tool
from toolcrib.tools.plain import counted, printable
from toolcrib.tools.prose import load

_PROSE = load("rewind")


class Rewind(Arguments):
    """Parameters of `rewind`."""

    call: str = Field(min_length=1, description="The call to go back to: files become what they were just before it.")
    paths: tuple[str, ...] = Field(min_length=1, description="The paths that the plan shown to the person puts back.")
    only: bool = Field(default=False, description="Take back that call alone, not the later ones too.")


class Rewound(Payload):
    """What `rewind` answers: the calls taken back, newest first, and the paths put back."""

    to: str
    calls: tuple[str, ...]
    paths: tuple[str, ...]

    def text(self) -> str:
        """Return the counts, then one path a line."""
        head = f"took back {counted(len(self.calls), 'call')}: {', '.join(self.calls)}"
        return "\n".join([head, f"{counted(len(self.paths), 'path')} put back:", *self.paths])


def _paths(args: object) -> tuple[str, ...]:
    return args.paths if isinstance(args, Rewind) else ()


async def _planned(args: Rewind, snapshots: Snapshots) -> Plan:
    plan = await snapshots.plan(args.call, only=args.only)
    planned = {step.held.path for step in plan.steps}
    if planned != set(args.paths):
        differ = sorted(planned ^ set(args.paths))
        raise Refusal(
            "approval.stale",
            f"going back to {args.call} would now touch other paths than those named: {', '.join(differ[:10])}",
            hint="ask for the plan again",
        )
    return plan


async def _preview(args: Rewind, snapshots: Snapshots) -> Previewed:
    plan = await _planned(args, snapshots)
    headline = f"take back {counted(len(plan.calls), 'call')}: put {counted(len(plan.steps), 'path')} back"
    return Previewed(headline, await snapshots.diff(plan))


@tool(
    kind="write",
    effect="irreversible",
    writes=_paths,
    pins="call",
    preview=_preview,
    person_only=True,
    follows=False,
    spills=False,
    summary="Put files back as they were just before a call.",
    description=_PROSE["rewind"],
    refusals=(
        "approval.stale",
        "snapshot.missing",
        "snapshot.conflict",
        "snapshot.damaged",
        "file.outside",
        "file.protected",
        "file.read_only",
        "workspace.gone",
        "disk.full",
        "store.unavailable",
    ),
)
async def rewind(args: Rewind, snapshots: Snapshots) -> Answer[Rewound]:
    """Carry a rewind out; see the family's page."""
    plan = await _planned(args, snapshots)
    diff = await snapshots.diff(plan)
    restored = await snapshots.restore(plan)
    put_back = set(restored)
    changed = tuple(
        Change(step.held.path, step.expect, step.held.mark) for step in plan.steps if step.held.path in put_back
    )
    payload = Rewound(to=plan.to, calls=plan.calls, paths=tuple(map(printable, restored)))
    return Answer(payload, evidence=Evidence(diff=diff or None, changed=changed))
