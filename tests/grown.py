"""A resident table in a test, and what the walker finds in its place."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.ignore import Rules
from toolcrib.host.finder.tree.shelves import Everything, Snapshot
from toolcrib.host.finder.tree.tree import Tree
from toolcrib.host.finder.walk import Plan, Walk

PATIENCE = 20

Seen = tuple[list[str], dict[str, str]]


@contextmanager
def tree_of(root: Path, *, excludes: Path | None = None, ready: bool = True) -> Generator[Tree]:
    """Yield the table of a root, grown."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    tree = Tree(handle, excludes=None if excludes is None else str(excludes), most_file=1 << 20)
    try:
        tree.start()
        if ready:
            wait_for(tree, "ready")
        yield tree
    finally:
        tree.close()
        os.close(handle)


def wait_for(tree: Tree, stage: str) -> None:
    """Wait until the table stands so."""
    until = time.monotonic() + PATIENCE
    while tree.standing().stage != stage:
        assert time.monotonic() < until, tree.standing()
        time.sleep(0.002)  # the table is grown by a thread of its own, which tells nobody


def walked(root: Path) -> Seen:
    """Return what the walker finds: files, and ignored ones with why."""
    files: list[str] = []
    ignored: dict[str, str] = {}
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        plan = Plan(shows=None, budget=Budget(seconds=PATIENCE, entries=1_000_000), named=("",))
        for level in Walk(handle, plan).levels(handle, "", Rules()):
            for name in level.files:
                path = level.path + name
                if level.within is not None:
                    ignored[path] = level.within
                elif name in level.ignored:
                    ignored[path] = path
                else:
                    files.append(path)
    finally:
        os.close(handle)
    return sorted(files), ignored


def held(kept: Snapshot | None) -> Seen:
    """Return what the table has."""
    assert kept is not None
    ignored = kept.select(Everything(), "", ignored=True)
    return kept.select(Everything(), ""), {path: kept.top(path) for path in ignored}
