"""The ledger is whole and true both ways: built rows are shown, markers name rows, later rows are not claimed."""

import ast
from collections import Counter

import pytest

import owed
from owed import Claim, Row

TABLE = tuple(
    owed.parse(
        """
# a comment
[A section]
B001        line   one thing [I1 I20]
B002:near   line   the near half
B002:far    shell  the far half
A001        shell  something later
"""
    )
)


def claims(source: str) -> list[Claim]:
    """Return the markers of a test file given as text."""
    return list(owed.claims_in(ast.parse(source), "test_x.py"))


def test_every_row_of_a_built_feature_is_shown_by_a_test() -> None:
    assert owed.missing() == []


def test_every_marker_names_a_row_whose_feature_is_built() -> None:
    assert owed.faults() == []


def test_no_row_stands_twice_and_no_id_mixes_whole_and_parts() -> None:
    names = Counter(row.name for row in owed.rows())
    assert [name for name, count in names.items() if count > 1] == []
    parted = {row.id for row in owed.rows() if row.part}
    assert [row.id for row in owed.rows() if not row.part and row.id in parted] == []


def test_every_row_is_owed_to_a_known_feature() -> None:
    assert [f"{row.name}: {row.owes}" for row in owed.rows() if row.owes not in owed.FEATURES] == []
    assert set(owed.FEATURES) >= owed.BUILT


def test_the_ledger_holds_every_case_attack_and_invariant() -> None:
    ids = Counter(row.id[0] for row in {row.id: row for row in owed.rows()}.values())
    assert (ids["B"], ids["A"], ids["I"]) == (161, 139, 23)


def test_attacks_name_only_invariants_of_the_ledger() -> None:
    known = {row.id for row in owed.rows()}
    attacks = [row for row in owed.rows() if row.id[0] == "A"]
    assert [row.name for row in attacks if not row.implied_by or not set(row.implied_by) <= known] == []


def test_rows_are_read_with_part_feature_section_and_invariants() -> None:
    assert TABLE[0] == Row("B001", "", "line", "one thing", "A section", ("I1", "I20"))
    assert TABLE[1].name == "B002:near"
    assert [row.built for row in TABLE] == [True, True, False, False]


def test_a_line_that_is_no_row_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 1 is no row"):
        list(owed.parse("B001"))


def test_markers_are_found_on_functions_parameters_and_modules() -> None:
    source = """
pytestmark = [pytest.mark.anyio, pytest.mark.case("B001")]
@pytest.mark.case("B002", "near")
def test_one(): ...
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.attack("A001"))])
def test_two(x): ...
"""
    found = sorted((claim.kind, claim.id, claim.part) for claim in claims(source))
    assert found == [("attack", "A001", ""), ("case", "B001", ""), ("case", "B002", "near")]


def test_a_row_without_a_test_is_missing() -> None:
    made = claims('@pytest.mark.case("B001")\ndef test_one(): ...')
    assert owed.missing(TABLE, made) == ["B002:near  the near half"]
    made += claims('@pytest.mark.case("B002", "near")\ndef test_two(): ...')
    assert owed.missing(TABLE, made) == []


@pytest.mark.parametrize(
    ("marker", "wrong"),
    [
        ('case("B001")', ""),
        ('case("B002", "near")', ""),
        ('case("B002")', "claims B002:far, which is owed to shell"),
        ('case("B002", "far")', "owed to shell"),
        ('case("B002", "middle")', "its parts are near, far"),
        ('case("B003")', "no row is named 'B003'"),
        ('case("A001")', "is no id of this kind"),
        ("case(NAME)", "is no id of this kind"),
        ('attack("A001")', "owed to shell"),
    ],
)
def test_a_marker_that_names_no_built_row_is_a_fault(marker: str, wrong: str) -> None:
    (claim,) = claims(f"@pytest.mark.{marker}\ndef test_one(): ...")
    said = owed.fault(claim, TABLE)
    assert bool(said) == bool(wrong)
    assert wrong in said


def test_an_invariant_is_shown_by_the_attacks_that_name_it() -> None:
    invariant = next(row for row in owed.rows() if row.id == "I1")
    attack = next(row for row in owed.rows() if row.built and row.id[0] == "A" and "I1" in row.implied_by)
    assert owed.shown(invariant, []) == []
    assert owed.shown(invariant, [Claim("attack", attack.id, attack.part, "here")]) == ["here"]
