"""The reference says what the code says: generated pages are current, hand-written ones are complete."""

import json
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from typing import get_args

from shape.house import ROOT, modules
from shape.test_refusals import NAMES, spoken, tools
from toolcrib.terms.records import Stage
from toolcrib.terms.settings import Settings

PAGES = ROOT / "docs" / "reference"
ROW = re.compile(r"^\| `([\w.]+)` \|(?: ([^|]*?) \|)?", re.MULTILINE)


def rows(page: str) -> dict[str, str]:
    """Return the first column of a page's tables with the second."""
    return dict(ROW.findall((PAGES / page).read_text(encoding="utf-8")))


def test_the_generated_pages_are_current() -> None:
    command = [sys.executable, str(ROOT / "script" / "lib" / "reference.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr


def test_every_refusal_that_can_be_met_is_explained_and_no_other_name() -> None:
    met = {name for module in modules() for name, _ in spoken(module)}
    met |= {name for _, tool in tools() for name in tool.descriptor.refusals}
    explained = set(rows("refusals.md"))
    assert met - explained == set()
    assert explained - set(NAMES) == set()


def test_every_setting_stands_with_its_default() -> None:
    written = rows("settings.md")
    defaults = {
        f"{table.name}.{each.name}": json.dumps(getattr(getattr(Settings(), table.name), each.name))
        for table in fields(Settings)
        if is_dataclass(getattr(Settings(), table.name))
        for each in fields(getattr(Settings(), table.name))
    }
    assert {name: written.get(name) for name in defaults} == defaults
    assert [
        name for name in written if name.partition(".")[0] in {"files", "search", "call"} and name not in defaults
    ] == []


def test_every_stage_of_the_tape_is_explained() -> None:
    assert set(rows("events.md")) == set(get_args(Stage))
