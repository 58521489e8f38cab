"""The names most like one that does not exist."""

import os
import unicodedata
from itertools import islice

from toolcrib.host.workspace.base import Base, Spot
from toolcrib.host.workspace.faults import shown
from toolcrib.ports.scope import Scope
from toolcrib.terms.names import TEMP_PREFIX, nearest
from toolcrib.terms.refusals import Refusal

_LOOKED_AT = 20_000
"""Entries of one directory that are looked at."""
_COMPARED = 2_000
"""Names compared by likeness; comparing is slow."""


def missing(base: Base, scope: Scope, spot: Spot) -> Refusal:
    """Return `file.missing` for `spot`, with the nearest names beside it that the caller may see."""
    if spot.dangling:
        return Refusal(
            "file.missing",
            f"{shown(spot.asked)} is a symbolic link to something that does not exist",
            hint="Writing to it creates what it leads to.",
        )
    near = [os.fsdecode(name) for name in spot.missing]
    names = _near(base, scope, spot, near[0])
    if names:
        said = ", ".join(repr(name) for name in names)
        hint = f"Nearest {'name' if len(names) == 1 else 'names'}: {said}."
    elif len(near) > 1:
        hint = f"The directory {near[0]!r} on the way does not exist."
    else:
        hint = f"It may be elsewhere: glob for {'**/' + near[0]!r}."
    return Refusal("file.missing", f"{shown(spot.asked)} does not exist", hint=hint)


def _near(base: Base, scope: Scope, spot: Spot, name: str) -> list[str]:
    here = base.canonical(spot.handle)
    prefix = "" if here == "." else f"{here}/"
    tail = spot.missing[1:]
    names = [each for each in _names(base, spot.handle) if scope.shows(prefix + each)]
    alike = [each for each in names if _plain(each) == _plain(name)][:3]
    close = [each for each in nearest(name, names[:_COMPARED]) if each not in alike]
    whole: list[str] = []
    for each in (*alike, *close)[:3]:
        further = os.fsdecode(b"/".join((os.fsencode(each), *tail)))
        whole.append(prefix + (further if tail and _exists(base, spot.handle, further) else each))
    return whole


def _names(base: Base, directory: int) -> list[str]:
    try:
        handle = base.calls.again(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return []
    try:
        with os.scandir(handle) as entries:
            return sorted(each.name for each in islice(entries, _LOOKED_AT) if not each.name.startswith(TEMP_PREFIX))
    except OSError:
        return []
    finally:
        base.calls.release(handle)


def _exists(base: Base, directory: int, path: str) -> bool:
    here = base.canonical(directory)
    try:
        base.calls.release(base.reach(os.fsencode(path if here == "." else f"{here}/{path}"), os.O_PATH))
    except OSError:
        return False
    return True


def _plain(name: str) -> str:
    """Return a form that is equal for names differing only by blanks, letter case or normal form."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(" " if each.isspace() else each for each in folded if unicodedata.category(each) != "Cf")
