"""Marks of encodings: what begins like a text of two-byte units and is none is never changed as one."""

from typing import Any

import pytest

from toolcrib.terms.text import decode, encode, encoding_of, looks_binary
from toolcrib.tools.edit import edit_file
from toolcrib.tools.files import write_file
from toolcrib.tools.patch import apply_patch
from unit.tools.hand import Hand

pytestmark = pytest.mark.anyio

WIDE = "one\ntwo\n"
STRANGE = {
    "UTF-32": WIDE.encode("utf-32"),
    "UTF-32 big-endian": b"\0\0\xfe\xff" + WIDE.encode("utf-32-be"),
    "odd": WIDE.encode("utf-16") + b"x",
    "half a pair": WIDE.encode("utf-16") + b"\x00\xd8",
    "half a pair, big-endian": b"\xfe\xff" + WIDE.encode("utf-16-be") + b"\xd8\x00",
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.case("B021")
async def test_text_in_units_that_cannot_be_kept_is_never_torn(kind: str) -> None:
    hand = Hand()
    hand.files.put("a", STRANGE[kind])
    await hand.refused(edit_file, "file.binary", path="a", edits=[{"old": "n", "new": "nn"}])
    await hand.refused(apply_patch, "file.binary", patch="--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+ones\n")
    assert hand.files.data("a") == STRANGE[kind]
    again = decode(STRANGE[kind])
    assert encode(again.text, again.encoding) == STRANGE[kind]


def test_the_mark_of_utf_32_is_not_that_of_utf_16() -> None:
    assert encoding_of("a".encode("utf-32-le")) is None
    assert encoding_of(STRANGE["UTF-32"]) is None
    assert looks_binary(STRANGE["UTF-32"])
    assert encoding_of("\ufeffa".encode("utf-16-le")) == "utf-16-le"


@pytest.mark.parametrize("text", ["one\ntwo\n", "one\r\ntwo\n"])
@pytest.mark.case("B019")
async def test_an_edit_at_the_start_leaves_one_mark(text: str) -> None:
    mark = b"\xef\xbb\xbf"
    for old, new in (("one", "\ufeffONE"), ("\ufeffone", "\ufeffONE"), ("\ufeffone", "ONE")):
        hand = Hand()
        hand.files.put("a", mark + text.encode())
        await hand.call(edit_file, path="a", edits=[{"old": old, "new": new}])
        assert hand.files.data("a") == mark + text.replace("one", "ONE").encode()


async def test_a_nul_never_makes_a_text_binary_and_goes_where_there_is_one() -> None:
    hand = Hand()
    hand.files.put("a", "one\n")
    nul: dict[str, Any] = {"path": "a", "edits": [{"old": "one", "new": "o\0e"}]}
    said = await hand.refused(edit_file, "args.invalid", **nul)
    assert "character 2" in said.message
    await hand.refused(write_file, "args.invalid", path="a", content="o\0e", overwrite_existing=True)
    await hand.refused(write_file, "args.invalid", path="new", content="o\0e")
    assert hand.files.data("a") == b"one\n"
    assert hand.files.data("new") is None
    late = b"x" * 9000 + b"\0one\n"
    hand.files.put("a", late)
    await hand.call(edit_file, **nul)
    assert hand.files.data("a") == late.replace(b"one", b"o\0e")
