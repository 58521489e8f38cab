"""What a client sends wrong over MCP: a tool's answer where a tool was called, an error else, never the end."""

import json
from typing import Any

import pytest

from conftest import Workspace
from wired import REVISIONS, WITH_OWN_TOOLS, Lines, Mode, client, lines, served, tape_of, text_of

pytestmark = pytest.mark.anyio


def nested(levels: int) -> str:
    """Return a text of JSON that is nested so deep."""
    return "[" * levels + "]" * levels


def call(known: int, name: str, arguments: str) -> bytes:
    """Return a call as a line, with arguments as they stand."""
    params = f'{{"name":{json.dumps(name)},"arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{known},"method":"tools/call","params":{params}}}\n'.encode()


BAD: dict[str, tuple[Any, Any, str]] = {
    "unknown tool": ("no_such_tool", {}, "no_such_tool"),
    "no name": (None, {}, "no tool"),
    "name of another type": (7, {}, "no tool"),
    "no arguments": ("read_file", None, "path: required, and missing"),
    "missing": ("read_file", {"limit": 3}, "path: required, and missing"),
    "wrong type": ("read_file", {"path": 7}, "path: "),
    "extra": ("read_file", {"path": "a.txt", "colour": "red"}, "colour: unknown parameter"),
    "null": ("read_file", {"path": None}, "path: "),
    "a list": ("read_file", ["a.txt"], "arguments (expected an object): unknown parameter"),
    "a text": ("read_file", "a.txt", "arguments (expected an object): unknown parameter"),
    "a lossy number": ("read_file", {"path": "a.txt", "limit": 1.5}, "limit: "),
    "NUL": ("read_file", {"path": "a\0.txt"}, ""),
    "every fault at once": ("read_file", {"limit": "x", "colour": 1}, "path: required"),
}


async def still_answers(wire: Lines) -> None:
    """Demand that the session lives."""
    assert not (await wire.call("read_file", {"path": "a.txt"}))["isError"]


@pytest.mark.promise("P-gate-invalid")
async def test_bad_arguments_are_answered_by_the_tool_with_every_fault(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        for what, (name, arguments, said) in BAD.items():
            answer = await wire.ask("tools/call", {"name": name, "arguments": arguments})
            assert "error" not in answer, (what, answer)
            result = answer["result"]
            assert result["isError"] is True, what
            assert result["structuredContent"]["kind"] == "refused", what
            assert said in result["content"][0]["text"], (what, result)
            assert result["structuredContent"]["happened"] == "no"
        both = (await wire.call("read_file", {"limit": "x", "colour": 1}))["content"][0]["text"]
        assert "limit: " in both
        assert "colour: unknown parameter" in both
        await still_answers(wire)
        assert await wire.close() == 0
    tape = await tape_of(workspace.ws)
    calls = [entry.call_id for entry in tape if entry.stage == "received"]
    assert len(calls) == len(set(calls)) == len(BAD) + 2
    assert sorted(entry.call_id for entry in tape if entry.stage == "closed") == sorted(calls)


@pytest.mark.parametrize("mode", REVISIONS)
@pytest.mark.promise("P-gate-invalid")
async def test_the_official_client_gets_a_tool_error_for_bad_arguments(workspace: Workspace, mode: Mode) -> None:
    async with client(served(workspace.ws), mode) as connected:
        wrong = await connected.call_tool("read_file", {"path": 7, "colour": "red"})
        assert wrong.is_error
        assert "colour: unknown parameter" in text_of(wrong)
        unknown = await connected.call_tool("read_fil", {})
        assert unknown.is_error
        assert "read_file" in text_of(unknown)


@pytest.mark.promise("P-line-args")
async def test_arguments_without_end_are_refused_and_the_session_lives(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    huge = json.dumps({"path": "b.txt", "content": "x" * (10 << 20)})
    lines_of_bad = {
        "1,000 levels": (call(101, "read_file", f'{{"path":{nested(1000)}}}'), "levels deep"),
        "100,000 levels": (call(102, "read_file", f'{{"path":{nested(100_000)}}}'), "levels deep"),
        "10 MiB": (call(103, "write_file", huge), "bytes in all"),
        "a number without end": (call(104, "read_file", '{"path":"a.txt","limit":%s}' % ("9" * 5000)), ""),
        "not a number": (call(105, "read_file", '{"path":"a.txt","limit":NaN}'), ""),
        "a lone surrogate": (call(106, "read_file", '{"path":"\\ud800"}'), "lone surrogate"),
        "a key that is no text": (call(107, "read_file", '{"path":"a.txt","\\ud800":1}'), "\\ud800"),
        "bytes that are not UTF-8": (call(108, "read_file", '{"path":"X"}').replace(b"X", b"\xff\xfe"), "udcff"),
    }
    async with lines(served(workspace.ws, "--mode", "work")) as wire:
        await wire.open()
        for number, (what, (line, said)) in enumerate(lines_of_bad.items(), 101):
            wire.say(line)
            answer = await wire.answer(number)
            assert "error" not in answer, (what, answer)
            assert answer["result"]["isError"] is True, what
            assert said in answer["result"]["content"][0]["text"], (what, str(answer)[:500])
        await still_answers(wire)
        assert await wire.close() == 0
    assert not (workspace.ws / "b.txt").exists()


async def test_lines_that_are_no_messages_are_answered_and_passed_over(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    nonsense: list[tuple[bytes, int, int | str | None]] = [
        (b"not json\n", -32700, None),
        (b'{"jsonrpc":"2.0","id":1\n', -32700, None),
        (nested(100_000).encode() + b"[\n", -32700, None),
        (b"[]\n", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600, None),
        (b"7\n", -32600, None),
        (b'{"jsonrpc":"1.0","id":201,"method":"ping"}\n', -32600, 201),
        (b'{"id":"two","method":"ping"}\n', -32600, "two"),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":202,"method":7}\n', -32600, 202),
        (b'{"jsonrpc":"2.0","id":203,"method":"ping","params":[1]}\n', -32600, 203),
        (b'{"jsonrpc":"2.0"}\n', -32600, None),
        (b'{"jsonrpc":"2.0","id":204,"method":"no/such"}\n', -32601, 204),
        (b'{"jsonrpc":"2.0","id":205,"method":"\\ud800"}\n', -32601, 205),
        (b'{"jsonrpc":"2.0","id":206,"method":"tools/list","params":{"cursor":7}}\n', -32602, 206),
    ]
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        for line, code, known in nonsense:
            wire.say(line)
            answer = await wire.answer(known)
            assert answer["error"]["code"] == code, (line[:80], answer)
        wire.say(b"\n", b"   \n", b"\r\n", b'{"jsonrpc":"2.0","id":9,"result":{}}\n', {"method": "no/such"})
        await still_answers(wire)
        assert await wire.close() == 0


async def test_a_line_that_never_ends_is_skipped_within_bounded_memory(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        assert wire.process.stdin is not None
        for _ in range(80):
            wire.say(b"x" * (1 << 20))
            await wire.process.stdin.drain()
        wire.say(b"\n")
        answer = await wire.answer(None)
        assert answer["error"]["code"] == -32700
        with open(f"/proc/{wire.process.pid}/status", encoding="ascii") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert peak < 400 << 10, f"{peak} KiB"
        await still_answers(wire)


async def test_nothing_is_called_before_the_handshake(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        answer = await wire.ask("tools/call", {"name": "read_file", "arguments": {"path": "a.txt"}})
        assert answer["error"]["code"] == -32602
        assert (await wire.ask("ping"))["result"] == {}
        assert await wire.close() == 0
    assert [entry for entry in await tape_of(workspace.ws) if entry.stage == "received"] == []


@pytest.mark.case("B160", "gate")
async def test_every_line_of_standard_output_is_one_message_whatever_a_tool_does(workspace: Workspace) -> None:
    async with lines([*WITH_OWN_TOOLS, str(workspace.ws)]) as wire:
        await wire.open()
        noisy = await wire.call("noisy", {})
        assert noisy["content"][0]["text"] == "read b''"
        broken = await wire.call("broken", {})
        assert broken["isError"]
        assert broken["structuredContent"]["name"] == "call.fault"
        assert "boom" not in broken["content"][0]["text"]
        strange = await wire.call("strange", {})
        said = "lone \\ud800, byte \\xe9, separators \u2028\u2029\x85, nul \0"
        assert strange["content"][0]["text"] == said
        assert strange["structuredContent"]["payload"] == {"words": said}
        assert await wire.close() == 0
    assert len(wire.heard) == 4


async def test_many_calls_at_once_are_each_answered_once(workspace: Workspace) -> None:
    workspace.write("a.txt", "a\n")
    async with lines(served(workspace.ws)) as wire:
        await wire.open()
        wire.say(*(call(1000 + number, "read_file", '{"path":"a.txt"}') for number in range(200)))
        assert await wire.ask("ping")
        while len([message for message in wire.heard if message.get("id", 0) >= 1000]) < 200:
            assert await wire.hear() is not None
        answered = [message["id"] for message in wire.heard if message.get("id", 0) >= 1000]
        assert sorted(answered) == list(range(1000, 1200))
        assert all(not message["result"]["isError"] for message in wire.heard if message.get("id", 0) >= 1000)
        assert await wire.close() == 0
