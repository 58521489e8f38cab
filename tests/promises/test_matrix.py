"""One ruling for one effect by every route: each tool, under each name, in each mode, by each way in.

The calls are made up from the catalog and the schemas it renders, so that a new tool or a new name is in it by itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import soak
from commandline import toolcrib
from conftest import Workspace
from sampling import SAMPLES, calls_of, filled
from toolcrib import Refusal, open_crib
from toolcrib.catalog.dialects import DIALECTS
from toolcrib.catalog.entry import Entry
from toolcrib.terms.records import Taped
from toolcrib.terms.settings import MODES, Mode
from wired import client, served

pytestmark = pytest.mark.anyio

DEFAULT = "toolcrib"

VARIANTS = 2
"""Calls that are made of each tool under each name."""


@dataclass(frozen=True)
class Try:
    """One call under one name, and the canonical call that it means."""

    name: str
    args: dict[str, Any]
    canonical: str
    meant: dict[str, Any]
    marks: frozenset[str]


def lay(base: Path, name: str) -> Path:
    """Lay out a workspace, the same for every route."""
    root = base / name / "work"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    return root


async def tries(base: Path, dialect: str) -> list[Try]:
    """Return what is called in a dialect: every name of it, for every tool that the name can mean."""
    made: list[Try] = []
    async with open_crib(lay(base, f"look-{dialect}"), mode="work") as crib:
        plain = {shown["name"]: shown for shown in crib.render("mcp")}
        for shown in crib.render("mcp", dialect=dialect):
            for args in calls_of(shown):
                found = crib.catalog.find(shown["name"], dialect=dialect, args=args)
                each = _meant(shown["name"], found, args, dialect) if isinstance(found, Entry) else None
                if each is not None and sum(_alike(each, other) for other in made) < VARIANTS:
                    made.append(replace(each, meant=filled(each.meant, plain[each.canonical])))
        wanted = {row["canonical"] for row in crib.catalog.roster(dialect=dialect) if row["state"] == "visible"}
        left = wanted - {each.canonical for each in made}
        assert left == set(), f"no made-up call of these is admitted: see sampling.SAMPLES: {left}"
    return made


def _alike(one: Try, other: Try) -> bool:
    return (one.name, one.canonical) == (other.name, other.canonical)


def _meant(name: str, entry: Entry, args: dict[str, Any], dialect: str) -> Try | None:
    """Return the try if its arguments are ones that the tool takes."""
    try:
        converted = entry.convert(args, dialect=dialect)
        entry.tool.parameters.model_validate(converted.args)
    except (Refusal, ValidationError):
        return None
    meant = dict(converted.args)
    for parameter, text in SAMPLES.get(entry.name, {}).items():
        args = {key: text if value == meant.get(parameter) else value for key, value in args.items()}
        meant[parameter] = text
    return Try(name, args, entry.name, meant, frozenset(converted.marks))


def ruled(tape: Sequence[Taped]) -> list[Mapping[str, Any] | None]:
    """Return what each call was judged to be, None for one that never came so far."""
    calls = [entry.call_id for entry in tape if entry.stage == "received"]
    judged = {entry.call_id: dict(entry.data) for entry in tape if entry.stage == "judged"}
    return [judged.get(call) for call in calls]


async def by_python(root: Path, mode: Mode, calls: Sequence[tuple[str, dict[str, Any]]], dialect: str) -> list[Any]:
    """Make calls from a program."""
    async with open_crib(root, mode=mode) as crib:
        for name, args in calls:
            await crib.submit(crib.make(name, args, dialect=dialect))
        return ruled(await crib.tape(limit=100_000))


async def by_mcp(root: Path, mode: Mode, calls: Sequence[tuple[str, dict[str, Any]]], dialect: str) -> list[Any]:
    """Make calls as an MCP client."""
    async with client(served(root, "--mode", mode, "--dialect", dialect), "auto") as connected:
        for name, args in calls:
            await connected.call_tool(name, args)
    async with open_crib(root) as crib:
        return ruled(await crib.tape(limit=100_000))


async def by_command_line(root: Path, mode: Mode, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Make calls at the command line, which speaks the canonical names."""
    for name, args in calls:
        toolcrib("call", "--mode", mode, "--json", name, json.dumps(args), at=root, code=None)
    async with open_crib(root) as crib:
        return ruled(await crib.tape(limit=100_000))


@pytest.mark.promise("P-line-faces")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mode", MODES)
async def test_every_tool_is_ruled_the_same_by_every_way_in(workspace: Workspace, mode: Mode) -> None:
    calls = [(each.name, each.args) for each in await tries(workspace.base, DEFAULT)]
    roots = {way: lay(workspace.base, way) for way in ("python", "mcp", "cli")}
    rulings = {
        "python": await by_python(roots["python"], mode, calls, DEFAULT),
        "mcp": await by_mcp(roots["mcp"], mode, calls, DEFAULT),
        "cli": await by_command_line(roots["cli"], mode, calls),
    }
    assert len(rulings["python"]) == len(calls)
    assert None not in rulings["python"], "a call that was never judged shows nothing"
    for way in ("mcp", "cli"):
        for call, wanted, found in zip(calls, rulings["python"], rulings[way], strict=True):
            assert found == wanted, (way, call)


@pytest.mark.promise("P-line-faces")
@pytest.mark.promise("P-catalog-dialects")
@pytest.mark.timeout(120)
@pytest.mark.soak("fuzz")
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != DEFAULT])
async def test_every_name_of_a_dialect_is_ruled_as_the_tool_that_it_means(workspace: Workspace, dialect: str) -> None:
    made = await tries(workspace.base, dialect)
    spoken, meant = [(each.name, each.args) for each in made], [(each.canonical, each.meant) for each in made]
    for mode in MODES:
        found = await by_python(lay(workspace.base, f"{mode}-spoken"), mode, spoken, dialect)
        wanted = await by_python(lay(workspace.base, f"{mode}-meant"), mode, meant, DEFAULT)
        for each, one, other in zip(made, found, wanted, strict=True):
            assert one is not None, each
            if "always_ask" in each.marks and one["rule"] == "dialect":
                assert (one["ruling"], one["footprint"]) == ("ask", other["footprint"]), each
            else:
                assert one == other, (mode, each)
        if mode == "ask" or soak.running():
            assert await by_mcp(lay(workspace.base, f"{mode}-mcp"), mode, spoken, dialect) == found


async def test_a_tool_for_people_is_ruled_for_people_and_unknown_to_an_mcp_client(workspace: Workspace) -> None:
    root = lay(workspace.base, "person")
    async with open_crib(root) as crib:
        personal = [row["name"] for row in crib.catalog.roster() if row["state"] == "person only"]
    assert personal
    async with client(served(root), "auto") as connected:
        for name in personal:
            result = await connected.call_tool(name, {})
            assert "tool.unknown" in str(result.content)
