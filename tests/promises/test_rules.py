"""Modes and rules, seen from outside: what a call of each tool is answered with."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from calling import opened
from conftest import Workspace
from toolcrib import ConfigError, Crib, Ok, Outcome, Refused
from toolcrib.terms.settings import MODES, Mode

pytestmark = pytest.mark.anyio

READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "a.txt"}),
    ("list_dir", {}),
    ("glob", {"pattern": "*"}),
    ("grep", {"pattern": "one"}),
    ("fff_search", {"query": "a"}),
)
CREATE: tuple[str, dict[str, Any]] = ("write_file", {"path": "src/new.txt", "content": "x\n"})
ALLOW, ASK, DENY = "ok", "approval.unattended", "policy.denied"


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


def rule(effect: str, **keys: str) -> str:
    """Return one rule as TOML."""
    return f'[[policy.rules]]\nrule = "{effect}"\n' + "".join(f'{key} = "{value}"\n' for key, value in keys.items())


def answer(outcome: Outcome) -> str:
    return outcome.name if isinstance(outcome, Refused) else ALLOW


async def called(crib: Crib, name: str, args: dict[str, Any]) -> Outcome:
    return await crib.submit(crib.make(name, args))


async def tried(crib: Crib, name: str, args: dict[str, Any]) -> str:
    return answer(await called(crib, name, args))


@pytest.fixture(autouse=True)
def _a_file(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")


@pytest.mark.promise("P-policy-table")
@pytest.mark.parametrize("mode", MODES)
async def test_each_mode_answers_every_tool_as_its_table_says(workspace: Workspace, mode: Mode) -> None:
    reading, writing = {
        "locked": (ASK, ASK),
        "ask": (ALLOW, ASK),
        "work": (ALLOW, ALLOW),
        "read-only": (ALLOW, DENY),
    }[mode]
    async with opened(workspace.ws, mode=mode) as crib:
        assert {name: await tried(crib, name, args) for name, args in READS} == {name: reading for name, _ in READS}
        assert await tried(crib, *CREATE) == writing
        digest = "0" * 64
        if mode != "locked":
            digest = (await called(crib, "read_file", {"path": "a.txt"})).evidence.digest or ""
        edit: dict[str, Any] = {"path": "a.txt", "digest": digest, "edits": [{"old": "one", "new": "ONE"}]}
        outcome = await called(crib, "edit_file", edit)
        assert answer(outcome) == (writing if mode != "locked" else answer(outcome))
        assert isinstance(outcome, Ok) == (mode == "work")
        shown = {each["name"] for each in crib.render("mcp")}
        assert ({"write_file", "edit_file"} <= shown) == (mode != "read-only")
        assert {name for name, _ in READS} <= shown


@pytest.mark.promise("P-policy-order")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((rule("allow", tool="*"), rule("deny", path="src/**")), DENY),
        ((rule("allow", path="src/new.txt"), rule("deny", tool="write_*")), DENY),
        ((rule("ask", tool="write_file"), rule("allow", path="src/**")), ALLOW),
        ((rule("allow", path="src/**"), rule("ask", path="src/new.txt")), ASK),
        ((rule("allow", path="src/new.txt"), rule("ask", path="src/**")), ALLOW),
        ((rule("allow", path="src/**"), rule("ask", path="s*/**")), ASK),
        ((rule("ask", tool="*"), rule("allow", tool="write_file")), ALLOW),
    ],
)
async def test_deny_beats_all_then_the_more_specific_then_ask(
    workspace: Workspace, state: Path, said: tuple[str, ...], expected: str
) -> None:
    for order in itertools.permutations(said):
        configure(state, "\n".join(order))
        (workspace.ws / "src" / "new.txt").unlink(missing_ok=True)
        async with opened(workspace.ws, mode="ask") as crib:
            assert await tried(crib, *CREATE) == expected


@pytest.mark.promise("P-policy-order")
async def test_what_is_denied_to_reading_shows_up_in_no_search(workspace: Workspace, state: Path) -> None:
    configure(state, rule("deny", path="secrets/**") + rule("ask", path="private/**"))
    for path in ("secrets/one.txt", "private/one.txt", "public/one.txt"):
        workspace.write(path, "one\n")
    async with opened(workspace.ws, mode="ask") as crib:
        for name, args in READS[1:]:
            wide: dict[str, Any] = {"list_dir": {"depth": 3}, "glob": {"pattern": "**/*"}}.get(name, args)
            outcome = await called(crib, name, wide)
            assert isinstance(outcome, Ok), str(outcome)
            told = str(outcome) + repr(outcome.payload)
            assert "one.txt" in told or name == "fff_search"
            assert "secrets/one" not in told
            assert "private/one" not in told
        assert await tried(crib, "read_file", {"path": "secrets/one.txt"}) == DENY
        assert await tried(crib, "read_file", {"path": "private/one.txt"}) == ASK


@pytest.mark.promise("P-policy-examples")
async def test_a_rule_whose_examples_fail_stops_the_start(workspace: Workspace, state: Path) -> None:
    good = '[[policy.rules]]\nrule = "deny"\npath = "secrets/**"\nmatch = ["secrets/a"]\nnot_match = ["src/a"]\n'
    configure(state, good)
    async with opened(workspace.ws) as crib:
        assert await tried(crib, "write_file", {"path": "secrets/a", "content": "x"}) == DENY
    for broken in (good.replace('"secrets/a"', '"secret/a"'), good.replace('"src/a"', '"secrets/b"')):
        configure(state, broken)
        with pytest.raises(ConfigError) as caught:
            async with opened(workspace.ws):
                pass
        assert "example" in caught.value.message
        assert "config.toml:" in caught.value.message


@pytest.mark.promise("P-policy-project")
async def test_a_project_nobody_trusts_tightens_and_cannot_widen(workspace: Workspace, state: Path) -> None:
    configure(state, '[policy]\nmode = "ask"\n')
    workspace.write(
        ".toolcrib/config.toml",
        '[policy]\nmode = "work"\n' + rule("allow", tool="*") + rule("deny", path="docs/**"),
    )
    async with opened(workspace.ws, mode=None) as crib:
        assert await tried(crib, *CREATE) == ASK
        assert await tried(crib, "read_file", {"path": "docs/x"}) == DENY
        assert "allow" in " ".join(crib.dropped)
        assert "work" in " ".join(crib.dropped)
    workspace.write(".toolcrib/config.toml", '[policy]\nmode = "locked"\n')
    async with opened(workspace.ws, mode=None) as crib:
        assert await tried(crib, "read_file", {"path": "a.txt"}) == ASK


@pytest.mark.promise("P-policy-config")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# mine\n[cal]\nseconds = 1\n", ":2:1: unknown table 'cal'"),
        ("[call]\n\nsecond = 1\n", ":3:1: [call]: unknown key 'second'"),
        ('[call]\nseconds = "x"\n', ":2:1: call.seconds must be a positive number, found 'x'"),
        ("[files]\nedit_bytes = 1.5\n", ":2:1: files.edit_bytes must be a positive whole number"),
        ("call = 3\n", ":1:1: [call]: expected a table"),
        ("[tools]\nordre = []\n", ":2:1: [tools]: unknown key 'ordre'"),
        ("[tools]\norder = [1]\n", ":2:1: tools.order: expected a list of strings"),
        ('[approvers]\na = true\nb = "yes"\n', ":3:1: [approvers]: expected"),
    ],
)
async def test_a_setting_that_is_none_is_an_error_with_file_line_and_column(
    workspace: Workspace, state: Path, text: str, said: str
) -> None:
    configure(state, text)
    with pytest.raises(ConfigError) as caught:
        async with opened(workspace.ws, mode=None):
            pass
    assert f"config.toml{said}" in caught.value.message
