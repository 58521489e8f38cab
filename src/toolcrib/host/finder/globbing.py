"""Exact globs over the files beneath a directory: the whole answer is found, then a page of it is shown."""

import bisect
import os
import stat
from collections.abc import Sequence

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.choosing import Globs
from toolcrib.host.finder.cursor import key_of, put, take
from toolcrib.host.finder.patterns import Alternative, parse
from toolcrib.host.finder.place import start
from toolcrib.host.finder.table import Under, covers, split_absolute, table
from toolcrib.host.finder.view import View
from toolcrib.host.finder.walk import Notes, beneath
from toolcrib.ports.find import Page
from toolcrib.terms.names import TEMP_NAME
from toolcrib.terms.refusals import Refusal


def glob(view: View, budget: Budget, pattern: str, *, under: str, limit: int, cursor: str | None) -> Page[str]:
    """Enumerate the files that match; see `ports.find.Find.glob`."""
    with start(view, under) as at:
        query = ["glob", view.workspace.root, at.path, pattern]
        after = key_of((str,), take(query, cursor))
        literal = _literal(view, at.path, pattern)
        try:
            alternatives = _alternatives(view, at.path, pattern)
        except Refusal:
            if literal is None:
                raise
            alternatives = ()
        if literal is not None and pattern.startswith("!"):
            alternatives = ()  # a file is called so: everything but it cannot be meant
    chosen = _Chosen(view, budget)
    if alternatives:
        chosen.find(alternatives, at.path)
    paths = chosen.paths
    if literal is not None and literal not in paths[(at := bisect.bisect_left(paths, literal)) : at + 1]:
        paths.insert(at, literal)
    first = bisect.bisect_right(paths, after[0]) if after else 0
    items = tuple(paths[first : first + limit])
    more = len(paths) > first + limit
    bounds = view.bounds(
        budget, chosen.notes, cursor=put(query, [items[-1]]) if more else None, ignored=chosen.left_out
    )
    return Page(items=items, total=None if budget.capped else len(paths), bounds=bounds)


def _alternatives(view: View, path: str, pattern: str) -> tuple[Alternative, ...]:
    text, absolute = split_absolute(view, pattern)
    found = parse(text)
    found = found if absolute or not path else tuple(each.below(path) for each in found)
    if all(each.takes_away for each in found):
        everything = parse("**")[0]
        found = (everything if absolute else everything.below(path), *found)
    return found


def _literal(view: View, path: str, pattern: str) -> str | None:
    """Return the path that the pattern spells when a regular file stands there, reached without a link."""
    try:
        text = view.workspace.relative(pattern)
    except Refusal:
        return None
    names = [name for name in text.split("/") if name not in {"", "."}]
    if not names or ".." in names or text.endswith("/") or TEMP_NAME.match(names[-1]):
        return None
    whole = "/".join(names if pattern.startswith("/") or not path else (path, *names))
    if not view.scope.shows(whole):
        return None
    parent, _, name = whole.rpartition("/")
    try:
        handle = beneath(view.root, parent)
        try:
            mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        finally:
            os.close(handle)
    except OSError:
        return None
    return whole if stat.S_ISREG(mode) else None


class _Chosen:
    """The files that the alternatives select, and how many were left out because they are ignored."""

    def __init__(self, view: View, budget: Budget) -> None:
        self._view = view
        self._budget = budget
        self.paths: list[str] = []
        self.left_out = 0
        self.notes = Notes()

    def find(self, alternatives: Sequence[Alternative], path: str) -> None:
        """Walk from the deepest directory that all alternatives lie beneath."""
        globs = Globs(alternatives)
        base = _common(globs.positive)
        try:
            handle = beneath(self._view.root, base)
        except PermissionError:
            self.notes.unread(base)
            return
        except OSError:
            return
        try:
            found = table(self._view, self._budget, _under(handle, base, globs.positive))
        finally:
            os.close(handle)
        self.notes = found.notes
        self.paths = found.select(globs)
        named = [one for one in globs.positive if one.prefix]
        also: list[str] = []
        for path in found.select(globs, ignored=True):
            top = found.top(path)
            naming = [one for one in named if covers(one.prefix, top)]
            if naming and globs.selects(path, naming):
                also.append(path)
            else:
                self.left_out += 1
        if also:
            self.paths = sorted([*self.paths, *also])


def _under(handle: int, base: str, alternatives: Sequence[Alternative]) -> Under:
    depths = [each.depth for each in alternatives]
    start = base.count("/") + 1 if base else 0
    known = [depth for depth in depths if depth is not None]
    return Under(
        handle=handle,
        base=f"{base}/" if base else "",
        named=tuple(f"{each.prefix}/" for each in alternatives if each.prefix),
        most_depth=max(1, max(known) - start) if len(known) == len(depths) else None,
    )


def _common(alternatives: Sequence[Alternative]) -> str:
    """Return the deepest directory that everything the alternatives match lies beneath."""
    leads = [each.literals[:-1] if len(each.literals) == len(each.segments) else each.literals for each in alternatives]
    shared: list[str] = []
    for names in zip(*leads, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared)
