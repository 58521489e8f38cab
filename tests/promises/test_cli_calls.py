"""The command line: values, outcomes, exit codes, and what stands on the tape afterwards."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from commandline import COMMAND, fresh, tape, toolcrib
from conftest import Workspace

LATER = (
    ("--scratch", "x"),
    ("--delegation",),
    ("--worktrees", "x"),
    ("--require-rails",),
    ("--floor", "S2"),
)


def rules(state: Path, text: str) -> None:
    """Write the person's own configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


@pytest.mark.promise("P-cli-help")
@pytest.mark.parametrize("words", [("--help",), ("version",)], ids=" ".join)
def test_help_and_version_are_told_by_a_new_interpreter(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert "toolcrib" in fresh(*words, at=tmp_path).out


@pytest.mark.promise("P-cli-help")
@pytest.mark.parametrize("words", [(), ("call",), ("grants",), ("grants", "lint")], ids=" ".join)
def test_the_word_help_is_the_flag(tmp_path: Path, words: tuple[str, ...]) -> None:
    wanted = toolcrib(*words, "--help", at=tmp_path).out
    assert toolcrib("help", *words, at=tmp_path).out == wanted
    if words[:1] == ("grants",):
        assert toolcrib("grants", "help", *words[1:], at=tmp_path).out == wanted


@pytest.mark.promise("P-cli-exit")
def test_a_call_prints_what_a_model_reads_and_exits_0(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\ntwo\n")
    done = fresh("call", "read_file", "path=a.txt", "limit=1", at=workspace.ws)
    assert done.out.splitlines()[1:2] == ["1\tone"]
    assert "continue with offset=2" in done.out
    closed = tape(workspace.ws)[-1]
    assert closed["data"]["text"] + "\n" == done.out


@pytest.mark.promise("P-cli-json")
def test_json_is_one_object_of_the_documented_shape_for_ok_and_refused(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    good = toolcrib("call", "read_file", "path=a.txt", "--json", at=workspace.ws)
    assert list(good.json) == ["kind", "tool", "call_id", "payload", "bounds", "evidence"]
    assert (good.json["kind"], good.json["tool"], good.json["payload"]["lines"]) == ("ok", "read_file", ["one"])
    bad = toolcrib("--json", "call", "read_file", "path=b.txt", at=workspace.ws, code=1)
    shape = {"kind", "tool", "call_id", "payload", "bounds", "evidence", "name", "message", "hint", "happened"}
    assert set(bad.json) == shape
    assert (bad.json["kind"], bad.json["name"], bad.json["happened"]) == ("refused", "file.missing", "no")
    assert bad.err == ""
    assert good.out.count("\n") == bad.out.count("\n") == 1


@pytest.mark.promise("P-cli-values")
def test_values_arrive_as_the_schema_has_them(workspace: Workspace) -> None:
    toolcrib("call", "write_file", "path=n=1.txt", "content=12=34", "--yes", at=workspace.ws)
    assert workspace.read("n=1.txt") == b"12=34"
    whole = json.dumps({"path": "n=1.txt", "content": "true", "overwrite_existing": True})
    toolcrib("call", "write_file", whole, "--yes", at=workspace.ws)
    assert workspace.read("n=1.txt") == b"true"
    wrong = toolcrib("call", "read_file", "path=n=1.txt", "limit=ten", at=workspace.ws, code=1)
    assert wrong.err.startswith("refused args.invalid: limit")
    assert "next: " in wrong.err


@pytest.mark.promise("P-cli-exit")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "No such command 'nothing'; a tool is called by: toolcrib call TOOL"),
        (("cal", "grep"), "No such command 'cal'; did you mean call?"),
        (("grants", "lnt"), "No such command 'lnt'; did you mean lint?"),
        (("policy", "zzz"), "No such command 'zzz'\n"),
        (("help", "zzz"), "No such command 'zzz'"),
        (("call",), "Missing argument 'TOOL'"),
        (("call", "read_file", "a.txt"), "expected key=value or one JSON object, found 'a.txt'; for example path=..."),
        (("call", "read_file", '{"path": }'), "line 1, column 10"),
        (("call", "read_file", "path=a", "--yes", "--deny"), "cannot both"),
        (("--deny", "tape"), "--deny"),
        (("--mode", "wild", "tools"), "wild"),
        (("--yes",), "no command"),
        (("tape", "--since", "x"), "x"),
        (("tools", "--without", "grepp"), "did you mean grep?"),
        (("tools", "--dialect", "latin"), "latin"),
        (("approve", "x", "--watch"), "--watch"),
    ],
    ids=str,
)
def test_wrong_usage_exits_2_with_what_to_do(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = toolcrib(*words, at=tmp_path, code=2)
    assert said in done.err
    assert done.err.startswith("toolcrib: ")
    assert "  next: toolcrib" in done.err
    assert done.out == ""


@pytest.mark.promise("P-cli-unknown")
@pytest.mark.parametrize("option", LATER, ids=" ".join)
def test_options_of_features_that_do_not_exist_are_unknown(tmp_path: Path, option: tuple[str, ...]) -> None:
    for words in ((*option, "version"), ("version", *option)):
        assert f"No such option '{option[0]}'" in toolcrib(*words, at=tmp_path, code=2).err


@pytest.mark.promise("P-cli-exit")
@pytest.mark.promise("P-policy-config")
def test_a_configuration_that_does_not_parse_exits_78_with_its_place(workspace: Workspace, state: Path) -> None:
    rules(state, "[policy]\nmode = 'ask'\n[oops\n")
    done = toolcrib("call", "list_dir", at=workspace.ws, code=78)
    assert re.match(r"toolcrib: \S*config\.toml:3:\d+: ", done.err)
    assert "  next: " in done.err
    told = toolcrib("tools", "--json", at=workspace.ws, code=78).json
    assert (told["kind"], told["name"]) == ("error", "ConfigError")
    assert "config.toml:3" in told["message"]


@pytest.mark.promise("P-cli-exit")
def test_a_workspace_that_cannot_be_one_exits_78(workspace: Workspace) -> None:
    file = workspace.write("a.txt", "x")
    for directory in ("nowhere", str(file), "/", os.environ["HOME"]):
        done = toolcrib("-C", directory, "tools", at=workspace.ws, code=78)
        assert done.err.startswith("toolcrib: the workspace ")
        assert "-C DIR" in done.err


@pytest.mark.promise("P-cli-yes")
@pytest.mark.promise("P-approval-unattended")
def test_yes_answers_this_calls_question_once_and_the_tape_says_by_flag(workspace: Workspace) -> None:
    done = toolcrib("call", "write_file", "path=a.txt", "content=x", "--yes", at=workspace.ws)
    assert re.search(r"^call [0-9a-z]{26}$", done.out, re.MULTILINE)
    answered = [each["data"] for each in tape(workspace.ws) if each["stage"] == "answered"]
    assert answered == [{"decision": "once", "by": "flag"}]
    again = toolcrib("call", "write_file", "path=b.txt", "content=x", at=workspace.ws, code=1)
    assert again.err.startswith("refused approval.unattended: ")
    (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
    assert waiting["id"] in again.err
    assert not (workspace.ws / "b.txt").exists()


@pytest.mark.promise("P-cli-yes")
def test_yes_is_never_over_a_deny_rule_and_deny_denies(workspace: Workspace, state: Path) -> None:
    rules(state, '[[policy.rules]]\nrule = "deny"\ntool = "write_file"\npath = "secret/**"\n')
    over = toolcrib("call", "write_file", "path=secret/a", "content=x", "--yes", at=workspace.ws, code=1)
    assert over.err.startswith("refused policy.denied: ")
    denied = toolcrib("--deny", "call", "write_file", "path=a.txt", "content=x", at=workspace.ws, code=1)
    assert denied.err.startswith("refused approval.denied: ")
    assert os.listdir(workspace.ws) == []


def test_a_change_is_shown_as_a_diff_with_the_calls_id(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\ntwo\n")
    digest = toolcrib("call", "read_file", "path=a.txt", "--json", at=workspace.ws).json["evidence"]["digest"]
    edits = json.dumps([{"old": "two", "new": "three"}])
    done = toolcrib("call", "edit_file", "path=a.txt", f"digest={digest}", f"edits={edits}", "--yes", at=workspace.ws)
    assert done.out.count("-two\n+three\n") == 1
    assert re.search(r"\ncall [0-9a-z]{26}\n\Z", done.out)


def test_names_that_are_not_utf8_are_taken_and_break_no_output(workspace: Workspace) -> None:
    (workspace.ws / os.fsdecode(b"na\xffme.txt")).write_bytes(b"x\n")
    assert "na\\xffme.txt" in toolcrib("call", "glob", "pattern=*.txt", at=workspace.ws).out
    assert "1\tx" in toolcrib("call", "read_file", b"path=na\xffme.txt", at=workspace.ws).out
    found = toolcrib("call", "grep", "pattern=x", b"path=na\xffme.txt", at=workspace.ws)
    assert "na\\xffme.txt:1:1: x" in found.out
    toolcrib("call", "move_file", b"old_path=na\xffme.txt", b"new_path=na\xfdme.txt", "--yes", at=workspace.ws)
    assert (workspace.ws / os.fsdecode(b"na\xfdme.txt")).read_bytes() == b"x\n"
    told = toolcrib("call", "read_file", b"path=na\xfeme.txt", "--json", at=workspace.ws, code=1)
    assert told.raw.isascii()
    assert told.json["kind"] == "refused"
    rows = toolcrib("tape", at=workspace.ws)
    assert rows.out.count("\n") == len(tape(workspace.ws))


def test_a_reader_that_goes_away_is_no_error(workspace: Workspace) -> None:
    workspace.write("a.txt", "line\n" * 1500)
    command = [*COMMAND, "call", "read_file", "path=a.txt"]
    with subprocess.Popen(command, cwd=workspace.ws, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b""
        assert run.wait() == 0


def test_a_disk_that_is_full_behind_the_output_is_said(workspace: Workspace) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [*COMMAND, "version"], cwd=workspace.ws, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 1
    assert ran.stderr == "toolcrib: the output could not be written (No space left on device)\n"


@pytest.mark.promise("P-cli-tools-json")
@pytest.mark.promise("P-catalog-why")
def test_tools_json_is_an_array_with_everything_a_program_needs(workspace: Workspace) -> None:
    shown = toolcrib("tools", "--json", at=workspace.ws).json
    assert {tuple(each) for each in shown} == {("name", "canonical", "surface", "state", "why", "digest")}
    assert {each["surface"] for each in shown} <= {"json", "symbol"}
    assert {each["state"] for each in shown} == {"visible"}
    assert all(re.fullmatch(r"[0-9a-f]{64}", each["digest"]) for each in shown)
    everything = toolcrib("tools", "--all", "--json", "--without", "grep", at=workspace.ws).json
    states = {each["name"]: (each["state"], each["why"]) for each in everything}
    assert states["rewind"][0] == "person only"
    assert states["grep"][0] != "visible"
    assert states["grep"][1]
    staage = {
        each["name"]: each["canonical"]
        for each in toolcrib("tools", "--json", "--dialect", "staage", at=workspace.ws).json
    }
    assert staage["file_search"] == "grep"


@pytest.mark.promise("P-cli-plain")
def test_without_a_terminal_a_table_is_one_unwrapped_line_a_row(workspace: Workspace) -> None:
    workspace.write("a.txt", "x")
    narrow = {"COLUMNS": "20"}
    names = [each["name"] for each in toolcrib("tools", "--json", at=workspace.ws).json]
    shown = toolcrib("tools", at=workspace.ws, env=narrow)
    assert [line.split()[0] for line in shown.out.splitlines()] == names
    assert max(len(line) for line in shown.out.splitlines()) > 60
    assert "\x1b" not in shown.out
    toolcrib("call", "grep", "pattern=two\nlines", "multiline=true", at=workspace.ws)
    entries = tape(workspace.ws)
    rows = toolcrib("tape", at=workspace.ws, env=narrow).out.splitlines()
    assert [int(row.split()[0]) for row in rows] == [entry["seq"] for entry in entries]


@pytest.mark.promise("P-catalog-disabled")
def test_disabling_holds_until_enabled_and_unknown_names_are_refused(workspace: Workspace) -> None:
    assert toolcrib("tools", "disable", "grep", at=workspace.ws).out == "grep is disabled\n"
    refused = toolcrib("call", "grep", "pattern=x", at=workspace.ws, code=1)
    assert refused.err.startswith("refused tool.disabled: ")
    assert toolcrib("tools", "enable", "grep", "--json", at=workspace.ws).json["changed"] is True
    near = toolcrib("tools", "disable", "grepp", at=workspace.ws, code=1)
    assert "did you mean grep" in near.err


@pytest.mark.promise("P-tape-follow")
def test_since_and_json_show_the_same_entries(workspace: Workspace) -> None:
    toolcrib("call", "list_dir", at=workspace.ws)
    entries = tape(workspace.ws)
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    assert list(entries[0]) == ["seq", "at", "stage", "call_id", "data", "previous", "hash"]
    later = toolcrib("tape", "--since", "2", at=workspace.ws).out.splitlines()
    assert [row.split()[0] for row in later] == [str(entry["seq"]) for entry in entries[2:]]
    assert [row.split()[3:5] for row in later] == [[entry["call_id"][-8:], entry["stage"]] for entry in entries[2:]]


def test_the_tapes_verdict_is_shown_with_its_head(workspace: Workspace) -> None:
    toolcrib("call", "list_dir", at=workspace.ws)
    head = tape(workspace.ws)[-1]["hash"]
    assert toolcrib("tape", "--verify", at=workspace.ws).out == f"ok  4 entries, head {head}\n"
    told = toolcrib("tape", "--verify", "--json", at=workspace.ws).json
    assert told == {"ok": True, "entries": 4, "head": head, "broken": None, "why": ""}
