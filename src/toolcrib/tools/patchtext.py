"""From the text of a patch to its sections, whichever of the two formats it is in."""

from toolcrib.tools import envelope, unified
from toolcrib.tools.hunks import Section, distinct, invalid

MOST_FILES = 100
"""Files that one patch may change: each is opened, kept for taking back, and judged."""


def sections(patch: str) -> tuple[Section, ...]:
    """Return the sections of a patch.

    A patch whose every line ends with a carriage return and a newline is read as if with newlines alone.

    Raises:
        Refusal: `patch.invalid` with the line, `call.limit` for too many files.
    """
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise invalid(1, "the patch is empty")
    if "\0" in patch:
        raise invalid(1 + patch[: patch.index("\0")].count("\n"), "it holds a NUL character; only text is patched")
    found = (envelope if first.rstrip() == envelope.BEGIN else unified).read(lines)
    if len(found) > MOST_FILES:
        raise invalid(
            found[MOST_FILES].at,
            f"expected at most {MOST_FILES} files, found {len(found)}",
            hint="send it in several patches; each is made whole or not at all",
        )
    distinct(found)
    return found


def touched(patch: str) -> tuple[str, ...]:
    """Return every path that a patch names, in order.

    Raises:
        Refusal: as `sections`.
    """
    return tuple(path for section in sections(patch) for path in section.paths)
