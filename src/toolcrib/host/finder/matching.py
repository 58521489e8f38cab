"""How a content search recognises its text in a block of lines: by expression, or by likeness."""

import time
from collections.abc import Iterator
from typing import Protocol

from rapidfuzz import fuzz, process

from toolcrib.host.finder.classes import MARKS, is_word
from toolcrib.host.finder.linear import Expression, UnfitError, compiled
from toolcrib.host.finder.syntax import Parsed, literal, parse
from toolcrib.ports.find import Query
from toolcrib.terms.refusals import Refusal

MOST_CHARS = 10_000
_MOST_MARKED = 4 << 20
"""Bytes of a file in which a search across lines knows the ends of words beyond ASCII."""
_LARGE = 256 << 10
_SAMPLES = 4
_SAMPLE = 16 << 10
_MOST_SECONDS = 5.0
"""Projected time of one search that cannot be interrupted, from samples of a large block."""
_LIKENESS = 75
_MOST_FUZZY_CHARS = 200
_FUZZY_LINE = 2_000
"""Characters of a line that are compared by likeness."""

Span = tuple[int, int]


class SlowError(ValueError):
    """Searching a block would take too long, and could not be interrupted."""


class Matcher(Protocol):
    """Finds text in blocks of whole lines."""

    def spans(self, block: bytes) -> Iterator[Span]:
        """Yield begin and end of matches in order, at most one for each line that a match begins in.

        Raises:
            SlowError: the block is large, and samples of it took long.
        """
        ...


def matcher(query: Query) -> tuple[Matcher, Parsed | None, bool]:
    """Return what recognises the query's text, its expression (None for likeness), and whether it spans lines.

    Raises:
        Refusal: `grep.invalid`.
    """
    text = query.pattern
    if not text:
        raise _invalid("expected a pattern, found ''", "Name the text to look for.")
    if len(text) > MOST_CHARS:
        raise _invalid(f"a pattern has at most {MOST_CHARS} characters, this one has {len(text)}", "Look for a part.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _invalid(f"the character at position {error.start + 1} of the pattern is half a character", "") from None
    if query.mode == "fuzzy":
        if "\n" in text or len(text) > _MOST_FUZZY_CHARS or not text.strip():
            raise _invalid(f"a fuzzy pattern is one line of 1 to {_MOST_FUZZY_CHARS} characters", "Use mode=plain.")
        return Alike(text), None, False
    multiline = query.multiline or (query.mode == "plain" and "\n" in text)
    parsed = (
        literal(text, ignore_case=query.ignore_case)
        if query.mode == "plain"
        else parse(text, ignore_case=query.ignore_case, multiline=multiline)
    )
    return Fitting(parsed, multiline=multiline), parsed, multiline


class Fitting:
    """Matches an expression."""

    def __init__(self, parsed: Parsed, *, multiline: bool) -> None:
        self._multiline = multiline
        self._copies = parsed.copies
        self._exact = _fitted(parsed.exact())
        self._loose = _fitted(parsed.loose()) if parsed.has_boundaries else None
        self._marked = _fitted(parsed.marked()) if parsed.has_boundaries else None

    def spans(self, block: bytes) -> Iterator[Span]:
        """Yield the matches of the expression."""
        self._check_speed(block)
        if block.isascii() or self._loose is None or self._marked is None:
            yield from self._each(self._exact, cleaned(block))
        elif not self._multiline:
            yield from self._by_line(self._loose, self._marked, cleaned(block))
        elif len(block) > _MOST_MARKED:
            yield from self._each(self._exact, cleaned(block))
        else:
            yield from self._across(self._marked, cleaned(block))

    def _check_speed(self, block: bytes) -> None:
        """Refuse a large block that the expression is slow in: one call of the library ends only when it is done."""
        if len(block) <= _LARGE:
            return
        began = time.monotonic()
        for number in range(_SAMPLES):
            at = number * (len(block) - _SAMPLE) // (_SAMPLES - 1)
            self._exact.search(block[at : at + _SAMPLE])
        if (time.monotonic() - began) * len(block) / (_SAMPLES * _SAMPLE) > _MOST_SECONDS:
            raise SlowError

    def _each(self, expression: Expression, block: bytes) -> Iterator[Span]:
        at = 0
        while at < len(block):
            hit = expression.search(block, at)
            if hit is None:
                return
            begin, end = hit.span()
            if begin >= len(block) and block.endswith(b"\n"):
                return  # behind the last line there is no further one
            yield begin, end
            following = block.find(b"\n", begin) + 1
            if not following:
                return
            at = max(following, end) if self._multiline else following

    def _by_line(self, loose: Expression, marked: Expression, block: bytes) -> Iterator[Span]:
        """Yield the matches whose words end beyond ASCII: the loose ones, each line looked at again."""
        for begin, _ in self._each(loose, block):
            start = block.rfind(b"\n", 0, begin) + 1
            stop = block.find(b"\n", begin)
            line = block[start : len(block) if stop < 0 else stop]
            if line.isascii():
                hit = self._exact.search(line)
                span = hit.span() if hit is not None else None
            else:
                span = next(self._across(marked, line), None)
            if span is not None:
                yield start + span[0], start + span[1]

    def _across(self, marked: Expression, block: bytes) -> Iterator[Span]:
        """Yield the matches in `block` by way of a text with marks between its characters."""
        text = with_marks(block, self._copies)
        counted = before = 0
        for begin, end in self._each(marked, text):
            before += _marks(text[counted:begin])
            counted = begin
            at = begin - before
            if at >= len(block) and block.endswith(b"\n"):
                return
            yield at, at + (end - begin) - _marks(text[begin:end])


class Alike:
    """Matches lines that hold something like a text: letter case aside, some letters wrong."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()

    def spans(self, block: bytes) -> Iterator[Span]:
        """Yield the lines that are alike enough."""
        lines = block.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        texts = [line[: 4 * _FUZZY_LINE].decode("utf-8", "replace")[:_FUZZY_LINE].casefold() for line in lines]
        found = process.extract(
            self._text, texts, scorer=fuzz.partial_ratio, score_cutoff=_LIKENESS, limit=None, processor=None
        )
        chosen = {index for text, _, index in found if len(text) * 2 >= len(self._text)}
        at = 0
        for index, line in enumerate(lines):
            if index in chosen:
                alignment = fuzz.partial_ratio_alignment(self._text, texts[index])
                begin = alignment.dest_start if alignment is not None else 0
                begin += len(texts[index][begin:]) - len(texts[index][begin:].lstrip())
                yield at + len(texts[index][:begin].encode("utf-8", "replace")), at + len(line)
            at += len(line) + 1


def cleaned(block: bytes) -> bytes:
    """Return `block` with every byte that is no part of a UTF-8 character as one that no expression matches.

    RE2 takes some byte sequences for characters that are none; ripgrep does not.
    """
    if block.isascii():
        return block
    try:
        block.decode()
    except UnicodeDecodeError:
        text = block.decode("utf-8", "surrogateescape")
        return text.translate(_NO_CHARACTER).encode("utf-8", "surrogateescape")
    return block


def with_marks(block: bytes, copies: int) -> bytes:
    """Return `block` with `copies` of a mark at every place: the first where a word begins or ends, else the second.

    Beside a byte that is no part of a character a place is not inside anything, so it gets no second mark; ripgrep
    reads it so.
    """
    ends, inside = (mark * copies for mark in map(chr, MARKS))
    text = block.decode("utf-8", "surrogateescape").translate(_OWN_MARKS)
    parts: list[str] = []
    before, odd = False, False
    for char in text:
        here, odd_here = is_word(char), char == _ODD
        parts += (ends if here != before else "" if odd or odd_here else inside, char)
        before, odd = here, odd_here
    parts.append(ends if before else "" if odd else inside)
    return "".join(parts).encode("utf-8", "surrogateescape")


def _marks(text: bytes) -> int:
    """Return how many bytes of `text` are marks."""
    return sum(len(mark) * text.count(mark) for mark in _MARKS)


_ODD = chr(0xDCFF)
_MARKS = tuple(chr(point).encode() for point in MARKS)
_OWN_MARKS: dict[int, str] = dict.fromkeys(MARKS, _ODD * 4)  # as long in bytes, and matched by nothing
_NO_CHARACTER = {0xDC80 + number: 0xDCFF for number in range(128)}


def _fitted(source: str) -> Expression:
    try:
        return compiled(source)
    except UnfitError as unfit:
        raise _invalid(f"the expression is too large: {unfit}", "Use smaller repetitions, or mode=plain.") from None


def _invalid(message: str, hint: str) -> Refusal:
    return Refusal("grep.invalid", message, hint=hint)
