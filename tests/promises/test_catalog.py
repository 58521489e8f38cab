"""The catalog, seen from outside: names, digests, order, profiles and summaries of the tools that a crib offers."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from conftest import Workspace
from toolcrib import (
    Answer,
    Answered,
    Approval,
    Arguments,
    ConfigError,
    Crib,
    Ok,
    Outcome,
    Payload,
    Refused,
    open_crib,
    tool,
)
from toolcrib.terms.names import Origin

pytestmark = pytest.mark.anyio

PROVIDERS = ("mcp", "openai", "anthropic", "gemini")


class Nothing(Arguments):
    """No arguments."""


class More(Arguments):
    """One argument."""

    deep: bool = False


class Said(Payload):
    """What the tools of these tests answer."""

    said: str

    def text(self) -> str:
        """Return it."""
        return self.said


def own(raw: str, origin: str = "own", *, parameters: type[Arguments] = Nothing, **options: Any) -> Any:
    """Return a tool of one's own that says its name."""

    async def body(args: Arguments) -> Answer[Said]:
        return Answer(Said(said=f"{origin} {raw}"))

    body.__annotations__["args"] = parameters
    options.setdefault("kind", "effect")
    return tool(name=raw, origin=Origin("custom", origin), description=f"Says {raw}. Twice.", **options)(body)


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


def names(crib: Crib, **options: Any) -> list[str]:
    return [each["name"] for each in crib.render("mcp", **options)]


async def called(crib: Crib, name: str, args: dict[str, Any] | None = None, *, without: Iterable[str] = ()) -> Outcome:
    return await crib.submit(crib.make(name, args or {}, without=without))


async def yes(_approval: Approval) -> Answered:
    return Answered("once", by="test")


@pytest.mark.promise("P-catalog-names")
async def test_names_are_given_by_the_host_and_lead_to_the_right_tool(workspace: Workspace) -> None:
    tools = [own("search", "alpha.json"), own("search", "beta.json"), own("grep", "alpha.json"), own("only", "beta")]
    async with open_crib(workspace.ws, mode="work", tools=tools, approver=yes) as crib:
        assert {"alpha__search", "beta__search", "alpha__grep", "grep", "only"} <= set(names(crib))
        assert "search" not in names(crib)
        for name, said in (("alpha__search", "alpha.json search"), ("beta__search", "beta.json search")):
            outcome = await called(crib, name)
            assert isinstance(outcome, Ok), str(outcome)
            assert outcome.payload == {"said": said}
        gone = await called(crib, "search")
        assert isinstance(gone, Refused)
        assert gone.name == "tool.unknown"


@pytest.mark.promise("P-catalog-names")
@pytest.mark.parametrize("other", ["search-a", "search.a", "SEARCH_A"])
async def test_names_that_a_provider_could_confuse_stop_the_start_and_name_both_origins(
    workspace: Workspace, other: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        async with open_crib(workspace.ws, mode="work", tools=[own("search_a", "alpha"), own(other, "beta")]):
            pass
    assert "custom:alpha" in caught.value.message
    assert "custom:beta" in caught.value.message


@pytest.mark.promise("P-catalog-digest")
async def test_a_standing_yes_does_not_cover_the_tool_once_it_changed(workspace: Workspace) -> None:
    asked: list[str] = []

    async def always(approval: Approval) -> Answered:
        asked.append(approval.tool)
        return Answered("always", by="test")

    async def calls(*tools: Any) -> int:
        before = len(asked)
        async with open_crib(workspace.ws, mode="work", tools=list(tools), approver=always) as crib:
            for _ in range(2):
                outcome = await called(crib, "deploy")
                assert isinstance(outcome, Ok), str(outcome)
        return len(asked) - before

    assert await calls(own("deploy")) == 1
    assert await calls(own("deploy")) == 0
    assert await calls(own("deploy", parameters=More)) == 1
    assert await calls(own("deploy", effect="reversible")) == 1
    assert await calls(own("deploy", title="Another title")) == 1
    assert await calls(own("deploy", "elsewhere")) == 1


@pytest.mark.promise("P-catalog-undeclared")
async def test_a_tool_that_declares_no_effect_is_taken_for_the_worst(workspace: Workspace) -> None:
    async with open_crib(
        workspace.ws, mode="work", tools=[own("thing", kind="read"), own("look", kind="read", effect="read")]
    ) as crib:
        hints = {each["name"]: each["annotations"] for each in crib.render("mcp")}
        assert (hints["thing"]["readOnlyHint"], hints["thing"]["destructiveHint"]) == (False, True)
        outcome = await called(crib, "thing")
        assert isinstance(outcome, Refused)
        assert outcome.name == "approval.unattended"
        assert isinstance(await called(crib, "look"), Ok)


@pytest.mark.promise("P-catalog-pure")
async def test_the_same_declarations_give_the_same_bytes(workspace: Workspace) -> None:
    tools = [own("b"), own("a"), own("search", "alpha"), own("search", "beta")]
    rendered: set[str] = set()
    for order in (tools, tools[::-1]):
        async with open_crib(workspace.ws, mode="work", tools=order) as crib:
            forms = [crib.render(provider) for provider in PROVIDERS]
            rendered.add(json.dumps([forms, crib.overview(), crib.roster()]))
    assert len(rendered) == 1


@pytest.mark.promise("P-catalog-order")
async def test_a_configured_order_governs_schemas_and_overview(workspace: Workspace, state: Path) -> None:
    configure(state, '[tools]\norder = ["write_file", "<unlisted-tools>", "artifact_read"]\n')
    async with open_crib(workspace.ws, mode="work") as crib:
        found = names(crib)
        assert (found[0], found[-1]) == ("write_file", "artifact_read")
        assert found[1:-1] == sorted(found[1:-1])
        overview = [line.split(" — ")[0] for line in crib.overview().splitlines() if " — " in line]
        assert overview == found


@pytest.mark.promise("P-catalog-order")
@pytest.mark.parametrize(
    ("order", "said"),
    [
        ('["write_file"]', "marker"),
        ('["write_file", "<unlisted-tools>", "write_file"]', "2 times"),
        ('["<unlisted-tools>", "<unlisted-tools>"]', "2 times"),
        ('["write_fil", "<unlisted-tools>"]', "write_fil"),
    ],
)
async def test_an_order_that_is_none_stops_the_start(workspace: Workspace, state: Path, order: str, said: str) -> None:
    configure(state, f"# mine\n[tools]\norder = {order}\n")
    with pytest.raises(ConfigError) as caught:
        async with open_crib(workspace.ws, mode="work"):
            pass
    assert said in caught.value.message
    assert "config.toml:3:1: tools.order: " in caught.value.message


@pytest.mark.promise("P-catalog-summary")
async def test_every_tool_has_a_summary_in_the_overview(workspace: Workspace) -> None:
    async with open_crib(workspace.ws, mode="work", tools=[own("deploy"), own("by_hand", summary="By hand.")]) as crib:
        lines = [line.partition(" — ") for line in crib.overview().splitlines() if " — " in line]
        assert [name for name, _, _ in lines] == names(crib)
        assert all(summary.strip() for _, _, summary in lines)
        told = {name: summary for name, _, summary in lines}
        assert (told["deploy"], told["by_hand"]) == ("Says deploy.", "By hand.")


@pytest.mark.promise("P-catalog-profile")
async def test_a_profile_takes_away_from_what_is_shown_and_from_what_can_be_called(workspace: Workspace) -> None:
    workspace.write("a.txt", "x\n")
    async with open_crib(workspace.ws, mode="work", without=["grep"]) as crib:
        assert "grep" not in names(crib)
        for without in ({"glob"}, {"glob", "no_such_tool"}):
            assert set(names(crib, without=without)) == set(names(crib)) - {"glob"}
        for args, without in (({"pattern": "x"}, ()), ({"pattern": "x"}, ("glob",))):
            outcome = await called(crib, "grep", args, without=without)
            assert isinstance(outcome, Refused)
            assert outcome.name == "tool.not_in_profile"
        outcome = await called(crib, "glob", {"pattern": "*"}, without=["glob"])
        assert isinstance(outcome, Refused)
        assert outcome.name == "tool.not_in_profile"
        assert isinstance(await called(crib, "read_file", {"path": "a.txt"}), Ok)


@pytest.mark.promise("P-catalog-once")
async def test_only_built_in_reads_run_side_by_side(workspace: Workspace) -> None:
    running: list[str] = []
    together: set[str] = set()

    async def peek(args: Nothing) -> Answer[Said]:
        running.append("peek")
        together.update(running[:-1])
        running.remove("peek")
        return Answer(Said(said="peek"))

    one = tool(name="peek", origin=Origin("custom", "own"), description="Peeks.", kind="read", effect="read")(peek)
    async with open_crib(workspace.ws, mode="work", tools=[one]) as crib:
        assert [each["name"] for each in crib.render("mcp")].count("peek") == 1
        found = await crib.batch([("peek", {}), ("peek", {}), ("glob", {"pattern": "*"})])
        assert all(isinstance(each, Ok) for each in found)
        assert not crib.catalog.is_read_only("peek")
        assert crib.catalog.is_read_only("read_file")
    assert together == set()
