"""A person at a terminal: questions with the diff in view, codes, Ctrl-C, and nothing hidden in any view."""

import json
import os
import re
import signal
from collections.abc import Sequence

import pytest

from commandline import STEER, start, tape, terminal, toolcrib
from conftest import Workspace

EVIL = "\x1b]52;c;aGFjaw==\x07\x1b]8;;http://x\x1b\\\x9b2Jtop\u202eKO\u2066\U000e0041\u200bend"
"""Writes the clipboard, makes a link, clears the screen, turns the reading round, and hides letters."""

NEUTRAL = "\\x1b]52;c;aGFjaw==\\x07\\x1b]8;;http://x\\x1b\\\\x9b2Jtop<U+202E>KO<U+2066><U+E0041><U+200B>end"


def write(*more: str) -> tuple[str, ...]:
    """Return the words of a call that needs a yes."""
    return ("call", "write_file", "path=a.txt", "content=hello\n", *more)


def stages(workspace: Workspace) -> list[str]:
    """Return the stages of the tape in order."""
    return [entry["stage"] for entry in tape(workspace.ws)]


@pytest.mark.promise("P-approval-terminal")
def test_a_call_asks_with_the_diff_and_yes_is_once(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        view = shown.expect("Allow? y = once, a = always, n = no")
        assert "+hello" in view
        assert "write_file" in view
        assert b"\x1b[32m+hello" in shown.raw
        shown.type("perhaps")
        shown.expect("answer y, a or n\nAllow? y = once")
        shown.type("y")
        assert shown.ended() == 0
    assert workspace.read("a.txt") == b"hello\n"
    answered = [entry["data"] for entry in tape(workspace.ws) if entry["stage"] == "answered"]
    assert answered[0]["decision"] == "once"
    assert answered[0]["by"].startswith("terminal:")


@pytest.mark.promise("P-approval-denied")
def test_no_carries_the_persons_words(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        shown.expect("Allow?")
        shown.type("n")
        shown.expect("What should the caller be told?")
        shown.type("use the other file")
        shown.expect("use the other file")
        assert shown.ended() == 1
        assert "refused approval.denied" in shown.text
    assert not (workspace.ws / "a.txt").exists()
    assert "use the other file" in tape(workspace.ws)[-1]["data"]["outcome"]["message"]


@pytest.mark.promise("P-approval-always")
def test_always_says_what_it_covers_and_then_runs(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        view = shown.expect("Allow? y = once, a = always, n = no")
        assert "every later write_file on exactly a.txt, whoever calls it and whatever else it says" in view
        assert f"{workspace.ws} and nowhere else" in view
        assert re.search(r"what it is now \(digest [0-9a-f]{12}\)", view)
        assert "until         somebody takes it back: toolcrib grants revoke" in view
        shown.type("a")
        shown.expect("Allow all that always would cover? [y/N]")
        shown.type("y")
        assert shown.ended() == 0
    again = toolcrib(*write(), "overwrite_existing=true", at=workspace.ws)
    assert "a.txt" in again.out
    other = toolcrib("call", "write_file", "path=b.txt", "content=x", at=workspace.ws, code=1)
    assert other.err.startswith("refused approval.unattended")


@pytest.mark.promise("P-approval-waiting")
def test_leaving_the_question_leaves_it_waiting(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        shown.expect("Allow?")
        shown.press(b"\x04")
        assert shown.ended() == 1
        assert "refused approval.unattended" in shown.text
    assert len(toolcrib("approve", "--json", at=workspace.ws).json) == 1


def test_what_was_typed_before_the_question_does_not_answer_it(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        shown.type("y")
        shown.expect("y")
        shown.expect("Allow?")
        shown.type("n")
        shown.expect("What should")
        shown.type("")
        assert shown.ended() == 1
    assert not (workspace.ws / "a.txt").exists()


def test_json_at_a_terminal_is_still_one_object_after_the_question(workspace: Workspace) -> None:
    with terminal(*write("--json"), at=workspace.ws) as shown:
        shown.expect("Allow?")
        shown.type("y")
        shown.expect("\n{")
        assert shown.ended() == 0
        assert json.loads(shown.text[shown.text.rindex("\n{") :])["kind"] == "ok"


@pytest.mark.promise("P-cli-exit")
@pytest.mark.parametrize(
    ("end", "code"), [("key", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["ctrl-c", "term", "hangup"]
)
def test_an_interrupted_call_is_closed_as_cancelled(workspace: Workspace, end: str | signal.Signals, code: int) -> None:
    with terminal(*write(), at=workspace.ws) as shown:
        shown.expect("Allow?")
        if isinstance(end, signal.Signals):
            os.kill(shown.run.pid, end)
        else:
            shown.press(b"\x03")
        assert shown.ended() == code
        assert "Traceback" not in shown.text
    closed = tape(workspace.ws)[-1]
    assert (closed["stage"], closed["data"]["outcome"]["name"]) == ("closed", "call.cancelled")
    assert not (workspace.ws / "a.txt").exists()


@pytest.mark.promise("P-approval-terminal")
@pytest.mark.promise("P-approval-once")
def test_approve_takes_the_code_under_the_diff_and_the_repeat_uses_it_once(workspace: Workspace) -> None:
    waiting = toolcrib(*write(), at=workspace.ws, code=1)
    found = re.search(r"toolcrib approve (\w+)", waiting.err)
    assert found
    with terminal("approve", found[1], at=workspace.ws) as shown:
        shown.expect("+hello")
        shown.expect("type this code when asked: ")
        code = shown.expect("Allow?").split()[0]
        shown.type("y")
        shown.expect("Code:")
        shown.type("nope")
        shown.expect("that is not the code\nCode:")
        shown.type(code.lower())
        shown.expect("approved once")
        assert shown.ended() == 0
    toolcrib(*write(), at=workspace.ws)
    os.unlink(workspace.ws / "a.txt")
    third = toolcrib(*write(), at=workspace.ws, code=1)
    assert third.err.startswith("refused approval.unattended")


@pytest.mark.promise("P-approval-terminal")
def test_three_wrong_codes_approve_nothing(workspace: Workspace) -> None:
    toolcrib(*write(), at=workspace.ws, code=1)
    (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
    with terminal("approve", waiting["id"], at=workspace.ws) as shown:
        shown.expect("Allow?")
        shown.type("a")
        for _ in range(3):
            shown.expect("Code:")
            shown.type("----")
        shown.expect("not answered; it still waits")
        assert shown.ended() == 1
    assert [each["state"] for each in toolcrib("approve", "--json", at=workspace.ws).json] == ["pending"]


def test_watching_makes_a_call_wait_and_go_on(workspace: Workspace) -> None:
    with terminal("approve", "--watch", at=workspace.ws) as shown:
        shown.expect("watching")
        shown.expect("Ctrl-C ends it")
        caller = start(*write(), at=workspace.ws)
        shown.expect("type this code when asked: ")
        code = shown.expect("Allow?").split()[0]
        assert caller.run.is_running()
        shown.type("y")
        shown.expect("Code:")
        shown.type(code)
        shown.expect("approved once")
        caller.done()
        shown.press(b"\x03")
        assert shown.ended() == 130
        assert "interrupted" not in shown.text
    assert workspace.read("a.txt") == b"hello\n"
    after = toolcrib("call", "write_file", "path=b", "content=x", at=workspace.ws, code=1)
    assert after.err.startswith("refused approval.unattended"), "the lease ended with the watch"


@pytest.mark.promise("P-tape-follow")
def test_follow_shows_entries_as_they_come(workspace: Workspace) -> None:
    toolcrib("call", "list_dir", at=workspace.ws)
    with terminal("tape", "--follow", at=workspace.ws) as shown:
        shown.expect("closed")
        toolcrib("call", "glob", "pattern=*", at=workspace.ws)
        for entry in tape(workspace.ws)[4:]:
            shown.expect(f" {entry['seq']}  ")
            shown.expect(f"{entry['call_id'][-8:]}  {entry['stage']}")
        shown.press(b"\x03")
        assert shown.ended() == 130
        assert "interrupted" not in shown.text


def test_the_watch_asks_about_one_call_after_the_other_with_a_rule_between(workspace: Workspace) -> None:
    for name in ("first.txt", "second.txt"):
        toolcrib("call", "write_file", f"path={name}", "content=x", at=workspace.ws, code=1)
    with terminal("approve", "--watch", at=workspace.ws) as shown:
        assert "\u2500\u2500\u2500" not in shown.expect("Allow?")
        shown.type("perhaps")
        shown.expect("answer y, a or n\n")
        shown.expect("Allow?")
        shown.type("")
        shown.expect("left waiting\n\u2500\u2500\u2500")
        assert "second.txt" in shown.expect("Allow?")
        shown.press(b"\x03")
        assert shown.ended() == 130


def test_the_watch_asks_first_about_the_call_that_still_waits(workspace: Workspace) -> None:
    toolcrib("call", "write_file", "path=ended.txt", "content=x", at=workspace.ws, code=1)
    toolcrib("call", "write_file", "path=another.txt", "content=x", at=workspace.ws, code=1)
    with terminal("approve", "--watch", at=workspace.ws) as shown:
        assert "ended.txt" in shown.expect("Allow?")
        with terminal("call", "write_file", "path=live.txt", "content=x", at=workspace.ws) as caller:
            caller.expect("Allow?")
            shown.type("")
            shown.expect("left waiting")
            assert "live.txt" in shown.expect("Allow?")
            caller.press(b"\x04")
            assert caller.ended() == 1
        shown.press(b"\x03")
        assert shown.ended() == 130


def test_an_unknown_approval_is_told_with_the_workspace_that_was_looked_at(workspace: Workspace) -> None:
    with terminal("approve", "zzzz", at=workspace.ws, width=400) as shown:
        assert shown.ended() == 1
        assert f"nothing waits under 'zzzz' in {workspace.ws}" in shown.text
        assert "name it with -C DIR" in shown.text


def test_rewind_shows_the_diff_and_asks(workspace: Workspace) -> None:
    toolcrib(*write("--yes"), at=workspace.ws)
    with terminal("rewind", at=workspace.ws) as shown:
        assert "-hello" in shown.expect("Put this back? [y/N]")
        shown.type("n")
        assert shown.ended() == 1
    assert workspace.read("a.txt") == b"hello\n"
    with terminal("undo", at=workspace.ws) as shown:
        shown.expect("Put this back? [y/N]")
        shown.type("y")
        assert shown.ended() == 0
    assert not (workspace.ws / "a.txt").exists()


def test_a_question_that_is_answered_elsewhere_ends_here_and_says_by_whom(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as caller:
        caller.expect("Allow?")
        (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
        with terminal("approve", waiting["id"], at=workspace.ws) as other:
            code = other.expect("Allow?").partition("when asked: ")[2].split()[0]
            other.type("y")
            other.expect("Code:")
            other.type(code)
            assert other.ended() == 0
        caller.expect("answered elsewhere: yes, once, by terminal:")
        assert caller.ended() == 0
    assert workspace.read("a.txt") == b"hello\n"
    with terminal("approve", waiting["id"], at=workspace.ws) as late:
        late.expect("was settled already: yes, once, by terminal:")
        assert late.ended() == 1


@pytest.mark.case("B148")
def test_a_question_outlives_the_kill_of_the_program_that_asked_it(workspace: Workspace) -> None:
    with terminal(*write(), at=workspace.ws) as caller:
        caller.expect("Allow?")
        os.kill(caller.run.pid, signal.SIGKILL)
        assert caller.ended() == -signal.SIGKILL
    (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
    assert (waiting["state"], waiting["subject"]) == ("pending", "a.txt")
    assert not (workspace.ws / "a.txt").exists()
    with terminal("approve", waiting["id"], at=workspace.ws) as shown:
        code = shown.expect("Allow?").partition("when asked: ")[2].split()[0]
        shown.type("y")
        shown.expect("Code:")
        shown.type(code)
        assert shown.ended() == 0
    assert not (workspace.ws / "a.txt").exists(), "a yes runs nothing by itself"
    with terminal("approve", waiting["id"], at=workspace.ws) as again:
        again.expect("was settled already: yes, once, by terminal:")
        assert again.ended() == 1
    toolcrib(*write(), at=workspace.ws)
    assert workspace.read("a.txt") == b"hello\n"
    endings = [entry["data"]["outcome"] for entry in tape(workspace.ws) if entry["stage"] == "closed"]
    assert [each.get("name") for each in endings] == ["call.interrupted", None]


def test_always_is_not_offered_for_what_asks_every_time(workspace: Workspace) -> None:
    with terminal("call", "write_file", "path=.mcp.json", "content={}", at=workspace.ws) as shown:
        assert "There is no always: a call like this one asks every time." in shown.expect("Allow? y = once, n = no")
        shown.type("a")
        shown.expect("answer y or n\nAllow?")
        shown.press(b"\x04")
        assert shown.ended() == 1


@pytest.mark.attack("A105", "view")
def test_a_spoof_is_visible_in_the_view_with_the_length_and_digest_of_the_text(workspace: Workspace) -> None:
    disguises = {
        "\x1b[8mhidden\x1b[0m": "\\x1b[8mhidden\\x1b[0m",
        "right\u202etfel": "right<U+202E>tfel",
        "zero\u200bwidth": "zero<U+200B>width",
        " " * 10_000 + "far": "<10,000 blanks>far",
        "p\u0430ypal": "p<U+0430>ypal",
    }
    content = "".join(f"{text}\n" for text in disguises)
    # The control: shown as they are, all but the length of the run is lost on a person.
    assert not any(shown in content for shown in disguises.values())
    with terminal("call", "write_file", "path=a.txt", f"content={content}", at=workspace.ws, width=200) as shown:
        view = shown.expect("Allow?")
        neutral(shown.raw)
        shown.press(b"\x04")
        shown.ended()
    assert [line for line in disguises.values() if line not in view] == []
    assert re.search(r"\([\d,]+ lines, [\d,]+ characters, sha256 [0-9a-f]{12}\)\n", view)


@pytest.mark.case("B151", "files")
@pytest.mark.parametrize("name", ["report\u202etxt.exe", "a\u2066b\u2069.py", "\ufeffx"])
def test_direction_marks_in_names_are_escapes_in_every_consent_text_and_listing(
    workspace: Workspace, name: str
) -> None:
    shown_as = re.sub("[\u202e\u2066\u2069\ufeff]", lambda found: f"<U+{ord(found.group()):04X}>", name)
    words = ("call", "write_file", f"path={name}", "content=x")
    with terminal(*words, at=workspace.ws, width=200) as shown:
        assert shown_as in shown.expect("Allow?")
        shown.type("y")
        assert shown.ended() == 0
        neutral(shown.raw)
    for view in (("call", "list_dir"), ("call", "glob", "pattern=*"), ("tape",), ("rewind", "--dry-run")):
        with terminal(*view, at=workspace.ws, width=400) as shown:
            assert shown.ended() == 0
            neutral(shown.raw)
            assert shown_as in shown.text or "\\u" in shown.text


VIEWS: dict[str, tuple[str, ...]] = {
    "contents": ("call", "read_file", "path=evil.txt"),
    "names": ("call", "glob", "pattern=evil*"),
    "hits": ("call", "grep", "pattern=end"),
    "refusals": ("call", "read_file", f"path={EVIL}"),
    "usage": ("call", "read_file", EVIL.replace("=", "")),
    "approval": ("approve", "WAITING"),
    "approvals": ("approve",),
    "tape": ("tape",),
    "rewind": ("rewind", "--dry-run"),
    "explained": ("policy", "explain", "read_file", f"path=evil{EVIL.replace('/', '_')}"),
    "trust": ("trust",),
}


@pytest.mark.attack("A174", "files")
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_in_a_file_or_a_name_steers_the_terminal_or_hides(workspace: Workspace, view: str) -> None:
    workspace.write("evil.txt", EVIL + "\n")
    workspace.write("evil" + EVIL.replace("/", "_"), "x\n")
    workspace.write(".toolcrib/config.toml", f"# {EVIL.translate(str.maketrans('', '', CONTROLS))}\n")
    words: Sequence[str] = VIEWS[view]
    if view in {"approval", "approvals"}:
        toolcrib("call", "write_file", f"path={EVIL.replace('/', '_')}", f"content={EVIL}\n", at=workspace.ws, code=1)
        (waiting,) = toolcrib("approve", "--json", at=workspace.ws).json
        words = [waiting["id"] if word == "WAITING" else word for word in words]
    if view == "rewind":
        toolcrib("call", "write_file", "path=new.txt", f"content={EVIL}\n", "--yes", at=workspace.ws)
    if view == "tape":
        toolcrib("call", "read_file", f"path={EVIL}", at=workspace.ws, code=1)
    with terminal(*words, at=workspace.ws, width=400) as shown:
        if view in {"approval", "trust"}:
            shown.expect("? ")
            shown.press(b"\x03")
        shown.ended()
        neutral(shown.raw)
        assert "<U+202E>" in shown.text or "\\u202e" in shown.text, shown.text


CONTROLS = "\x1b\x07\x9b"
"""What TOML itself does not take in a comment."""


@pytest.mark.attack("A174", "files")
def test_the_same_bytes_do_reach_a_terminal_that_does_not_escape(workspace: Workspace) -> None:
    """The positive control of the test above."""
    workspace.write("evil.txt", EVIL + "\n")
    with terminal("cat", "evil.txt", at=workspace.ws) as shown:
        shown.ended()
        with pytest.raises(AssertionError):
            neutral(shown.raw)
        assert EVIL.encode() in shown.raw


def neutral(raw: bytes) -> None:
    """Demand that nothing but colour and visible letters was sent."""
    text = STEER.sub(b"", raw).replace(b"\r\n", b"\n").replace(b"^C", b"").decode("utf-8")
    hidden = [letter for letter in text if letter not in "\n\t" and not letter.isprintable()]
    assert hidden == []


def test_what_is_shown_names_every_hidden_character(workspace: Workspace) -> None:
    workspace.write("evil.txt", EVIL + "\n")
    with terminal("call", "read_file", "path=evil.txt", at=workspace.ws, width=200) as shown:
        assert shown.ended() == 0
        assert NEUTRAL in shown.text
    raw = toolcrib("call", "read_file", "path=evil.txt", at=workspace.ws)
    assert EVIL in raw.out, "a program still gets the bytes as they are"


@pytest.mark.promise("P-cli-help")
def test_serving_at_a_terminal_says_who_it_waits_for_and_how_to_end_it(workspace: Workspace) -> None:
    with terminal("mcp", at=workspace.ws) as shown:
        shown.expect("an MCP client starts this command, and speaks to it")
        shown.expect("next: Ctrl-D ends it; toolcrib init connects a client")
        shown.press(b"\x04")
        assert shown.ended() == 0
