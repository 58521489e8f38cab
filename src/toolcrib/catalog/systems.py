"""The dialects of the systems that this catalog joins, as data, and the default one."""

from collections.abc import Mapping

from toolcrib.catalog.common import CITED, EDIT_TEXT, GREP_TEXT, MOVE_TEXT, OLD_NEW, REGEX, WRITE_TEXT, flat
from toolcrib.catalog.converters import flat_edit
from toolcrib.catalog.shapes import Dialect, Shape

_CAMEL_BOUNDS: Mapping[str, str] = {
    "next_cursor": "nextCursor",
    "scan_capped": "scanCapped",
    "skipped_binary": "skippedBinary",
    "skipped_large": "skippedLarge",
    "skipped_denied": "skippedDenied",
    "skipped_ignored": "skippedIgnored",
    "skipped_unreadable": "skippedUnreadable",
    "clipped_lines": "clippedLines",
}

TOOLCRIB = Dialect(
    name="toolcrib",
    shapes=(Shape(tool="edit_file", name="edit_file", required=("digest",), notes=CITED),),
    others=True,
)

_EXACT = (
    "Replace exact text in one file. Each edit names `old`, quoted from `file_read` without its line number and tab, "
    "and `new`. `old` must occur exactly once, or set `replace_all`. All edits of a call are made, or none. Cite the "
    "digest of your last reading: any change of the file since is refused as file.stale. The answer holds the diff and "
    "the digest for the next edit."
)

STAAGE = Dialect(
    name="staage",
    foreign=False,
    shapes=(
        Shape(tool="read_file", name="file_read"),
        Shape(
            tool="edit_file",
            name="file_edit",
            required=("digest",),
            notes=CITED,
            marks=frozenset({"no_rebase"}),
            text=_EXACT,
        ),
        Shape(tool="write_file", name="file_write"),
        Shape(tool="glob", name="file_find"),
        Shape(tool="grep", name="file_search"),
    ),
    aliases={"file.no_match": "file.missing"},
    details={"file.no_match": {"what": "text"}},
    bounds=_CAMEL_BOUNDS,
)

KRAM = Dialect(
    name="kram",
    shapes=(
        Shape(tool="read_file", name="read_file", keep=("path", "offset", "limit")),
        Shape(
            tool="write_file",
            name="write_file",
            keep=("path", "content"),
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=WRITE_TEXT,
        ),
        Shape(
            tool="edit_file",
            name="edit_file",
            keep=("path",),
            extra=OLD_NEW,
            required=("old_string", "new_string"),
            converter=flat_edit,
            spelling=flat("old_string", "new_string", "replace_all"),
            text=EDIT_TEXT,
        ),
        Shape(
            tool="move_file",
            name="move_file",
            keep=("old_path", "new_path"),
            fixed={"overwrite_existing": True},
            marks=frozenset({"always_ask"}),
            text=MOVE_TEXT,
        ),
        Shape(tool="delete_file", name="delete_file"),
        Shape(tool="list_dir", name="list_dir", keep=("path", "cursor")),
        Shape(
            tool="grep",
            name="grep",
            keep=("pattern", "path", "cursor"),
            fixed={"mode": "regex"},
            notes=REGEX,
            text=GREP_TEXT,
        ),
        Shape(tool="glob", name="glob", keep=("pattern", "cwd", "cursor"), rename={"cwd": "path"}),
        Shape(tool="artifact_read", name="artifact_read", keep=("id", "offset", "limit", "pattern")),
    ),
)

STANDARD = Dialect(
    name="standard",
    others=True,
    camel=True,
    bounds=_CAMEL_BOUNDS,
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
