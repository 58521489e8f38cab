"""What `list_dir` shows: every entry with kind, size and link target; ignored and hidden ones marked, not left out."""

import bisect
import os
from collections.abc import Iterator, Sequence
from itertools import groupby

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.cursor import key_of, put, take
from toolcrib.host.finder.place import rules_above, start
from toolcrib.host.finder.view import View
from toolcrib.host.finder.walk import Notes, Plan, Walk, beneath
from toolcrib.host.workspace.faults import kind_of
from toolcrib.ports.find import Listed, Page
from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Refusal


def listing(view: View, budget: Budget, path: str, *, depth: int, limit: int, cursor: str | None) -> Page[Listed]:
    """List a directory, `depth` levels deep; see `ports.find.Find.listing`."""
    with start(view, path) as at:
        query = ["listing", view.workspace.root, at.path, depth]
        after = key_of((str,), take(query, cursor))
        walk = Walk(view.root, Plan(shows=view.shows, budget=budget, most_depth=depth, named=(at.base,)))
        rules, within = rules_above(view, at.path)
        ignored: dict[str, bool] = {}
        for level in walk.levels(at.handle, at.base, rules, within):
            for name in (*level.directories, *level.files, *level.others):
                ignored[level.path + name] = level.within is not None or name in level.ignored
        names = sorted(ignored)
        first = bisect.bisect_right(names, after[0]) if after else 0
        chosen = names[first : first + limit]
        items = tuple(_listed(view, walk.notes, chosen, ignored))
        # Taken last: a path that cannot be looked at is noted while the items are made.
        more = len(names) > first + limit
        bounds = view.bounds(budget, walk.notes, cursor=put(query, [chosen[-1]]) if more else None)
        return Page(items=items, total=None if budget.capped else len(names), bounds=bounds)


def _listed(view: View, notes: Notes, paths: Sequence[str], ignored: dict[str, bool]) -> Iterator[Listed]:
    for parent, group in groupby(paths, key=lambda path: path.rpartition("/")[0]):
        try:
            handle = beneath(view.root, parent)
        except OSError:
            notes.vanished = True
            continue
        try:
            for path in group:
                found = _entry(view, notes, handle, path, ignored=ignored[path])
                if found is not None:
                    yield found
        finally:
            os.close(handle)


def _entry(view: View, notes: Notes, directory: int, path: str, *, ignored: bool) -> Listed | None:
    name = path.rpartition("/")[2]
    hidden = name.startswith(".")
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        kind = kind_of(status.st_mode)
        if kind == "symlink":
            target = os.readlink(name, dir_fd=directory)
            return Listed(path=path, kind=_leads_to(view, path), target=target, ignored=ignored, hidden=hidden)
    except PermissionError:
        notes.unread(path)
        return Listed(path=path, kind="file", ignored=ignored, hidden=hidden)
    except OSError:
        return None
    return Listed(path=path, kind=kind, size=status.st_size if kind == "file" else 0, ignored=ignored, hidden=hidden)


def _leads_to(view: View, path: str) -> PathKind:
    """Return what a link leads to; `symlink` where that is nothing, or outside."""
    try:
        found = view.workspace.place(path)
    except Refusal:
        return "symlink"
    return found.kind if found.exists else "symlink"
