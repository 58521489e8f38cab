"""One line behind every face: the same call by Python, the command line and MCP is decided, answered and taped alike."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from conftest import Workspace
from toolcrib import open_crib
from toolcrib.terms.settings import Mode
from wired import client, served, structured, tape_of

pytestmark = pytest.mark.anyio

MODES: tuple[Mode, ...] = get_args(Mode)
TEXT = "one\nTODO two\nthree\n"
CALLS: dict[str, dict[str, Any]] = {
    "artifact_read": {"id": "no-such-artifact"},
    "fff_search": {"query": "notes"},
    "glob": {"pattern": "**/*.md"},
    "grep": {"pattern": "TODO"},
    "list_dir": {"path": "sub"},
    "read_file": {"path": "sub/notes.md", "limit": 2},
    "write_file": {"path": "new/file.txt", "content": "new\n"},
    "edit_file": {
        "path": "sub/notes.md",
        "digest": hashlib.sha256(TEXT.encode()).hexdigest(),
        "edits": [{"old": "TODO two", "new": "done two"}],
    },
}
"""One call of every tool that a model is offered."""


def copies(workspace: Workspace) -> dict[str, Path]:
    """Lay out the same workspace once for each face."""
    places = {face: workspace.base / face for face in ("python", "cli", "mcp")}
    for place in places.values():
        (place / "sub").mkdir(parents=True)
        (place / "sub" / "notes.md").write_text(TEXT)
    return places


async def by_python(place: Path, mode: Mode) -> list[Mapping[str, Any]]:
    """Make the calls by the Python interface."""
    async with open_crib(place, mode=mode) as crib:
        assert {entry.name for entry in crib.catalog.entries if not entry.tool.descriptor.person_only} == set(CALLS)
        return [(await crib.call(tool, **args)).to_json() for tool, args in CALLS.items()]


async def by_cli(place: Path, mode: Mode) -> list[Mapping[str, Any]]:
    """Make the calls by the command line, a process each."""
    found: list[Mapping[str, Any]] = []
    for tool, args in CALLS.items():
        command = [sys.executable, "-m", "toolcrib", "call", tool, json.dumps(args), "-C", str(place)]
        done = await anyio.run_process(
            [*command, "--mode", mode, "--json"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        found.append(json.loads(done.stdout))
        assert done.returncode == (0 if found[-1]["kind"] == "ok" else 1), done.stderr
    return found


async def by_mcp(place: Path, mode: Mode) -> list[Mapping[str, Any]]:
    """Make the calls by the official MCP client."""
    async with client(served(place, "--mode", mode), "auto") as connected:
        return [structured(await connected.call_tool(tool, args)) for tool, args in CALLS.items()]


def bare(value: Any) -> Any:
    """Return an outcome or a tape entry without what belongs to one run: ids, times, and who called."""
    if isinstance(value, dict):
        own = {"call_id", "checkpoint", "approval", "principal", "face", "thread", "owner", "id"}
        return {key: bare(each) for key, each in value.items() if key not in own}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [bare(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def without_ids(text: str) -> str:
    """Return a message without the id of the approval that it names."""
    return text.partition("it waits as approval")[0].partition("`toolcrib approve")[0]


def told(outcomes: list[Mapping[str, Any]]) -> list[Any]:
    """Return outcomes as they are compared."""
    plain = [bare(dict(outcome)) for outcome in outcomes]
    for each in plain:
        for key in ("message", "hint"):
            if key in each:
                each[key] = without_ids(each[key])
    return plain


async def entries(place: Path) -> list[Any]:
    """Return the tape of a workspace as it is compared."""
    taped = [entry for entry in await tape_of(place) if entry.call_id]
    plain = [[entry.stage, bare(dict(entry.data))] for entry in taped]
    for _, data in plain:
        data.pop("text", None)
        if "outcome" in data:
            (data["outcome"],) = told([data["outcome"]])
    return plain


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.promise("P-line-faces")
@pytest.mark.promise("P-line-same-outcome")
async def test_every_call_has_one_outcome_and_one_tape_whoever_makes_it(workspace: Workspace, mode: Mode) -> None:
    places = copies(workspace)
    python = told(await by_python(places["python"], mode))
    cli = told(await by_cli(places["cli"], mode))
    mcp = told(await by_mcp(places["mcp"], mode))
    assert python == cli
    assert python == mcp
    kinds = {tool: outcome["kind"] for tool, outcome in zip(CALLS, python, strict=True)}
    assert kinds["write_file"] == ("ok" if mode == "work" else "refused")
    assert kinds["read_file"] == ("refused" if mode == "locked" else "ok")
    taped = await entries(places["python"])
    assert taped
    assert taped == await entries(places["cli"])
    assert taped == await entries(places["mcp"])
    trees = [workspace.tree(place) for place in places.values()]
    assert trees[0] == trees[1] == trees[2]
