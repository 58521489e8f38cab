"""Right edits on 200 hostile files: edit_file and apply_patch, beside the npm server's edit_file, in one run.

Each file is one that edits go wrong on: line endings, encodings and marks, text that occurs twice, very long lines,
Unicode forms, texts that look like replacement patterns. A model sees lines; it quotes one line and gives another for
it, or a diff with three lines of context. Right is the file with that one change and every other byte as it was; where
the quoted text says no single place, right is an error and an untouched file.
"""

import difflib
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _harness import Figure, Plan, main, ours, peer, workspace
from mcp import Client, StdioServerParameters

FILES = 200
WORDS = ("alpha", "beta", "gamma", "delta", "return x", "if x:", "    y = 1", "\tz", "", "end", "{", "}", "# note")


@dataclass(frozen=True)
class Case:
    """One file, the line to change and what it becomes. `bare` is whether the line says one place by itself."""

    kind: str
    lines: tuple[str, ...]
    at: int
    new: str
    write: Callable[[Sequence[str]], bytes]
    bare: bool = True

    @property
    def before(self) -> bytes:
        """The file as it is."""
        return self.write(self.lines)

    @property
    def after(self) -> bytes:
        """The file as it should become."""
        return self.write(self.changed)

    @property
    def changed(self) -> list[str]:
        """The lines afterwards."""
        return [*self.lines[: self.at], self.new, *self.lines[self.at + 1 :]]

    @property
    def patch(self) -> str:
        """A unified diff as a model writes it: plain newlines, three lines of context."""
        old, new = ([f"{line}\n" for line in lines] for lines in (list(self.lines), self.changed))
        return "".join(difflib.unified_diff(old, new, "a/FILE", "b/FILE", n=3))


def _ends(*breaks: str, last: bool = True, codec: str = "utf-8", mark: bytes = b"") -> Callable[[Sequence[str]], bytes]:
    """Return what writes lines with these breaks in turn."""

    def write(lines: Sequence[str]) -> bytes:
        parts = [line + breaks[number % len(breaks)] for number, line in enumerate(lines)]
        if not last:
            parts[-1] = lines[-1]
        return mark + "".join(parts).encode(codec, "surrogateescape")

    return write


PLAIN = _ends("\n")
WRITERS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "crlf": _ends("\r\n"),
    "cr": _ends("\r"),
    "mixed endings": _ends("\r\n", "\n", "\n"),
    "no last break": _ends("\n", last=False),
    "crlf, no last break": _ends("\r\n", last=False),
    "utf-8 with mark": _ends("\n", mark=b"\xef\xbb\xbf"),
    "utf-16-le": _ends("\r\n", codec="utf-16-le", mark=b"\xff\xfe"),
    "utf-16-be": _ends("\n", codec="utf-16-be", mark=b"\xfe\xff"),
}
KINDS = (
    *WRITERS,
    "latin-1 bytes",
    "occurs twice",
    "part of another line",
    "long line",
    "decomposed",
    "pattern",
    "blanks",
)


def cases(count: int) -> list[Case]:
    """Return the files, the same for the same count."""
    dice = random.Random(20_260_726)
    return [_case(KINDS[number % len(KINDS)], dice, number) for number in range(count)]


def _case(kind: str, dice: random.Random, number: int) -> Case:
    lines = [*(dice.choice(WORDS) for _ in range(dice.randrange(12, 40))), "the last line"]
    at = dice.randrange(len(lines))
    lines[at], new, write, bare = f"target {number} = old", f"target {number} = new", WRITERS.get(kind, PLAIN), True
    if kind == "latin-1 bytes":
        lines[(at + 6) % len(lines)] = "caf\udce9 cr\udce8me"
    elif kind == "occurs twice":
        other = (at + len(lines) // 2) % len(lines)
        lines[other], bare = lines[at], False
    elif kind == "part of another line":
        lines[(at + 3) % len(lines)], bare = f"# {lines[at]} here", False
    elif kind == "long line":
        lines[(at + 1) % len(lines)] = "x" * 400_000
        lines[at] += "y" * 30_000
        new += "y" * 30_000
    elif kind == "decomposed":
        lines[(at + 1) % len(lines)] = "caf\u00e9 composed"
        lines[at], new = f"cafe\u0301 {number} \u200b\u2028x", f"cafe\u0301 {number} changed"
    elif kind == "pattern":
        lines[at], new = f"a.*({number})$ [x]", f"$& $1 \\1 $$ $` {number}"
    elif kind == "blanks":
        lines[at], new = f"\t  target {number}  \t", f"\t\ttarget {number}\u00a0 "
    return Case(kind, tuple(lines), at, new, write, bare)


async def _ours(client: Client, case: Case, name: str) -> bool:
    read = await client.call_tool("read_file", {"path": name})
    told: dict[str, Any] = read.structured_content or {}
    digest = told["evidence"]["digest"]
    change = {"old": case.lines[case.at], "new": case.new}
    return await _failed(client, "edit_file", {"path": name, "digest": digest, "edits": [change]})


async def _patched(client: Client, case: Case, name: str) -> bool:
    return await _failed(client, "apply_patch", {"patch": case.patch.replace("FILE", name)})


async def _failed(client: Client, tool: str, args: dict[str, Any]) -> bool:
    return bool((await client.call_tool(tool, args)).is_error)


async def shares(
    command: list[str], directory: Path, every: Sequence[Case], edit: Callable[..., Any], *, context: bool
) -> tuple[int, set[str], int]:
    """Return how many came out right, the kinds that did not, and how many files were changed wrongly."""
    right, wrong, damaged = 0, set[str](), 0
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(server, mode="legacy", read_timeout_seconds=30) as client:
        await client.list_tools()
        for number, case in enumerate(every):
            file = directory / f"f{number}.txt"
            file.write_bytes(case.before)
            failed = await edit(client, case, file.name)
            found = file.read_bytes()
            good = found == case.after and not failed if context or case.bare else found == case.before and failed
            right += good
            wrong |= set() if good else {case.kind}
            damaged += found not in (case.before, case.after) or (
                not context and not case.bare and found != case.before
            )
    return right, wrong, damaged


async def measure(plan: Plan) -> Sequence[Figure]:
    """Edit every file by each tool."""
    every = cases(plan.times(FILES))
    figures: list[Figure] = []
    with workspace() as directory:
        said = [
            ("edit_file", ours(directory), _ours, False),
            ("apply_patch", ours(directory), _patched, True),
        ]
        if not plan.brief and (other := peer(directory)) is not None:

            async def theirs(client: Client, case: Case, name: str) -> bool:
                change = {"oldText": case.lines[case.at], "newText": case.new}
                return await _failed(client, "edit_file", {"path": str(directory / name), "edits": [change]})

            said.append(("server-filesystem (npm) edit_file", other, theirs, False))
        for name, command, edit, context in said:
            right, wrong, damaged = await shares(command, directory, every, edit, context=context)
            demand = 100.0 if "npm" not in name else None
            figures.append(Figure(f"{name}: right of {len(every)}", 100 * right / len(every), "%", demand, most=False))
            figures.append(Figure(f"{name}: files changed wrongly", damaged, "", 0 if demand else None))
            if wrong:
                print(f"{name}, not right: {', '.join(sorted(wrong))}")
    return figures


if __name__ == "__main__":
    main("Right edits on hostile files", measure)
