"""Putting files back: everything is checked before anything changes, and each file is proven as it is displaced."""

from collections.abc import Sequence

from anyio import to_thread

from toolcrib.host.snapshots.hold import present
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.host.workspace.write import Put
from toolcrib.ports.blobs import Blobs
from toolcrib.ports.scope import Scope
from toolcrib.ports.snapshots import Step
from toolcrib.terms.digest import DIRECTORY
from toolcrib.terms.refusals import Refusal

_KEPT = 64 << 20
"""Bytes of pre-images kept in memory between checking and writing; more are read twice."""
_NAMED = 20


def conflicts(workspace: Workspace, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps that are still to be done; those whose path is already as it was before are left out.

    Raises:
        Refusal: `snapshot.conflict`, naming each path that something else changed since; `snapshot.missing` for what
            was not a file before.
    """
    left: list[Step] = []
    changed: list[str] = []
    for step in steps:
        held = step.held
        if held.kind not in {"file", "missing", "symlink", "directory"}:
            raise Refusal("snapshot.missing", f"{held.path!r} was a {held.kind} before, which cannot be put back")
        now = present(workspace, held.path)
        if now.kind == held.kind and now.digest == held.mark:
            if now.kind in {"file", "directory"} and now.mode != held.mode:
                left.append(Step(call_id=step.call_id, held=held, expect=now.digest))
            continue
        if (now.digest == step.expect) and (now.exists == (step.expect is not None)):
            left.append(step)
        else:
            changed.append(held.path)
    if changed:
        raise _conflict(changed)
    return tuple(left)


class Restore:
    """One carrying out of a plan."""

    def __init__(self, workspace: Workspace, blobs: Blobs, scope: Scope) -> None:
        self._workspace = workspace
        self._blobs = blobs
        self._scope = scope
        self._bytes: dict[str, bytes] = {}
        self._room = _KEPT

    async def run(self, steps: Sequence[Step], directories: Sequence[str]) -> tuple[str, ...]:
        """Put every path back, then remove the `directories` that are empty; return the paths.

        Raises:
            Refusal: `snapshot.conflict`, `snapshot.damaged`, `snapshot.missing`; `happened` is `yes` once a path was
                put back.
        """
        for step in steps:
            if step.held.digest is not None:
                self._keep(step.held.digest, await self._blobs.get(step.held.digest))
        left = await to_thread.run_sync(conflicts, self._workspace, tuple(steps))
        done: list[str] = []
        for step in _ordered(left):
            digest = step.held.digest
            data = b"" if digest is None else self._bytes.get(digest) or await self._blobs.get(digest)
            try:
                await to_thread.run_sync(self._put, step, data)
            except Refusal as refusal:
                raise _partly(refusal, step.held.path, done) from refusal
            done.append(step.held.path)
        await to_thread.run_sync(self._set_modes, left)
        unwanted = {*directories, *(step.held.path for step in left if _unmade(step))}
        deepest = sorted(unwanted, key=lambda each: (-each.count("/"), each))
        gone = await to_thread.run_sync(lambda: [path for path in deepest if self._workspace.unmake(path)])
        return (*done, *gone)

    def _keep(self, digest: str, data: bytes) -> None:
        if digest not in self._bytes and len(data) <= self._room:
            self._bytes[digest] = data
            self._room -= len(data)

    def _put(self, step: Step, data: bytes) -> None:
        held, expect = step.held, step.expect
        if _unmade(step):
            self._workspace.unmake(held.path)
            return
        if expect == DIRECTORY and held.kind not in {"directory", "missing"}:
            self._workspace.unmake(held.path)  # it is put back only where nothing stands: a full one stays and is told
            expect = None
        if held.kind == "directory":
            if expect not in {None, DIRECTORY}:
                self._workspace.remove(self._scope, held.path, expect=expect)
            self._workspace.make(self._scope, held.path)
            return
        if expect is not None and (
            held.kind != "file" or self._workspace.place(held.path, follow=False).kind != "file"
        ):
            self._workspace.remove(self._scope, held.path, expect=expect)
            expect = None
        if held.kind == "symlink":
            self._workspace.link(self._scope, held.path, held.target or "")
        elif held.kind == "file":
            put = Put(path=held.path, data=data, expect=expect, mode=held.mode, forced=True)
            self._workspace.put(self._scope, put)

    def _set_modes(self, steps: Sequence[Step]) -> None:
        """Give directories that were put back their modes: last, since a mode may forbid to write into them."""
        made = sorted((step.held for step in steps if step.held.kind == "directory"), key=lambda held: held.path)
        for held in reversed(made):
            self._workspace.set_mode(self._scope, held.path, held.mode)


def _unmade(step: Step) -> bool:
    """Tell whether a step is to remove a directory, which goes last and only when it is empty."""
    return step.held.kind == "missing" and step.expect == DIRECTORY


def _ordered(steps: Sequence[Step]) -> list[Step]:
    """Return the steps as they are taken.

    First what has to go from directories that a file takes the place of, deepest first; then the directories to make;
    then all else. Directories that only have to go are left out: they go last.
    """
    kinds = {"file", "symlink"}
    full = tuple(f"{step.held.path}/" for step in steps if step.expect == DIRECTORY and step.held.kind in kinds)
    first = [step for step in steps if step.held.kind == "missing" and step.held.path.startswith(full)] if full else []
    early = {step.held.path for step in first}
    rest = [step for step in steps if step.held.path not in early and not _unmade(step)]
    first.sort(key=lambda step: step.held.path, reverse=True)
    return [*first, *sorted(rest, key=lambda step: (step.held.kind != "directory", step.held.path))]


def _conflict(paths: Sequence[str]) -> Refusal:
    named = ", ".join(repr(path) for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return Refusal(
        "snapshot.conflict",
        f"changed since by something else: {named}{more}",
        hint="Save or remove those changes first, or take back another call.",
    )


def _partly(refusal: Refusal, path: str, done: Sequence[str]) -> Refusal:
    """Return the refusal of a plan that stopped at `path`, saying what was put back before."""
    stale = refusal.name in {"file.stale", "file.exists", "file.missing", "file.linked", "file.not_regular"}
    before = f"; put back before: {', '.join(repr(each) for each in done[:_NAMED])}" if done else ""
    return Refusal(
        "snapshot.conflict" if stale else refusal.name,
        f"{path!r} could not be put back: {refusal.message}{before}",
        hint="The rewind itself can be taken back." if done else refusal.hint,
        happened="yes" if done else refusal.happened,
    )
