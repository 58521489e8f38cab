"""What each dialect shows, tool by tool. `python tests/contract/test_dialect_snapshots.py` writes the snapshots anew.

A folder each: `dialect.json` (how it spells refusals and bounds), `overview.txt`, and a file for each name shown.
A tool that is added or changed touches its own files alone.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.dialects import DIALECTS
from toolcrib.catalog.overview import overview
from toolcrib.catalog.views import Shown
from toolcrib.tools import tools

FOLDER = Path(__file__).with_name("snapshots")


def written(value: object) -> str:
    """Return JSON as people compare it, line by line."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def page(item: Shown) -> str:
    """Return one tool as the dialect shows it; the description in lines."""
    told = {
        "tools": [entry.name for entry in item.entries],
        "title": item.title,
        "surface": item.surface,
        "summary": item.summary,
        "description": item.description.splitlines(),
        "schema": item.schema,
    }
    return written(told)


def pages(name: str) -> Mapping[str, str]:
    """Return the files of one dialect's folder."""
    spoken, view = DIALECTS[name], Catalog.build(tools()).view(dialect=name)
    spelling = {
        "aliases": dict(spoken.aliases),
        "details": {refusal: dict(more) for refusal, more in spoken.details.items()},
        "bounds": dict(spoken.bounds),
        "shows other built-in tools": spoken.others,
        "shows tools of other origins": spoken.foreign,
    }
    return {
        "dialect.json": written(spelling),
        "overview.txt": overview(view) + "\n",
        **{f"{item.name}.json": page(item) for item in view.items},
    }


@pytest.mark.promise("P-catalog-dialects")
@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_shows_what_it_did(name: str) -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / name).iterdir()}
    shown = pages(name)
    assert sorted(kept) == sorted(shown)
    for file, text in shown.items():
        assert text == kept[file], f"{name}/{file}"


def test_every_folder_belongs_to_a_dialect() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(DIALECTS)


def main() -> None:
    """Write every snapshot anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name in DIALECTS:
        (FOLDER / name).mkdir(parents=True)
        for file, text in pages(name).items():
            (FOLDER / name / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
