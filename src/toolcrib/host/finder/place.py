"""Where a search starts: a path argument resolved by the membrane, and opened again without following any link."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from toolcrib.host.finder.ignore import FILES, Rules
from toolcrib.host.finder.view import View
from toolcrib.host.finder.walk import beneath, entered, own_file
from toolcrib.terms.names import TEMP_PREFIX, nearest
from toolcrib.terms.refusals import Refusal

_COMPARED = 2_000
"""Names of a directory that a missing one is compared with."""


@dataclass(frozen=True, slots=True)
class Start:
    """An open directory or file. `path` is canonical, empty for the root, without a slash at the end."""

    handle: int
    path: str
    directory: bool

    @property
    def base(self) -> str:
        """The path as a prefix: empty for the root, else with a slash at the end."""
        return f"{self.path}/" if self.path else ""


@contextmanager
def start(view: View, asked: str, *, files: bool = False) -> Generator[Start]:
    """Yield the directory (with `files`, or the regular file) that `asked` names, links inside followed.

    Raises:
        Refusal: `file.missing` with the nearest names, `file.not_directory`, `file.not_regular`, `file.outside`,
            `file.denied`, `args.invalid`, `workspace.gone`.
    """
    place = view.workspace.place(asked)
    if not place.exists or place.kind == "symlink":
        raise _missing(view, asked, place.path)
    if place.path != "." and not view.scope.shows(place.path):
        raise Refusal(
            "file.denied", f"a rule does not allow reading {asked!r}", hint="Search elsewhere, or ask the person."
        )
    directory = place.kind == "directory"
    if not directory and not files:
        raise Refusal(
            "file.not_directory", f"expected a directory, found a {place.kind} at {asked!r}", hint="Name its directory."
        )
    if not directory and place.kind != "file":
        raise Refusal("file.not_regular", f"expected a file or a directory at {asked!r}, found a {place.kind}")
    path = "" if place.path == "." else place.path
    try:
        handle = beneath(view.root, path, file=not directory)
    except PermissionError:
        raise Refusal(
            "file.denied",
            f"could not open {asked!r}: the operating system does not permit it",
            hint="Search elsewhere.",
        ) from None
    except OSError:
        raise _missing(view, asked, place.path) from None
    try:
        yield Start(handle, path, directory)
    finally:
        os.close(handle)


def rules_above(view: View, path: str) -> tuple[Rules, str | None]:
    """Return the rules that the directories above the canonical `path` set, the person's own excludes among them.

    The second part is the topmost ignored directory that `path` is or lies in, with a slash at the end.
    """
    rules = Rules()
    if view.excludes is not None:
        rules = rules.with_excludes(own_file(view.excludes))
    handle = os.dup(view.root)
    base = ""
    within: str | None = None
    try:
        for name in path.split("/") if path else ():
            rules = entered(rules, base, handle, list(FILES), [".git"])
            if within is None and name in rules.ignored(base, [name], []):
                within = f"{base}{name}/"
            below = beneath(handle, name)
            os.close(handle)
            handle, base = below, f"{base}{name}/"
    except OSError:
        return rules, within
    finally:
        os.close(handle)
    return rules, within


def _missing(view: View, asked: str, path: str) -> Refusal:
    parent, _, name = path.rpartition("/")
    names: list[str] = []
    while True:
        try:
            handle = beneath(view.root, parent)
        except OSError:
            if not parent:
                break
            parent, _, name = parent.rpartition("/")
            continue
        try:
            names = sorted(os.listdir(handle))[:_COMPARED]
        except OSError:
            names = []
        finally:
            os.close(handle)
        break
    base = f"{parent}/" if parent else ""
    near = [
        base + each
        for each in nearest(name, names)
        if not each.startswith(TEMP_PREFIX) and view.scope.shows(base + each)
    ]
    hint = f"Nearest names: {', '.join(map(repr, near))}." if near else "List the directory above it."
    return Refusal("file.missing", f"{asked[:200]!r} does not exist", hint=hint)
