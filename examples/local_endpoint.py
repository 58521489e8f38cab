"""A model that is none: a server on this machine which speaks three wire formats and follows a script.

It asks to search and to read, then to edit what it read, then it is done; so that the examples can be run, and their
requests checked, without an account. It is strict where the real ones are: a tool or an answer that they would not take
is an error 400 here too.

usage: python examples/local_endpoint.py examples/openai_chat.py "Do what the TODO says"
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]

FOUND = "TODO"
DONE = "DONE"


class BadRequestError(Exception):
    """What the provider would not take."""


def demand(holds: object, what: str) -> None:
    """Refuse the request unless something holds."""
    if not holds:
        raise BadRequestError(what)


@dataclass
class Turn:
    """A request in plain words: tool names to schemas, ids asked for and answered, and the texts of the answers."""

    tools: Mapping[str, Json]
    asked: list[str]
    answers: dict[str, str]


@dataclass
class Call:
    """A call that the model asks for."""

    id: str
    name: str
    args: Json


# The script ---------------------------------------------------------------------------------------------------------

NAMES = {"grep": ("grep", "Grep"), "read_file": ("read_file", "Read"), "edit_file": ("edit_file", "Edit")}


def next_calls(turn: Turn) -> list[Call]:
    """Return what the model wants next; nothing when it is done."""
    demand(turn.asked == list(turn.answers), f"calls {turn.asked} are answered by {list(turn.answers)}")
    names = {name: next((each for each in known if each in turn.tools), "") for name, known in NAMES.items()}
    demand(all(names.values()), f"expected search, read and edit among the tools, found {list(turn.tools)}")
    ids = [f"call_{len(turn.asked) + number}" for number in (1, 2)]
    if not turn.asked:
        return [
            Call(ids[0], names["grep"], filled(turn.tools[names["grep"]], {"pattern": FOUND})),
            Call(ids[1], names["read_file"], filled(turn.tools[names["read_file"]], {"path": "notes.md"})),
        ]
    if len(turn.asked) == 2:
        demand("notes.md" in turn.answers["call_1"], "expected the search to find notes.md")
        digest = re.search(r"digest ([0-9a-f]{12})", turn.answers["call_2"])
        demand(digest, "expected a digest in the reading")
        flat = {"old_string": FOUND, "new_string": DONE}
        edits = {"digest": digest and digest[1], "edits": [{"old": FOUND, "new": DONE}]}
        schema = turn.tools[names["edit_file"]]
        how = flat if "old_string" in schema["properties"] else edits
        return [Call(ids[0], names["edit_file"], filled(schema, {"path": "notes.md", **how}))]
    demand(f"+{DONE}" in turn.answers["call_3"], f"expected the diff of the edit, found {turn.answers['call_3']!r}")
    return []


def filled(schema: Json, args: Json) -> Json:
    """Return arguments as a strict model gives them: null for what is required and not wanted."""
    properties: Json = schema["properties"]
    given = {"file_path" if name == "path" and "file_path" in properties else name: each for name, each in args.items()}
    demand(set(given) <= set(properties), f"{sorted(given)} are not all among {sorted(properties)}")
    for name in schema.get("required", ()):
        given.setdefault(name, None)
    for name, each in properties.items():
        if isinstance(given.get(name), list) and "properties" in each.get("items", {}):
            given[name] = [filled(each["items"], entry) for entry in given[name]]
    return given


def checked_schema(schema: Json, *, strict: bool) -> Json:
    """Return the schema of a tool, having refused what no provider takes."""
    demand(schema.get("type") == "object" and isinstance(schema.get("properties"), dict), "schema: not an object")
    demand(not {"anyOf", "oneOf", "allOf", "enum", "not"} & set(schema), "schema: a union at the root")
    if strict:
        demand(schema.get("additionalProperties") is False, "strict: additionalProperties must be false")
        demand(set(schema.get("required", ())) == set(schema["properties"]), "strict: every property is required")
    return schema


# The three wire formats ---------------------------------------------------------------------------------------------


def chat(body: Json) -> Json:
    """Answer POST /chat/completions."""
    tools: dict[str, Json] = {}
    for tool in body.get("tools", ()):
        demand(tool["type"] == "function", "tools[].type: expected function")
        function = tool["function"]
        demand(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]), "function.name: invalid")
        tools[function["name"]] = checked_schema(function["parameters"], strict=function.get("strict", False))
    turn = Turn(tools, [], {})
    for message in body["messages"]:
        role = message["role"]
        demand(role in {"system", "developer", "user", "assistant", "tool"}, f"role {role!r}")
        turn.asked += [call["id"] for call in message.get("tool_calls") or ()]
        if role == "tool":
            demand(isinstance(message["content"], str | list), "tool content: expected text")
            turn.answers[message["tool_call_id"]] = plain(message["content"])
    calls = next_calls(turn)
    asked = [
        {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": json.dumps(each.args)}}
        for each in calls
    ]
    message = {"role": "assistant", "content": None if calls else DONE, **({"tool_calls": asked} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**head, "choices": [choice], "usage": usage}


def responses(body: Json) -> Json:
    """Answer POST /responses."""
    tools: dict[str, Json] = {}
    for tool in body.get("tools", ()):
        demand(tool["type"] == "function" and "strict" in tool, "tools[]: expected a function that says strict")
        tools[tool["name"]] = checked_schema(tool["parameters"], strict=tool["strict"])
    turn = Turn(tools, [], {})
    for item in body["input"]:
        if item.get("type") == "function_call":
            turn.asked.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            turn.answers[item["call_id"]] = plain(item["output"])
    calls = next_calls(turn)
    said: list[Json] = [
        {
            "type": "function_call",
            "id": f"fc_{each.id}",
            "call_id": each.id,
            "name": each.name,
            "arguments": json.dumps(each.args),
            "status": "completed",
        }
        for each in calls
    ]
    text: list[Json] = [{"type": "output_text", "text": DONE, "annotations": []}]
    last: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": text}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "completed",
        "output": said or [last],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def messages(body: Json) -> Json:
    """Answer POST /v1/messages."""
    demand(body.get("max_tokens"), "max_tokens: required")
    tools: dict[str, Json] = {}
    for tool in body.get("tools", ()):
        demand(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]), "tools[].name: invalid")
        for name in tool["input_schema"]["properties"]:
            demand(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name), f"property {name!r}: invalid")
        tools[tool["name"]] = checked_schema(tool["input_schema"], strict=False)
    turn = Turn(tools, [], {})
    role = "assistant"
    for message in body["messages"]:
        demand(message["role"] != role, "messages: roles must alternate")
        role = message["role"]
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                turn.asked.append(block["id"])
            elif block["type"] == "tool_result":
                demand(role == "user", "tool_result: expected in a message of the user")
                turn.answers[block["tool_use_id"]] = plain(block.get("content", ""))
    calls = next_calls(turn)
    said: list[Json] = [{"type": "tool_use", "id": each.id, "name": each.name, "input": each.args} for each in calls]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": said or [{"type": "text", "text": DONE}],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def plain(content: str | list[Json]) -> str:
    """Return the text of an answer, which may come in blocks."""
    if isinstance(content, str):
        return content
    for block in content:
        demand("text" not in block or block["text"].strip(), "content: text blocks must not be empty")
    return "".join(block.get("text", "") for block in content)


WIRES = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        """Answer as the path says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wire = WIRES.get(self.path)
        try:
            demand(wire is not None, f"no such path: {self.path}")
            demand(not body.get("stream"), "this server does not stream")
            demand(self.headers.get("Authorization") or self.headers.get("x-api-key"), "no key was sent")
            status, answer = 200, WIRES[self.path](body)
        except (BadRequestError, AttributeError, KeyError, TypeError) as fault:
            error = {"type": "invalid_request_error", "message": f"{type(fault).__name__}: {fault}"}
            status, answer = 400, {"type": "error", "error": error}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's word
        """Say nothing."""


def main() -> int:
    """Serve on a free port of this machine while the program named runs, and return its exit code."""
    if not sys.argv[1:]:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        keys = {"OPENAI_BASE_URL": f"{here}/v1", "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
        env = {**os.environ, **keys, "ANTHROPIC_BASE_URL": here, "MODEL": "scripted"}
        code = subprocess.run([sys.executable, *sys.argv[1:]], env=env, check=False).returncode
        server.shutdown()
    return code


if __name__ == "__main__":
    sys.exit(main())
