"""The output streams: bytes that were not UTF-8 come out as they came in, JSON steers nothing."""

import io
import json
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.faces.cli.out import Stream, UnwritableError


class Pipe(io.BytesIO):
    """A place to write to that is no terminal and never closes."""


def stream() -> tuple[Stream, io.BytesIO]:
    """Return a stream and what it writes into."""
    behind = Pipe()
    return Stream(io.TextIOWrapper(behind, encoding="ascii", write_through=True)), behind


@given(st.binary(max_size=40))
def test_any_bytes_that_were_read_as_text_come_out_as_they_were(data: bytes) -> None:
    out, behind = stream()
    out.write(data.decode("utf-8", "surrogateescape"))
    assert behind.getvalue() == data


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_no_text_breaks_the_output(text: str) -> None:
    out, behind = stream()
    out.line(text)
    assert behind.getvalue().endswith(b"\n")


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_json_is_one_line_of_printable_ascii_that_reads_back(text: str) -> None:
    out, behind = stream()
    out.json({"text": text})
    written = behind.getvalue().decode("ascii")
    assert written[:-1].isprintable()
    assert json.loads(written) == {"text": text}


def test_a_stream_that_is_closed_from_the_start_takes_everything_in_silence() -> None:
    out = Stream(None)
    out.line("x")
    assert out.gone
    assert not out.terminal


class Full:
    """A file on a full disk."""

    buffer = io.BytesIO()

    def __init__(self, sink: int) -> None:
        self._sink = sink

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._sink

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_an_output_that_takes_nothing_more_says_why(tmp_path_factory: pytest.TempPathFactory) -> None:
    with open(tmp_path_factory.mktemp("full") / "sink", "wb") as sink:
        out = Stream(cast("TextIO", Full(sink.fileno())))
        with pytest.raises(UnwritableError, match="No space left on device"):
            out.line("x")
        assert out.gone
        out.line("more")
