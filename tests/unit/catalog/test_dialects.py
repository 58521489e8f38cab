"""Every dialect lands on the same tool with the same canonical arguments, and says what is wrong in its own words."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.dialects import DIALECTS, dialect
from toolcrib.catalog.entry import Entry, Missing
from toolcrib.catalog.shapes import camel
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.refusals import Refusal
from toolcrib.tools import tools
from unit.catalog.conversions import CONVERSIONS, Conversion
from unit.catalog.declared import Deep, custom, declared, served

CATALOG = Catalog.build(tools())
DIGEST = "0123456789abcdef"
EDIT = {"edits": [{"old": "a", "new": "b", "replace_all": False}]}
ALL_EDITS = {"edits": [{"old": "a", "new": "b", "replace_all": True}]}


def found(name: str, spoken: str, args: Mapping[str, Any] | None = None) -> Entry:
    entry = CATALOG.find(name, dialect=spoken, args=args)
    assert isinstance(entry, Entry), entry
    return entry


def fault(name: str, spoken: str, args: Mapping[str, Any]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        found(name, spoken, args).convert(args, dialect=spoken)
    assert caught.value.name == "args.invalid"
    return caught.value


@pytest.mark.parametrize("case", CONVERSIONS, ids=str)
def test_arguments_become_the_canonical_ones_and_the_tool_takes_them(case: Conversion) -> None:
    entry = found(case.name, case.spoken, case.args)
    assert entry.name == case.tool
    before = repr(case.args)
    converted = entry.convert(case.args, dialect=case.spoken)
    assert (converted.args, converted.marks) == (case.canonical, case.marks)
    assert repr(case.args) == before
    entry.tool.parameters.model_validate(converted.args)
    schema = next(item.schema for item in CATALOG.view(dialect=case.spoken).items if item.name == case.name)
    if not any(isinstance(value, float) or value == "3" for value in case.args.values()):
        jsonschema.validate(case.args, schema)


@pytest.mark.parametrize("spoken", DIALECTS)
def test_every_shape_speaks_of_parameters_that_its_tool_has(spoken: str) -> None:
    for shape in DIALECTS[spoken].shapes:
        properties = CATALOG.named[shape.tool].descriptor.schema["properties"]
        assert {*(shape.keep or ()), *shape.rename, *shape.fixed} <= set(properties)
        shown = set(CATALOG.named[shape.tool].parameters(spoken))
        assert {*shape.required, *shape.notes} <= shown


@pytest.mark.parametrize("spoken", DIALECTS)
def test_every_conversion_table_covers_every_name_shown(spoken: str) -> None:
    tried = {case.name for case in CONVERSIONS if case.spoken == spoken}
    shown = set(CATALOG.view(dialect=spoken).names)
    if spoken in {"toolcrib", "standard"}:
        assert tried <= shown
    else:
        assert tried == shown


@pytest.mark.parametrize("spoken", DIALECTS)
def test_every_schema_is_one_and_flat_enough_for_every_provider(spoken: str) -> None:
    for item in CATALOG.view(dialect=spoken).items:
        jsonschema.Draft202012Validator.check_schema(item.schema)
        assert item.schema["type"] == "object"
        assert item.schema["additionalProperties"] is False
        assert "$ref" not in repr(item.schema)
        assert item.description
        assert set(item.schema.get("required", ())) <= set(item.schema["properties"])


def test_each_dialect_shows_exactly_the_names_of_its_system() -> None:
    names = {spoken: set(CATALOG.view(dialect=spoken).names) for spoken in DIALECTS}
    every = {"read_file", "list_dir", "write_file", "edit_file", "apply_patch", "move_file", "delete_file"}
    every |= {"glob", "grep", "fff_search", "artifact_read"}
    assert names == {
        "toolcrib": every,
        "standard": every,
        "staage": {"file_read", "file_edit", "file_write", "file_find", "file_search"},
        "kram": every - {"fff_search", "apply_patch"},
        "claude": {"Read", "Edit", "Write", "Glob", "Grep"},
        "codex": {"view_image", "apply_patch"},
        "gemini": {"read_file", "replace", "write_file", "glob", "grep_search", "list_directory"},
        "openhands": {"str_replace_editor"},
    }


def test_the_default_dialect_requires_the_digest_that_the_tool_itself_does_not() -> None:
    assert "digest" in next(item.schema["required"] for item in CATALOG.view().items if item.name == "edit_file")
    for digest in ({}, {"digest": None}):
        assert (
            "digest: required, and missing" in fault("edit_file", "toolcrib", {"path": "a", **EDIT, **digest}).message
        )
    assert found("edit_file", "standard").convert(
        {"path": "a", "edits": [{"old": "a", "new": "b"}]}, dialect="standard"
    )


def test_every_fault_is_named_at_once_in_the_words_of_the_caller() -> None:
    said = fault("edit_file", "kram", {"path": 3, "old": "x", "new_string": "y"})
    for part in ("old: unknown parameter", "old_string: required, and missing", "path: "):
        assert part in said.message
    assert said.hint == "parameters: path, old_string, new_string, replace_all"
    said = fault("edit_file", "toolcrib", {"path": "a", "edits": [{"old": "x"}], "more": 1})
    for part in ("digest: required", "edits.0.new: required, and missing", "more: unknown parameter"):
        assert part in said.message


def test_faults_are_told_in_the_words_of_json() -> None:
    said = fault("edit_file", "toolcrib", {"path": 3, "edits": {"old": "a", "new": "b"}}).message.split("; ")
    assert (
        said[0] == "digest: required, and missing (Digest of your last reading of the file, 12 hex characters or more.)"
    )
    assert said[1:] == ["path: expected text, found 3", "edits: expected a list, found {'old': 'a', 'new': 'b'}"]
    said = fault("edit_file", "toolcrib", {"path": "a", "edits": ["x"]}).message
    assert said.endswith("; edits.0: expected an object, found 'x'"), "nothing of a list that is too short"
    said = fault("edit_file", "toolcrib", {"path": "a", "edits": []}).message
    assert said.endswith("; edits: expected at least 1, found 0")


def test_faults_of_the_tools_own_model_are_spelt_as_the_caller_wrote_them() -> None:
    assert found("Edit", "claude").spell(("edits", 0, "old"), dialect="claude") == "old_string"
    assert found("Read", "claude").spell(("path",), dialect="claude") == "file_path"
    assert found("edit_file", "standard").spell(("edits", 0, "replace_all"), dialect="standard") == "edits.0.replaceAll"
    assert found("Grep", "claude").spell(("limit",), dialect="claude") == "head_limit"
    assert found("read_file", "toolcrib").spell(()) == "arguments"


@pytest.mark.parametrize(
    ("spoken", "name", "args", "said"),
    [
        ("kram", "write_file", {"path": "a", "overwrite_existing": False}, "overwrite_existing: unknown"),
        ("kram", "grep", {"pattern": "x", "mode": "plain"}, "mode: unknown"),
        ("claude", "Read", {"path": "a"}, "path: unknown"),
        ("standard", "write_file", {"path": "a", "overwrite_existing": True}, "overwrite_existing: unknown"),
        ("claude", "Grep", {"pattern": "x", "output_mode": "lines"}, "output_mode: expected one of content"),
        ("claude", "Grep", {"pattern": "x", "-A": -1}, "-A: expected at least 0"),
        ("claude", "Grep", {"pattern": "x", "-i": "yes"}, "-i: expected boolean"),
        ("claude", "Grep", {"pattern": "x", "-A": True}, "-A: expected integer"),
        ("claude", "Grep", {"pattern": "x", "type": "cobol"}, "type: expected one of c, cpp"),
        ("claude", "Grep", {"pattern": "x", "type": "py", "glob": "a"}, "type: expected either type or glob"),
        ("gemini", "read_file", {"file_path": "a", "start_line": 5, "end_line": 4}, "end_line: the last line 4"),
        ("gemini", "read_file", {"file_path": "a", "start_line": 0}, "start_line: expected at least 1"),
    ],
)  # fmt: skip
def test_what_a_dialect_hides_or_cannot_read_is_refused(
    spoken: str, name: str, args: dict[str, Any], said: str
) -> None:
    assert said in fault(name, spoken, args).message


@pytest.mark.parametrize("span", [[1], [1, 2, 3], ["1", 2], [True, 2], [0, 2], [3, 2], [3, -2], 5, "ab"])
def test_a_range_that_is_none_is_refused(span: object) -> None:
    args = {"command": "view", "path": "a", "view_range": span}
    assert fault("str_replace_editor", "openhands", args).message.startswith("view_range: ")


def test_null_for_an_optional_argument_of_a_dialect_leaves_it_out() -> None:
    args = {"command": "view", "path": "a"}
    entry = found("str_replace_editor", "openhands", args)
    nulled = entry.convert({**args, "view_range": None, "old_str": None}, dialect="openhands")
    assert nulled == entry.convert(args, dialect="openhands")


@pytest.mark.parametrize("args", [{}, {"command": "insert", "path": "a"}, {"command": ["view"]}, {"command": None}])
def test_a_shared_name_without_a_choice_says_the_choices(args: dict[str, Any]) -> None:
    missing = CATALOG.find("str_replace_editor", dialect="openhands", args=args)
    assert isinstance(missing, Missing)
    assert missing.refusal == "args.invalid"
    assert missing.message.startswith("command: expected one of ")
    assert all(word in missing.message for word in ("view", "create", "str_replace"))


@pytest.mark.promise("P-catalog-names")
def test_a_tool_of_another_origin_never_takes_a_name_that_a_dialect_gives_a_built_in() -> None:
    catalog = Catalog.build([*tools(), custom("mine", "Read"), custom("mine", "WRITE"), custom("mine", "own")])
    shown = {item.name: item.entry.name for item in catalog.view(dialect="claude").items}
    assert shown["Read"] == "read_file"
    assert (shown["mine__Read"], shown["mine__WRITE"], shown["own"]) == ("Read", "WRITE", "own")
    for name, tool in (("Read", "read_file"), ("mine__Read", "Read")):
        entry = catalog.find(name, dialect="claude")
        assert isinstance(entry, Entry)
        assert entry.name == tool
    assert "Read" in {item.name for item in catalog.view(dialect="kram").items}


def test_a_shared_name_offers_only_the_choices_that_are_left() -> None:
    catalog = Catalog.build(tools(), disabled={"write_file", "edit_file"})
    (item,) = catalog.view(dialect="openhands").items
    assert item.schema["properties"]["command"]["enum"] == ["view"]
    assert "file_text" not in item.schema["properties"]
    missing = catalog.find("str_replace_editor", dialect="openhands", args={"command": "create", "path": "a"})
    assert isinstance(missing, Missing)
    assert missing.refusal == "tool.disabled"


@pytest.mark.seed("S-catalog-bounds")
def test_the_tool_catalog_spells_bounds_and_refusals_its_own_way() -> None:
    entry = found("file_edit", "staage")
    assert entry.aliases == {"file.no_match": "file.missing"}
    assert entry.details == {"file.no_match": {"what": "text"}}
    spelt = set(entry.bounds.values())
    assert {"nextCursor", "scanCapped", "skippedBinary", "skippedLarge", "clippedLines"} <= spelt
    assert found("edit_file", "toolcrib").aliases == {}


@pytest.mark.parametrize("spoken", ["staage", "claude", "gemini", "standard"])
def test_texts_speak_of_tools_and_parameters_as_the_dialect_calls_them(spoken: str) -> None:
    view = CATALOG.view(dialect=spoken)
    spoken_names = set(view.names) | {name for item in view.items for name in item.schema["properties"]}
    hidden = {tool for tool, name in view.spoken.items() if tool != name and tool not in spoken_names} - {
        "glob",
        "grep",
    }
    for item in view.items:
        texts = [
            item.description,
            item.summary,
            *(str(each.get("description")) for each in item.schema["properties"].values()),
        ]
        assert not [tool for tool in hidden for text in texts if tool in text]


@pytest.mark.parametrize("spoken", DIALECTS)
def test_tools_of_other_origins_are_shown_under_their_own_names_where_the_system_has_them(spoken: str) -> None:
    catalog = Catalog.build([*tools(), served("files", "search"), custom("a", "deploy", parameters=Deep)])
    shown = set(catalog.view(dialect=spoken).names)
    if spoken == "staage":
        assert shown.isdisjoint({"mcp__files__search", "deploy"})
        return
    assert {"mcp__files__search", "deploy"} <= shown
    entry = catalog.find("deploy", dialect=spoken)
    assert isinstance(entry, Entry)
    args = {"dry_run": True, "some_items": [{"keep_all": True, "name": "n"}], "free_form": {"a_b": 1}}
    assert entry.convert(args, dialect=spoken).args == args


def test_camel_case_reaches_nested_names_and_leaves_free_maps_alone() -> None:
    catalog = Catalog.build([declared("own", parameters=Deep)])
    (item,) = catalog.view(dialect="standard").items
    properties = item.schema["properties"]
    assert list(properties) == ["dryRun", "someItems", "freeForm"]
    assert set(properties["someItems"]["items"]["properties"]) == {"keepAll", "name"}
    entry = catalog.find("own", dialect="standard")
    assert isinstance(entry, Entry)
    args = {"dryRun": True, "someItems": [{"keepAll": True, "name": "n"}], "freeForm": {"a_b": 1, "aB": 2}}
    assert entry.convert(args, dialect="standard").args == {
        "dry_run": True,
        "some_items": [{"keep_all": True, "name": "n"}],
        "free_form": {"a_b": 1, "aB": 2},
    }


def test_symbols_appear_once_programs_are_offered() -> None:
    def surfaces(*more: str) -> dict[str, str]:
        catalog = Catalog.build([*tools(), *(declared(name, kind="effect") for name in more), served("files", "x")])
        return {item.name: item.surface for item in catalog.view(dialect="standard").items}

    assert set(surfaces().values()) == {"json"}
    with_programs = surfaces("scheme_repl", "bash")
    assert {name for name, surface in with_programs.items() if surface == "json"} == {
        "write_file",
        "edit_file",
        "scheme_repl",
        "bash",
    }


def test_an_unknown_dialect_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no dialect 'claud'; nearest: 'claude'"):
        dialect("claud")
    with pytest.raises(ConfigError):
        CATALOG.find("read_file", dialect="")


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.dictionaries(
        st.sampled_from(["path", "file_path", "pattern", "-A", "view_range", "command", "old_string", "edits", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=6,
    ),
)
def test_whatever_the_arguments_conversion_answers_with_arguments_or_a_refusal(
    spoken: str, args: dict[str, Any]
) -> None:
    for name in CATALOG.view(dialect=spoken).names:
        entry = CATALOG.find(name, dialect=spoken, args=args)
        if isinstance(entry, Missing):
            assert entry.refusal == "args.invalid"
            continue
        try:
            converted = entry.convert(args, dialect=spoken)
        except Refusal as refusal:
            assert refusal.name == "args.invalid"
        else:
            assert set(converted.args) <= set(entry.descriptor.schema["properties"]) | set(args)


@given(st.lists(st.from_regex(r"[a-z]{1,5}", fullmatch=True), min_size=1, max_size=4))
def test_camel_case_is_one_word_with_capitals(words: list[str]) -> None:
    assert camel("_".join(words)) == words[0] + "".join(word.capitalize() for word in words[1:])
