"""Everything beneath a directory, looked at by handles, no link followed."""

import os

from toolcrib.host.workspace.base import Base, placed, resolve
from toolcrib.host.workspace.faults import fault, not_regular, shown
from toolcrib.host.workspace.read import permit_read
from toolcrib.ports.scope import Scope
from toolcrib.terms.facts import Place
from toolcrib.terms.refusals import Refusal

MOST = 100_000
"""Entries beneath one directory that are ever looked at."""


def entries(base: Base, scope: Scope, path: str, *, most: int) -> tuple[Place, ...]:
    """Return everything beneath the directory at `path`, sorted by path.

    Raises:
        Refusal: `file.not_directory`, `call.limit` for more than `most`, and those of the membrane.
    """
    with resolve(base, path) as spot:
        found = spot.place()
        if found.kind != "directory":
            if found.exists:
                raise Refusal("file.not_directory", f"expected a directory at {shown(path)}, found a {found.kind}")
            raise Refusal("file.missing", f"{shown(path)} does not exist")
        permit_read(scope, spot)
    return beneath(base, found.path, asked=path, most=most)


def beneath(base: Base, path: str, *, asked: str, most: int = MOST) -> tuple[Place, ...]:
    """Return everything beneath the directory at the canonical `path`; a link on the way to it is not followed.

    Raises:
        Refusal: `call.limit`, and those of the membrane for what cannot be looked at.
    """
    found: list[Place] = []
    todo = [path]
    while todo:
        here = todo.pop()
        try:
            listed = _listed(base, here, most + 1 - len(found))
        except OSError as error:
            raise fault(error, asked, "read") from None
        found += listed
        todo += [each.path for each in listed if each.kind == "directory"]
        if len(found) > most:
            raise Refusal(
                "call.limit",
                f"{shown(asked)} holds more than {most:,} files and directories, the most that one call takes",
                hint="Take the directories beneath it one by one.",
            )
    return tuple(sorted(found, key=lambda each: each.path))


def movable(places: tuple[Place, ...]) -> None:
    """Refuse what a checkpoint cannot hold: anything but files, directories and links.

    Raises:
        Refusal: `file.not_regular`.
    """
    for each in places:
        if each.kind not in {"file", "directory", "symlink"}:
            raise not_regular(each.path, each.kind)


def _listed(base: Base, path: str, most: int) -> list[Place]:
    handle = base.reach(os.fsencode(path), os.O_RDONLY | os.O_DIRECTORY, links=False)
    try:
        found: list[Place] = []
        with os.scandir(handle) as names:
            for each in names:
                if len(found) >= most:
                    break
                inside = each.name if path == "." else f"{path}/{each.name}"
                found.append(placed(inside, inside, each.stat(follow_symlinks=False), None))
        return found
    finally:
        base.calls.release(handle)
