"""One decision for one effect, whatever the way in: the same call through Python, the command line and MCP."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from commandline import toolcrib
from conftest import Workspace
from toolcrib import open_crib
from toolcrib.terms.records import Taped
from toolcrib.terms.settings import MODES
from toolcrib.terms.settings import Mode as PolicyMode
from wired import client, served, tape_of

pytestmark = pytest.mark.anyio

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"path": "missing.txt"}),
    ("list_dir", {}),
    ("glob", {"pattern": "**/*.txt"}),
    ("grep", {"pattern": "one"}),
    ("fff_search", {"query": "a"}),
    ("write_file", {"path": "new/b.txt", "content": "b\n"}),
    ("write_file", {"path": "a.txt", "content": "x\n"}),
    ("write_file", {"path": ".git/config", "content": "x\n"}),
    ("write_file", {"path": ".vscode/tasks.json", "content": "{}\n"}),
    ("edit_file", {"path": "a.txt", "digest": "0" * 12, "edits": [{"old": "one", "new": "two"}]}),
    ("artifact_read", {"id": "a" + "0" * 24}),
    ("nothing", {}),
    ("grep", {"patern": "one"}),
)
VARY = ("call_id", "previous", "hash", "at", "owner", "thread", "principal", "face", "approval", "seq", "id")


def lay(base: Path, name: str) -> Path:
    root = base / name / "work"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (root / "sub" / "c.txt").write_text("one more\n", encoding="utf-8")
    (root / ".git").mkdir()
    return root


def settled(value: Any) -> Any:
    """Return `value` without what differs from call to call: ids, times, and the texts that hold an id."""
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        return {key: settled(each) for key, each in held.items() if key not in VARY and key not in {"hint", "text"}}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [settled(each) for each in items]
    return value.partition("; it waits as approval")[0] if isinstance(value, str) else value


def told(tape: list[Taped]) -> list[tuple[str, Any]]:
    return [(entry.stage, settled(dict(entry.data))) for entry in tape]


async def by_python(root: Path, mode: PolicyMode) -> list[Any]:
    async with open_crib(root, mode=mode) as crib:
        return [(await crib.call(tool, **args)).to_json() for tool, args in CALLS]


async def by_mcp(root: Path, mode: PolicyMode) -> list[Any]:
    outcomes: list[Any] = []
    async with client(served(root, "--mode", mode), "auto") as connected:
        for tool, args in CALLS:
            result = await connected.call_tool(tool, args)
            outcomes.append(result.structured_content)
    return outcomes


def by_command_line(root: Path, mode: PolicyMode) -> list[Any]:
    outcomes: list[Any] = []
    for tool, args in CALLS:
        done = toolcrib("call", "--mode", mode, "--json", tool, json.dumps(args), at=root, code=None)
        outcomes.append(done.json)
        assert done.code == (0 if done.json["kind"] == "ok" else 1)
    return outcomes


@pytest.mark.promise("P-line-faces")
@pytest.mark.promise("P-line-same-outcome")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mode", MODES)
async def test_the_same_call_gives_the_same_outcome_and_tape_by_every_way_in(
    workspace: Workspace, mode: PolicyMode
) -> None:
    roots = {name: lay(workspace.base, name) for name in ("python", "mcp", "cli")}
    answers = {
        "python": await by_python(roots["python"], mode),
        "mcp": await by_mcp(roots["mcp"], mode),
        "cli": by_command_line(roots["cli"], mode),
    }
    tapes = {name: told(await tape_of(root)) for name, root in roots.items()}
    for name in ("mcp", "cli"):
        for (tool, args), wanted, found in zip(CALLS, answers["python"], answers[name], strict=True):
            assert settled(found) == settled(wanted), (name, tool, args)
        assert tapes[name] == tapes["python"]
    for root in roots.values():
        shutil.rmtree(root / ".git")
    trees = {name: workspace.tree(root) for name, root in roots.items()}
    assert trees["mcp"] == trees["cli"] == trees["python"]
