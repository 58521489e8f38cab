"""Reading patches and fitting their hunks: what a diff says is what comes out, byte for byte, or a refusal."""

import difflib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.terms.refusals import Refusal
from toolcrib.terms.text import decode
from toolcrib.tools.fitting import Fitted, Misfit, Sheet, fit
from toolcrib.tools.hunks import Section, content
from toolcrib.tools.patchtext import MOST_FILES, sections
from toolcrib.tools.spans import apply

BARE = "\\ No newline at end of file\n"
LINES = st.lists(
    st.sampled_from(["a", "b", "", "  c", "+x", "-y", "@@", "-- a/q", "\u00e9", "*** End Patch"]), max_size=14
)


def unified(old: Sequence[str], new: Sequence[str], *, context: int, open_old: bool, open_new: bool) -> str:
    """Return the diff of two files as git writes it."""
    before, after = _rows(old, open_old), _rows(new, open_new)
    out = difflib.unified_diff(before, after, "a/f", "b/f", n=context)
    return "".join(line[:-2] + "\n" + BARE if line.endswith("\0\n") else line for line in out)


def _rows(lines: Sequence[str], opened: bool) -> list[str]:
    rows = [f"{line}\n" for line in lines]
    return [*rows[:-1], f"{lines[-1]}\0\n"] if opened and rows and lines[-1] else rows


def joined(lines: Sequence[str], opened: bool, breaks: Sequence[str]) -> str:
    ends = [breaks[index % len(breaks)] for index in range(len(lines))]
    if opened and lines and lines[-1]:
        ends[-1] = ""
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def made(section: Section, text: str, *, numbered: bool = False) -> str | Misfit:
    found = fit(Sheet(decode(text.encode())), section.hunks, numbered=numbered)
    return apply(text, found.spans) if isinstance(found, Fitted) else found


@given(
    LINES,
    LINES,
    st.sampled_from([0, 1, 3]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r", "\r\n\n"]),
)
def test_a_diff_makes_of_the_old_text_the_new_one(
    old: list[str], new: list[str], context: int, open_old: bool, open_new: bool, kind: str
) -> None:
    patch = unified(old, new, context=context, open_old=open_old, open_new=open_new)
    breaks = ["\r\n", "\n"] if kind == "\r\n\n" else [kind]
    text, wanted = joined(old, open_old, breaks), joined(new, open_new, ["\n"])
    if not patch or Sheet(decode(text.encode())).lines != list(old):
        return
    (section,) = sections(patch)
    found = made(section, text, numbered=True)
    assert isinstance(found, str), found
    assert plain(found) == wanted
    if len(breaks) == 1 and kind in text:
        assert found == wanted.replace("\n", kind)
    alone = made(section, text)
    assert isinstance(alone, Misfit) or plain(alone) == wanted


@given(LINES, LINES, LINES)
def test_a_diff_fits_a_text_that_has_grown_above_it_or_is_ambiguous(
    old: list[str], new: list[str], above: list[str]
) -> None:
    patch = unified(old, new, context=3, open_old=False, open_new=False)
    if not patch or not old:
        return
    found = made(sections(patch)[0], joined([*above, *old], False, ["\n"]))
    if isinstance(found, Misfit):
        assert found.lines or found.overlaps or found.applied
    else:
        assert found == joined([*above, *new], False, ["\n"]) or [*above, *old].count(old[0]) > 1


def test_every_new_file_of_either_format_has_exactly_its_lines() -> None:
    for text in ("a\n", "a\nb", "\n", "caf\u00e9\r\n", "a\rb\n", "+x\n"):
        lines = text.split("\n")
        last = lines.pop()
        body = "".join(f"+{line}\n" for line in lines) + (f"+{last}\n{BARE}" if last else "")
        count = len(lines) + bool(last)
        (section,) = sections(f"--- /dev/null\n+++ b/n\n@@ -0,0 +1,{count} @@\n{body}")
        assert (section.action, section.path, content(section.hunks[0].lines)) == ("add", "n", text)
    (section,) = sections("*** Begin Patch\n*** Add File: n\n+a\n+\n*** End Patch\n")
    assert content(section.hunks[0].lines) == "a\n\n"


def test_git_says_renames_modes_and_quoted_names() -> None:
    found = sections(
        'diff --git "a/caf\\303\\251" "b/caf\\303\\251"\nold mode 100644\nnew mode 100755\n'
        "diff --git a/x y b/z\nsimilarity index 100%\nrename from x y\nrename to z\n"
        "diff --git a/empty b/empty\nnew file mode 100755\nindex 0000000..e69de29\n"
        "diff --git a/e2 b/e2\ndeleted file mode 100644\nindex e69de29..0000000\n-- \n2.40\n"
    )
    said = [(each.action, each.path, each.to, each.executable) for each in found]
    assert said == [
        ("update", "caf\u00e9", None, True),
        ("update", "x y", "z", None),
        ("add", "empty", None, True),
        ("delete", "e2", None, None),
    ]


def test_names_lose_what_diff_puts_before_them_and_keep_what_is_theirs() -> None:
    for old, new, name in (
        ("a/src/f", "b/src/f", "src/f"),
        ("src/f\t2026-01-01 00:00:00", "src/f\t2026-01-02", "src/f"),
        ("a/f", "a/f", "a/f"),
        ("b/f", "b/f", "b/f"),
    ):
        (section,) = sections(f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")
        assert section.path == name


def test_an_envelope_finds_its_hunks_by_the_lines_that_stand_before() -> None:
    text = "def a():\n    return 1\n\ndef b():\n    return 1\n"
    patch = "*** Begin Patch\n*** Update File: f\n@@ def b():\n-    return 1\n+    return 2\n*** End Patch"
    assert made(sections(patch)[0], text) == "def a():\n    return 1\n\ndef b():\n    return 2\n"
    bare = patch.replace("@@ def b():", "@@")
    found = made(sections(bare)[0], text)
    assert isinstance(found, Misfit)
    assert found.lines == (2, 5)
    lost = made(sections(patch.replace("def b", "def c"))[0], text)
    assert isinstance(lost, Misfit)
    assert lost.anchor == "def c():"
    end = "*** Begin Patch\n*** Update File: f\n@@\n+last\n*** End of File\n*** End Patch"
    assert made(sections(end)[0], text) == text + "last\n"
    assert isinstance(made(sections(end.replace("*** End of File\n", ""))[0], text), Misfit)


def test_a_patch_that_was_sent_with_carriage_returns_is_read_without_them() -> None:
    patch = "--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n"
    assert made(sections(patch)[0], "a\n") == "b\n"
    assert made(sections(patch)[0], "a\r\n") == "b\r\n"


GOOD = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("hello\n", "expected a unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "expected a unified diff|before any"),
        (GOOD[:-3], "ends too early"),
        (GOOD.replace("-1,2", "-1,3"), "ends too early"),
        (GOOD.replace("-1,2", "-1,1"), "other lines than its header counts"),
        (GOOD + "+d\n", "more lines than its header counts"),
        (GOOD.replace("@@ -1,2", "@@ -x"), "expected '@@"),
        (GOOD.replace("-b\n+c", " b\n c"), "changes nothing"),
        (GOOD.replace("-b", "b"), "expected a line of the hunk"),
        (GOOD.replace("+++ b/f", "+++ b/g"), "two files"),
        (GOOD + GOOD, "named by this section"),
        (GOOD.replace("c\n", "c\0\n"), "NUL"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "twice"),
        ("diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 1\n", "binary"),
        ("diff --git a/f b/f\nBinary files a/f and b/f differ\n", "binary"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 120000\n", "120000"),
        ("diff --git a/f b/f\nnew file mode 160000\n", "160000"),
        ("diff --git a/f b/f\nold mode 100755\nnew mode 104755\n", "104755"),
        ("diff --git a/f b/f\nindex 1..2 120000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "120000"),
        ("diff --git a/f b/g\ncopy from f\ncopy to g\n", "copies"),
        ("diff --git a/f b/g\nrename from f\n", "needs both"),
        ("diff --git a/f b/f\nindex 1..2\n", "changes nothing"),
        ("*** Begin Patch\n*** End Patch", "empty"),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", "without '\\*\\*\\* End Patch'"),
        ("*** Begin Patch\n*** Update File: f\n*** End Patch", "changes nothing"),
        ("*** Begin Patch\n*** Rename File: f\n*** End Patch", "expected a section"),
        ("*** Begin Patch\n*** Update File: \n*** End Patch", "expected a section"),
        ("*** Begin Patch\n*** Add File: f\nx\n*** End Patch", "expected '\\+'"),
        ("*** Begin Patch\n*** Update File: f\n@@\n x\n*** End Patch", "changes nothing"),
        ("*** Begin Patch\n*** Delete File: f\n*** End Patch\nmore", "nothing after"),
        ("*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n*** End Patch", "named by this section"),
        (
            "*** Begin Patch\n" + "".join(f"*** Delete File: {n}\n" for n in range(MOST_FILES + 1)) + "*** End Patch",
            "at most 100",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(patch: str, said: str) -> None:
    with pytest.raises(Refusal, match=said) as caught:
        sections(patch)
    assert caught.value.name == "patch.invalid"
    assert caught.value.message.startswith("patch line ")
    assert caught.value.hint


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*GOOD.splitlines(True), "*** Begin Patch\n", "\\ No\n"])).map("".join)
)
def test_any_text_is_read_or_refused(patch: str) -> None:
    try:
        sections(patch)
    except Refusal as refusal:
        assert refusal.name == "patch.invalid"
