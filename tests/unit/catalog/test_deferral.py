"""Above its budget a catalog keeps a few tools and tells the others by name; nothing is hidden that cannot be found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.deferral import CORE, SEARCH, Budget, cost, find, tokens
from toolcrib.catalog.entry import Entry, Missing
from toolcrib.catalog.overview import overview
from toolcrib.catalog.wire import render
from toolcrib.terms.tool import Tool
from toolcrib.tools import tools
from unit.catalog.declared import custom, served

BUDGET = Budget(tokens=6000, deferred=1000)
SMALL = Budget(tokens=1, deferred=1000)
OWN = [custom("mine", f"own_{number:03}", summary=f"Does thing {number}.") for number in range(200)]


def catalog(*more: Tool, budget: Budget | None = BUDGET, **options: object) -> Catalog:
    return Catalog.build([*tools(), *more], budget=budget, disabled=options.get("disabled", ()))  # pyright: ignore[reportArgumentType]


@pytest.mark.promise("P-catalog-deferral")
def test_within_the_budget_every_tool_is_in_the_list_and_there_is_nothing_to_search_for() -> None:
    built = catalog()
    view = built.view()
    assert SEARCH not in view.names
    assert view.deferred == ()
    assert sum(map(cost, view.items)) <= BUDGET.tokens
    row = next(each for each in built.roster() if each["name"] == SEARCH)
    assert (row["state"], row["why"]) == ("unavailable", "no tool is deferred: all are in the list")
    missing = built.find(SEARCH)
    assert isinstance(missing, Missing)
    assert missing.refusal == "tool.unavailable"


@pytest.mark.promise("P-catalog-deferral")
@pytest.mark.parametrize("built", [catalog(*OWN), catalog(budget=SMALL)], ids=["many", "small"])
def test_above_it_what_stays_costs_less_than_a_thousand_tokens(built: Catalog) -> None:
    view = built.view()
    assert SEARCH in view.names
    assert view.deferred
    assert sum(map(cost, view.items)) <= 1000
    assert view.names[:1] == ("edit_file",)
    everything = {each["name"] for each in built.roster() if each["state"] == "visible"}
    assert {*view.names, *(item.name for item in view.deferred)} == everything
    assert [name for name in view.names if name in CORE] == sorted({"read_file", "edit_file"})


@pytest.mark.promise("P-catalog-deferral")
def test_a_deferred_tool_is_found_by_its_name_like_any_other() -> None:
    built = catalog(*OWN)
    for item in built.view().deferred:
        assert isinstance(built.find(item.name), Entry)
    assert isinstance(built.find(SEARCH), Entry)


@pytest.mark.promise("P-catalog-visible")
@pytest.mark.promise("P-catalog-deferral")
def test_list_overview_and_roster_say_the_same_of_deferred_tools() -> None:
    built = catalog(*OWN)
    view = built.view()
    assert [each["name"] for each in render(view, "mcp")] == list(view.names)
    kept, put_off = overview(view).split("Deferred, to be loaded with tool_search before use:")
    assert [line.split(" — ")[0] for line in kept.splitlines() if " — " in line] == list(view.names)
    assert [line.split(" — ")[0] for line in put_off.splitlines() if " — " in line] == [i.name for i in view.deferred]
    why = {each["name"]: each["why"] for each in built.roster()}
    assert {name for name, reason in why.items() if reason == "deferred"} == {item.name for item in view.deferred}


def test_what_is_loaded_stays_whatever_it_costs() -> None:
    built = catalog(*OWN)
    names = {f"own_{number:03}" for number in range(100)}
    assert names <= set(built.view(loaded=names).names)
    assert built.view(loaded=names | {"no_such_tool"}).items == built.view(loaded=names).items


def test_where_nobody_could_search_nothing_is_deferred() -> None:
    for built, view in (
        (catalog(*OWN, disabled={SEARCH}), None),
        (catalog(*OWN), catalog(*OWN).view(without={SEARCH})),
        (catalog(*OWN), catalog(*OWN).view(dialect="kram")),
    ):
        assert (view or built.view()).deferred == ()


def test_a_profile_that_makes_the_list_short_ends_the_deferral() -> None:
    built = catalog(*OWN)
    view = built.view(only={"grep", SEARCH})
    assert (view.names, view.deferred) == (("grep",), ())


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("fff_search", "fff_search"),
        ("own_007", "own_007"),
        ("list a directory", "list_dir"),
        ("search inside file contents with a regex", "grep"),
        ("create an issue", "mcp__github__create_issue"),
        ("createIssues", "mcp__github__create_issue"),
        ("artefact_red", "artifact_read"),
    ],
)
def test_a_search_finds_by_name_by_words_and_by_likeness(query: str, best: str) -> None:
    items = catalog(*OWN, served("github", "create_issue"), budget=None).view().items
    found = [item.name for item in find(items, query)]
    assert best in found[:3]
    assert found[0] == best or best not in query.split()


@given(st.text(max_size=60))
def test_a_search_for_anything_gives_tools_of_the_list_each_once(query: str) -> None:
    items = catalog().view().items
    found = find(items, query)
    assert len({item.name for item in found}) == len(found)
    assert all(item in items for item in found)
    assert find(items, query) == found


@given(st.text(), st.text())
def test_the_estimate_grows_with_the_text_and_is_never_below_a_fifth_of_its_words(one: str, other: str) -> None:
    assert tokens(one + " " + other) + 2 >= tokens(one)
    assert tokens("word " * 50) >= 50
    assert tokens("") == 0
