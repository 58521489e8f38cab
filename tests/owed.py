"""The one ledger: each case, attack, invariant, promise and seed row, who owes it, and the tests that show it.

The rows are the lines of `tests/ledger/*.txt`. A test claims one by a marker: `@pytest.mark.case("B015")`, or
`@pytest.mark.case("B008", "files")` where a row has parts. `python tests/owed.py` prints what is open.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROWS = ("cases", "attacks", "invariants", "promises", "seeds")
"""The files of the ledger, in order."""

FEATURES = (
    *(
        "line",
        "gate",
        "finder",
        "shell",
        "snapshots",
        "patch",
        "daemon",
        "threads",
        "worktrees",
        "skills",
        "mcp",
        "lsp",
    ),
    *("web", "rails", "memory", "packs", "mixer", "deliver"),
)
"""The words by which a row says who owes it."""

BUILT = frozenset({"line", "patch", "finder"})
"""The features that exist: each of their rows needs a test."""

KINDS = {
    "case": r"B\d{3}",
    "attack": r"A\d{3}",
    "invariant": r"I\d{1,2}",
    "promise": r"P-[a-z0-9-]+",
    "seed": r"S-[A-Za-z0-9_-]+",
}
"""The markers, each with the shape of the ids it takes."""

LINE = re.compile(
    r"(?P<id>[A-Z][\w-]*)(?::(?P<part>\w+))?\s+(?P<owes>\w+)\s+(?P<text>\S.*?)(?:\s+\[(?P<why>I[I\d ]*)\])?"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that has to hold: the whole of an id, or the part of it that one feature owes."""

    id: str
    part: str
    owes: str
    text: str
    section: str
    implied_by: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the id with its part."""
        return f"{self.id}:{self.part}" if self.part else self.id

    @property
    def built(self) -> bool:
        """Say whether the feature that owes it exists."""
        return self.owes in BUILT


@dataclass(frozen=True, slots=True)
class Claim:
    """A marker found in a test file."""

    kind: str
    id: str
    part: str
    where: str


def parse(text: str) -> Iterator[Row]:
    """Yield the rows of one file of the ledger.

    Raises:
        ValueError: a line is neither a row, a section, a comment nor empty.
    """
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            section = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            found = LINE.fullmatch(line)
            if found is None:
                raise ValueError(f"line {number} is no row: {line!r}")
            why = tuple((found["why"] or "").split())
            yield Row(found["id"], found["part"] or "", found["owes"], found["text"], section, why)


@cache
def rows() -> tuple[Row, ...]:
    """Return every row of the ledger."""
    return tuple(row for name in ROWS for row in parse((TESTS / "ledger" / f"{name}.txt").read_text(encoding="utf-8")))


def claims_in(tree: ast.AST, where: str) -> Iterator[Claim]:
    """Yield the ledger markers of a parsed test file, on functions, classes, modules and parameters alike."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KINDS:
            if ast.unparse(node.func.value) not in {"pytest.mark", "mark"}:
                continue
            values = [arg.value if isinstance(arg, ast.Constant) else ast.unparse(arg) for arg in node.args]
            identity, part = (*map(str, values), "", "")[:2]
            yield Claim(node.func.attr, identity, part, f"{where}:{node.lineno}")


@cache
def claims() -> tuple[Claim, ...]:
    """Return every ledger marker of every test file."""
    found: list[Claim] = []
    for path in sorted(TESTS.rglob("test_*.py")):
        found += claims_in(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(TESTS).as_posix())
    return tuple(found)


def shown(row: Row, made: Iterable[Claim]) -> list[str]:
    """Return where a row is shown. An invariant is also shown by the attacks that name it, as far as they are built."""
    own = [claim.where for claim in made if claim.id == row.id and claim.part in {row.part, ""}]
    if row.id.startswith("I"):
        implying = [each for each in rows() if each.built and row.id in each.implied_by]
        own += [where for each in implying for where in shown(each, made)]
    return own


def fault(claim: Claim, table: Iterable[Row]) -> str:
    """Return what is wrong with a marker, empty when it names a row whose feature exists."""
    if re.fullmatch(KINDS[claim.kind], claim.id) is None:
        return f"{claim.where}: {claim.kind}({claim.id!r}) is no id of this kind"
    mine = [row for row in table if row.id == claim.id]
    named = [row for row in mine if claim.part in {row.part, ""}]
    if not named:
        parts = ", ".join(row.part for row in mine if row.part)
        return f"{claim.where}: no row is named {claim.id!r} {claim.part!r}" + (
            f"; its parts are {parts}" if parts else ""
        )
    late = [row for row in named if not row.built]
    if late:
        return f"{claim.where}: claims {late[0].name}, which is owed to {late[0].owes}: name the part that is built"
    return ""


def faults(table: Iterable[Row] | None = None, made: Iterable[Claim] | None = None) -> list[str]:
    """Return what is wrong with every marker."""
    known = tuple(rows() if table is None else table)
    return [wrong for claim in (claims() if made is None else made) if (wrong := fault(claim, known))]


def missing(table: Iterable[Row] | None = None, made: Iterable[Claim] | None = None) -> list[str]:
    """Return each row of a built feature that no test shows."""
    found = tuple(claims() if made is None else made)
    known = rows() if table is None else table
    return [f"{row.name}  {row.text}" for row in known if row.built and not shown(row, found)]


def main() -> int:
    """Print the open rows, feature by feature; exit 1 when a built feature has one or a marker is wrong."""
    made = claims()
    for feature in FEATURES:
        owed = [row for row in rows() if row.owes == feature]
        open_rows = [row for row in owed if not shown(row, made)] if feature in BUILT else owed
        state = "built" if feature in BUILT else "later"
        if owed:
            print(f"{feature} ({state}): {len(owed) - len(open_rows)} of {len(owed)} rows shown")
        for row in open_rows if feature in BUILT or "--all" in sys.argv else ():
            print(f"  {row.name:<28}{row.text}")
    for wrong in faults():
        print(wrong)
    return 1 if missing() or faults() else 0


if __name__ == "__main__":
    sys.exit(main())
