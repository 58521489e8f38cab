"""Every example works through the real SDK, against a server on this machine that is as strict as the real ones."""

import importlib.util
import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import anyio
import pytest
import transcripts

from calling import opened
from conftest import Workspace
from toolcrib.terms.records import Taped

FOLDER = transcripts.ROOT / "examples"
ENDPOINT = FOLDER / "local_endpoint.py"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py") if path != ENDPOINT)


def endpoint() -> ModuleType:
    spec = importlib.util.spec_from_file_location("local_endpoint", ENDPOINT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["local_endpoint"] = module
    spec.loader.exec_module(module)
    return module


def run(workspace: Workspace, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ENDPOINT), "-W", "error", program, "Do what the TODO says"]
    return subprocess.run(
        command, cwd=workspace.ws, env=dict(os.environ), capture_output=True, encoding="utf-8", timeout=110, check=False
    )


def test_there_is_an_example_for_each_way_in() -> None:
    assert EXAMPLES == [
        "anthropic_messages.py",
        "langchain_tools.py",
        "openai_chat.py",
        "openai_responses.py",
        "pydantic_ai_toolset.py",
    ]


@pytest.mark.promise("P-provider-examples")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_edits_a_file_by_the_tools_of_its_crib(workspace: Workspace, example: str) -> None:
    workspace.write("notes.md", "first\nTODO\nlast\n")
    done = run(workspace, str(FOLDER / example))
    assert (done.returncode, done.stdout, done.stderr) == (0, "DONE\n", "")
    assert workspace.read("notes.md") == b"first\nDONE\nlast\n"
    closed = [each for each in anyio.run(taped, workspace) if each.stage == "closed"]
    assert [each.data["outcome"]["tool"].lower()[:4] for each in closed].count("edit") == 1
    assert [each.data["outcome"]["kind"] for each in closed] == ["ok"] * 3


async def taped(workspace: Workspace) -> list[Taped]:
    async with opened(workspace.ws) as crib:
        assert (await crib.verify()).broken is None
        return list(await crib.tape())


LOOSE: dict[str, Any] = {"type": "object", "properties": {"pattern": {"type": "string"}}}
READ = {"role": "assistant", "tool_calls": [{"id": "call_1", "function": {"name": "grep", "arguments": "{}"}}]}


BAD: list[tuple[list[Any], list[Any], str]] = [
    ([{"type": "function", "function": {"name": "a b", "parameters": LOOSE}}], [], "name: invalid"),
    ([{"type": "function", "function": {"name": "grep", "parameters": {}}}], [], "not an object"),
    ([{"type": "function", "function": {"name": "grep", "strict": True, "parameters": LOOSE}}], [], "strict: "),
    ([], [READ], "are answered by"),
    ([], [READ, {"role": "tool", "tool_call_id": "call_2", "content": "x"}], "are answered by"),
    ([], [], "expected search, read and edit"),
]


@pytest.mark.parametrize(("tools", "messages", "why"), BAD)
def test_the_server_refuses_what_the_real_one_would(tools: list[Any], messages: list[Any], why: str) -> None:
    """The control: an example passes because its requests are right, not because anything is taken."""
    module = endpoint()
    with pytest.raises(module.BadRequestError, match=why):
        module.chat({"model": "m", "tools": tools, "messages": messages})


@pytest.mark.timeout(120)
def test_an_example_whose_request_is_refused_fails(workspace: Workspace) -> None:
    program = workspace.write("bad.py", "from openai import OpenAI\nOpenAI().responses.create(model='m', input='x')\n")
    done = run(workspace, str(program))
    assert done.returncode == 1
    assert "400" in done.stderr


def test_the_endpoint_without_a_program_says_how_it_is_used() -> None:
    done = subprocess.run(
        [sys.executable, str(ENDPOINT)], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 2
    assert 'usage: python examples/local_endpoint.py examples/openai_chat.py "' in done.stderr
