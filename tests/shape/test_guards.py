"""The guards that every test relies on do guard: against blocking, against shared state, against short counts."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from blockbuster import BlockingError

import soak
from shape.house import PACKAGE, ROOT

BLOCKS = "import os, time\ndef look(path):\n    return os.stat(path)\ndef rest(path):\n    time.sleep(0)\n"


def of_the_program(name: str) -> Callable[[str], object]:
    """Return a function that blocks, compiled as if it stood in the program."""
    space: dict[str, Callable[[str], object]] = {}
    exec(compile(BLOCKS, str(PACKAGE / "made_up.py"), "exec"), space)
    return space[name]


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["look", "rest"])
async def test_a_blocking_call_of_the_program_on_the_loop_fails(name: str, tmp_path: Path) -> None:
    with pytest.raises(BlockingError):
        of_the_program(name)(str(tmp_path))


@pytest.mark.anyio
async def test_a_test_itself_may_block(tmp_path: Path) -> None:
    time.sleep(0)
    assert os.stat(tmp_path)


@pytest.mark.parametrize("name", ["look", "rest"])
def test_the_program_may_block_where_no_loop_runs(name: str, tmp_path: Path) -> None:
    of_the_program(name)(str(tmp_path))


def test_state_of_a_test_is_its_own(state: Path) -> None:
    places = [
        os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
    ]
    assert [place for place in places if not place.startswith(str(state))] == []
    assert [name for name in os.environ if name.startswith("TOOLCRIB_") and name != soak.VARIABLE] == []


@pytest.mark.parametrize(("full", "short"), [(10_000, 50), (1_000, 5), (200, 1), (3, 1)])
def test_a_count_is_a_share_by_default_and_full_in_a_soak(
    full: int, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(soak.VARIABLE, raising=False)
    assert soak.count(full) == short
    monkeypatch.setenv(soak.VARIABLE, "1")
    assert soak.count(full) == full


def test_every_soak_mark_names_a_part_that_script_soak_offers() -> None:
    marks = [
        (path.name, part)
        for path in (ROOT / "tests").rglob("test_*.py")
        for part in re.findall(
            r"^\s*(?:pytestmark = .*)?@?pytest\.mark\.soak\(([^)]*)\)", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert marks
    assert [(name, part) for name, part in marks if part.strip("\"'") not in soak.PARTS] == []
