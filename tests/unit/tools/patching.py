"""Applying a unified diff to lines: what the diffs of the tools are held against."""

import re

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
BARE = "\\ No newline at end of file"


def lines_of(text: str) -> list[str]:
    """Return lines as the diffs see them: a last line without a break carries the mark."""
    parts = re.split(r"\r\n|\n|\r", text)
    last = parts.pop()
    return [*parts, f"{last}\n{BARE}"] if last else parts


def patched(old: list[str], diff: str) -> list[str]:
    """Return what `diff` makes of `old`, checking every line and every number of it."""
    body = diff.split("\n")[2:-1]
    joined: list[str] = []
    for line in body:
        if line == BARE:
            joined[-1] += f"\n{BARE}"
        else:
            joined.append(line)
    new: list[str] = []
    at = 0
    while joined:
        found = HUNK.fullmatch(joined.pop(0))
        assert found is not None
        start, count, to, until = (int(each) if each else 1 for each in found.groups())
        first = start - 1 if count else start
        assert at <= first
        new += old[at:first]
        assert len(new) == (to - 1 if until else to)
        at, before = first, len(new)
        while joined and not joined[0].startswith("@@"):
            sign, line = joined[0][0], joined.pop(0)[1:]
            if sign in " -":
                assert old[at] == line
                at += 1
            if sign in " +":
                new.append(line)
        assert at - first == count
        assert len(new) - before == until
    return new + old[at:]
