"""The port `Snapshots` over one workspace, the store's blobs and the tape."""

from collections.abc import Mapping, Sequence
from functools import partial

from anyio import to_thread

from toolcrib.host.snapshots import hold as holding
from toolcrib.host.snapshots.difference import Page, difference, directory
from toolcrib.host.snapshots.history import History, Made
from toolcrib.host.snapshots.restore import Restore, conflicts
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.blobs import Blobs
from toolcrib.ports.jobs import Jobs
from toolcrib.ports.scope import Scope
from toolcrib.ports.snapshots import Plan, Step
from toolcrib.ports.tape import Tape
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Change
from toolcrib.terms.records import Checkpoint, Held
from toolcrib.terms.refusals import Refusal, RefusalName

_PASSED_ON: tuple[RefusalName, ...] = ("disk.full", "store.unavailable", "workspace.gone", "checkpoint.failed")
"""Refusals that say more than that the checkpoint failed."""


class WorkspaceSnapshots:
    """Checkpoints of one workspace. Implements `ports.snapshots.Snapshots`; see there for what each method promises."""

    def __init__(
        self, workspace: Workspace, *, blobs: Blobs, jobs: Jobs, tape: Tape, scope: Scope | None = None
    ) -> None:
        self._workspace = workspace
        self._blobs = blobs
        self._jobs = jobs
        self._tape = tape
        self._scope = scope
        self._history = History(jobs, tape)

    def within(self, scope: Scope) -> "WorkspaceSnapshots":
        """Return the same, able to write only what `scope` allows, and with its call id on temporary files."""
        return WorkspaceSnapshots(self._workspace, blobs=self._blobs, jobs=self._jobs, tape=self._tape, scope=scope)

    async def hold(self, call_id: str, paths: Sequence[str]) -> Checkpoint:
        """Make the pre-image of each path durable."""
        try:
            taken = await self._workspace.aside(partial(holding.take, self._workspace, tuple(paths), call_id))
            for each in taken:
                if each.data is not None:
                    await self._blobs.put(each.data, digest=each.held.digest)
        except Refusal as refusal:
            if refusal.name in _PASSED_ON:
                raise
            raise Refusal(
                "checkpoint.failed",
                f"the state before the call could not be kept: {refusal.message}",
                hint=refusal.hint,
            ) from refusal
        return Checkpoint(id=call_id or mint_id(), held=tuple(each.held for each in taken))

    async def changes(self, checkpoint: Checkpoint) -> tuple[Change, ...]:
        """Return which of the held paths differ now."""
        return await self._workspace.aside(partial(holding.changes, self._workspace, checkpoint))

    async def plan(self, to: str | None, *, only: bool = False) -> Plan:
        """Plan to put the workspace back as it was just before the call `to`."""
        if to is None:
            target, made = await self._history.last()
            to = target.call_id
        else:
            job = await self._history.named(to)
            to = job.call_id
            made = await self._history.since(job.seq)
        if only:
            made = [each for each in made if each.call_id == to]
        steps = await self._steps(made)
        found = await to_thread.run_sync(conflicts, self._workspace, steps)
        return Plan(to=to, calls=tuple(each.call_id for each in reversed(made)), steps=found)

    async def restore(self, plan: Plan) -> tuple[str, ...]:
        """Carry the plan out, each path proven as it is displaced."""
        above = [await self._directories(step) for step in plan.steps if step.held.kind == "missing"]
        writes = frozenset(step.held.path for step in plan.steps)
        scope = self._scope if self._scope is not None else Scope(writes=writes)
        restore = Restore(self._workspace, self._blobs, scope)
        return await restore.run(plan.steps, [path for paths in above for path in paths])

    async def undo(self, checkpoint: Checkpoint, made: Mapping[str, str | None]) -> tuple[str, ...]:
        """Put back those held paths that are now what `made` says (path to digest), and return the others that differ.

        For a call that died while it changed several files: what it made goes, what anybody made since stays.

        Raises:
            Refusal: as `restore`.
        """
        changed = await self.changes(checkpoint)
        ours = {change.path for change in changed if change.path in made and made[change.path] == change.after}
        held = [each for each in checkpoint.held if each.path in ours]
        steps = [Step(call_id=checkpoint.id, held=each, expect=made[each.path]) for each in held]
        scope = Scope(writes=frozenset(ours), call_id=checkpoint.id)
        await Restore(self._workspace, self._blobs, scope).run(steps, holding.directories_of(checkpoint))
        return tuple(change.path for change in changed if change.path not in ours)

    async def diff(self, plan: Plan) -> str:
        """Return the unified diff of what the plan would change, clipped at 200,000 characters."""
        page = Page()
        for step in plan.steps:
            new = None if step.held.digest is None else await self._blobs.get(step.held.digest)
            await to_thread.run_sync(self._compare, page, step, new)
        return page.text()

    def _compare(self, page: Page, step: Step, new: bytes | None) -> None:
        """Put what one step changes on the page; a link is shown by its text, a directory by one line."""
        held, old = step.held, None
        now = self._workspace.place(held.path, follow=False)
        if now.kind == "file":
            old = self._workspace.load(held.path, most=holding.LARGEST).data
        elif now.kind == "symlink":
            old = _shown_link(self._workspace.link_text(held.path))
        if held.kind == "symlink":
            new = _shown_link(held.target or "")
        if "directory" in {now.kind, held.kind}:
            verb = "goes, if it is empty" if held.kind != "directory" else "comes back"
            directory(page, held.path, verb if now.kind != held.kind else "gets its mode back")
        if old is not None or new is not None:
            difference(page, held.path, old, new)

    async def _steps(self, made: Sequence[Made]) -> tuple[Step, ...]:
        """Return one step a path: what the first of the calls held of it, and what the last of them left."""
        first: dict[str, tuple[str, Held]] = {}
        last: dict[str, str | None] = {}
        for each in made:
            paths = {change.path for change in each.changed} - first.keys()
            if paths:
                checkpoint = await self._history.checkpoint(each.call_id)
                first |= {held.path: (each.call_id, held) for held in checkpoint.held if held.path in paths}
            last |= {change.path: change.after for change in each.changed}
        if lost := sorted(last.keys() - first.keys()):
            raise Refusal("snapshot.missing", f"nothing was held of {', '.join(map(repr, lost[:20]))}")
        return tuple(Step(call_id=call, held=held, expect=last[path]) for path, (call, held) in sorted(first.items()))

    async def _directories(self, step: Step) -> list[str]:
        """Return the directories above a created file that did not exist before the call that created it."""
        checkpoint = await self._history.checkpoint(step.call_id)
        return [path for path in holding.directories_of(checkpoint) if step.held.path.startswith(f"{path}/")]


def _shown_link(target: str) -> bytes:
    return f"link to {target}\n".encode("utf-8", "surrogateescape")
