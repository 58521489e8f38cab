"""Digests that are not taken again: when they may be believed, and when the file has to be read."""

import os
import time
from pathlib import Path

from toolcrib.host.workspace.known import BIG, Known

LONG_AGO = 10_000_000_000


def laid(path: Path, data: bytes) -> os.stat_result:
    """Write a file and return its status."""
    path.write_bytes(data)
    return path.stat()


def test_a_digest_of_a_file_that_just_changed_is_known_lately_and_never_for_certain(tmp_path: Path) -> None:
    known, status = Known(), laid(tmp_path / "file", b"one")
    known.note(status, "digest", began=time.time_ns())
    assert known.find(status) is None
    assert known.lately(status) == "digest"
    known.note(status, "digest", began=time.time_ns() + LONG_AGO)
    assert known.find(status) == "digest"


def test_what_was_written_is_known_once_and_only_while_it_stands(tmp_path: Path) -> None:
    known, path = Known(), tmp_path / "file"
    status = laid(path, b"one")
    known.wrote(status, "digest")
    os.rename(path, tmp_path / "named")
    assert known.written((tmp_path / "named").stat()) == "digest"
    assert known.written((tmp_path / "named").stat()) is None
    known.wrote(status, "digest")
    (tmp_path / "named").write_bytes(b"another size")
    assert known.written((tmp_path / "named").stat()) is None


def test_the_bytes_kept_for_a_call_are_given_to_that_call_once(tmp_path: Path) -> None:
    known, data = Known(), b"x" * BIG
    status = laid(tmp_path / "file", data)
    known.hold("one", status, data, "digest")
    assert known.held("other", status) is None
    assert known.held("one", status) == (data, "digest")
    assert known.held("one", status) is None
    known.hold("one", status, data, "digest")
    changed = laid(tmp_path / "file", data + b"y")
    assert known.held("one", changed) is None


def test_small_files_are_read_again_rather_than_kept(tmp_path: Path) -> None:
    known = Known()
    status = laid(tmp_path / "file", b"small")
    known.hold("one", status, b"small", "digest")
    assert known.held("one", status) is None
