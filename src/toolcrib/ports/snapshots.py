"""Pre-images of a call's write footprint, and putting them back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.terms.outcome import Change
from toolcrib.terms.records import Checkpoint, Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One path to put back: it must now be `expect` (None: nothing) and becomes what was held before `call_id` ran."""

    call_id: str
    held: Held
    expect: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a rewind would do: the calls it takes back, newest first, and one step a path."""

    to: str
    calls: tuple[str, ...]
    steps: tuple[Step, ...]


class Snapshots(Protocol):
    """Checkpoints around calls, and rewinding to before one."""

    async def hold(self, call_id: str, paths: Sequence[str]) -> Checkpoint:
        """Make the pre-image of each path durable, missing parents included.

        Raises:
            Refusal: `checkpoint.failed`; the tool must not run.
        """
        ...

    async def changes(self, checkpoint: Checkpoint) -> tuple[Change, ...]:
        """Return which of the held paths differ now from what was held."""
        ...

    async def plan(self, to: str | None, *, only: bool = False) -> Plan:
        """Plan to put the workspace back as it was just before the call `to`, later calls undone too.

        None means the last call that changed something and was not taken back; `only` takes back that call alone.

        Raises:
            Refusal: `snapshot.missing`; `snapshot.conflict` names each path that was changed since by something else.
        """
        ...

    async def restore(self, plan: Plan) -> tuple[str, ...]:
        """Carry the plan out, each path proven as it is displaced, and return the paths.

        Raises:
            Refusal: `snapshot.conflict`, `snapshot.damaged`; `happened` says whether anything was put back.
        """
        ...

    async def diff(self, plan: Plan) -> str:
        """Return the unified diff of what the plan would change."""
        ...
