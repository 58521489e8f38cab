"""The public names of the package are the ones its reference describes."""

import re

import toolcrib
from shape.house import ROOT

REFERENCE = ROOT / "docs" / "reference" / "python.md"


def test_the_reference_describes_every_public_name_and_no_other() -> None:
    headings = re.findall(r"^### `(\w+)`", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(toolcrib.__all__)


def test_every_public_name_can_be_had() -> None:
    assert [name for name in toolcrib.__all__ if getattr(toolcrib, name, None) is None] == []


def test_a_name_that_is_not_public_is_refused() -> None:
    assert not hasattr(toolcrib, "no_such_name")
