"""The resident table of directories that are seldom met: at two places, closed, with the oddest of names."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from grown import tree_of, wait_for
from toolcrib.host.finder.tree.shelves import beneath


def test_a_directory_that_stands_at_two_places_has_no_table(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "file").write_text("file")
    subprocess.run(["mount", "--bind", str(one), str(other)], check=True)
    try:
        with tree_of(tmp_path, ready=False) as tree:
            wait_for(tree, "off")
            assert "the same directory" in tree.standing().reason
            assert tree.current() is None
    finally:
        subprocess.run(["umount", "-l", str(other)], check=True)


def test_names_of_the_last_character_lie_beneath_their_directory() -> None:
    paths = sorted(["a\U0010ffff", "a/\U0010ffffb", "a/\U0010ffff", "a-", "a0", "b"])
    low, high = beneath(paths, "a/")
    assert paths[low:high] == ["a/\U0010ffff", "a/\U0010ffffb"]


_CLOSING = """
import os, sys
from pathlib import Path
from grown import held, tree_of, wait_for, walked
import toolcrib.host.finder.tree.tree as module

module.AGAIN = module.LONGEST = 0.01
place = Path(sys.argv[1])
os.setegid(65534)
os.seteuid(65534)
handle = os.open(place, os.O_RDONLY)
inner = place / "p" / "c"
(inner / "d").mkdir(parents=True)
for path in (inner / "f", inner / "d" / "g", place / "q"):
    path.write_text("x")
with tree_of(place) as tree:
    for path in (place / "p", inner):
        for mode in (0, 0o755, 0o311, 0o755, 0o644, 0o755):
            path.chmod(mode)
            kept = tree.current()
            if mode == 0o644:
                assert kept is None, (path, "may be listed, not entered")
                wait_for(tree, "off")
            else:
                if kept is None:
                    wait_for(tree, "ready")
                    kept = tree.current()
                assert held(kept) == walked(place), (path, oct(mode))
"""


def test_directories_that_are_closed_and_opened_again_are_as_a_walk_finds_them(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="toolcrib-closed-") as place:
        os.chown(place, 65534, 65534)
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", _CLOSING, place], check=True, env=environ, timeout=15)
