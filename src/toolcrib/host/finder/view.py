"""What one call searches through: the workspace, the scope it is bound to, and the limits."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.tree.tree import Tree
from toolcrib.host.finder.walk import Notes
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.ports.scope import Scope
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.settings import SearchSettings

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class View:
    """The circumstances of one search. `excludes` is the path of the person's own git excludes file.

    `root` is the search's own handle of the root: a search that nobody waits for any more may outlive the workspace's,
    whose number something else has then; and duplicates of one handle share its place in the list of names.
    """

    workspace: Workspace
    root: int
    scope: Scope
    settings: SearchSettings
    excludes: str | None
    tree: Tree | None = None
    """The resident table of the workspace; None to walk for every search."""

    @property
    def shows(self) -> Callable[[str], bool] | None:
        """Tell which canonical paths may be shown; None when all may."""
        return None if self.scope.may_read is None else self.scope.shows

    def budget(self) -> Budget:
        """Return a fresh budget for one call."""
        return Budget(seconds=self.settings.seconds, entries=self.settings.max_paths)

    def bounds(self, budget: Budget, notes: Notes, *, cursor: str | None, ignored: int = 0) -> Bounds:
        """Return what was cut or skipped."""
        if notes.vanished:
            budget.note("directories were removed or renamed during the search")
        return Bounds(
            truncated=cursor is not None,
            next_cursor=cursor,
            scan_capped=budget.capped,
            skipped_denied=notes.denied,
            skipped_ignored=ignored,
            skipped_unreadable=tuple(notes.unreadable),
        )


def rooted(view: View, work: Callable[[View], T]) -> T:
    """Do `work` with a root handle of its own."""
    root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=view.workspace.fd)
    try:
        return work(replace(view, root=root))
    finally:
        os.close(root)
