"""Standing yeses: listed and taken back, at the command line and in Python."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calling import ok, opened, refused
from commandline import tape, terminal, toolcrib
from conftest import Workspace
from probing import marking, person, probe
from toolcrib import Crib, Refusal, open_crib
from toolcrib.terms.call import Decision
from toolcrib.terms.records import Grant

pytestmark = pytest.mark.anyio

ARGS: dict[str, Any] = {"content": "x\n", "overwrite_existing": True}


async def granted(workspace: Workspace, *paths: str) -> list[Grant]:
    """Answer `always` to a write of each path, and return the grants that this made."""
    async with opened(workspace.ws, mode="ask", approver=person("always")) as crib:
        for path in paths:
            await ok(crib, "write_file", path=path, **ARGS)
        return list(await crib.grants())


@pytest.mark.promise("P-approval-grants")
async def test_a_grant_is_listed_with_what_it_covers_and_holds_until_it_is_taken_back(workspace: Workspace) -> None:
    (grant,) = await granted(workspace, "docs/a b[1].txt")
    assert (grant.tool, grant.pattern, grant.root) == ("write_file", "docs/a\\ b\\[1\\].txt", str(workspace.ws))
    assert (grant.by, grant.expires, grant.uses) == ("a person", None, None)
    async with opened(workspace.ws, mode="ask") as crib, opened(workspace.ws, mode="ask") as other:
        await ok(crib, "write_file", path="docs/a b[1].txt", **ARGS)
        await refused(crib, "write_file", "approval.unattended", path="docs/a b1.txt", **ARGS)
        assert await other.revoke(grant.id[-8:]) == (grant,)
        assert await crib.grants() == await other.grants() == []
        await refused(crib, "write_file", "approval.unattended", path="docs/a b[1].txt", **ARGS)
        (taped,) = [each.data for each in await crib.tape(limit=1000) if each.data.get("change") == "revoked"]
    assert (taped["grant"], taped["tool"], taped["by"]) == (grant.id, "write_file", "python")


@pytest.mark.promise("P-approval-grants")
async def test_what_names_no_grant_or_several_takes_nothing_back(workspace: Workspace) -> None:
    grants = await granted(workspace, "a.txt", "b.txt")
    async with opened(workspace.ws) as crib:
        for wrong in ((grants[0].id, "nothing"), ("",), (grants[0].id[:2],)):
            with pytest.raises(Refusal) as caught:
                await crib.revoke(*wrong)
            assert caught.value.name == "approval.stale"
        assert list(await crib.grants()) == grants


@pytest.mark.promise("P-approval-grants")
async def test_the_command_line_lists_grants_and_takes_back_one_or_all(workspace: Workspace) -> None:
    assert toolcrib("grants", at=workspace.ws).err == "nothing is granted here\n"
    one, two, three = await granted(workspace, "a.txt", "b.txt", "c.txt")
    listed = toolcrib("grants", at=workspace.ws)
    assert [line.split()[0] for line in listed.out.splitlines()] == [each.id[-8:] for each in (one, two, three)]
    assert "write_file" in listed.out
    assert "until revoked  a.txt" in listed.out
    for words in (("grants", "--json"), ("grants", "list", "--json"), ("--json", "grants", "list")):
        shown = toolcrib(*words, at=workspace.ws).json
        assert [(each["id"], each["pattern"], each["state"]) for each in shown] == [
            (each.id, each.pattern, "active") for each in (one, two, three)
        ]
    done = toolcrib("grants", "revoke", "--yes", one.id[-8:], at=workspace.ws)
    assert done.out.startswith("took back 1 grant\n")
    revoked = [entry["data"] for entry in tape(workspace.ws) if entry["data"].get("change") == "revoked"]
    assert [(each["grant"], each["by"]) for each in revoked] == [(one.id, "flag")]
    assert "grant revoked: write_file on a.txt" in toolcrib("tape", at=workspace.ws).out
    done = toolcrib("grants", "revoke", "--all", "--yes", "--json", at=workspace.ws)
    assert done.json == {"revoked": [two.id, three.id]}
    assert toolcrib("grants", "--json", at=workspace.ws).json == []
    assert toolcrib("grants", "revoke", "--all", "--yes", at=workspace.ws).out == "took back 0 grants\n"


async def test_taking_back_needs_a_yes_and_something_to_take(workspace: Workspace) -> None:
    (one,) = await granted(workspace, "a.txt")
    unasked = toolcrib("grants", "revoke", one.id, at=workspace.ws, code=1)
    assert unasked.err.startswith("refused approval.unattended")
    unknown = toolcrib("grants", "revoke", "nothing", "--json", at=workspace.ws, code=1)
    assert unknown.json["name"] == "approval.stale"
    for words in ((), ("--all", one.id)):
        assert "name the grants" in toolcrib("grants", "revoke", *words, at=workspace.ws, code=2).err
    with terminal("grants", "revoke", one.id[-8:], at=workspace.ws) as shown:
        shown.expect("a.txt")
        shown.expect("Take this back? [y/N]")
        shown.type("n")
        assert shown.ended() == 1
    assert len(toolcrib("grants", "--json", at=workspace.ws).json) == 1
    with terminal("grants", "revoke", one.id[-8:], at=workspace.ws) as shown:
        shown.expect("Take this back? [y/N]")
        shown.type("y")
        assert shown.ended() == 0
    assert tape(workspace.ws)[-1]["data"]["by"].startswith("terminal:")


@pytest.mark.case("B151", "files")
async def test_marks_of_direction_in_a_grant_are_shown_as_escapes(workspace: Workspace) -> None:
    (one,) = await granted(workspace, "report\u202etxt.exe")
    assert "report<U+202E>txt.exe" in toolcrib("grants", at=workspace.ws).out
    with terminal("grants", "revoke", one.id, at=workspace.ws) as shown:
        assert "report<U+202E>txt.exe" in shown.expect("Take this back?")
        shown.type("y")
        assert shown.ended() == 0


async def test_grants_that_have_ended_are_listed_as_such_and_can_be_taken_back(workspace: Workspace) -> None:
    ran: list[str] = []
    (model,) = await granted(workspace, "a.txt")
    async with open_crib(workspace.ws, mode="ask", tools=[probe("deploy", marking(ran))]) as crib:
        await _add(crib, replace(model, id="g" * 26, expires=time.time() - 1))
        await _add(crib, replace(model, id="h" * 26, uses=0))
        await _add(crib, replace(model, id="j" * 26, uses=2, expires=time.time() + 7200))
        assert [each.state for each in await crib.standings()] == ["active", "expired", "used up", "active"]
        assert len(await crib.grants()) == 2
    listed = toolcrib("grants", at=workspace.ws).out.splitlines()
    for line, holds in zip(listed, ("until revoked", "expired", "used up", "2 uses"), strict=True):
        assert holds in line
    toolcrib("grants", "revoke", "gggggggg", "hhhhhhhh", "--yes", at=workspace.ws)
    assert len(toolcrib("grants", "--json", at=workspace.ws).json) == 2


async def _add(crib: Crib, grant: Grant) -> None:
    """Store a grant as no face can make one."""
    await crib._kit.grants.add(grant)  # pyright: ignore[reportPrivateUsage] - no face makes such


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


async def found(crib: Crib) -> list[tuple[str, str]]:
    """Return what is found in the grants: pattern and kind."""
    return [(each.grant.pattern, each.kind) for each in await crib.lint_grants()]


@pytest.mark.promise("P-approval-grants-lint")
async def test_grants_that_are_over_without_their_tool_outweighed_or_broad_are_found(
    workspace: Workspace, state: Path
) -> None:
    ran: list[str] = []
    deploy = probe("deploy", marking(ran))
    async with open_crib(workspace.ws, mode="ask", tools=[deploy], approver=person("always")) as crib:
        await ok(crib, "deploy", word="a")
        await ok(crib, "write_file", path="docs/a.md", **ARGS)
        await ok(crib, "write_file", path="src/a.py", **ARGS)
        assert await found(crib) == [("", "broad")]
        written = (await crib.grants())[1]
        further: tuple[tuple[str, dict[str, Any]], ...] = (
            ("src/*.py", {"expires": time.time() - 1}),
            ("src/b.py", {"uses": 0}),
            ("**/*.py", {}),
            ("docs/*.md", {"uses": 3}),
            ("lib/**", {}),
            ("lib/[ab]", {"uses": 3}),
            ("c", {"tool_digest": "0" * 64}),
            ("d", {"tool": "gone"}),
        )
        for number, (pattern, changed) in enumerate(further):
            await _add(crib, replace(written, id=f"{number}" * 26, pattern=pattern, **changed))
    rules = '[[policy.rules]]\nrule = "deny"\npath = "docs/**"\n[[policy.rules]]\nrule = "ask"\npath = "src/a.py"\n'
    configure(state, rules)
    changed = probe("deploy", marking(ran), description="Now deploys twice.")
    async with open_crib(workspace.ws, mode="ask", tools=[changed]) as crib:
        assert await found(crib) == [
            ("", "changed"),
            ("", "broad"),
            ("docs/a.md", "denied"),
            ("src/a.py", "asked"),
            ("src/*.py", "ended"),
            ("src/b.py", "ended"),
            ("**/*.py", "broad"),
            ("docs/*.md", "denied"),
            ("lib/**", "broad"),
            ("c", "changed"),
            ("d", "gone"),
        ]
    shown = toolcrib("grants", "lint", at=workspace.ws, code=1)
    assert "user rule 1" in shown.out
    assert "no tool is called gone here" in shown.out
    listed = toolcrib("grants", "lint", "--json", at=workspace.ws, code=1).json
    assert [each["kind"] for each in listed][:2] == ["gone", "broad"], "the command line knows no program's own tool"
    toolcrib("grants", "revoke", "--all", "--yes", at=workspace.ws)
    assert toolcrib("grants", "lint", at=workspace.ws).err == "nothing to find fault with\n"


@pytest.mark.promise("P-approval-grants-replay")
async def test_a_grant_is_held_against_the_calls_that_asked(workspace: Workspace, state: Path) -> None:
    async with opened(workspace.ws, mode="ask") as crib:
        given: tuple[tuple[Decision, str], ...] = (
            ("once", "docs/a.md"),
            ("deny", "docs/b.md"),
            ("once", "src/a.py"),
            ("once", "docs/x"),
        )
        for decision, path in given:
            await crib.call("write_file", path=path, given=decision, **ARGS)
        await refused(crib, "write_file", "approval.unattended", path="docs/c.md", **ARGS)
        await refused(crib, "write_file", "approval.unattended", path="docs/.mcp.json", **ARGS)
        await ok(crib, "read_file", path="docs/a.md")
        await crib.submit(crib.make("write_file", {"path": "docs/d.md", **ARGS}), asker=person("always"))
        await ok(crib, "write_file", path="docs/d.md", **ARGS)
        replayed = await crib.replay(tool="write_file", pattern="docs/*.md")
        assert [(each.footprint.subject, each.became) for each in replayed.calls] == [
            ("docs/a.md", "approved"),
            ("docs/b.md", "denied"),
            ("docs/c.md", "not answered"),
            ("docs/d.md", "approved"),
        ]
        assert replayed.asked == 6
        (grant,) = await crib.grants()
        for call in (grant.id, grant.id[-6:]):
            held = await crib.replay(call)
            assert [(each.footprint.subject, each.became) for each in held.calls] == [
                ("docs/d.md", "approved"),
                ("docs/d.md", "granted"),
            ]
        assert (await crib.replay(tool="edit_file", pattern="**")).calls == ()
        for wrong, name in (
            ({"grant": "nothing"}, "approval.stale"),
            ({"tool": "write_fil"}, "tool.unknown"),
            ({"tool": "write_file", "pattern": "[a"}, "args.invalid"),
        ):
            with pytest.raises(Refusal) as caught:
                await crib.replay(**wrong)
            assert caught.value.name == name
    shown = toolcrib("grants", "replay", "--tool", "write_file", "--pattern", "docs/*.md", at=workspace.ws)
    assert len(shown.out.splitlines()) == 4
    assert shown.err.endswith("4 of 6 calls that asked would not have; a person said no to 1\n")
    assert len(toolcrib("grants", "replay", grant.id[-8:], "--json", at=workspace.ws).json["calls"]) == 2
    for words in ((), (grant.id, "--tool", "write_file"), (grant.id, "--pattern", "a")):
        toolcrib("grants", "replay", *words, at=workspace.ws, code=2)
    configure(
        state, '[[policy.rules]]\nrule = "deny"\npath = "docs/a.md"\n[[policy.rules]]\nrule = "ask"\npath = "docs/b*"\n'
    )
    async with opened(workspace.ws, mode="ask") as crib:
        left = (await crib.replay(tool="write_file", pattern="docs/*.md")).calls
        assert [each.footprint.subject for each in left] == ["docs/c.md", "docs/d.md"]


@pytest.mark.promise("P-approval-grants-replay")
async def test_a_replay_tells_the_tool_as_it_was_granted_from_another_of_its_name(workspace: Workspace) -> None:
    for description in ("Deploys.", "Deploys twice."):
        tools = [probe("deploy", description=description)]
        async with open_crib(workspace.ws, mode="ask", tools=tools, approver=person("once")) as crib:
            await ok(crib, "deploy", word=description)
    async with open_crib(workspace.ws, mode="ask", tools=[probe("deploy", description="Deploys.")]) as crib:
        (call,) = (await crib.replay(tool="deploy")).calls
        (first, *_) = [each for each in await crib.tape(call_id=call.call_id) if each.stage == "received"]
        assert first.data["args"] == {"word": "Deploys."}
