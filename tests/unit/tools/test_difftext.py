"""Diffs: applied to the old lines they give the new ones, and they stay small beside what they do not show."""

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.terms.text import decode, ending_of
from toolcrib.tools.difftext import LINE, MOST, Span, of_spans, of_texts
from toolcrib.tools.spans import apply
from unit.tools.patching import lines_of, patched

texts = st.text(st.sampled_from("ab\n"), max_size=80)
breaks = st.sampled_from(["\n", "\r\n", "\r"])
pieces = st.lists(st.tuples(st.text(st.sampled_from("abc"), max_size=4), st.text(st.sampled_from("xyz\n"), max_size=5)))


def spans_of(parts: list[tuple[str, str]]) -> tuple[Span, ...]:
    """Return spans that replace every second part: the kept text between, the replaced one and its replacement."""
    spans: list[Span] = []
    at = 0
    for kept, new in parts:
        start = at + len(kept)
        spans.append(Span(start, start + 3, new))
        at = start + 3
    return tuple(spans)


@given(st.none() | texts, texts)
def test_the_diff_of_two_texts_leads_from_one_to_the_other(old: str | None, new: str) -> None:
    diff = of_texts("p", old, new)
    if not diff.text:
        assert lines_of(old or "") == lines_of(new)
        return
    assert diff.text.startswith("--- /dev/null\n" if old is None else "--- a/p\n")
    assert patched(lines_of(old or ""), diff.text) == lines_of(new)


@given(st.lists(st.tuples(st.text(st.sampled_from("ab\n"), max_size=40), st.text(st.sampled_from("xy\n"), max_size=9))))
def test_the_diff_of_spans_leads_from_the_old_text_to_the_applied_one(parts: list[tuple[str, str]]) -> None:
    old = "".join(f"{kept}Q\nQ" for kept, _ in parts) + "tail"
    spans = spans_of(parts)
    diff = of_spans("p", old, spans, ending=ending_of(old), most=1 << 20)
    new = apply(old, spans)
    assert patched(lines_of(old), diff.text or "\n\n") == lines_of(new)


@given(st.lists(st.tuples(st.text(st.sampled_from("ab"), max_size=4), breaks), min_size=1), st.data())
def test_lines_are_counted_over_every_kind_of_break(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    old = "".join(line + end for line, end in rows)
    chosen = data.draw(st.integers(0, len(rows) - 1))
    start = len("".join(line + end for line, end in rows[:chosen]))
    span = Span(start, start + len(rows[chosen][0]), "new line here")
    diff = of_spans("p", old, [span], ending=decode(old.encode()).ending)
    assert patched(lines_of(old), diff.text) == lines_of(apply(old, [span]))


def test_the_counts_are_of_the_whole_diff_though_it_is_cut() -> None:
    new = "".join(f"line {number}\n" for number in range(5000))
    diff = of_texts("p", None, new)
    assert (diff.added, diff.removed) == (5000, 0)
    assert len(diff.text) < MOST + 200
    shown = diff.text.count("\n+line")
    assert f"[... {5000 - shown:,} more lines of this diff not shown]" in diff.text


def test_a_change_in_the_middle_of_a_long_line_is_shown_where_it_is() -> None:
    old = "a" * 50_000 + "OLD" + "b" * 50_000
    diff = of_spans("p", old, [Span(50_000, 50_003, "NEW")], ending="none")
    removed, added = [line for line in diff.text.splitlines() if line.startswith(("-[", "+["))]
    assert "OLD" in removed
    assert "NEW" in added
    assert len(removed) < LINE + 100
    assert "[... 49,900 characters ...]" in removed


def test_a_changed_break_at_the_end_is_a_change() -> None:
    assert of_texts("p", "a\nb", "a\nb\n").text.endswith(" a\n-b\n\\ No newline at end of file\n+b\n")


def test_distant_changes_get_hunks_of_their_own_and_near_ones_share() -> None:
    rows = [f"{number}\n" for number in range(1, 41)]
    old = "".join(rows)
    spans = [Span(old.index(f"\n{n}\n") + 1, old.index(f"\n{n}\n") + 1 + len(str(n)), "x") for n in (5, 9, 30)]
    diff = of_spans("p", old, spans, ending="lf")
    assert diff.text.count("\n@@ ") == 2
    assert "@@ -2,11 +2,11 @@" in diff.text
    assert "@@ -27,7 +27,7 @@" in diff.text


def test_bytes_that_are_no_text_are_shown_as_escapes() -> None:
    text = decode(b"caf\xe9 \0\nold\n").text
    start = text.index("old")
    diff = of_spans("p", text, [Span(start, start + 3, "new")], ending="lf")
    assert " caf\\xe9 \\x00\n-old\n+new\n" in diff.text
    diff.text.encode()
