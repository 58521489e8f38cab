"""A program hands a model's tool calls to the crib and gets the messages that answer them."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from calling import opened
from conftest import Workspace
from toolcrib import ConfigError, RenderError
from toolcrib.terms.outcome import Fields
from toolcrib.terms.providers import Provider

pytestmark = pytest.mark.anyio

PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(40)


def call_of(provider: Provider, name: str, args: Any, *, call_id: str = "call_1") -> Fields:
    """Return one tool call as a model of `provider` makes it."""
    text = json.dumps(args)
    forms: dict[Provider, Fields] = {
        "openai": {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}},
        "openai-responses": {"type": "function_call", "call_id": call_id, "name": name, "arguments": text},
        "anthropic": {"type": "tool_use", "id": call_id, "name": name, "input": args},
        "gemini": {"functionCall": {"id": call_id, "name": name, "args": args}},
        "mcp": {"name": name, "arguments": args},
    }
    return forms[provider]


def text_of(provider: Provider, message: Fields) -> str:
    match provider:
        case "openai":
            return message["content"]
        case "openai-responses":
            return message["output"] if isinstance(message["output"], str) else message["output"][0]["text"]
        case "anthropic" | "mcp":
            return message["content"][0]["text"]
        case "gemini":
            (text,) = message["functionResponse"]["response"].values()
            return text


@pytest.mark.promise("P-provider-answers")
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "gemini", "mcp"])
async def test_calls_are_run_and_answered_in_order(workspace: Workspace, provider: Provider) -> None:
    workspace.write("a.txt", "one\ntwo\n")
    async with opened(workspace.ws) as crib:
        calls = [
            call_of(provider, "read_file", {"path": "a.txt"}, call_id="call_1"),
            call_of(provider, "write_file", {"path": "b.txt", "content": "b\n"}, call_id="call_2"),
            call_of(provider, "no_such_tool", {}, call_id="call_3"),
            call_of(provider, "read_file", [1], call_id="call_4"),
        ]
        read, wrote, unknown, odd = await crib.replies(provider, calls)
        assert text_of(provider, read).endswith("1\tone\n2\ttwo")
        assert "created b.txt" in text_of(provider, wrote)
        assert "tool.unknown" in text_of(provider, unknown)
        assert "args.invalid" in text_of(provider, odd)
        if provider != "mcp":
            assert [f"call_{n}" in json.dumps(each) for n, each in enumerate((read, wrote, unknown, odd), 1)] == [
                True
            ] * 4
    assert workspace.read("b.txt") == b"b\n"


async def test_what_is_no_call_is_passed_over_and_an_sdks_objects_are_read(workspace: Workspace) -> None:
    class Block(BaseModel):
        type: str
        id: str = ""
        name: str = ""
        input: dict[str, Any] = {}

    workspace.write("a.txt", "one\n")
    said = [Block(type="text"), Block(type="tool_use", id="toolu_1", name="read_file", input={"path": "a.txt"})]
    async with opened(workspace.ws) as crib:
        (answer,) = await crib.replies("anthropic", said)
        assert (answer["tool_use_id"], answer["is_error"]) == ("toolu_1", False)
        assert await crib.replies("anthropic", [Block(type="text"), object()]) == []


@pytest.mark.parametrize(("text", "fault"), [("{", "args.invalid"), ("[1]", "args.invalid"), ("", "path: required")])
async def test_arguments_that_are_no_json_object_are_the_models_to_mend(
    workspace: Workspace, text: str, fault: str
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": text}}
    async with opened(workspace.ws) as crib:
        (answer,) = await crib.replies("openai", [call])
        assert fault in answer["content"]


async def test_an_id_that_is_none_of_the_providers_is_refused_before_anything_runs(workspace: Workspace) -> None:
    written = call_of("openai", "write_file", {"path": "b.txt", "content": "b\n"})
    async with opened(workspace.ws) as crib:
        with pytest.raises(RenderError, match="call id"):
            await crib.replies("openai", [written, call_of("openai", "read_file", {}, call_id="x" * 65)])
    assert not (workspace.ws / "b.txt").exists()


async def test_an_id_that_a_model_repeats_is_another_call_each_time(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        first = await crib.replies("openai", [call_of("openai", "read_file", {"path": "a.txt"})])
        workspace.write("a.txt", "two\n")
        again = await crib.replies("openai", [call_of("openai", "read_file", {"path": "a.txt"})])
        assert "one" in first[0]["content"]
        assert "two" in again[0]["content"]


@pytest.mark.promise("P-provider-strict")
async def test_a_strict_call_with_every_parameter_named_works_end_to_end(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\ntwo\n")
    async with opened(workspace.ws) as crib:
        tools = {
            each["function"]["name"]: each["function"]["parameters"] for each in crib.render("openai", strict=True)
        }
        nothing = dict.fromkeys(tools["grep"]["required"])
        (found,) = await crib.replies("openai", [call_of("openai", "grep", {**nothing, "pattern": "two"})])
        assert "a.txt:2" in found["content"]
        read = await crib.call("read_file", path="a.txt")
        edits = [{"old": "two", "new": "TWO", "replace_all": None}]
        args = {"path": "a.txt", "digest": read.evidence.digest, "edits": edits}
        assert set(args) == set(tools["edit_file"]["required"])
        (edited,) = await crib.replies("openai", [call_of("openai", "edit_file", args)])
        assert "+TWO" in edited["content"]
    assert workspace.read("a.txt") == b"one\nTWO\n"


async def test_null_for_a_required_parameter_is_no_value(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        (answer,) = await crib.replies("openai", [call_of("openai", "read_file", {"path": None})])
        assert "args.invalid: path" in answer["content"]


@pytest.mark.promise("P-provider-answers")
async def test_a_picture_goes_to_the_providers_that_take_one_in_an_answer(workspace: Workspace) -> None:
    workspace.write("p.png", PIXEL)
    async with opened(workspace.ws) as crib:
        for provider in ("anthropic", "openai-responses", "mcp"):
            (answer,) = await crib.replies(provider, [call_of(provider, "read_file", {"path": "p.png"})])
            assert len(answer["output" if provider == "openai-responses" else "content"]) == 2
        (answer,) = await crib.replies("openai", [call_of("openai", "read_file", {"path": "p.png"})])
        assert "file.binary" in answer["content"]


async def test_a_render_that_a_rule_stands_against_names_it(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        with pytest.raises(RenderError) as caught:
            crib.render("gemini", dialect="claude")
        assert (caught.value.provider, caught.value.tool, caught.value.rule) == ("gemini", "Grep", "parameter-name")
        rest = crib.render("gemini", dialect="claude", without=("Grep",))
        assert [each["name"] for each in rest[0]["functionDeclarations"]] == ["Edit", "Glob", "Read", "Write"]


async def test_what_a_program_hands_over_carelessly_is_taken_or_named(workspace: Workspace) -> None:
    nobody: Any = "mistral"
    async with opened(workspace.ws) as crib:
        assert await crib.replies("openai", None) == []
        one = crib.render("openai", strict="edit_file")
        assert [each["function"]["name"] for each in one if each["function"].get("strict")] == ["edit_file"]
        with pytest.raises(ConfigError, match="no provider 'mistral'"):
            crib.render(nobody)
        with pytest.raises(ConfigError, match="no provider 'mistral'"):
            await crib.replies(nobody, [])
        with pytest.raises(ConfigError, match="no provider 'mistral'"):
            (await crib.call("list_dir")).render(nobody)
