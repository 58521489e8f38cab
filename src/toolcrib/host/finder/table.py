"""The one path table of a call: the regular files beneath a directory, those that ignore rules leave out apart."""

from dataclasses import dataclass, field

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.place import rules_above
from toolcrib.host.finder.tree.shelves import Choice, Everything, Snapshot
from toolcrib.host.finder.view import View
from toolcrib.host.finder.walk import Notes, Plan, Walk


@dataclass(slots=True)
class Table:
    """The regular files beneath a directory by path, those that ignore rules leave out apart, with why.

    With `kept` they are those of the resident table beneath `base`, and `files` and `ignored` are empty.
    """

    files: list[str] = field(default_factory=list[str])
    ignored: dict[str, str] = field(default_factory=dict[str, str])
    """Path to the topmost ignored entry (a directory's ends in a slash) that it is or lies in."""
    guarded: set[str] = field(default_factory=set[str])
    """Directories that hold something the caller may not see, without a slash at the end."""
    notes: Notes = field(default_factory=Notes)
    kept: Snapshot | None = None
    base: str = ""

    def select(self, choice: Choice | None, *, ignored: bool = False) -> list[str]:
        """Return the chosen files in order, all without a choice; with `ignored` those that ignore rules leave out."""
        if self.kept is not None:
            return self.kept.select(choice or Everything(), self.base, ignored=ignored)
        paths = list(self.ignored) if ignored else self.files
        return sorted(paths if choice is None else choice.of(paths, base=self.base))

    def top(self, path: str) -> str:
        """Return the topmost ignored entry that an ignored file is or lies in."""
        return self.ignored[path] if self.kept is None else self.kept.top(path)


@dataclass(frozen=True, kw_only=True)
class Under:
    """Where a table is taken: an open directory, its canonical prefix, and how deep to go."""

    handle: int
    base: str
    named: tuple[str, ...] = ()
    most_depth: int | None = None
    most_size: int | None = None


def table(view: View, budget: Budget, under: Under) -> Table:
    """Return the files: from the resident table where there is one, else by walking once."""
    if (kept := _kept(view, under)) is not None:
        return kept
    plan = Plan(
        shows=view.shows, budget=budget, most_depth=under.most_depth, most_size=under.most_size, named=under.named
    )
    walk = Walk(view.root, plan)
    found = Table(notes=walk.notes, base=under.base)
    rules, within = rules_above(view, under.base[:-1])
    for level in walk.levels(under.handle, under.base, rules, within):
        if level.denied:
            found.guarded.add(level.path[:-1])
        if level.within is not None:
            for name in level.files:
                found.ignored[level.path + name] = level.within
        elif level.ignored:
            for name in level.files:
                if name in level.ignored:
                    found.ignored[level.path + name] = level.path + name
                else:
                    found.files.append(level.path + name)
        else:
            path = level.path
            found.files += [path + name for name in level.files]
    return found


def _kept(view: View, under: Under) -> Table | None:
    """Return the resident table, None where there is none, or it does not hold what was named."""
    if view.tree is None or view.shows is not None:
        return None
    kept = view.tree.current()
    if kept is None or any(near(bare, name) for bare in kept.bare for name in under.named):
        return None
    base = under.base
    notes = Notes(large=set(kept.large))
    for path in kept.unreadable:
        if near(base, f"{path}/"):
            notes.unread(path)
    return Table(notes=notes, kept=kept, base=base)


def near(one: str, other: str) -> bool:
    """Tell whether one of two directories, each with a slash at the end or empty for the root, lies in the other."""
    return one.startswith(other) or other.startswith(one)


def split_absolute(view: View, pattern: str) -> tuple[str, bool]:
    """Return a pattern relative to the root and True where it was an absolute path beneath it, else as it is.

    Raises:
        Refusal: `file.outside`.
    """
    if not pattern.startswith("/"):
        return pattern, False
    names = pattern.split("/")
    signs = [place for place, name in enumerate(names) if any(sign in name for sign in "*?[{\\")]
    cut = signs[0] if signs else len(names) - 1
    head = view.workspace.relative("/".join(names[:cut]) or "/")
    return "/".join([*([] if head in {".", ""} else [head.rstrip("/")]), *names[cut:]]), True


def covers(prefix: str, top: str) -> bool:
    """Tell whether a path that was written out names the ignored entry `top` or something in it."""
    return f"{prefix}/".startswith(top) if top.endswith("/") else prefix == top
