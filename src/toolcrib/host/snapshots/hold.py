"""Taking the pre-image of a call's write footprint, and seeing what differs from it later."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolcrib.host.workspace.workspace import Workspace, parents_among
from toolcrib.terms.digest import DIRECTORY
from toolcrib.terms.facts import Place
from toolcrib.terms.outcome import Change
from toolcrib.terms.records import Checkpoint, Held
from toolcrib.terms.refusals import Refusal

LARGEST = 64 << 20
"""Largest file whose pre-image is held, bytes; a call that would replace a larger one does not run."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One pre-image, and the bytes that the store must make durable before anything runs."""

    held: Held
    data: bytes | None = None


def take(workspace: Workspace, paths: Sequence[str], call_id: str = "") -> list[Taken]:
    """Read what stands at each of `paths` (canonical) and note which directories above them do not exist yet.

    Raises:
        Refusal: as the reading of a file; `checkpoint.failed` for one that is too large.
    """
    found: dict[str, Taken] = {}
    named = frozenset(paths)
    for path in paths:
        place = workspace.place(path, follow=False)
        if place.path != path:
            raise Refusal(
                "checkpoint.failed",
                f"{path!r} led elsewhere when its state was to be kept",
                hint="Repeat the call: a link or a directory on the way was changed.",
            )
        if place.kind == "missing":
            for parent in _above(place.path):
                if parent not in found and parent not in named and workspace.place(parent).kind == "missing":
                    found[parent] = Taken(Held(path=parent, kind="missing", implied=True))
        found[place.path] = _take(workspace, place, call_id)
    return list(found.values())


def changes(workspace: Workspace, checkpoint: Checkpoint) -> tuple[Change, ...]:
    """Return which held paths are not what they were: other bytes, another link, other permission bits, made or gone.

    Of directories only that they were made or are gone.
    """
    found: list[Change] = []
    for held in checkpoint.held:
        if held.implied:
            continue
        now = present(workspace, held.path, own=True)
        if (now.kind, now.digest) != (held.kind, held.mark) or (now.kind == "file" and now.mode != held.mode):
            found.append(Change(held.path, held.mark, now.digest))
    return tuple(found)


def present(workspace: Workspace, path: str, *, own: bool = False) -> Place:
    """Return what stands at exactly `path` now, no link followed, with the digest that proves it.

    Nothing stands there when a link or a file has taken the place of a parent.

    With `own`, what this workspace has just written there is known by its digest and not read again.

    Raises:
        Refusal: when it cannot be told.
    """
    absent = Place(asked=path, path=path, kind="missing")
    try:
        now = workspace.place(path, digest=True, follow=False, own=own)
    except Refusal as refusal:
        if refusal.name in {"file.missing", "file.not_directory", "file.outside"}:
            return absent
        raise
    if now.path != path:
        return absent
    return replace(now, digest=DIRECTORY) if now.kind == "directory" else now


def directories_of(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return the directories that did not exist before the call, deepest first."""
    missing = {held.path for held in checkpoint.held if held.kind == "missing"}
    return tuple(path for path in parents_among([held.path for held in checkpoint.held]) if path in missing)


def _take(workspace: Workspace, place: Place, call_id: str) -> Taken:
    if place.kind == "symlink":
        return Taken(Held(path=place.path, kind="symlink", target=workspace.link_text(place.path)))
    if place.kind != "file":
        return Taken(Held(path=place.path, kind=place.kind, mode=place.mode))
    if place.size > LARGEST:
        raise Refusal(
            "checkpoint.failed",
            f"{place.path!r} has {place.size:,} bytes; a checkpoint holds files of at most {LARGEST:,}",
            hint="Leave the file as it is, or change it outside of this program.",
        )
    loaded = workspace.load(place.path, most=LARGEST, keep_for=call_id)
    return Taken(
        Held(path=place.path, kind="file", mode=loaded.place.mode, size=len(loaded.data), digest=loaded.digest),
        loaded.data,
    )


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
