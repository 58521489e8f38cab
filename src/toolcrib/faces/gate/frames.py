r"""Lines of JSON-RPC to messages and back. Nothing that a client writes or a tool answers breaks a line.

More lenient than the SDK's own reader where a call must get an answer: nesting without end, numbers without end, lone
surrogates and bytes that are not UTF-8 come through as arguments, and the line refuses them with a reason.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from toolcrib.faces.gate.sdk import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

HEADROOM = 16
"""Levels kept below the deepest arguments that a call may have, so that too deep stays too deep."""

_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = tuple((mark.encode(), f"\\u{ord(mark):04x}".encode()) for mark in "\u2028\u2029\x85")
"""Characters that JSON allows as they are, but at which some readers of lines end one."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that is no message: the JSON-RPC error that answers it, to its id where that can be read."""

    code: int
    message: str
    id: RequestId | None = None


def read(line: bytes, *, depth: int) -> JSONRPCMessage | Fault:
    """Return the message that `line` is; what is nested deeper than `depth` and some headroom reads as null."""
    try:
        found: Any = from_json(line)
    except ValueError:
        text = line.decode("utf-8", "surrogateescape")
        try:
            found = json.loads(_pruned(text, depth + HEADROOM), parse_int=_number)
        except ValueError as error:
            return Fault(PARSE_ERROR, f"not a line of JSON: {error}")
        except RecursionError:
            return Fault(PARSE_ERROR, "not a line of JSON that can be read: nested too deeply")
    if not isinstance(found, dict):
        return Fault(INVALID_REQUEST, f"expected one JSON-RPC object a line, found {type(found).__name__}")
    return _message(found)  # pyright: ignore[reportUnknownArgumentType]


def write(message: JSONRPCMessage) -> bytes:
    r"""Return the line of `message`, its end included; text that is not Unicode shows as `\xNN` or `\uNNNN`."""
    if isinstance(message, JSONRPCResponse):
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    else:
        body = message.model_dump(by_alias=True, exclude_unset=True)
    try:
        data = to_json(body, inf_nan_mode="strings")
    except ValueError:
        data = _SURROGATE.sub(_mark, _encode(body)).encode()
    if not data.isascii():
        for mark, instead in _BREAKS:
            data = data.replace(mark, instead)
    return data + b"\n"


def _message(found: dict[str, Any]) -> JSONRPCMessage | Fault:
    if "method" not in found:
        return _reply(found)
    id_, method, params = found.get("id"), found["method"], found.get("params")
    called = "id" in found
    if called and not _is_id(id_):
        return Fault(INVALID_REQUEST, "id: expected an integer or a string")
    known = id_ if called else None
    if found.get("jsonrpc") != "2.0":
        return Fault(INVALID_REQUEST, "jsonrpc: expected '2.0'", known)
    if not isinstance(method, str):
        return Fault(INVALID_REQUEST, "method: expected a string", known)
    if params is not None and not isinstance(params, dict):
        return Fault(INVALID_REQUEST, "params: expected an object", known)
    # Built without validation: the checks above are the models' own, and the values stay as they were read.
    if called:
        return JSONRPCRequest.model_construct(jsonrpc="2.0", id=id_, method=method, params=params)
    return JSONRPCNotification.model_construct(jsonrpc="2.0", method=method, params=params)


def _reply(found: dict[str, Any]) -> JSONRPCMessage | Fault:
    """Return the answer that `found` is; a bad one ends the question that it replies to, as nothing else will come."""
    kind = JSONRPCError if "error" in found else JSONRPCResponse
    try:
        return kind.model_validate(found)
    except (ValidationError, UnicodeEncodeError):
        if _is_id(id_ := found.get("id")) and found.keys() & {"result", "error"}:
            error = ErrorData(code=INVALID_REQUEST, message="the answer to it is none")
            return JSONRPCError(jsonrpc="2.0", id=id_, error=error)
        return Fault(INVALID_REQUEST, "expected a request, a notification or an answer")


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return value.isascii() or _SURROGATE.search(value) is None
    return isinstance(value, int) and not isinstance(value, bool)


def _pruned(text: str, most: int) -> str:
    """Return `text` with each value that is nested deeper than `most` levels replaced by null, without recursion."""
    kept: list[str] = []
    level = start = 0
    for token in _TOKENS.finditer(text):
        mark = token.group()[:1]
        if mark in "[{":
            level += 1
            if level == most + 1:
                kept.append(text[start : token.start()])
        elif mark in "]}":
            if level == most + 1:
                kept.append("null")
                start = token.end()
            level -= 1
    return "".join([*kept, text[start:]]) if kept and level <= most else text


def _number(digits: str) -> int | float:
    """Return an integer, or infinity for one that is too long to be a number: the line refuses that."""
    return int(digits) if len(digits) <= 4000 else float(digits)


def _mark(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\\\x{code & 0xFF:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\\\u{code:04x}"
