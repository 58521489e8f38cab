"""`apply_patch` and the tools beside it, over files in memory."""

import pytest

from toolcrib.terms.digest import of_bytes
from toolcrib.tools.move import delete_file, move_file
from toolcrib.tools.patch import apply_patch
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio


def patch(path: str, old: str, new: str) -> str:
    """Return a section that replaces one line."""
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


async def test_every_file_is_answered_with_its_digest_and_one_diff() -> None:
    hand = Hand()
    hand.files.put("a", "one\r\ntwo\r\n")
    hand.files.put("b", b"\xff\xfe" + "x\n".encode("utf-16-le"), mode=0o755)
    answer = await hand.call(apply_patch, patch=patch("a", "two", "TWO") + patch("b", "x", "y"))
    assert hand.files.data("a") == b"one\r\nTWO\r\n"
    assert hand.files.data("b") == b"\xff\xfe" + "y\n".encode("utf-16-le")
    assert hand.files.mode("b") == 0o755
    files = answer.payload.files
    assert [each.digest for each in files] == [of_bytes(hand.files.data(name) or b"") for name in ("a", "b")]
    assert files[0].shifted
    assert answer.evidence.diff == answer.payload.diff
    assert answer.payload.diff.count("--- a/") == 2


async def test_one_hunk_that_does_not_fit_leaves_every_file() -> None:
    hand = Hand()
    for name in ("a", "b"):
        hand.files.put(name, "one\n")
    said = await hand.refused(apply_patch, "file.no_match", patch=patch("a", "one", "x") + patch("b", "onr", "x"))
    assert "'b'" in said.message
    assert said.payload is not None
    assert hand.files.data("a") == hand.files.data("b") == b"one\n"


async def test_a_text_that_occurs_twice_is_ambiguous_until_the_file_was_read() -> None:
    hand = Hand()
    hand.files.put("a", "x\ny\nx\n")
    change = "--- a/a\n+++ b/a\n@@ -3 +3 @@\n-x\n+z\n"
    said = await hand.refused(apply_patch, "file.ambiguous", patch=change)
    assert "lines 1, 3" in said.message
    hand.seen["a"] = of_bytes(b"x\ny\nx\n")
    await hand.call(apply_patch, patch=change)
    assert hand.files.data("a") == b"x\ny\nz\n"


async def test_a_patch_that_was_applied_or_is_reversed_says_so() -> None:
    hand = Hand()
    hand.files.put("a", "new\n")
    said = await hand.refused(apply_patch, "file.unchanged", patch=patch("a", "old", "new"))
    assert "applied before" in said.message


async def test_deletions_hold_the_whole_file_or_its_last_reading() -> None:
    hand = Hand()
    hand.files.put("a", "one\ntwo\n")
    part = "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    await hand.refused(apply_patch, "file.no_match", patch=part)
    hand.seen["a"] = of_bytes(b"older")
    await hand.refused(apply_patch, "file.stale", patch="*** Begin Patch\n*** Delete File: a\n*** End Patch")
    await hand.call(apply_patch, patch="--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")
    assert hand.files.data("a") is None


async def test_moves_keep_the_mode_and_a_new_name_must_be_free() -> None:
    hand = Hand()
    hand.files.put("a", "one\n", mode=0o640)
    hand.files.put("b", "two\n")
    move = "*** Begin Patch\n*** Update File: a\n*** Move to: {}\n@@\n-one\n+ONE\n*** End Patch"
    await hand.refused(apply_patch, "file.exists", patch=move.format("b"))
    await hand.call(apply_patch, patch=move.format("n/a"))
    assert (hand.files.data("a"), hand.files.data("n/a"), hand.files.mode("n/a")) == (None, b"ONE\n", 0o640)
    await hand.call(apply_patch, patch="diff --git a/b b/b\nold mode 100644\nnew mode 100755\n")
    assert hand.files.mode("b") == 0o755


async def test_what_is_no_text_or_no_file_is_refused_by_name() -> None:
    hand = Hand()
    hand.files.put("bin", b"\0\1")
    hand.files.put("a", "one\n")
    hand.files.link("l", "a")
    hand.files.directory("d")
    hand.files.put("locked", "one\n", mode=0o444)
    for path, name in (("bin", "file.binary"), ("l", "file.not_regular"), ("d", "file.not_regular")):
        await hand.refused(apply_patch, name, patch=patch(path, "one", "x"))
    await hand.refused(apply_patch, "file.missing", patch=patch("none", "one", "x"))
    await hand.refused(apply_patch, "file.exists", patch="--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n")
    await hand.refused(apply_patch, "patch.invalid", patch="--- a/a\n+++ b/a\n")


async def test_the_mark_of_a_hidden_secret_is_not_written() -> None:
    hand = Hand()
    hand.files.put("a", "one\n")
    await hand.refused(apply_patch, "args.invalid", patch=patch("a", "one", "key = [redacted:aws-key]"))


async def test_a_preview_names_both_ends_and_shows_the_diff() -> None:
    hand = Hand()
    hand.files.put("a", "one\n")
    shown = await hand.preview(apply_patch, patch=patch("a", "one", "x"))
    assert shown.headline == "patch 1 file: update a (+1 -1)"
    assert "-one\n+x\n" in shown.diff
    assert (await hand.preview(move_file, old_path="a", new_path="b")).headline == "move file a to b"
    shown = await hand.preview(delete_file, path="a")
    assert shown.headline == "delete a (4 bytes, +0 -1)"
    assert "-one" in shown.diff


async def test_a_mark_that_a_diff_of_the_bytes_shows_is_the_files_own() -> None:
    hand = Hand()
    marked = b"\xef\xbb\xbf"
    hand.files.put("a", marked + b"one\ntwo\n")
    await hand.call(apply_patch, patch=patch("a", "\ufeffone", "\ufeffONE"))
    await hand.call(apply_patch, patch="--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n \ufeffONE\n-two\n+TWO\n")
    assert hand.files.data("a") == marked + b"ONE\nTWO\n"
    await hand.call(apply_patch, patch=patch("a", "ONE", "\ufeffone"))
    assert hand.files.data("a") == marked + b"one\nTWO\n"
    await hand.refused(apply_patch, "file.unchanged", patch=patch("a", "\ufeffone", "one"))
    hand.files.put("b", "one\n")
    await hand.call(apply_patch, patch=patch("b", "one", "\ufeffone"))
    assert hand.files.data("b") == marked + b"one\n"
    hand.files.put("c", marked * 2 + b"one\n")
    await hand.call(apply_patch, patch=patch("c", "\ufeffone", "\ufeffONE"))
    assert hand.files.data("c") == marked * 2 + b"ONE\n"


async def test_a_line_to_look_after_that_is_not_there_is_never_passed_over() -> None:
    hand = Hand()
    hand.files.put("a", "one\n")
    hand.files.put("empty", "")
    for name, end in (("a", "*** End of File\n"), ("empty", ""), ("empty", "*** End of File\n")):
        wanted = f"*** Begin Patch\n*** Update File: {name}\n@@ two\n+three\n{end}*** End Patch\n"
        said = await hand.refused(apply_patch, "file.no_match", patch=wanted)
        assert "'two'" in said.message
    await hand.call(apply_patch, patch=wanted.replace("File: empty\n@@ two", "File: a\n@@ one"))
    assert hand.files.data("a") == b"one\nthree\n"


async def test_a_new_name_that_asks_for_a_directory_is_refused() -> None:
    hand = Hand()
    hand.files.put("a", "one\n")
    for wanted in ("*** Add File: new/\n+x", "*** Add File: new/.\n+x", "*** Update File: a\n*** Move to: new/"):
        await hand.refused(apply_patch, "file.not_directory", patch=f"*** Begin Patch\n{wanted}\n*** End Patch\n")
    assert hand.files.data("a") == b"one\n"
    assert hand.files.data("new") is None
