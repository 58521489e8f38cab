"""The dialects of model families, as data: the tools under the names and arguments that those models know."""

from collections.abc import Mapping
from typing import Any

from toolcrib.catalog.common import (
    COUNT,
    EDIT_TEXT,
    FLAG,
    GREP_TEXT,
    LINE,
    OLD_NEW,
    REGEX,
    TEXT,
    WRITE_TEXT,
    flat,
    says,
)
from toolcrib.catalog.converters import (
    FILE_TYPES,
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
from toolcrib.catalog.shapes import Dialect, Shape

CLAUDE = Dialect(
    name="claude",
    shapes=(
        Shape(tool="read_file", name="Read", keep=("path", "offset", "limit"), rename={"path": "file_path"}),
        Shape(
            tool="edit_file",
            name="Edit",
            keep=("path",),
            rename={"path": "file_path"},
            extra=OLD_NEW,
            required=("old_string", "new_string"),
            converter=flat_edit,
            spelling=flat("old_string", "new_string", "replace_all"),
            text=EDIT_TEXT,
        ),
        Shape(
            tool="write_file",
            name="Write",
            keep=("path", "content"),
            rename={"path": "file_path"},
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=WRITE_TEXT,
        ),
        Shape(tool="glob", name="Glob", keep=("pattern", "cwd", "cursor"), rename={"cwd": "path"}),
        Shape(
            tool="grep",
            name="Grep",
            keep=("pattern", "path", "glob", "multiline", "cursor"),
            notes=REGEX,
            fixed={"mode": "regex"},
            extra={
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "default": "files_with_matches",
                    "description": "Matching lines, the files that have any, or how many each file has.",
                },
                "type": {
                    "type": "string",
                    "enum": list(FILE_TYPES),
                    "description": "Only open files of this type; glob says it more exactly.",
                },
                "-i": says(FLAG, "Ignore case."),
                "-n": {"type": "boolean", "default": True, "description": "Line numbers; they are always given."},
                "-A": says(COUNT, "Lines to show after each match."),
                "-B": says(COUNT, "Lines to show before each match."),
                "-C": says(COUNT, "Lines to show around each match."),
                "head_limit": says(COUNT, "Most entries to return; 0 for the usual limit."),
            },
            converter=claude_grep,
            spelling={"output": "output_mode", "ignore_case": "-i", "context": "-C", "limit": "head_limit"},
            text=f"{GREP_TEXT} `output_mode` chooses between matching lines, file names (the default) and counts.",
        ),
    ),
)

CODEX = Dialect(
    name="codex",
    shapes=(
        Shape(
            tool="read_file",
            name="view_image",
            keep=("path",),
            text="Show an image file of the workspace.",
        ),
        Shape(tool="apply_patch", name="apply_patch", rename={"patch": "input"}),
    ),
)

GEMINI = Dialect(
    name="gemini",
    shapes=(
        Shape(
            tool="read_file",
            name="read_file",
            keep=("path",),
            rename={"path": "file_path"},
            extra={
                "start_line": says(LINE, "First line to read, counted from 1."),
                "end_line": says(LINE, "Last line to read, itself included."),
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
            text=WRITE_TEXT,
        ),
        Shape(
            tool="edit_file",
            name="replace",
            keep=("path",),
            rename={"path": "file_path"},
            extra={
                "instruction": says(TEXT, "What the edit is for, in words; it changes nothing."),
                "old_string": says(TEXT, "The exact text to replace, whitespace and all."),
                "new_string": says(TEXT, "The text to put in its place."),
                "allow_multiple": says(FLAG, "Replace every occurrence; otherwise it must be found exactly once."),
            },
            required=("old_string", "new_string"),
            converter=gemini_edit,
            spelling=flat("old_string", "new_string", "allow_multiple"),
            text=EDIT_TEXT,
        ),
        Shape(tool="list_dir", name="list_directory", keep=("path", "cursor"), rename={"path": "dir_path"}),
        Shape(tool="glob", name="glob", keep=("pattern", "cwd", "cursor"), rename={"cwd": "dir_path"}),
        Shape(
            tool="grep",
            name="grep_search",
            keep=("pattern", "path", "glob", "cursor"),
            notes=REGEX,
            rename={"path": "dir_path", "glob": "include_pattern"},
            extra={
                "case_sensitive": says(FLAG, "Heed case; by default it is ignored."),
                "fixed_strings": says(FLAG, "Take the pattern as plain text, not as a regular expression."),
                "names_only": says(FLAG, "Return only the names of the files that match."),
                "context": says(COUNT, "Lines to show around each match."),
                "after": says(COUNT, "Lines to show after each match."),
                "before": says(COUNT, "Lines to show before each match."),
                "no_ignore": says(FLAG, "Search ignored files too."),
                "total_max_matches": says(LINE, "Most matches to return."),
            },
            converter=gemini_grep,
            spelling={"output": "names_only", "mode": "fixed_strings", "limit": "total_max_matches"},
            text=f"{GREP_TEXT} With `fixed_strings` the pattern is plain text.",
        ),
    ),
)

_EDITOR = "str_replace_editor"
_COMMAND: Mapping[str, Mapping[str, Any]] = {"command": says(TEXT, "What to do.")}

OPENHANDS = Dialect(
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
                "old_str": says(TEXT, "For `str_replace`: the exact text to replace."),
                "new_str": says(TEXT, "For `str_replace`: the text to put in its place; without it the old one goes."),
            },
            required=("old_str",),
            converter=openhands_edit,
            spelling=flat("old_str", "new_str", None),
        ),
    ),
)
