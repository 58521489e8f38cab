"""A model whose list of tools would be too long searches for the rest, and has them from then on."""

from pathlib import Path

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from toolcrib import ConfigError, Crib, open_crib
from wired import client, served, text_of

pytestmark = pytest.mark.anyio

TIGHT = "[catalog]\nbudget_tokens = 100\n"


def configure(state: Path, text: str = TIGHT) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


def names(crib: Crib, thread: str | None = None) -> set[str]:
    return {each["name"] for each in crib.render("mcp", thread=thread)}


@pytest.mark.promise("P-catalog-deferral")
async def test_a_search_loads_what_it_finds_for_its_own_thread(workspace: Workspace, state: Path) -> None:
    configure(state)
    async with opened(workspace.ws) as crib:
        before, mark = names(crib), crib.generation()
        assert "tool_search" in before
        assert "list_dir" not in before
        assert "list_dir — " in crib.overview().partition("Deferred")[2]
        found = await ok(crib, "tool_search", query="list a directory", limit=1)
        (tool,) = found.payload["tools"]
        assert (tool["name"], tool["loaded"]) == ("list_dir", True)
        assert tool["parameters"]["properties"]["depth"]
        assert "1 tool found, 1 loaded" in str(found)
        assert names(crib) == before | {"list_dir"}
        assert crib.generation() != mark
        assert names(crib, thread="another") == before
        assert crib.generation(thread="another") == mark
        again = await ok(crib, "tool_search", query="list_dir", limit=1)
        assert again.payload["tools"][0]["loaded"] is False
        assert "tool_search" in names(crib)


@pytest.mark.promise("P-catalog-deferral")
async def test_a_deferred_tool_can_be_called_without_a_search_under_the_same_ruling(
    workspace: Workspace, state: Path
) -> None:
    workspace.write("a.txt", "one\n")
    configure(state, TIGHT + '[[policy.rules]]\nrule = "deny"\ntool = "glob"\n')
    async with opened(workspace.ws) as crib:
        assert "list_dir" not in names(crib)
        assert "a.txt" in str(await ok(crib, "list_dir"))
        await refused(crib, "glob", "policy.denied", pattern="*")
        found = await ok(crib, "tool_search", query="glob", limit=20)
        assert "glob" not in {each["name"] for each in found.payload["tools"]}


async def test_a_search_without_a_hit_says_what_is_deferred(workspace: Workspace, state: Path) -> None:
    configure(state)
    async with opened(workspace.ws) as crib:
        nothing = await ok(crib, "tool_search", query="zzzzqqq")
        assert nothing.payload["tools"] == []
        assert "list_dir" in nothing.payload["deferred"]
        assert "deferred tools: " in str(nothing)
        assert names(crib) == names(crib, thread="another")


async def test_a_search_stays_within_the_profile_and_speaks_the_dialect(workspace: Workspace, state: Path) -> None:
    configure(state)
    async with opened(workspace.ws) as crib:
        found = await crib.call("tool_search", query="list_dir glob", without=("glob",))
        assert [each["name"] for each in (found.payload or {})["tools"]] == ["list_dir"]
        spoken = await crib.call("tool_search", query="write_file", limit=1, dialect="standard")
        (tool,) = (spoken.payload or {})["tools"]
        assert "overwriteExisting" in tool["parameters"]["properties"]


async def test_by_default_nothing_is_deferred(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        assert "tool_search" not in names(crib)
        assert "Deferred" not in crib.overview()
        await refused(crib, "tool_search", "tool.unavailable", query="x")


@pytest.mark.promise("P-catalog-deferral")
async def test_an_mcp_client_gets_what_it_searched_for_in_its_next_list(workspace: Workspace, state: Path) -> None:
    configure(state)
    async with client(served(workspace.ws), "auto") as session:
        before = {tool.name for tool in (await session.list_tools()).tools}
        assert "glob" not in before
        said = text_of(await session.call_tool("tool_search", {"query": "glob", "limit": 1}))
        assert said.startswith("1 tool found, 1 loaded")
        assert {tool.name for tool in (await session.list_tools()).tools} == before | {"glob"}


async def test_a_budget_that_is_no_number_is_an_error_at_start(workspace: Workspace, state: Path) -> None:
    configure(state, "[catalog]\nbudget_tokens = 0\n")
    with pytest.raises(ConfigError, match="budget_tokens must be a positive whole number"):
        async with open_crib(workspace.ws):
            pass
