"""The trees that searches are measured on, made once by a fixed seed: `python bench/_trees.py small|std|100k|1m`."""

import os
import random
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from _harness import CACHE

TREES = CACHE / "trees"
VERSION = "2"
"""Another number has the trees made anew."""

STD_FILES = 10_000
SMALL_FILES = 1_000
FILES, DIRECTORIES, BYTES = 100_000, 8_000, 4_000
"""Of the large tree; bytes of a file on average."""
MILLION = 1_000_000

STEMS = """
abort account action adapter address agent alias anchor answer append array asset async atom attach audit batch bind
block body bool branch bridge broker buffer build bundle byte cache call cancel card catalog cell chain change channel
char check child chunk claim class clean client clock clone close cluster code codec column commit config connect
context control copy core count cover create cursor data debug decode default defer delta depth detail device diff
digest direct display domain drain driver drop edge edit emit encode engine entry error escape event exact export
extra factory fail fetch field file filter final find flag flow flush focus fold format frame gate graph grid group
guard handle hash header heap hint hook host image import index init inner input insert item iterate join journal key
kind label layer layout leader lease level limit line link list load local lock log loop map mark mask match merge
meta method metric mode model module monitor mount name nest node note number object offset open option order origin
outer output owner pack page pair panel parent parse part patch path peer pending period pick pipe plan point policy
pool port post prefix print probe process profile prompt proxy pulse query queue quota range rank rate raw read ready
record reduce ref region remote render repair reply report request reset resolve response result retry role root route
row rule run sample scan schema scope score screen script search segment select send sequence server session set shard
shape share sheet shell shift signal sink size slice slot snap socket sort source span spawn split stack stage start
state status step store stream string style submit suffix sum switch sync table tag target task template tenant term
test text theme thread tick time token tool topic trace track transform tree trigger trim tuple type union unit update
upload user valid value vector verify version view visit wait walk watch weight widget window wire word worker wrap
write zone
"""
WORDS: list[str] = list(str.split(STEMS))
CODE = (
    "    {0} = {1}.{2}({3}, {4})",
    "    if {0}.{1} is None or {2} > {3}:",
    "        return {0}({1}[{2}], {3}={4})",
    "def {0}({1}: {2}, {3}: int = 0) -> {4}:",
    "    for {0} in {1}.{2}():",
    '        raise {0}(f"{1}: {2} {3}")',
    "    # {0} {1} the {2} before the {3}",
    "import {0}.{1} as {2}",
    "    assert {0} == {1}, {2}",
    "",
)
CURLED = (
    "  const {0} = await {1}.{2}({3});",
    "  if ({0}.{1} === undefined && {2}) {{",
    "    return {0}.{1}({2} => {3}.{4});",
    "export function {0}({1}: {2}): {3} {{",
    "  // {0} {1} the {2} before the {3}",
    "  }}",
    "  {0}->{1} = {2}({3}, {4});",
    "func ({0} *{1}) {2}({3} string) error {{",
    "",
)
PROSE = (
    "The {0} of a {1} is its {2}; see {3} and {4}.",
    "- `{0}`: how the {1} meets the {2}",
    "## {0} {1}",
    '  "{0}": "{1} {2}",',
    "  {0}: {1}",
    "",
)
ENDINGS: dict[str, tuple[float, Sequence[str]]] = {
    ".py": (34, CODE),
    ".ts": (15, CURLED),
    ".go": (11, CURLED),
    ".js": (8, CURLED),
    ".c": (6, CURLED),
    ".h": (5, CURLED),
    ".md": (6, PROSE),
    ".json": (6, PROSE),
    ".yaml": (4, PROSE),
    ".txt": (2, PROSE),
    ".html": (1, PROSE),
    ".css": (1, PROSE),
    ".png": (1, ()),
}
FAST_GIT = ("-c", "core.compression=0", "-c", "core.bigFileThreshold=1", "-c", "core.fsync=none", "-c", "gc.auto=0")
"""Every file goes into one pack, as it is."""


def tree(name: str) -> Path:
    """Return a tree by name, made now if it is not there."""
    place = TREES / name
    stamp = TREES / f"{name}.made"
    if not stamp.exists() or stamp.read_text() != VERSION:
        print(f"making the tree {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        stamp.unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        MAKERS[name](place)
        stamp.write_text(VERSION)
        print(f"made {name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return place


def std(place: Path, left: int = STD_FILES) -> None:
    """Copy the standard library and what is installed beside it, up to the number wanted."""
    paths = sysconfig.get_paths()
    for name, source in (("lib", Path(paths["stdlib"])), ("site-packages", Path(paths["purelib"]))):
        for directory, below, files in os.walk(source):
            below[:] = sorted(each for each in below if each not in {"__pycache__", "site-packages", "dist-packages"})
            target = place / name / os.path.relpath(directory, source)
            chosen = sorted(files)[:left]
            left -= len(chosen)
            if chosen:
                target.mkdir(parents=True, exist_ok=True)
            for each in chosen:
                if not os.path.islink(os.path.join(directory, each)):
                    shutil.copyfile(os.path.join(directory, each), target / each)


def vocabulary(dice: random.Random) -> list[str]:
    """Return 60,000 identifiers, the commonest first: single words, then two and three together."""
    names = list(WORDS)
    dice.shuffle(names)
    seen = set(names)
    while len(names) < 60_000:
        parts = dice.choices(WORDS, k=2 if len(names) < 25_000 else 3)
        name = "_".join(parts) if dice.random() < 0.6 else parts[0] + "".join(each.title() for each in parts[1:])
        if name not in seen:
            seen.add(name)
            names.append(name)
    return names


def pools(dice: random.Random, names: Sequence[str]) -> dict[Sequence[str], list[str]]:
    """Return many lines of each kind; the identifiers in them follow Zipf's law."""
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(names))))
    found: dict[Sequence[str], list[str]] = {}
    for templates, number in ((CODE, 150_000), (CURLED, 150_000), (PROSE, 60_000)):
        drawn = iter(dice.choices(names, cum_weights=weights, k=number * 5))
        found[templates] = [dice.choice(templates).format(*(next(drawn) for _ in range(5))) for _ in range(number)]
    return found


def directories(dice: random.Random) -> list[str]:
    """Return the paths of the directories: a few at the top, most at the fourth to sixth level."""
    found = ["src", "lib", "docs", "tests", "tools", "services", "packages", "internal"]
    seen = set(found)
    while len(found) < DIRECTORIES:
        parent = dice.choice(found[:200] if dice.random() < 0.6 else found)
        path = f"{parent}/{dice.choice(WORDS)}"
        if path.count("/") < 8 and path not in seen:
            seen.add(path)
            found.append(path)
    return found


def large(place: Path) -> None:
    """Generate 100,000 files of 400 MB in git, in 8,000 directories, some of which the rules leave out."""
    dice = random.Random("large")
    names = vocabulary(dice)
    lines = pools(dice, names)
    places = directories(dice)
    for each in places:
        (place / each).mkdir(parents=True, exist_ok=True)
    rooms = list(accumulate(dice.lognormvariate(0, 1) for _ in places))
    endings = dice.choices(list(ENDINGS), [weight for weight, _ in ENDINGS.values()], k=FILES)
    (place / ".gitignore").write_text("build/\n*.log\nnode_modules/\n")
    written: set[str] = {".gitignore"}
    where = dice.choices(places, cum_weights=rooms, k=FILES)
    for number, (directory, ending) in enumerate(zip(where[1:], endings[1:], strict=True)):
        path = f"{directory}/{dice.choice(names[:9000])}{ending}"
        path = f"{directory}/{number}_{dice.choice(names)}{ending}" if path in written else path
        written.add(path)
        fill(place / path, dice, number, names, lines.get(ENDINGS[ending][1], []))
    print(f"wrote {FILES:,} files", file=sys.stderr, flush=True)
    git(place)


def fill(path: Path, dice: random.Random, number: int, names: Sequence[str], pool: Sequence[str]) -> None:
    """Write one file: mostly lines of its neighbourhood, and two with names that are hardly anywhere else."""
    if not pool:
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0" + dice.randbytes(int(dice.lognormvariate(7.5, 1))))
        return
    count = max(3, int(dice.lognormvariate(4.11, 0.9)))
    start = number * 37 % (len(pool) - 4000)
    near = pool[start : start + 4000]
    chosen = [*dice.choices(near, k=count - count // 4), *dice.choices(pool, k=count // 4)]
    one, other = dice.choices(names, k=2)
    chosen.insert(0, f"{one}_{other}_{number % 50_000:x} = {one}")
    chosen.insert(len(chosen) // 2, f"    {other}{one.title()}({number})")
    path.write_text("\n".join(chosen) + "\n")


def git(place: Path) -> None:
    """Commit all of it."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), (*FAST_GIT, "add", "."), (*FAST_GIT, *identity, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=place, check=True, stdout=subprocess.DEVNULL)


def million(place: Path) -> None:
    """Generate a million small files in 10,000 directories."""
    dice = random.Random("million")
    names = vocabulary(dice)
    for top in range(100):
        for below in range(100):
            where = place / f"{names[top]}/{names[below]}"
            where.mkdir(parents=True, exist_ok=True)
            for number in range(MILLION // 10_000):
                name = names[(top * 7919 + below * 104_729 + number * 31) % 50_000]
                (where / f"{name}{number}.py").write_text(f"{name} = {dice.choice(names)}\n{top} {below} {number}\n")


def small(place: Path) -> None:
    """Copy a tenth of that."""
    std(place, SMALL_FILES)


MAKERS: dict[str, Callable[[Path], None]] = {"std": std, "small": small, "100k": large, "1m": million}


def files_of(place: Path) -> Iterator[Path]:
    """Yield every regular file of a tree but those of git."""
    for directory, below, files in os.walk(place):
        below[:] = sorted(each for each in below if each != ".git")
        yield from (
            Path(directory, each) for each in sorted(files) if not os.path.islink(os.path.join(directory, each))
        )


if __name__ == "__main__":
    for each in sys.argv[1:] or ["std"]:
        print(tree(each))
