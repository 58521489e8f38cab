"""The command line about a place: what it offers, its health, its rules, its trust, and taking calls back."""

import os
import sqlite3
from pathlib import Path

import pytest

from commandline import tape, toolcrib
from conftest import Workspace
from toolcrib.faces.cli.tape import summary
from toolcrib.terms.records import Taped

PROJECT = """[policy]
mode = "work"

[[policy.rules]]
rule = "allow"
tool = "write_file"
path = "docs/**"
match = ["docs/a.md"]

[[policy.rules]]
rule = "deny"
tool = "read_file"
path = "secret/**"
"""


def test_alone_it_says_what_the_directory_offers_and_how_to_connect_each_client(workspace: Workspace) -> None:
    toolcrib("call", "write_file", "path=a", "content=x", at=workspace.ws, code=1)
    shown = toolcrib(at=workspace.ws).out
    assert str(workspace.ws) in shown
    assert "ask (reads run, changes ask)" in shown
    assert "11 offered" in shown
    assert "1 waiting: toolcrib approve" in shown
    for title in ("Claude Code", "Cursor", "VS Code", "Zed"):
        assert title in shown
    assert "claude mcp add toolcrib -- " in shown
    assert f"mcp -C {workspace.ws}\n" in shown
    told = toolcrib("--json", "--mode", "read-only", at=workspace.ws).json
    assert told["mode"] == "read-only"
    assert told["tools"]["offered"] < told["tools"]["known"]
    assert told["pending_approvals"] == 1


@pytest.mark.promise("P-cli-doctor")
def test_doctor_says_what_was_found_and_what_to_do(workspace: Workspace, state: Path) -> None:
    toolcrib("call", "list_dir", at=workspace.ws)
    shown = toolcrib("doctor", at=workspace.ws)
    names = [line.split("  ")[0] for line in shown.out.splitlines()]
    for name in ("python", "kernel", "ripgrep", "mcp sdk", "state", "workspace", "project config", "store", "tape"):
        assert name in names
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    mine = state / "config" / "toolcrib" / "config.toml"
    for rules, said in ((1, "1 rule\n"), (2, "2 rules\n")):
        mine.write_text('[[policy.rules]]\nrule = "ask"\npath = "a"\n' * rules, encoding="utf-8")
        assert f"{mine}: {said}" in toolcrib("doctor", at=workspace.ws).out
    (state / "state" / "toolcrib").chmod(0o755)
    workspace.write(".toolcrib/config.toml", "[oops")
    bad = toolcrib("doctor", "--json", at=workspace.ws, code=1).json
    assert bad["ok"] is False
    failed = {each["name"]: each for each in bad["checks"] if each["state"] == "fail"}
    assert set(failed) == {"state", "project config"}
    assert failed["state"]["next"].startswith("chmod 0700 ")
    assert "config.toml:1:" in failed["project config"]["found"]
    mine.write_text("[oops", encoding="utf-8")
    bad = toolcrib("doctor", "--json", at=workspace.ws, code=1).json
    stands = {each["name"]: each["state"] for each in bad["checks"]}
    assert (stands["your config"], stands["project config"]) == ("fail", "note")
    missing = toolcrib("-C", "nowhere", "doctor", at=workspace.ws, code=1)
    assert "does not exist" in missing.out


@pytest.mark.promise("P-tape-gapless")
def test_an_altered_tape_is_found_by_verify_and_doctor(workspace: Workspace, state: Path) -> None:
    toolcrib("call", "list_dir", at=workspace.ws)
    (database,) = (state / "state" / "toolcrib" / "workspaces").glob("*/store.db")
    with sqlite3.connect(database) as link:
        (guard,) = link.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_are_not_changed'").fetchone()
        link.execute("DROP TRIGGER entries_are_not_changed")
        link.execute("UPDATE entries SET data = replace(data, 'allow', 'deny') WHERE seq = 2")
        link.execute(guard)
    link.close()
    shown = toolcrib("tape", "--verify", at=workspace.ws, code=1)
    assert shown.out.startswith("broken at entry 2: ")
    assert toolcrib("tape", "--verify", "--json", at=workspace.ws, code=1).json["broken"] == 2
    checked = toolcrib("doctor", at=workspace.ws, code=1)
    assert "fail tape: " in checked.out


@pytest.mark.promise("P-policy-explain")
def test_explain_names_the_rule_and_the_reason_and_calls_nothing(workspace: Workspace) -> None:
    workspace.write(".toolcrib/config.toml", PROJECT)
    workspace.write("secret/a", "x")
    told = toolcrib("policy", "explain", "read_file", "path=secret/../secret/a", "--json", at=workspace.ws).json
    assert (told["tool"], told["ruling"]) == ("read_file", "deny")
    assert ".toolcrib/config.toml" in told["rule"]
    assert any(each["decides"] for each in told["considered"])
    shown = toolcrib("policy", "explain", "write_file", "path=docs/a", "content=x", at=workspace.ws).out
    assert shown.startswith("write_file: ask, by mode ask\n")
    every = toolcrib("policy", "explain", at=workspace.ws).out.splitlines()
    assert {line.split()[0] for line in every} >= {"read_file", "write_file", "rewind"}
    assert tape(workspace.ws) == []


@pytest.mark.promise("P-policy-explain")
def test_check_runs_examples_and_lists_what_was_asked_in_vain(workspace: Workspace) -> None:
    workspace.write(".toolcrib/config.toml", PROJECT)
    told = toolcrib("policy", "check", "--json", at=workspace.ws).json
    assert told["mode"] == "ask"
    assert [rule["effect"] for rule in told["rules"]] == ["deny"]
    assert len(told["asked_in_vain"]) == 2
    workspace.write("mine.toml", PROJECT.replace('match = ["docs/a.md"]', 'match = ["src/a.md"]'))
    bad = toolcrib("policy", "check", "mine.toml", at=workspace.ws, code=78)
    assert "mine.toml:" in bad.err
    workspace.write("mine.toml", PROJECT.replace('tool = "write_file"', 'tool = "writefile"'))
    assert "names no tool there is: writefile" in toolcrib("policy", "check", "mine.toml", at=workspace.ws).out
    workspace.write(
        "mine.toml", '[[policy.rules]]\nrule = "deny"\nargv = "rm"\n[[policy.rules]]\nrule = "ask"\nhost = "x.org"\n'
    )
    shown = toolcrib("policy", "check", "mine.toml", at=workspace.ws).out
    for rule, what in ((1, "a command"), (2, "a host")):
        assert f"user rule {rule} (mine.toml:{1 + 3 * (rule - 1)}) is without effect: no tool here has {what}" in shown


@pytest.mark.promise("P-cli-trust")
@pytest.mark.promise("P-policy-project")
def test_trust_shows_the_file_and_what_it_would_change_and_ends_with_a_change(workspace: Workspace) -> None:
    file = workspace.write(".toolcrib/config.toml", PROJECT)
    asked = toolcrib("trust", at=workspace.ws, code=1)
    for line in ('mode = "work"', "allow tool=write_file path=docs/**", "mode: 'ask' becomes 'work'"):
        assert line in asked.out
    assert asked.err.startswith("refused approval.unattended: ")
    toolcrib("trust", "--yes", at=workspace.ws)
    assert toolcrib("--json", at=workspace.ws).json["project_config"] == "trusted"
    file.write_text(PROJECT + "# changed\n", encoding="utf-8")
    assert toolcrib("--json", at=workspace.ws).json["project_config"] == "not trusted"


def test_trust_can_be_taken_back_and_nothing_to_trust_is_said(workspace: Workspace) -> None:
    assert "nothing to trust" in toolcrib("trust", "--yes", at=workspace.ws, code=1).err
    workspace.write(".toolcrib/config.toml", PROJECT)
    assert toolcrib("trust", "--yes", "--json", at=workspace.ws).json["state"] == "trusted"
    toolcrib("trust", "--revoke", at=workspace.ws)
    assert toolcrib("--json", at=workspace.ws).json["project_config"] == "not trusted"


@pytest.mark.promise("P-rewind-last")
def test_rewind_takes_back_the_last_change_or_the_one_named_and_undo_is_the_same(workspace: Workspace) -> None:
    first = toolcrib("call", "write_file", "path=a", "content=1", "--yes", "--json", at=workspace.ws).json["call_id"]
    toolcrib("call", "write_file", "path=b", "content=2", "--yes", at=workspace.ws)
    dry = toolcrib("rewind", "--dry-run", "--json", at=workspace.ws).json
    assert (dry["kind"], dry["paths"]) == ("plan", ["b"])
    unasked = toolcrib("undo", at=workspace.ws, code=1)
    assert "say --yes" in unasked.err
    assert sorted(os.listdir(workspace.ws)) == ["a", "b"]
    toolcrib("undo", "--yes", at=workspace.ws)
    assert os.listdir(workspace.ws) == ["a"]
    toolcrib("rewind", first[-8:], "--yes", at=workspace.ws)
    assert os.listdir(workspace.ws) == []


def test_a_call_that_is_not_there_or_not_unique_is_refused(workspace: Workspace) -> None:
    for name in ("a", "b"):
        toolcrib("call", "write_file", f"path={name}", "content=1", "--yes", at=workspace.ws)
    none = toolcrib("rewind", "zzzz", "--yes", "--json", at=workspace.ws, code=1).json
    assert (none["kind"], none["name"]) == ("refused", "snapshot.missing")
    both = toolcrib("rewind", "0", "--yes", at=workspace.ws, code=1)
    assert "part of 2 call ids" in both.err


def test_approvals_are_listed_for_a_program_and_never_answered_by_one(workspace: Workspace) -> None:
    toolcrib("call", "write_file", "path=a\n\x1b[31m", "content=x", at=workspace.ws, code=1)
    (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
    assert (waiting["tool"], waiting["state"]) == ("write_file", "pending")
    row = toolcrib("approve", at=workspace.ws)
    assert row.out.count("\n") == 1
    assert "\x1b" not in row.out
    for words in (("approve", waiting["id"]), ("approve", "--watch")):
        refused = toolcrib(*words, at=workspace.ws, code=1)
        assert refused.err.startswith("refused approval.unattended: approving needs a person at a terminal")
    assert not [entry for entry in tape(workspace.ws) if entry["stage"] == "answered"]


def test_the_first_screen_says_what_of_an_untrusted_project_is_not_in_force(workspace: Workspace) -> None:
    workspace.write(".toolcrib/config.toml", '[policy]\nmode = "work"\n')
    told = " ".join(toolcrib(at=workspace.ws).out.split())
    assert "project not trusted; not in force: mode = 'work'. Look at it, then: toolcrib trust" in told


def test_a_fresh_place_says_that_nothing_has_happened_and_nothing_can_be_taken_back(workspace: Workspace) -> None:
    empty = toolcrib("tape", at=workspace.ws)
    assert (empty.out, empty.err) == ("", "nothing has happened here yet\n")
    assert toolcrib("tape", "--json", at=workspace.ws).err == ""
    nothing = toolcrib("undo", "--dry-run", at=workspace.ws, code=1)
    assert nothing.err.startswith("refused snapshot.missing: nothing to take back")
    assert "next:" not in nothing.err


def test_a_call_that_is_taken_back_is_one_line_however_long_its_arguments(workspace: Workspace) -> None:
    toolcrib("call", "write_file", "path=a.txt", "content=one\ntwo\n", "--yes", at=workspace.ws)
    lines = toolcrib("undo", "--dry-run", at=workspace.ws).out.splitlines()
    assert "content=one\\ntwo\\n" in lines[1]
    assert lines[2] == ""


def test_the_tape_tells_a_grant_and_a_used_answer_in_words() -> None:
    grant = {"grant": "g1", "change": "added", "tool": "write_file", "pattern": "c.txt", "by": "terminal:root"}
    told = summary(Taped(seq=1, at=0.0, stage="config", call_id="", data=grant, previous="", hash=""))
    assert told == "grant added: write_file on c.txt, by terminal:root"
    used = {"approval": "0123456789abcdef", "consumed": True}
    told = summary(Taped(seq=2, at=0.0, stage="answered", call_id="c", data=used, previous="", hash=""))
    assert told == "answer used approval 89abcdef"


def test_policy_alone_is_its_help_and_a_tool_switched_off_still_says_what_it_does(workspace: Workspace) -> None:
    assert toolcrib("policy", at=workspace.ws).out.startswith("Usage: toolcrib policy")
    toolcrib("tools", "disable", "grep", at=workspace.ws)
    (row,) = [line for line in toolcrib("tools", "--all", at=workspace.ws).out.splitlines() if line.startswith("grep")]
    assert "disabled" in row
    assert len(row.split("disabled")[1].split()) > 2
