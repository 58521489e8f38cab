"""EDIT: content of edits and writes."""

import pytest

from calling import edit, ok, opened, refused
from conftest import Workspace
from toolcrib import Ok, Refused

pytestmark = pytest.mark.anyio


@pytest.mark.case("B015")
async def test_an_old_text_with_lf_applies_to_a_crlf_file_which_stays_crlf(workspace: Workspace) -> None:
    workspace.write("a", b"a = 1\r\nb = 2\r\nc = 3\r\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a", ("a = 1\nb = 2", "a = 9\nb = 2")), Ok)
    assert workspace.read("a") == b"a = 9\r\nb = 2\r\nc = 3\r\n"


@pytest.mark.case("B016")
async def test_an_old_text_with_crlf_applies_to_an_lf_file_which_stays_lf(workspace: Workspace) -> None:
    workspace.write("a", b"x\ny\nz\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a", ("x\r\ny", "x\r\nY")), Ok)
    assert workspace.read("a") == b"x\nY\nz\n"


@pytest.mark.case("B018")
async def test_reading_then_editing_a_crlf_file_is_never_stale(workspace: Workspace) -> None:
    workspace.write("a", b"".join(b"line %d\r\n" % number for number in range(6)))
    async with opened(workspace.ws) as crib:
        for number in range(5):
            assert isinstance(await edit(crib, "a", (f"line {number}", f"done {number}")), Ok)
    assert workspace.read("a") == b"done 0\r\ndone 1\r\ndone 2\r\ndone 3\r\ndone 4\r\nline 5\r\n"


@pytest.mark.case("B019")
async def test_a_byte_order_mark_survives_an_edit_and_a_write(workspace: Workspace) -> None:
    workspace.write("a", b"\xef\xbb\xbfhello\n\xe4\xb8\xad\xe6\x96\x87\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a", ("hello", "hello2")), Ok)
        assert workspace.read("a") == b"\xef\xbb\xbfhello2\n\xe4\xb8\xad\xe6\x96\x87\n"
        await ok(crib, "write_file", path="a", content="hello3\n\u4e2d\u6587\n", overwrite_existing=True)
    assert workspace.read("a") == b"\xef\xbb\xbfhello3\n\xe4\xb8\xad\xe6\x96\x87\n"


@pytest.mark.case("B021")
async def test_bytes_that_are_not_utf_8_stay_as_they_are(workspace: Workspace) -> None:
    workspace.write("a", b"caf\xe9\nname = old\n")
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a", ("name = old", "name = new")), Ok)
    assert workspace.read("a") == b"caf\xe9\nname = new\n"


@pytest.mark.case("B023")
@pytest.mark.parametrize("replace_all", [False, True])
async def test_a_new_text_lands_literally(workspace: Workspace, replace_all: bool) -> None:
    workspace.write("a", 'log("done");\n')
    new = r"""$& $1 $$ $` $' \1 \g<0> \n \\ %s {0} &"""
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "a", ('log("done");', new, replace_all))
    assert isinstance(outcome, Ok)
    assert workspace.read("a") == new.encode() + b"\n"
    assert outcome.evidence.diff is not None
    assert f"+{new}\n" in outcome.evidence.diff
    assert '-log("done");\n' in outcome.evidence.diff


@pytest.mark.case("B024")
async def test_an_empty_old_text_is_refused(workspace: Workspace) -> None:
    workspace.write("a", "abc")
    workspace.write("empty", "")
    async with opened(workspace.ws) as crib:
        for replace_all in (False, True):
            for path in ("a", "empty"):
                outcome = await edit(crib, path, ("", "X", replace_all))
                assert isinstance(outcome, Refused)
                assert outcome.name == "args.invalid"
            change = [{"old": "", "new": "X", "replace_all": replace_all}]
            gone = await crib.call("edit_file", path="missing", digest="0" * 64, edits=change)
            assert isinstance(gone, Refused)
    assert workspace.read("a") == b"abc"
    assert workspace.read("empty") == b""
    assert not (workspace.ws / "missing").exists()


@pytest.mark.case("B025")
async def test_an_ambiguous_old_text_is_refused_with_count_and_lines(workspace: Workspace) -> None:
    rows = [f"row {number}" for number in range(1, 12)]
    for number in (2, 6, 10):
        rows[number - 1] = "value = value + 1"
    text = "\n".join(rows) + "\n"
    workspace.write("a", text)
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "a", ("value = value + 1", "value += 1"))
        assert isinstance(outcome, Refused)
        assert outcome.name == "file.ambiguous"
        assert all(word in outcome.message for word in ("3", "2, 6", "10"))
        assert workspace.read("a") == text.encode()
        done = await edit(crib, "a", ("value = value + 1", "value += 1", True))
        assert isinstance(done, Ok)
        assert "3" in str(done)
    assert workspace.read("a").count(b"value += 1") == 3


@pytest.mark.case("B028")
async def test_quotes_of_another_kind_are_not_matched_and_nothing_else_changes(workspace: Workspace) -> None:
    data = 'a = "x"\n// \u201cquoted\u201d \u2014 dash\nname = "Al"   \nno\u00a0break\n'.encode()
    workspace.write("a", data)
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "a", ("name = \u201cAl\u201d", 'name = "Bo"'))
    assert isinstance(outcome, Refused)
    assert outcome.name == "file.no_match"
    assert "quote" in str(outcome)
    assert workspace.read("a") == data


@pytest.mark.case("B029")
async def test_curly_quotes_are_written_and_edited_as_given(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        await ok(crib, "write_file", path="a", content="d\u2019accord \u201cok\u201d \u2026 it's\n")
        outcome = await edit(crib, "a", ("it's", "it\u2019s"))
    assert isinstance(outcome, Ok)
    assert workspace.read("a") == "d\u2019accord \u201cok\u201d \u2026 it\u2019s\n".encode()


@pytest.mark.case("B031")
async def test_an_old_text_that_only_nearly_matches_is_refused_with_the_nearest_lines(workspace: Workspace) -> None:
    workspace.write("a", "alpha(1)\nbeta(2)\ngamma(3)\n")
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "a", ("alpha(1)\nbeta(9)\ngamma(3)", "alpha(1)\nbeta(10)\ngamma(3)"))
    assert isinstance(outcome, Refused)
    assert outcome.name == "file.no_match"
    assert "beta(2)" in str(outcome)
    assert workspace.read("a") == b"alpha(1)\nbeta(2)\ngamma(3)\n"


@pytest.mark.case("B032")
async def test_tabs_are_shown_as_tabs_and_spaces_in_their_place_are_refused_with_a_hint(workspace: Workspace) -> None:
    workspace.write("a", "\t\tif x:\n\t\t\treturn\n")
    async with opened(workspace.ws) as crib:
        shown = str(await ok(crib, "read_file", path="a")).splitlines()
        line = next(row for row in shown if "if x:" in row)
        old = line.partition("\t")[2]
        assert old == "\t\tif x:"
        outcome = await edit(crib, "a", ("        if x:", "        if y:"))
        assert isinstance(outcome, Refused)
        assert outcome.name == "file.no_match"
        assert "space" in str(outcome)
        assert isinstance(await edit(crib, "a", (old, "\t\tif y:")), Ok)
    assert workspace.read("a") == b"\t\tif y:\n\t\t\treturn\n"


@pytest.mark.case("B033")
@pytest.mark.parametrize("end", ["", "\n"])
async def test_the_end_of_a_file_stays_as_it_was(workspace: Workspace, end: str) -> None:
    workspace.write("a", "one\nthree" + end)
    async with opened(workspace.ws) as crib:
        assert isinstance(await edit(crib, "a", ("one", "ONE")), Ok)
        assert isinstance(await edit(crib, "a", ("three", "THREE")), Ok)
    assert workspace.read("a") == b"ONE\nTHREE" + end.encode()


@pytest.mark.case("B034", "edits")
async def test_one_failing_edit_of_several_fails_all_and_is_named(workspace: Workspace) -> None:
    workspace.write("a", "A\nB\n")
    async with opened(workspace.ws) as crib:
        outcome = await edit(crib, "a", ("A", "A1"), ("missing", "x"))
    assert isinstance(outcome, Refused)
    assert outcome.name == "file.no_match"
    assert "missing" in str(outcome)
    assert "2" in outcome.message
    assert workspace.read("a") == b"A\nB\n"


@pytest.mark.case("B036")
async def test_a_reading_after_an_edit_in_one_batch_sees_it_and_a_failed_edit_leaves_no_trace(
    workspace: Workspace,
) -> None:
    workspace.write("a", "one one\n")
    async with opened(workspace.ws) as crib:
        digest = (await ok(crib, "read_file", path="a")).evidence.digest
        done, read, found = await crib.batch(
            [
                (
                    "edit_file",
                    {"path": "a", "digest": digest, "edits": [{"old": "one", "new": "two", "replace_all": True}]},
                ),
                ("read_file", {"path": "a"}),
                ("grep", {"pattern": "two"}),
            ]
        )
        assert isinstance(done, Ok)
        assert "2" in str(done)
        assert read.payload is not None
        assert read.payload["lines"] == ["two two"]
        assert "two two" in str(found)
        failed, again = await crib.batch(
            [
                ("edit_file", {"path": "a", "digest": done.evidence.digest, "edits": [{"old": "three", "new": "x"}]}),
                ("read_file", {"path": "a"}),
            ]
        )
        assert isinstance(failed, Refused)
        assert again.payload is not None
        assert again.payload["lines"] == ["two two"]
        assert (
            await refused(
                crib,
                "edit_file",
                "file.unchanged",
                path="a",
                digest=done.evidence.digest,
                edits=[{"old": "two two", "new": "two two"}],
            )
        ).kind
