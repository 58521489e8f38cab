"""JSON, with comments where a client allows them, edited in place: one member is put, every other byte stays.

Not a general parser: it knows where things stand, so that an edit can be made by position and then proven.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEPTH = 200
"""Deepest nesting that is followed."""

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?[0-9][0-9.eE+-]*|[A-Za-z]+")
_INDENT = re.compile(r"[ \t]*\Z")


class JsonError(ValueError):
    """A text that is not what it should be: says why, and at which line and column, counted from 1."""

    def __init__(self, message: str, text: str, place: int) -> None:
        self.line = text.count("\n", 0, place) + 1
        self.column = place - text.rfind("\n", 0, place)
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands: `text[start:end]`. An object also has its members, in order."""

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, "Node"], ...] = ()
    """Key, where the key starts, value."""


def put(text: str, key: str, name: str, value: Mapping[str, Any], *, comments: bool) -> str:
    """Return `text` with `value` as the member `name` of the object `key` of the root object; unchanged if it is there.

    Raises:
        JsonError: the text does not parse, or what stands at the root or at `key` is no object or stands twice.
    """
    if not text.strip():
        return json.dumps({key: {name: dict(value)}}, indent=2, ensure_ascii=False) + "\n"
    root = _Reader(text, comments).document()
    within = _member(text, root, key, "the document")
    if within is None:
        changed = _insert(text, root, key, {name: dict(value)})
    else:
        old = _member(text, within, name, key)
        if old is None:
            changed = _insert(text, within, name, dict(value))
        elif old.value == dict(value):
            return text
        else:
            shown = _shown(dict(value), _base(text, old.start), _unit(text, root), _ending(text))
            changed = text[: old.start] + shown + text[old.end :]
    wanted = {**root.value, key: {**root.value.get(key, {}), name: dict(value)}}
    if _Reader(changed, comments).document().value != wanted:
        raise JsonError("it cannot be edited without touching something else", text, root.start)
    return changed


def _member(text: str, node: Node, key: str, where: str) -> Node | None:
    if not isinstance(node.value, dict):
        raise JsonError(f"expected {where} to be an object, found {type(node.value).__name__}", text, node.start)
    found = [(start, value) for name, start, value in node.members if name == key]
    if len(found) > 1:
        raise JsonError(f"{key!r} stands twice", text, found[1][0])
    return found[0][1] if found else None


def _insert(text: str, node: Node, key: str, value: Any) -> str:
    """Put a new last member into an object, laid out as its neighbours are."""
    close = node.end - 1
    last = node.members[-1][2] if node.members else None
    body = text[last.end if last else node.start + 1 : close]
    head, tail = body.rstrip(" \t\r\n"), body[len(body.rstrip(" \t\r\n")) :]
    comma_there = "," in _COMMENT.sub("", head)
    before = "" if last is None or comma_there else ","
    after = "," if comma_there else ""
    name, newline = json.dumps(key, ensure_ascii=False), _ending(text)
    start = text[: last.end] if last else text[: node.start + 1]
    if last is not None and "\n" not in text[node.start : node.end]:
        added = f" {name}: {json.dumps(value, ensure_ascii=False)}"
        return start + before + head + added + after + tail + text[close:]
    base, unit = _base(text, node.start), _unit(text, node)
    indent = _base(text, node.members[0][1]) if last is not None else base + unit
    added = f"{newline}{indent}{name}: {_shown(value, indent, unit, newline)}{after}"
    ends = tail if "\n" in tail else newline + base
    return start + before + head + added + ends + text[close:]


def _shown(value: Any, indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


def _base(text: str, place: int) -> str:
    """Return the indentation of the line that `place` is on."""
    start = text.rfind("\n", 0, place) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _unit(text: str, node: Node) -> str:
    """Return one step of indentation: from the first member on a line of its own, else two blanks."""
    for _, start, child in node.members:
        found = _INDENT.search(text, text.rfind("\n", 0, start) + 1, start)
        if found and found.group() and "\n" in text[node.start : start]:
            base = _base(text, node.start)
            return found.group().removeprefix(base) or "  "
        if child.members and (unit := _unit(text, child)) != "  ":
            return unit
    return "  "


def _ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


class _Reader:
    """Reads one text from its start, by position."""

    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments
        self.at = 1 if text.startswith("\ufeff") else 0

    def document(self) -> Node:
        self._skip()
        node = self._value(0)
        self._skip()
        if self.at != len(self.text):
            raise self._error("expected the end")
        if not isinstance(node.value, dict):
            raise JsonError("expected an object", self.text, node.start)
        return node

    def _value(self, depth: int) -> Node:
        if depth > DEPTH:
            raise self._error(f"nested more than {DEPTH} levels deep")
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"':
                return self._string()
            case _:
                return self._atom()

    def _object(self, depth: int) -> Node:
        start, members = self.at, list[tuple[str, int, Node]]()
        self.at += 1
        while not self._closed("}", empty=not members):
            at = self.at
            if self.text[at : at + 1] != '"':
                raise self._error("expected a key in double quotes")
            key = str(self._string().value)
            self._skip()
            self._take(":")
            self._skip()
            members.append((key, at, self._value(depth + 1)))
        value = {key: node.value for key, _, node in members}
        return Node(start, self.at, value, tuple(members))

    def _array(self, depth: int) -> Node:
        start, items = self.at, list[Any]()
        self.at += 1
        while not self._closed("]", empty=not items):
            items.append(self._value(depth + 1).value)
        return Node(start, self.at, items)

    def _closed(self, close: str, *, empty: bool) -> bool:
        """Step over what separates members; tell whether the closing letter came."""
        self._skip()
        if not empty and self.text[self.at : self.at + 1] == ",":
            comma, self.at = self.at, self.at + 1
            self._skip()
            if self.text[self.at : self.at + 1] == close and not self.comments:
                raise JsonError("a comma before the end", self.text, comma)
            if self.text[self.at : self.at + 1] != close:
                return False
        elif not empty and self.text[self.at : self.at + 1] != close:
            raise self._error(f"expected ',' or '{close}'")
        if self.text[self.at : self.at + 1] != close:
            return False
        self.at += 1
        return True

    def _string(self) -> Node:
        start, found = self.at, _STRING.match(self.text, self.at)
        if found is None:
            raise self._error("a text that does not end on its line")
        return self._loaded(start, found.group())

    def _atom(self) -> Node:
        start, found = self.at, _ATOM.match(self.text, self.at)
        if found is None:
            raise self._error("expected a value")
        return self._loaded(start, found.group())

    def _loaded(self, start: int, token: str) -> Node:
        try:
            value = json.loads(token, parse_constant=_no_constant)
        except ValueError as error:
            raise self._error(f"not JSON: {token[:40]!r}") from error
        self.at = start + len(token)
        return Node(start, self.at, value)

    def _take(self, letter: str) -> None:
        if self.text[self.at : self.at + 1] != letter:
            raise self._error(f"expected {letter!r}")
        self.at += 1

    def _skip(self) -> None:
        while True:
            blank = _BLANK.match(self.text, self.at)
            self.at = blank.end() if blank else self.at
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            if not self.comments:
                raise self._error("a comment, which this file may not have")
            self.at = comment.end()

    def _error(self, message: str) -> JsonError:
        if self.at >= len(self.text):
            message += ", found the end of the file"
        return JsonError(message, self.text, self.at)


def _no_constant(name: str) -> float:
    raise ValueError(name)
