"""The resident table of directories that are seldom met: at two places, closed, with the oddest of names."""

import subprocess
from pathlib import Path

from grown import tree_of, wait_for
from toolcrib.host.finder.tree.shelves import Everything


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


def test_names_of_the_last_character_lie_beneath_their_directory(tmp_path: Path) -> None:
    for name in ("a\U0010ffff", "a/\U0010ffffb", "a/\U0010ffff", "a-", "a0", "b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    with tree_of(tmp_path) as tree:
        kept = tree.current()
        assert kept is not None
        assert kept.select(Everything(), "a/") == ["a/\U0010ffff", "a/\U0010ffffb"]
