"""Changes of a tree as data: random steps as other programs make them, and a process that carries them out.

A step is a list of an action's name and its texts, so that it can be sent to another process, printed, and taken out of
a failing run. Every step can be carried out in any state: what is not there is left alone.
"""

import json
import mmap
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

Step = list[str]

WORD = "common"
"""In every file that a step writes, beside a text of its own."""

DIRECTORIES = ("a", "b", "src", "d\u00e9", "[x]", ".hid", "build", "deep er", "q\udcffq")
NAMES = ("f0.py", "f1.py", "g.txt", "h.log", "keep.log", ".env", "no ending", "\u00fc.md", "z\udcfe.py", "[a].txt")
PATTERNS = ("*.log", "!keep.log", "build/", "/a/", "f0.py", "!f0.py", "*.md", "/b/src/", ".hid/", "src/", "!src/", "g*")
"""Lines of ignore files; `oracle.py` knows by simpler means than the product what they leave out."""
IGNORE_FILES = (".gitignore", ".ignore", ".toolcribignore")
BURST = 400
MOST_FILES = 150
DAY = 86_400 * 10**9


class Hands:
    """Carries out steps beneath `root`; `outside` is a directory beside it, `excludes` the person's git excludes."""

    def __init__(self, root: Path, outside: Path, excludes: Path) -> None:
        self._root = root
        self._outside = outside
        self._excludes = excludes

    def do(self, step: Step) -> None:
        """Carry out one step as far as it can be."""
        action: Callable[..., None] = getattr(self, step[0])
        try:
            action(self._root / step[1], *step[2:])
        except (OSError, shutil.Error):
            # What it needs is not there, or something is in its way: a step less.
            return

    def write(self, path: Path, text: str) -> None:
        """Create, or overwrite in place."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def append(self, path: Path, text: str) -> None:
        """Add to the end of a file that is there."""
        if path.is_file():
            with path.open("a", encoding="utf-8") as file:
                file.write(text)

    def replace(self, path: Path, text: str) -> None:
        """Put a new file in the place of another by a rename."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(".fresh~")
        fresh.write_text(text, encoding="utf-8")
        self.rename(fresh, path)

    def mapped(self, path: Path, text: str) -> None:
        """Write through a mapping whose file is closed already, of which inotify says nothing."""
        data = text.encode()
        with path.open("r+b") as file:
            file.truncate(len(data))
            view = mmap.mmap(file.fileno(), len(data))
        view[:] = data
        view.close()

    def dated(self, path: Path, text: str, *, back: int = 0) -> None:
        """Overwrite, and put the modification time where it was, or `back` nanoseconds before that."""
        stamp = path.stat()
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns - back))

    def older(self, path: Path, text: str) -> None:
        """Overwrite, dated a day before what was there, as by a clock that was set back."""
        self.dated(path, text, back=DAY)

    def rename(self, old: Path, new: Path | str) -> None:
        """Rename over a file, or to a new name; a directory comes with all in it."""
        target = self._root / new
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_dir() or target.is_symlink():
            old.rename(target)

    def remove(self, path: Path) -> None:
        """Delete whatever it is."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def plant(self, path: Path, text: str) -> None:
        """Make directories in directories and files in them, at once."""
        for place in (path, path / "in", path / "in" / "ner"):
            place.mkdir(parents=True, exist_ok=True)
            (place / "g.txt").write_text(text, encoding="utf-8")

    def bring(self, path: Path, text: str) -> None:
        """Make a tree outside and move it in."""
        self.plant(self._outside / "brought", text)
        if not path.exists():
            self.rename(self._outside / "brought", path)

    def take(self, path: Path) -> None:
        """Move something out of the tree."""
        shutil.rmtree(self._outside / "taken", ignore_errors=True)
        path.rename(self._outside / "taken")

    def mode(self, path: Path, bits: str) -> None:
        """Change the permission bits of a file."""
        if path.is_file():
            path.chmod(int(bits, 8))

    def link(self, path: Path, target: str) -> None:
        """Put a symbolic link to `target` (`outside` for the directory beside) in the place of a file or a link."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(".fresh~")
        fresh.symlink_to(os.path.relpath(self._outside if target == "outside" else self._root / target, path.parent))
        if path.is_dir() and not path.is_symlink():
            fresh.unlink()
        else:
            fresh.rename(path)

    def swap(self, path: Path) -> None:
        """Put a link to the outside in the place of a directory, or the directory back."""
        kept = path.with_name(path.name + "~kept")
        if kept.exists():
            path.unlink()
            kept.rename(path)
        elif path.is_dir() and not path.is_symlink():
            path.rename(kept)
            path.symlink_to(self._outside)

    def hard(self, old: Path, new: str) -> None:
        """Give a file a second name."""
        (self._root / new).parent.mkdir(parents=True, exist_ok=True)
        os.link(old, self._root / new, follow_symlinks=False)

    def behind(self, path: Path, text: str) -> None:
        """Overwrite a file by a second name outside the tree."""
        name = self._outside / "second"
        name.unlink(missing_ok=True)
        os.link(path, name, follow_symlinks=False)
        name.write_text(text, encoding="utf-8")

    def ignore(self, path: Path, text: str) -> None:
        """Write an ignore file, or remove it where there is nothing to write."""
        if text:
            self.write(path, text)
        else:
            path.unlink()

    def exclude(self, _path: Path, text: str) -> None:
        """Write the person's own excludes."""
        self.write(self._excludes, text)

    def repository(self, path: Path, text: str) -> None:
        """Make what looks like a repository, with excludes of its own."""
        self.write(path / ".git" / "info" / "exclude", text)

    def burst(self, path: Path, text: str) -> None:
        """Make many files at once, in a few directories."""
        for number in range(BURST):
            self.write(path / f"s{number % 7}" / f"n{number}.py", text)

    def storm(self, path: Path, seed: str) -> None:
        """Do many small things at once beneath a directory."""
        dice = random.Random(seed)
        places = [path / f"s{number}" for number in range(5)]
        hands = Hands(self._root, self._outside, self._excludes)
        for number in range(BURST):
            one, other = (dice.choice(places) / f"n{dice.randrange(20)}.py" for _ in range(2))
            roll = dice.random()
            if roll < 0.5:
                hands.do(["write", str(one), f"{WORD} {seed}x{number}x\n"])
            elif roll < 0.7:
                hands.do(["remove", str(one)])
            elif roll < 0.9:
                hands.do(["rename", str(one), str(other)])
            elif roll < 0.97:
                hands.do(["rename", str(one.parent), str(dice.choice(places))])
            else:
                hands.do(["remove", str(one.parent)])


class Dice:
    """Chooses steps. `git`: only what git itself knows, so that git can say what is ignored."""

    def __init__(self, seed: str, *, git: bool) -> None:
        self._dice = random.Random(seed)
        self._git = git

    def step(self, token: str, directories: Sequence[str], files: Sequence[str]) -> Step:
        """Return the next step over what is there now; a file that it writes holds `token`."""
        dice = self._dice
        heavy = [path for path in directories if path.startswith(("burst", "storm")) and "/" not in path]
        if heavy and dice.random() < 0.4:
            return dice.choice([["remove", dice.choice(heavy)], ["rename", dice.choice(heavy), self._fresh()]])
        if len(files) > MOST_FILES:
            return ["remove", dice.choice(directories or files)]
        text = f"{WORD}\n" * dice.randrange(1, 3) + f"{token}\n" + "more\n" * dice.choice((0, 0, 1, 30))
        kinds = [(self._write, 34), (self._moved, 22), (self._made, 14), (self._linked, 14), (self._rule, 12)]
        chosen = dice.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        if dice.random() < 0.012:
            return dice.choice([["burst", f"burst{token}", text], ["storm", "storm", token]])
        return chosen(text, directories, files)

    def _write(self, text: str, directories: Sequence[str], files: Sequence[str]) -> Step:
        action = self._dice.choice(("write", "write", "replace", "append", "mapped", "dated", "older", "behind"))
        return [action, self._file(directories, files, there=action not in {"write", "replace"}), text]

    def _moved(self, _text: str, directories: Sequence[str], files: Sequence[str]) -> Step:
        dice = self._dice
        roll = dice.random()
        if roll < 0.3:
            return ["remove", self._file(directories, files, there=True)]
        if roll < 0.6:
            return ["rename", self._file(directories, files, there=True), self._file(directories, files)]
        if not directories:
            return ["remove", self._file(directories, files, there=True)]
        place = dice.choice(directories)
        return dice.choice([["remove", place], ["rename", place, self._fresh(directories)], ["take", place]])

    def _made(self, text: str, directories: Sequence[str], _files: Sequence[str]) -> Step:
        return [self._dice.choice(("plant", "bring")), self._fresh(directories), text]

    def _linked(self, _text: str, directories: Sequence[str], files: Sequence[str]) -> Step:
        dice = self._dice
        path = self._file(directories, files)
        there = self._file(directories, files, there=True)
        some = dice.choice(directories) if directories else "a"
        return dice.choice(
            [
                ["link", path, dice.choice((there, some, "outside", path))],
                ["link", self._fresh(directories), some],
                ["swap", some],
                ["hard", there, path],
                ["mode", there, dice.choice(("000", "755", "644"))],
            ]
        )

    def _rule(self, _text: str, directories: Sequence[str], _files: Sequence[str]) -> Step:
        dice = self._dice
        lines = "".join(f"{line}\n" for line in dice.sample(PATTERNS, dice.randrange(0, 4)))
        place = f"{dice.choice(directories)}/" if directories and dice.random() < 0.5 else ""
        roll = dice.random()
        if roll < 0.1:
            return ["exclude", "", lines]
        if roll < 0.2:
            return ["repository", "" if self._git else place, lines]
        return ["ignore", place + (".gitignore" if self._git else dice.choice(IGNORE_FILES)), lines]

    def _fresh(self, directories: Sequence[str] = ()) -> str:
        names = [self._dice.choice(DIRECTORIES) for _ in range(self._dice.randrange(1, 4))]
        start = f"{self._dice.choice(directories)}/" if directories and self._dice.random() < 0.3 else ""
        return start + "/".join(names)

    def _file(self, directories: Sequence[str], files: Sequence[str], *, there: bool = False) -> str:
        dice = self._dice
        if files and (there or dice.random() < 0.3):
            return dice.choice(files)
        place = dice.choice(directories) if directories and dice.random() < 0.6 else self._fresh()
        return f"{place}/{dice.choice(NAMES)}" if dice.random() < 0.9 else dice.choice(NAMES)


class Other:
    """Another process that carries out steps, one at a time, and says when each is done."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def do(self, step: Step) -> None:
        """Have it carry out one step, and wait for that."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(step) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def other_process(root: Path, outside: Path, excludes: Path) -> Generator[Other]:
    """Start a process that carries out steps; it ends with the context."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(root), str(outside), str(excludes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Other(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Carry out the steps that come in, one JSON list a line."""
    hands = Hands(*map(Path, sys.argv[1:4]))
    for line in sys.stdin:
        hands.do(json.loads(line))
        print("done", flush=True)


if __name__ == "__main__":
    main()
