"""The dialects, as data: how each system and model family spells the tools. All land on the same tool and ruling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.catalog.converters import (
    chosen,
    claude_grep,
    flat_edit,
    gemini_edit,
    gemini_grep,
    is_directory_name,
    line_span,
    openhands_edit,
    view_range,
)
from toolcrib.catalog.shapes import Shape
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import nearest
from toolcrib.terms.refusals import RefusalName

DEFAULT = "toolcrib"
"""The dialect of a caller that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way to spell the catalog. A tool without a shape keeps its canonical form, where it is shown at all."""

    name: str
    shapes: tuple[Shape, ...] = ()
    others: bool = False
    """Whether built-in tools without a shape are shown."""
    foreign: bool = True
    """Whether tools of other origins are shown, under their canonical names."""
    camel: bool = False
    aliases: Mapping[RefusalName, RefusalName] = field(default_factory=dict[RefusalName, RefusalName])
    """Refusal name to the one that this dialect says instead."""
    details: Mapping[RefusalName, Mapping[str, str]] = field(default_factory=dict[RefusalName, Mapping[str, str]])
    """Refusal name, before the alias, to what its payload carries besides."""
    bounds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Name of a bound to its spelling."""
    json: frozenset[str] | None = None
    """Canonical built-ins that stay JSON tools once programs are offered; None: all of them."""
    group: Mapping[str, str] = field(default_factory=dict[str, str])
    """Description of each name that several tools share."""

    def shape_of(self, tool: str, *, builtin: bool) -> Shape | None:
        """Return the first shape of a canonical tool in this dialect, None where it is left out."""
        if not builtin:
            return Shape(tool=tool, name=tool) if self.foreign else None
        listed = next((shape for shape in self.shapes if shape.tool == tool), None)
        if listed is not None or not self.others:
            return listed
        return Shape(tool=tool, name=tool, camel=self.camel)


def dialect(name: str) -> Dialect:
    """Return the dialect called `name`.

    Raises:
        ConfigError: there is none.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        near = nearest(name, DIALECTS, most=1)
        raise ConfigError(
            f"no dialect {name[:80]!r}" + (f"; nearest: {near[0]!r}" if near else ""),
            hint=f"Known dialects: {', '.join(DIALECTS)}.",
        ) from None


# What shapes share -----------------------------------------------------------------------------------------------

_TEXT: Mapping[str, Any] = {"type": "string"}
_FLAG: Mapping[str, Any] = {"type": "boolean", "default": False}
_COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 0}
_LINE: Mapping[str, Any] = {"type": "integer", "minimum": 1}


def _says(schema: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    return {**schema, "description": text}


def _flat(old: str, new: str, every: str | None) -> Mapping[str, str]:
    """Return where the places inside the list of edits come from in a flat edit."""
    places = {"edits": old, "edits.0": old, "edits.0.old": old, "edits.0.new": new}
    return {**places, "edits.0.replace_all": every} if every else places


_OLD_NEW: Mapping[str, Mapping[str, Any]] = {
    "old_string": _says(
        _TEXT, "The exact text to replace, whitespace and all. It must occur once, or set replace_all."
    ),
    "new_string": _says(_TEXT, "The text to put in its place."),
    "replace_all": _says(_FLAG, "Replace every occurrence."),
}
_CITED: Mapping[str, str] = {"digest": "Digest of your last reading of the file, 12 hex characters or more."}
_EDIT_TEXT = (
    "Replace an exact piece of text in a file. The text must be found exactly once, unless every occurrence is to be "
    "replaced. Read the file first. The answer holds the diff."
)
_WRITE_TEXT = "Write a whole file, making its directories. Replacing a file that exists asks the person first."


# The dialects ------------------------------------------------------------------------------------------------------

_TOOLCRIB = Dialect(
    name="toolcrib",
    shapes=(Shape(tool="edit_file", name="edit_file", required=("digest",), notes=_CITED),),
    others=True,
)

_STAAGE = Dialect(
    name="staage",
    foreign=False,
    shapes=(
        Shape(tool="read_file", name="file_read"),
        Shape(tool="edit_file", name="file_edit", required=("digest",), notes=_CITED, marks=frozenset({"no_rebase"})),
        Shape(tool="write_file", name="file_write"),
        Shape(tool="glob", name="file_find"),
        Shape(tool="grep", name="file_search"),
    ),
    aliases={"file.no_match": "file.missing"},
    details={"file.no_match": {"what": "text"}},
    bounds={
        "next_cursor": "nextCursor",
        "scan_capped": "scanCapped",
        "skipped_binary": "skippedBinary",
        "skipped_large": "skippedLarge",
        "skipped_denied": "skippedDenied",
        "skipped_ignored": "skippedIgnored",
        "skipped_unreadable": "skippedUnreadable",
        "clipped_lines": "clippedLines",
    },
)

_KRAM = Dialect(
    name="kram",
    shapes=(
        Shape(tool="read_file", name="read_file", keep=("path",)),
        Shape(
            tool="write_file",
            name="write_file",
            keep=("path", "content"),
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=_WRITE_TEXT,
        ),
        Shape(
            tool="edit_file",
            name="edit_file",
            keep=("path",),
            extra=_OLD_NEW,
            required=("old_string", "new_string"),
            converter=flat_edit,
            spelling=_flat("old_string", "new_string", "replace_all"),
            text=_EDIT_TEXT,
        ),
        Shape(tool="list_dir", name="list_dir", keep=("path",)),
        Shape(tool="grep", name="grep", keep=("pattern", "path"), fixed={"mode": "regex"}),
        Shape(tool="glob", name="glob", keep=("pattern", "cwd"), rename={"cwd": "path"}),
        Shape(tool="artifact_read", name="artifact_read", keep=("id", "offset", "limit")),
    ),
)

_STANDARD = Dialect(
    name="standard",
    others=True,
    camel=True,
    bounds={
        "next_cursor": "nextCursor",
        "scan_capped": "scanCapped",
        "skipped_binary": "skippedBinary",
        "skipped_large": "skippedLarge",
        "skipped_denied": "skippedDenied",
        "skipped_ignored": "skippedIgnored",
        "skipped_unreadable": "skippedUnreadable",
        "clipped_lines": "clippedLines",
    },
    json=frozenset(
        {
            "write_file",
            "edit_file",
            "bash",
            "scheme_repl",
            "scheme_watch",
            "update_metadata",
            "context_need",
            "memory_write",
            "memory_search",
        }
    ),
)

_CLAUDE = Dialect(
    name="claude",
    shapes=(
        Shape(tool="read_file", name="Read", keep=("path", "offset", "limit"), rename={"path": "file_path"}),
        Shape(
            tool="edit_file",
            name="Edit",
            keep=("path",),
            rename={"path": "file_path"},
            extra=_OLD_NEW,
            required=("old_string", "new_string"),
            converter=flat_edit,
            spelling=_flat("old_string", "new_string", "replace_all"),
            text=_EDIT_TEXT,
        ),
        Shape(
            tool="write_file",
            name="Write",
            keep=("path", "content"),
            rename={"path": "file_path"},
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=_WRITE_TEXT,
        ),
        Shape(tool="glob", name="Glob", keep=("pattern", "cwd"), rename={"cwd": "path"}),
        Shape(
            tool="grep",
            name="Grep",
            keep=("pattern", "path", "glob", "multiline"),
            fixed={"mode": "regex"},
            extra={
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "default": "files_with_matches",
                    "description": "Matching lines, the files that have any, or how many each file has.",
                },
                "-i": _says(_FLAG, "Ignore case."),
                "-n": {"type": "boolean", "default": True, "description": "Line numbers; they are always given."},
                "-A": _says(_COUNT, "Lines to show after each match."),
                "-B": _says(_COUNT, "Lines to show before each match."),
                "-C": _says(_COUNT, "Lines to show around each match."),
                "head_limit": _says(_COUNT, "Most entries to return; 0 for the usual limit."),
            },
            converter=claude_grep,
            spelling={"output": "output_mode", "ignore_case": "-i", "context": "-C", "limit": "head_limit"},
            text=(
                "Search file contents with a regular expression (RE2 syntax). `output_mode` chooses between matching "
                "lines, file names and counts; `glob` narrows the files that are opened."
            ),
        ),
    ),
)

_CODEX = Dialect(
    name="codex",
    shapes=(
        Shape(
            tool="read_file",
            name="view_image",
            keep=("path",),
            text="Show an image file of the workspace.",
        ),
    ),
)

_GEMINI = Dialect(
    name="gemini",
    shapes=(
        Shape(
            tool="read_file",
            name="read_file",
            keep=("path",),
            rename={"path": "file_path"},
            extra={
                "start_line": _says(_LINE, "First line to read, counted from 1."),
                "end_line": _says(_LINE, "Last line to read, itself included."),
            },
            converter=line_span,
            spelling={"offset": "start_line", "limit": "end_line"},
        ),
        Shape(
            tool="write_file",
            name="write_file",
            keep=("path", "content"),
            rename={"path": "file_path"},
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=_WRITE_TEXT,
        ),
        Shape(
            tool="edit_file",
            name="replace",
            keep=("path",),
            rename={"path": "file_path"},
            extra={
                "instruction": _says(_TEXT, "What the edit is for, in words; it changes nothing."),
                "old_string": _says(_TEXT, "The exact text to replace, whitespace and all."),
                "new_string": _says(_TEXT, "The text to put in its place."),
                "allow_multiple": _says(_FLAG, "Replace every occurrence; otherwise it must be found exactly once."),
            },
            required=("old_string", "new_string"),
            converter=gemini_edit,
            spelling=_flat("old_string", "new_string", "allow_multiple"),
            text=_EDIT_TEXT,
        ),
        Shape(tool="list_dir", name="list_directory", keep=("path",), rename={"path": "dir_path"}),
        Shape(tool="glob", name="glob", keep=("pattern", "cwd"), rename={"cwd": "dir_path"}),
        Shape(
            tool="grep",
            name="grep_search",
            keep=("pattern", "path", "glob"),
            rename={"path": "dir_path", "glob": "include_pattern"},
            extra={
                "case_sensitive": _says(_FLAG, "Heed case; by default it is ignored."),
                "fixed_strings": _says(_FLAG, "Take the pattern as plain text, not as a regular expression."),
                "names_only": _says(_FLAG, "Return only the names of the files that match."),
                "context": _says(_COUNT, "Lines to show around each match."),
                "after": _says(_COUNT, "Lines to show after each match."),
                "before": _says(_COUNT, "Lines to show before each match."),
                "no_ignore": _says(_FLAG, "Search ignored files too."),
                "total_max_matches": _says(_LINE, "Most matches to return."),
            },
            converter=gemini_grep,
            spelling={"output": "names_only", "mode": "fixed_strings", "limit": "total_max_matches"},
            text="Search file contents with a regular expression (RE2 syntax), or for plain text with `fixed_strings`.",
        ),
    ),
)

_EDITOR = "str_replace_editor"
_COMMAND: Mapping[str, Mapping[str, Any]] = {"command": _says(_TEXT, "What to do.")}

_OPENHANDS = Dialect(
    name="openhands",
    group={
        _EDITOR: (
            "View, create and edit files. `view` shows a file with its lines, or lists a directory when the path ends "
            "in a slash. `create` writes a new file from `file_text`. `str_replace` replaces `old_str`, which must be "
            "found exactly once, by `new_str`."
        )
    },
    shapes=(
        Shape(
            tool="list_dir",
            name=_EDITOR,
            keep=("path",),
            choice=("command", "view"),
            selector=is_directory_name,
            extra=_COMMAND,
            converter=chosen,
        ),
        Shape(
            tool="read_file",
            name=_EDITOR,
            keep=("path",),
            choice=("command", "view"),
            extra={
                **_COMMAND,
                "view_range": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": "For `view`: the first and the last line, counted from 1; -1 is the end.",
                },
            },
            converter=view_range,
            spelling={"offset": "view_range", "limit": "view_range"},
        ),
        Shape(
            tool="write_file",
            name=_EDITOR,
            keep=("path", "content"),
            rename={"content": "file_text"},
            notes={"file_text": "For `create`: the whole content of the new file."},
            choice=("command", "create"),
            extra=_COMMAND,
            converter=chosen,
        ),
        Shape(
            tool="edit_file",
            name=_EDITOR,
            keep=("path",),
            choice=("command", "str_replace"),
            extra={
                **_COMMAND,
                "old_str": _says(_TEXT, "For `str_replace`: the exact text to replace."),
                "new_str": _says(
                    _TEXT, "For `str_replace`: the text to put in its place; without it the old one goes."
                ),
            },
            required=("old_str",),
            converter=openhands_edit,
            spelling=_flat("old_str", "new_str", None),
        ),
    ),
)

DIALECTS: Mapping[str, Dialect] = {
    each.name: each for each in (_TOOLCRIB, _STAAGE, _KRAM, _STANDARD, _CLAUDE, _CODEX, _GEMINI, _OPENHANDS)
}
"""Every dialect by name, the default first."""
