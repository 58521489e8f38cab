"""Clearing what a call left behind when its process died: temp files, displaced files, empty directories it made."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.displaced import digest_of, keep, put_back
from toolcrib.host.workspace.remove import unmake
from toolcrib.host.workspace.temp import Staged, is_ours, tag
from toolcrib.terms.names import JOURNAL, TEMP_NAME, TEMP_PREFIX

Found = Literal["unneeded", "held", "put back", "kept", "empty directory"]
"""A new file that never got its name; bytes that the store holds; another program's bytes, put back at their name or
kept beside it; a directory that the call made."""


@dataclass(frozen=True, slots=True)
class Swept:
    """One thing that was cleared. `path` is where it is now, or was before it was removed."""

    path: str
    found: Found


def sweep(
    base: Base, call_id: str, paths: Sequence[str], pre: Mapping[str, str | None], prune: Sequence[str]
) -> tuple[Swept, ...]:
    """Clear the temp files of the dead call `call_id` beside `paths` (canonical), then the empty directories `prune`.

    `pre` gives the digest of what stood at each path before the call; those bytes are safe in the store, so a
    displaced file that holds them is removed. Any other displaced bytes are another program's and are never lost.
    Running it again finds nothing.
    """
    if not call_id:
        return ()
    swept: list[Swept] = []
    for parent, leaves in _by_parent(paths).items():
        try:
            directory = base.reach(os.fsencode(parent), os.O_RDONLY | os.O_DIRECTORY, links=False)
        except OSError:
            continue
        try:
            held = {digest for path in paths if (digest := pre.get(path)) is not None}
            swept += _Directory(base, directory, parent, leaves, held, pre).clear(call_id)
        finally:
            base.calls.release(directory)
    swept += [Swept(each, "empty directory") for each in sorted(prune, key=len, reverse=True) if unmake(base, each)]
    return tuple(swept)


@dataclass(frozen=True)
class _Directory:
    base: Base
    handle: int
    path: str
    leaves: Sequence[bytes]
    held: set[str]
    pre: Mapping[str, str | None]

    def clear(self, call_id: str) -> Iterable[Swept]:
        start = f"{TEMP_PREFIX}{tag(call_id)}-"
        names = [name for name in os.listdir(self.handle) if name.startswith(start) and self._is_temp(name)]
        found = [each for name in sorted(names) if (each := self._one(name)) is not None]
        if found:
            with suppress(OSError):
                self.base.calls.sync(self.handle)
        return found

    @staticmethod
    def _is_temp(name: str) -> bool:
        """Tell whether a name is that of a file on its way; the journal goes last, by itself."""
        return TEMP_NAME.match(name) is not None and not name.endswith(JOURNAL)

    def _one(self, name: str) -> Swept | None:
        calls, raw = self.base.calls, name.encode()
        try:
            if is_ours(name, calls.stat(self.handle, raw).st_ino):
                calls.unlink(self.handle, raw)
                return Swept(self._path(raw), "unneeded")
            if digest_of(calls, self.handle, raw, None) in self.held:
                calls.unlink(self.handle, raw)
                return Swept(self._path(raw), "held")
        except OSError:
            return None
        return self._foreign(name)

    def _foreign(self, name: str) -> Swept:
        """Put another program's bytes back where our own file stands now, or where the call had moved them away."""
        calls, raw = self.base.calls, name.encode()
        absent: list[bytes] = []
        for leaf in self.leaves:
            try:
                status = calls.stat(self.handle, leaf)
            except OSError:
                absent += [leaf] if self.pre.get(self._path(leaf)) is not None else []
                continue
            if is_ours(name, status.st_ino):
                kept = put_back(calls, self.handle, Staged(raw, status), leaf)
                return Swept(self._path(leaf), "put back") if kept is None else self._kept(kept)
        if len(absent) == 1:
            try:
                calls.settle(self.handle, raw, absent[0])
            except OSError:
                pass
            else:
                return Swept(self._path(absent[0]), "put back")
        return self._kept(keep(calls, self.handle, raw, self.leaves[0]))

    def _kept(self, name: str) -> Swept:
        return Swept(self._path(os.fsencode(name)), "kept")

    def _path(self, leaf: bytes) -> str:
        name = os.fsdecode(leaf)
        return name if self.path == "." else f"{self.path}/{name}"


def _by_parent(paths: Sequence[str]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for path in paths:
        parent, _, leaf = path.rpartition("/")
        found.setdefault(parent or ".", []).append(os.fsencode(leaf))
    return found
