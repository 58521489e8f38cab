"""The port `Files` bound to one call's scope: each method is one hop to a worker thread."""

from collections.abc import Sequence
from functools import partial

from toolcrib.host.workspace import move, read, remove, together, tree, write
from toolcrib.host.workspace.base import Base
from toolcrib.host.workspace.lines import View
from toolcrib.ports.files import Alteration, Loaded, Moved, Window, Written
from toolcrib.ports.scope import Scope
from toolcrib.terms.facts import Place


class Bound:
    """The files that one call may touch. Implements `ports.files.Files`; see there for what each method promises."""

    def __init__(self, base: Base, scope: Scope) -> None:
        self._base = base
        self._scope = scope

    async def place(self, path: str, *, digest: bool = False, follow: bool = True) -> Place:
        """Resolve `path` to its canonical place; a file above the edit cap is not hashed."""
        most = self._base.settings.edit_bytes
        return await self._base.hands.read(
            partial(read.place, self._base, self._scope, path, digest=digest, most=most, follow=follow)
        )

    async def entries(self, path: str, *, most: int) -> tuple[Place, ...]:
        """Return everything beneath a directory."""
        return await self._base.hands.read(partial(tree.entries, self._base, self._scope, path, most=most))

    async def load(self, path: str, *, most: int) -> Loaded:
        """Read a whole regular file."""
        return await self._base.hands.read(partial(read.load, self._base, self._scope, path, most=most))

    async def window(self, path: str, *, offset: int, limit: int, most_bytes: int, line_chars: int) -> Window:
        """Read some lines of a text file."""
        view = View(offset=offset, limit=limit, most_bytes=most_bytes, line_chars=line_chars)
        view.check()
        return await self._base.hands.read(partial(read.window, self._base, self._scope, path, view))

    async def write(self, path: str, data: bytes, *, expect: str | None, mode: int | None = None) -> Written:
        """Put `data` at `path` atomically and durably."""
        put = write.Put(path=path, data=data, expect=expect, mode=mode)
        return await self._base.hands.change(partial(write.write, self._base, self._scope, put))

    async def remove(self, path: str, *, expect: str | None, prune: tuple[str, ...] = ()) -> None:
        """Remove a file or a link, then the directories of `prune` that are empty."""
        await self._base.hands.change(partial(remove.remove, self._base, self._scope, path, expect=expect, prune=prune))

    async def alter(self, changes: Sequence[Alteration]) -> tuple[str, ...]:
        """Make all of the changes or none; a cancellation waits until it is decided which."""
        return await self._base.hands.change(partial(together.alter, self._base, self._scope, tuple(changes)))

    async def move(self, old: str, new: str, *, over: str | None = None) -> Moved:
        """Give what stands at `old` the name `new`."""
        return await self._base.hands.change(partial(move.move, self._base, self._scope, old, new, over=over))
