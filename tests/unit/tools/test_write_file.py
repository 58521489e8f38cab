"""`write_file`: creating, replacing, and what stands in the way of it."""

from typing import Any

import pytest

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal
from toolcrib.tools.files import read_file, write_file
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio


@pytest.fixture
def hand() -> Hand:
    return Hand()


async def replaced(data: bytes, content: str) -> bytes | None:
    hand = Hand()
    hand.files.put("a", data)
    answer = await hand.call(write_file, path="a", content=content, overwrite_existing=True)
    after = hand.files.data("a")
    assert after is not None
    assert answer.payload.digest == answer.evidence.digest == of_bytes(after)
    return after


async def test_a_new_file_is_created_with_its_directories(hand: Hand) -> None:
    answer = await hand.call(write_file, path="src/deep/a.py", content="one\ntwo\r\n")
    assert hand.files.data("src/deep/a.py") == b"one\ntwo\r\n"
    assert answer.payload.action == "created"
    assert answer.payload.created_directories == ("src", "src/deep")
    assert (answer.payload.encoding, answer.payload.ending) == ("utf-8", "mixed")
    change = answer.evidence.changed[0]
    assert (change.path, change.before, change.after) == ("src/deep/a.py", None, of_bytes(b"one\ntwo\r\n"))
    assert answer.evidence.diff == "--- /dev/null\n+++ b/src/deep/a.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert answer.payload.text().startswith("created src/deep/a.py (+2 -0); utf-8, mixed, 9 bytes; digest ")


async def test_an_empty_file_can_be_created(hand: Hand) -> None:
    answer = await hand.call(write_file, path="a", content="")
    assert hand.files.data("a") == b""
    assert (answer.payload.ending, answer.payload.size) == ("none", 0)


async def test_an_existing_file_needs_the_flag_and_the_refusal_names_it(hand: Hand) -> None:
    hand.files.put("a", "old")
    refusal = await hand.refused(write_file, "file.exists", path="a", content="new")
    assert "overwrite_existing" in refusal.message
    assert "overwrite_existing=true" in refusal.hint
    assert hand.files.data("a") == b"old"


async def test_with_the_flag_it_is_replaced_and_the_diff_told(hand: Hand) -> None:
    hand.files.put("a", "one\ntwo\nthree\n")
    await hand.call(read_file, path="a")
    answer = await hand.call(write_file, path="a", content="one\n2\nthree\n", overwrite_existing=True)
    assert answer.payload.action == "replaced"
    assert not answer.payload.unread
    assert (answer.payload.added, answer.payload.removed) == (1, 1)
    assert answer.evidence.diff == "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


@pytest.mark.case("B019")
async def test_encoding_mark_and_line_ending_are_kept() -> None:
    assert await replaced(b"\xef\xbb\xbfa\n", "b\n") == b"\xef\xbb\xbfb\n"
    assert await replaced(b"\xef\xbb\xbfa\n", "\ufeffb\n") == b"\xef\xbb\xbfb\n"
    assert await replaced(b"a\r\nb\r\n", "x\ny\nz\n") == b"x\r\ny\r\nz\r\n"
    assert await replaced(b"a\nb\n", "x\r\ny\r\n") == b"x\ny\n"
    assert await replaced(b"a\r\nb\n", "x\r\ny\n") == b"x\r\ny\n"
    assert await replaced("\ufeffa\r\n".encode("utf-16-be"), "\u4e2d\n") == "\ufeff\u4e2d\r\n".encode("utf-16-be")


async def test_writing_what_is_there_changes_nothing_and_says_so(hand: Hand) -> None:
    hand.files.put("a", b"one\r\n")
    hand.files.before_write = lambda path: pytest.fail(f"{path} was written")
    answer = await hand.call(write_file, path="a", content="one\n", overwrite_existing=True)
    assert answer.payload.action == "unchanged"
    assert answer.evidence.changed == ()
    assert answer.evidence.diff is None
    assert answer.payload.text().startswith("unchanged a; ")


async def test_a_binary_file_is_replaced_as_text(hand: Hand) -> None:
    hand.files.put("a", b"\x7fELF\0\0")
    shown = await hand.preview(write_file, path="a", content="text\n", overwrite_existing=True)
    assert "replacing 6 bytes that are no text" in shown.headline
    answer = await hand.call(write_file, path="a", content="text\n", overwrite_existing=True)
    assert hand.files.data("a") == b"text\n"
    assert "\0" not in (answer.evidence.diff or "")


@pytest.mark.case("B058")
async def test_text_in_an_unknown_encoding_is_not_written_over_by_a_guess(hand: Hand) -> None:
    hand.files.put("a", b"caf\xe9\n")
    await hand.call(read_file, path="a")
    refusal = await hand.refused(
        write_file, "file.undecodable", path="a", content="caf\\xe9 au lait\n", overwrite_existing=True
    )
    assert "edit_file" in refusal.hint
    assert hand.files.data("a") == b"caf\xe9\n"


@pytest.mark.case("B044")
async def test_a_file_that_changed_since_it_was_read_is_stale(hand: Hand) -> None:
    hand.files.put("n.md", "first")
    digest = (await hand.call(read_file, path="n.md")).payload.digest
    hand.files.put("n.md", "outside")
    refusal = await hand.refused(write_file, "file.stale", path="n.md", content="mine", overwrite_existing=True)
    assert digest[:12] in refusal.message
    assert of_bytes(b"outside")[:12] in refusal.message
    assert "read it again" in refusal.hint
    assert hand.files.data("n.md") == b"outside"


async def test_a_cited_digest_must_match_whatever_was_read(hand: Hand) -> None:
    hand.files.put("a", "first")
    args: dict[str, Any] = {"path": "a", "content": "mine", "overwrite_existing": True}
    await hand.refused(write_file, "file.stale", digest="0" * 12, **args)
    answer = await hand.call(write_file, digest=of_bytes(b"first")[:12].upper(), **args)
    assert not answer.payload.unread


async def test_a_digest_cited_of_a_file_that_is_gone_is_stale(hand: Hand) -> None:
    await hand.refused(write_file, "file.stale", path="a", content="x", digest="0" * 12)


async def test_replacing_what_was_never_read_says_unread(hand: Hand) -> None:
    hand.files.put("a", "old")
    shown = await hand.preview(write_file, path="a", content="new", overwrite_existing=True)
    assert shown.headline == "update a (+1 -1), not read before"
    answer = await hand.call(write_file, path="a", content="new", overwrite_existing=True)
    assert answer.payload.unread
    assert "unread" in answer.payload.text()


async def test_what_changed_after_admission_without_a_reading_is_stale(hand: Hand) -> None:
    hand.files.put("a", "old")
    args: dict[str, Any] = {"path": "a", "content": "new", "overwrite_existing": True}
    facts = await hand.facts(write_file, write_file.parameters.model_validate(args))
    hand.files.put("a", "outside")
    refusal = await hand.refused(write_file, "file.stale", facts=facts, **args)
    assert "when the call came in" in refusal.message
    assert hand.files.data("a") == b"outside"


async def test_a_file_that_came_or_went_since_admission_makes_the_approval_stale(hand: Hand) -> None:
    args: dict[str, Any] = {"path": "a", "content": "new", "overwrite_existing": True}
    facts = await hand.facts(write_file, write_file.parameters.model_validate(args))
    hand.files.put("a", "outside")
    await hand.refused(write_file, "approval.stale", facts=facts, **args)
    assert hand.files.data("a") == b"outside"
    facts = await hand.facts(write_file, write_file.parameters.model_validate(args))
    await hand.files.remove("a", expect=of_bytes(b"outside"))
    await hand.refused(write_file, "approval.stale", facts=facts, **args)
    assert hand.files.data("a") is None


async def test_a_writer_that_comes_between_is_not_overwritten(hand: Hand) -> None:
    hand.files.put("a", "old")
    hand.files.before_write = lambda path: hand.files.put(path, "outside")
    with pytest.raises(Refusal) as caught:
        await hand.call(write_file, path="a", content="new", overwrite_existing=True)
    assert caught.value.name == "file.stale"
    assert hand.files.data("a") == b"outside"


async def test_a_large_file_is_replaced_and_its_diff_found(hand: Hand) -> None:
    rows = [f"row {number}\n" for number in range(20_000)]
    hand.files.put("a", "".join(rows))
    rows[12_345] = "changed\n"
    answer = await hand.call(write_file, path="a", content="".join(rows), overwrite_existing=True)
    assert (answer.payload.added, answer.payload.removed) == (1, 1)
    assert "@@ -12343,7 +12343,7 @@" in (answer.evidence.diff or "")


async def test_directories_and_fifos_are_refused_by_kind(hand: Hand) -> None:
    hand.files.directory("d")
    hand.files.special("p", "fifo")
    for flag in (False, True):
        for path, word in (("d", "directory"), ("p", "fifo")):
            refusal = await hand.refused(
                write_file, "file.not_regular", path=path, content="x", overwrite_existing=flag
            )
            assert word in refusal.message.lower()


async def test_half_a_surrogate_pair_is_an_argument_error(hand: Hand) -> None:
    refusal = await hand.refused(write_file, "args.invalid", path="a", content="ab\udce9")
    assert "character 3" in refusal.message
    assert hand.files.data("a") is None


async def test_the_preview_of_a_new_file_shows_all_of_it(hand: Hand) -> None:
    content = "".join(f"line {number}\n" for number in range(3000))
    shown = await hand.preview(write_file, path="a", content=content)
    assert shown.headline == "create a (+3,000 -0)"
    assert shown.diff.count("\n+line") == 3000
    assert hand.files.data("a") is None


@pytest.mark.case("B039")
async def test_writing_through_a_link_changes_its_target(hand: Hand) -> None:
    hand.files.put("real/conf", "old\n")
    hand.files.link("conf", "real/conf")
    hand.files.link("soon", "real/soon")
    answer = await hand.call(write_file, path="conf", content="new\n", overwrite_existing=True)
    assert (answer.payload.path, hand.files.data("real/conf")) == ("real/conf", b"new\n")
    answer = await hand.call(write_file, path="soon", content="made\n")
    assert (answer.payload.path, hand.files.data("real/soon")) == ("real/soon", b"made\n")


async def test_protected_paths_links_of_a_file_and_read_only_files_are_refused(hand: Hand) -> None:
    hand.files.put("a", "x")
    hand.files.alias("b", "a")
    hand.files.put("locked", "x", mode=0o444)
    for path, name in ((".git/config", "file.protected"), ("b", "file.linked"), ("locked", "file.read_only")):
        with pytest.raises(Refusal) as caught:
            await hand.call(write_file, path=path, content="y", overwrite_existing=True)
        assert caught.value.name == name
        assert name in write_file.descriptor.refusals
