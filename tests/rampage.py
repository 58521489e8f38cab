"""A process that changes files beneath a directory of its own without a pause, and writes down when each was there.

Times are those of the one monotonic clock that all processes share, in nanoseconds.
"""

import bisect
import json
import random
import select
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from churning import WORD, Hands

PLACES = ("p", "q", "p/in", "q/in/ner", "r")
NAMES = tuple(f"f{number}.{ending}" for number in range(6) for ending in ("py", "log", "txt"))
FOR_EVER = 1 << 62
AT_ONCE = 60
REST = 0.02
"""Seconds of rest after so many steps, so that searches get a share of the machine."""


class Rampage:
    """The steps of one process. It alone works in `own`; in `shared` every one does, and none writes it down."""

    def __init__(self, root: Path, own: str, log: Path) -> None:
        self._root = root
        self._own = own
        self._dice = random.Random(own)
        self._hands = Hands(root, root.parent / f"outside-{own}", root.parent / "no-excludes")
        self._there: set[str] = set()
        self._log = log.open("w", encoding="utf-8")
        self._number = 0

    def go(self) -> None:
        """Work until the standard input ends."""
        while not select.select([sys.stdin], [], [], REST)[0]:
            for _ in range(AT_ONCE):
                self._step()
                self._elsewhere()
        self._log.close()

    def _step(self) -> None:
        dice = self._dice
        self._number += 1
        path, other = self._path(), self._path()
        text = f"{WORD} {self._own} {self._number}\n" * dice.randrange(1, 4)
        roll = dice.random()
        if roll < 0.35:
            self._told(["write", path, text], appear=[path], touch=[path])
        elif roll < 0.5:
            fresh = f"{path.rpartition('/')[0]}/.fresh~"
            self._told(["replace", path, text], appear=[path, fresh], vanish=[fresh], touch=[path])
        elif roll < 0.6:
            self._told(["append", path, text], touch=[path])
        elif roll < 0.7 and path in self._there:
            self._told(["remove", path], vanish=[path])
        elif roll < 0.85 and path in self._there and path != other:
            self._told(["rename", path, other], appear=[other], vanish=[path], touch=[other])
        elif roll < 0.93:
            self._directory()
        elif roll < 0.95:
            rules = f"{self._own}/.gitignore"
            self._told(["write", rules, dice.choice(("", "*.log\n"))], appear=[rules], touch=[rules])

    def _directory(self) -> None:
        dice = self._dice
        old, new = (f"{self._own}/{dice.choice(PLACES)}" for _ in range(2))
        inside = sorted(path for path in self._there if path.startswith(f"{old}/"))
        if dice.random() < 0.3:
            self._told(["remove", old], vanish=inside)
        elif not (self._root / new).exists() and not new.startswith(f"{old}/") and (self._root / old).exists():
            moved = [new + path[len(old) :] for path in inside]
            self._told(["rename", old, new], appear=moved, vanish=inside)

    def _elsewhere(self) -> None:
        dice = self._dice
        one, other = (f"shared/{dice.choice(PLACES)}" for _ in range(2))
        path = f"{one}/{dice.choice(NAMES)}"
        step = dice.choice(
            (["write", path, f"{WORD} shared\n"], ["remove", path], ["rename", one, other], ["remove", one])
        )
        with suppress(OSError, shutil.Error):
            self._hands.do(step)

    def _told(
        self,
        step: list[str],
        *,
        appear: list[str] | None = None,
        vanish: list[str] | None = None,
        touch: list[str] | None = None,
    ) -> None:
        """Carry out a step and write down what it did, with the times before and after."""
        began = time.monotonic_ns()
        self._hands.do(step)
        ended = time.monotonic_ns()
        self._there |= set(appear or ())
        self._there -= set(vanish or ())
        self._log.write(json.dumps([began, ended, appear or [], vanish or [], touch or []]) + "\n")

    def _path(self) -> str:
        return f"{self._own}/{self._dice.choice(PLACES)}/{self._dice.choice(NAMES)}"


@dataclass(slots=True)
class Life:
    """One life of a path: there at the earliest and at the latest, and there for certain between."""

    earliest: int
    certain: int
    until: int = FOR_EVER
    latest: int = FOR_EVER


@dataclass(slots=True)
class History:
    """When each path was there, and when it was written."""

    lives: dict[str, list[Life]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    steps: int = 0

    def read(self, log: Path) -> None:
        """Add what one process wrote down."""
        for line in log.read_text(encoding="utf-8").splitlines():
            began, ended, appear, vanish, touch = json.loads(line)
            self.steps += 1
            for path in appear:
                lives = self.lives[path]
                if not lives or lives[-1].latest != FOR_EVER:
                    lives.append(Life(began, ended))
            for path in vanish:
                lives = self.lives[path]
                if lives and lives[-1].latest == FOR_EVER:
                    lives[-1].until, lives[-1].latest = began, ended
            for path in touch:
                self.writes[path].append((began, ended))

    def possible(self, path: str, began: int, ended: int) -> bool:
        """Say whether a path can have been there at some moment between two times."""
        lives = self.lives.get(path, [])
        last = bisect.bisect_right(lives, ended, key=lambda life: life.earliest)
        return last > 0 and lives[last - 1].latest >= began

    def throughout(self, began: int, ended: int) -> Iterator[str]:
        """Yield every path that was certainly there all the time, and was not written."""
        for path, lives in self.lives.items():
            last = bisect.bisect_right(lives, began, key=lambda life: life.certain)
            if last and lives[last - 1].until >= ended:
                writes = self.writes.get(path, [])
                before = bisect.bisect_right(writes, ended, key=lambda write: write[0])
                if not before or writes[before - 1][1] < began:
                    yield path


if __name__ == "__main__":
    Rampage(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])).go()
