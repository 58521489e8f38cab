"""One list, two projections: what is shown is what can be called, and each tool that is not says why."""

import itertools
import random
from dataclasses import replace
from typing import get_args

import pytest

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.entry import Entry, Missing
from toolcrib.catalog.naming import ClashError
from toolcrib.catalog.order import REST
from toolcrib.catalog.wire import render
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.effects import ApprovalPolicy, EffectClass
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.tool import Tool
from toolcrib.tools import tools
from unit.catalog.declared import Deep, custom, declared, served

ALL = (
    declared("read_file"),
    declared("write_file", kind="write", effect="irreversible"),
    declared("rewind", kind="write", person_only=True),
    custom("alpha.json", "deploy", kind="effect"),
    served("files", "search"),
)


def states(catalog: Catalog) -> dict[str, tuple[str, str]]:
    return {entry.name: (entry.state, entry.why) for entry in catalog.entries}


@pytest.mark.seed("S-catalog-pure")
def test_the_same_declarations_give_the_same_bytes_whatever_their_order() -> None:
    first = Catalog.build(ALL)
    for seed in range(5):
        shuffled = list(ALL)
        random.Random(seed).shuffle(shuffled)
        again = Catalog.build(shuffled)
        assert again.digest == first.digest
        assert repr(render(again.view(), "mcp")) == repr(render(first.view(), "mcp"))


def test_each_state_is_said_with_its_reason() -> None:
    def denied(name: str, descriptor: Descriptor) -> str | None:
        return f"denied by rule 3, {descriptor.kind}" if name == "write_file" else None

    catalog = Catalog.build(
        ALL, disabled={"deploy"}, unavailable={"mcp__files__search": "needs the server files"}, fully_denied=denied
    )
    assert states(catalog) == {
        "deploy": ("disabled", "disabled"),
        "mcp__files__search": ("unavailable", "needs the server files"),
        "read_file": ("visible", ""),
        "rewind": ("person only", "called by people, offered to no model"),
        "write_file": ("denied", "denied by rule 3, write"),
    }
    assert catalog.view().names == ("read_file",)
    assert [(row["name"], row["state"]) for row in catalog.roster()] == [
        (name, state) for name, (state, _) in states(catalog).items()
    ]


def test_why_a_tool_is_unavailable_can_be_a_function_or_keyed_by_raw_name() -> None:
    by_function = Catalog.build(ALL, unavailable=lambda name, tool: "needs " + name if tool.pins else None)
    assert all(entry.state != "unavailable" for entry in by_function.entries)
    twins = [custom("a", "x"), custom("b", "x"), custom("c", "y")]
    catalog = Catalog.build(twins, unavailable={"x": "needs a store"})
    assert [entry.state for entry in catalog.entries] == ["unavailable", "unavailable", "visible"]
    with_builtin = Catalog.build([declared("x"), custom("a", "x")], unavailable={"x": "needs a store"})
    assert {entry.name: entry.state for entry in with_builtin.entries} == {"x": "unavailable", "a__x": "visible"}


@pytest.mark.seed("S-package-VisibleTools")
@pytest.mark.seed("S-catalog-one-list")
def test_what_is_shown_can_be_found_and_what_is_not_shown_cannot() -> None:
    catalog = Catalog.build(tools(), disabled={"grep"}, unavailable={"glob": "needs an index"})
    for dialect in ("toolcrib", "staage", "kram", "standard", "claude", "codex", "gemini"):
        shown = set(catalog.view(dialect=dialect).names)
        assert shown
        for row in catalog.roster(dialect=dialect):
            found = catalog.find(row["name"], dialect=dialect)
            assert isinstance(found, Entry) == (row["name"] in shown) == (row["state"] == "visible"), row


def test_a_name_that_leads_nowhere_says_why() -> None:
    catalog = Catalog.build(ALL, disabled={"deploy"}, unavailable={"write_file": "needs a store"})

    def refusal(name: str, without: frozenset[str] = frozenset()) -> tuple[str, str]:
        found = catalog.find(name, without=without)
        assert isinstance(found, Missing)
        return found.refusal, f"{found.message} {found.hint}"

    assert refusal("deploy")[0] == "tool.disabled"
    assert refusal("write_file") == ("tool.unavailable", "write_file is unavailable: it needs a store ")
    assert refusal("read_file", frozenset({"read_file"}))[0] == "tool.not_in_profile"
    name, text = refusal("read_fil")
    assert name == "tool.unknown"
    assert "read_file" in text
    assert refusal("")[0] == refusal("x" * 100_000)[0] == "tool.unknown"


def test_a_tool_for_people_is_unknown_to_a_model_and_not_even_hinted_at() -> None:
    catalog = Catalog.build(ALL)
    found = catalog.find("rewind")
    assert isinstance(found, Missing)
    assert found.refusal == "tool.unknown"
    near = catalog.find("rewin")
    assert isinstance(near, Missing)
    assert "rewind" not in near.hint + near.message
    for_person = catalog.find("rewind", person=True)
    assert isinstance(for_person, Entry)
    assert "rewind" not in catalog.view().names


def test_a_tool_that_rules_deny_is_hidden_but_found_so_that_judging_names_the_rule() -> None:
    catalog = Catalog.build(ALL, fully_denied=lambda name, _: "denied by user rule 1" if name == "deploy" else None)
    assert "deploy" not in catalog.view().names
    assert isinstance(catalog.find("deploy"), Entry)


@pytest.mark.seed("S-catalog-profile")
def test_a_profile_takes_away_by_canonical_or_shown_name_and_never_adds() -> None:
    catalog = Catalog.build(tools())
    whole = set(catalog.view(dialect="claude").names)
    for without in ({"Read"}, {"read_file"}, {"read_file", "no_such"}, {"grep", "Write"}):
        narrowed = set(catalog.view(dialect="claude", without=without).names)
        assert narrowed < whole
        for name in whole - narrowed:
            found = catalog.find(name, dialect="claude", without=without)
            assert isinstance(found, Missing)
            assert found.refusal == "tool.not_in_profile"
    assert catalog.view(only={"read_file", "rewind"}).names == ("read_file",)
    assert catalog.unknown({"Read", "read_file", "nope"}, dialect="claude") == ("nope",)


@pytest.mark.seed("S-package-IsReadOnly")
def test_only_a_built_in_of_kind_read_is_read_only() -> None:
    catalog = Catalog.build([*ALL, custom("b", "peek"), served("files", "look"), declared("plan", kind="meta")])
    assert [entry.name for entry in catalog.entries if catalog.is_read_only(entry.name)] == ["read_file"]
    assert not catalog.is_read_only("no_such_tool")


def test_an_order_governs_every_projection_and_a_bad_one_stops_the_build() -> None:
    order = ["write_file", REST, "artifact_read"]
    catalog = Catalog.build(tools(), order=order)
    names = catalog.view().names
    assert (names[0], names[-1]) == ("write_file", "artifact_read")
    assert [each["name"] for each in render(catalog.view())] == list(names)
    assert catalog.view(dialect="claude").names[0] == "Write"
    with pytest.raises(ConfigError, match="no tool"):
        Catalog.build(tools(), order=["write_fil", REST])


def test_a_hidden_tool_is_known_to_an_order() -> None:
    catalog = Catalog.build(ALL, order=["rewind", "deploy", REST], disabled={"deploy"})
    assert [entry.name for entry in catalog.entries[:2]] == ["rewind", "deploy"]


def test_two_tools_that_meet_stop_the_build() -> None:
    with pytest.raises(ClashError):
        Catalog.build([custom("a", "x-y"), custom("b", "x_y")])


@pytest.mark.seed("S-catalog-digest")
@pytest.mark.parametrize(
    "changed",
    [
        declared("read_file", effect="irreversible"),
        declared("read_file", parameters=Deep),
        declared("read_fil"),
        custom("a", "read_file"),
    ],
)
def test_a_material_change_is_another_tool(changed: Tool) -> None:
    original = declared("read_file")
    assert changed.descriptor.digest != original.descriptor.digest
    assert Catalog.build([changed]).digest != Catalog.build([original]).digest


def test_a_new_description_keeps_the_digest_and_changes_the_text_digest() -> None:
    one = served("files", "search")
    other = replace(one, descriptor=replace(one.descriptor, description="Delete everything."))
    assert one.descriptor.digest == other.descriptor.digest
    assert one.descriptor.text_digest != other.descriptor.text_digest
    assert Catalog.build([one]).digest != Catalog.build([other]).digest


@pytest.mark.seed("S-catalog-undeclared")
def test_an_undeclared_effect_is_irreversible() -> None:
    async_tool = declared("x").descriptor
    assert (
        Descriptor(
            raw_name="x", family="f", title="X", summary="s", description="d", schema=async_tool.schema, kind="effect"
        ).effect
        == "irreversible"
    )


@pytest.mark.seed("S-package-ToolMetadata")
@pytest.mark.seed("S-package-MetadataProvider")
def test_every_tool_has_a_summary_written_or_the_first_sentence() -> None:
    assert declared("x").descriptor.summary == "Does x."
    assert declared("x", summary="By hand").descriptor.summary == "By hand"
    assert all(entry.descriptor.summary.strip() for entry in Catalog.build(tools()).entries)


@pytest.mark.seed("S-catalog-two-words")
def test_approval_and_effect_are_two_words_with_every_pairing() -> None:
    assert get_args(ApprovalPolicy) == ("required", "never")
    assert get_args(EffectClass) == ("read", "idempotent-write", "reversible", "irreversible")
    for approval, effect in itertools.product(get_args(ApprovalPolicy), get_args(EffectClass)):
        (entry,) = Catalog.build([declared("x", kind="meta", approval=approval, effect=effect)]).entries
        assert (entry.descriptor.approval, entry.descriptor.effect) == (approval, effect)
