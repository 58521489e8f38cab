"""Which paths are never written: `.git`, `.toolcrib` and the configured ones, by any spelling and by inode."""

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.host.workspace.calls import O_PATH, Calls
from toolcrib.terms.names import TEMP_PREFIX

ALWAYS = (".git", ".toolcrib")
"""Names protected at any depth, whether or not they exist."""

_MAX_DEPTH = 2048  # more components than a path of 4095 bytes can hold


@dataclass(frozen=True)
class Guard:
    """The protected paths. A name without a slash is protected at any depth, a path from the root down."""

    names: frozenset[str]
    paths: tuple[tuple[str, ...], ...]
    spelled: tuple[str, ...]
    """The protected names and paths as they were configured."""

    def names_protected(self, path: str) -> bool:
        """Tell whether the canonical `path` is protected by its spelling, letter case and normal form aside."""
        parts = tuple(_folded(part) for part in path.split("/"))
        if any(part in self.names or part.startswith(TEMP_PREFIX) for part in parts):
            return True
        return any(parts[: len(each)] == each for each in self.paths)

    def holds(self, calls: Calls, root: int, directory: int, leaf: os.stat_result | None) -> bool:
        """Tell whether `leaf` in `directory` is, or lies beneath, the inode of a protected path near it.

        Looked for are the built-in names beside each ancestor and the configured paths. Catches another name of the
        same inode, such as a bind mount, which no spelling shows.
        """
        line = _ancestors(calls, root, directory)
        try:
            seen = {_identity(os.fstat(handle)) for handle in line}
            if leaf is not None:
                seen.add(_identity(leaf))
            for handle in line:
                for name in ALWAYS:
                    if _inode(calls, handle, name) in seen:
                        return True
            return any(_inode(calls, root, path) in seen for path in self.spelled)
        finally:
            for handle in line:
                calls.release(handle)


def guard(protected: Sequence[str]) -> Guard:
    """Return the guard of the built-in names and the configured `protected` paths, which are relative to the root."""
    parts = [tuple(_folded(part) for part in each.split("/") if part not in {"", "."}) for each in protected]
    names = frozenset((*ALWAYS, *(each[0] for each in parts if len(each) == 1)))
    return Guard(names, tuple(each for each in parts if len(each) > 1), tuple(each.strip("/") for each in protected))


def _folded(name: str) -> str:
    """Return a name as it is compared: without case, normal form, invisible letters and dots at the end."""
    seen = "".join(each for each in unicodedata.normalize("NFKD", name) if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKD", seen.casefold()).rstrip(". ") or name


def _ancestors(calls: Calls, root: int, directory: int) -> list[int]:
    top = _identity(os.fstat(root))
    line = [calls.step(directory, b".", O_PATH | os.O_DIRECTORY)]
    while _identity(os.fstat(line[-1])) != top and len(line) < _MAX_DEPTH:
        line.append(calls.step(line[-1], b"..", O_PATH | os.O_DIRECTORY))
        if _identity(os.fstat(line[-1])) == _identity(os.fstat(line[-2])):
            break
    return line


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _inode(calls: Calls, directory: int, name: str) -> tuple[int, int] | None:
    try:
        return _identity(calls.stat(directory, os.fsencode(name)))
    except OSError:
        return None
