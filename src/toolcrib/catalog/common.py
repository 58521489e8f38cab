"""What several dialects share: pieces of schema, flat edits and texts."""

from collections.abc import Mapping
from typing import Any

TEXT: Mapping[str, Any] = {"type": "string"}
"""A text."""
FLAG: Mapping[str, Any] = {"type": "boolean", "default": False}
"""A switch that is off."""
COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 0}
"""A count from 0."""
LINE: Mapping[str, Any] = {"type": "integer", "minimum": 1}
"""A count from 1."""


def says(schema: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return `schema` with a description."""
    return {**schema, "description": text}


def flat(old: str, new: str, every: str | None) -> Mapping[str, str]:
    """Return where the places inside the list of edits come from in a flat edit."""
    places = {"edits": old, "edits.0": old, "edits.0.old": old, "edits.0.new": new}
    return {**places, "edits.0.replace_all": every} if every else places


OLD_NEW: Mapping[str, Mapping[str, Any]] = {
    "old_string": says(TEXT, "The exact text to replace, whitespace and all. It must occur once, or set replace_all."),
    "new_string": says(TEXT, "The text to put in its place."),
    "replace_all": says(FLAG, "Replace every occurrence."),
}
CITED: Mapping[str, str] = {"digest": "Digest of your last reading of the file, 12 hex characters or more."}
"""The digest, where the dialect requires it."""
EDIT_TEXT = (
    "Replace an exact piece of text in a file. The text must be found exactly once, unless every occurrence is to be "
    "replaced. Read the file first. The answer holds the diff."
)
GREP_TEXT = (
    "Search the contents of files with a regular expression (RE2 syntax: no look-around, no back references). Each "
    "match is path:line:column: text. Binary, very large, ignored and denied files are skipped and counted in the "
    "closing line."
)
"""What a content search says where the pattern is always a regular expression."""
REGEX: Mapping[str, str] = {"pattern": "Regular expression to look for, in RE2 syntax."}
"""The pattern of such a search."""
WRITE_TEXT = "Write a whole file, making its directories. Replacing a file that exists asks the person first."
"""What a whole-file write says where no argument means replacing."""
MOVE_TEXT = (
    "Move or rename a file, a link, or a directory with all that is in it, making the directories of the new path. "
    "Moving onto a file that exists asks the person first; onto anything else is refused."
)
"""What a move says where no argument means replacing."""
