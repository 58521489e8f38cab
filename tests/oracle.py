"""What searches have to answer, by other means than ours: a plain walk of the disk, and git or a few plain rules.

The plain rules know the patterns of `churning.PATTERNS` alone; git knows all, in trees without files that only we read.
"""

import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from churning import IGNORE_FILES


@dataclass(frozen=True, slots=True)
class Truth:
    """A tree: `directories` and `names` of all that is there, `files` with their bytes as searches have them."""

    directories: list[str]
    names: list[str]
    files: dict[str, bytes]

    def lines(self, text: str) -> set[tuple[str, int]]:
        """Return (path, line number) of every line that holds `text`."""
        sought = text.encode()
        return {
            (path, number)
            for path, data in self.files.items()
            if sought in data
            for number, line in enumerate(data.split(b"\n"), 1)
            if sought in line
        }

    def holding(self, text: str) -> set[str]:
        """Return the path of every file that holds `text`."""
        return {path for path, data in self.files.items() if text.encode() in data}


def walked(root: Path) -> Iterator[tuple[str, bool]]:
    """Yield the path of every directory (with True) and every regular file beneath `root`; `.git` is left out."""
    pending = [""]
    while pending:
        base = pending.pop()
        try:
            names = sorted(os.listdir(root / base))
        except PermissionError:
            continue
        for name in names:
            path = f"{base}{name}"
            mode = os.lstat(root / path).st_mode
            if stat.S_ISDIR(mode) and name != ".git":
                yield path, True
                pending.append(f"{path}/")
            elif stat.S_ISREG(mode) and name != ".git":
                yield path, False


def truth(root: Path, excludes: Path, *, git: bool) -> Truth:
    """Look at the disk."""
    found = list(walked(root))
    names = sorted(path for path, directory in found if not directory)
    directories = sorted(path for path, directory in found if directory)
    seen = by_git(root) if git else by_rules(root, excludes, names, directories)
    return Truth(directories, names, {path: read(root / path) for path in names if path in seen})


def read(path: Path) -> bytes:
    """Return the bytes of a file, none of one that we may not read."""
    try:
        return path.read_bytes()
    except PermissionError:
        return b""


def by_git(root: Path) -> set[str]:
    """Return what git, which tracks nothing here, takes for untracked and not ignored."""
    done = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"], cwd=root, stdout=subprocess.PIPE, check=True
    )
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def by_rules(root: Path, excludes: Path, names: list[str], directories: list[str]) -> set[str]:
    """Return the files that no ignore file leaves out."""
    rules = Rules(root, excludes, names, directories)
    return {path for path in names if not rules.leaves_out(path)}


class Rules:
    """The ignore files of a tree, each read once. In all of them the last pattern that matches decides."""

    def __init__(self, root: Path, excludes: Path, names: list[str], directories: list[str]) -> None:
        repositories = [f"{place}/.git/info/exclude".lstrip("/") for place in ("", *directories)]
        layers = [[path for path in repositories if (root / path).is_file()]]
        layers += [[path for path in names if path.rpartition("/")[2] == name] for name in IGNORE_FILES]
        # From the root down within a layer; each with the length of the path that its patterns start behind.
        lined = [
            (path, read(root / path)) for layer in layers for path in sorted(layer, key=lambda each: each.count("/"))
        ]
        lined.insert(0, ("excludes", read(excludes) if excludes.is_file() else b""))
        self._files = [(base_of(path), data.decode().splitlines()) for path, data in lined]
        self._known: dict[str, bool] = {}

    def leaves_out(self, path: str) -> bool:
        """Say whether a file, or a directory that it lies in, is ignored."""
        parts = path.split("/")
        above = ["/".join(parts[:end]) + "/" for end in range(1, len(parts))]
        return any(map(self._ignored, (*above, path)))

    def _ignored(self, entry: str) -> bool:
        if entry not in self._known:
            said = [
                each
                for base, lines in self._files
                if entry.startswith(base) and entry != base
                for line in lines
                if (each := verdict(line, entry[len(base) :])) is not None
            ]
            self._known[entry] = bool(said) and said[-1]
        return self._known[entry]


def base_of(path: str) -> str:
    """Return the directory that the patterns of an ignore file start from, empty for the root, else with a slash."""
    path = path.removesuffix(".git/info/exclude")
    return path[: path.rfind("/") + 1]


def verdict(line: str, entry: str) -> bool | None:
    """Return whether a pattern leaves an entry out (True), takes it back (False), or says nothing of it."""
    pattern = line.removeprefix("!")
    if pattern.endswith("/") and not entry.endswith("/"):
        return None
    pattern, path = pattern.removesuffix("/"), entry.removesuffix("/")
    if pattern.startswith("/"):
        matches = pattern[1:] == path
    else:
        matches = fnmatchcase(path.rpartition("/")[2], pattern)
    return not line.startswith("!") if matches else None
