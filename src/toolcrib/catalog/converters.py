"""The named pure functions by which dialects turn their arguments into canonical ones. Data is in `dialects`."""

from collections.abc import Mapping
from typing import Any

from toolcrib.catalog.shapes import Unfit
from toolcrib.terms.outcome import Fields


def flat_edit(args: Fields, *, old: str = "old_string", new: str = "new_string", every: str = "replace_all") -> Fields:
    """Turn one flat replacement into the list of edits."""
    edit = {"old": args.pop(old, None), "new": args.pop(new, None), "replace_all": args.pop(every, False)}
    args["edits"] = [{name: value for name, value in edit.items() if value is not None}]
    return args


def gemini_edit(args: Fields) -> Fields:
    """Drop the instruction, which is prose about the edit, and turn the flat replacement into the list of edits."""
    args.pop("instruction", None)
    return flat_edit(args, every="allow_multiple")


def openhands_edit(args: Fields) -> Fields:
    """Turn `old_str` and `new_str` into the list of edits; without a new text the old one is removed."""
    args.pop("command", None)
    args.setdefault("new_str", "")
    return flat_edit(args, old="old_str", new="new_str", every="")


FILE_TYPES: Mapping[str, str] = {
    "c": "*.{c,h}",
    "cpp": "*.{cc,cpp,cxx,hh,hpp,hxx,h}",
    "cs": "*.cs",
    "css": "*.{css,scss}",
    "go": "*.go",
    "html": "*.{htm,html}",
    "java": "*.java",
    "js": "*.{js,jsx,cjs,mjs}",
    "json": "*.json",
    "md": "*.{md,markdown,mdx}",
    "php": "*.php",
    "py": "*.{py,pyi}",
    "ruby": "*.rb",
    "rust": "*.rs",
    "sh": "*.{bash,sh,zsh}",
    "swift": "*.swift",
    "toml": "*.toml",
    "ts": "*.{ts,tsx,cts,mts}",
    "yaml": "*.{yaml,yml}",
}
"""The types of file that a content search can be kept to, each with its names as a glob."""


def claude_grep(args: Fields) -> Fields:
    """Turn ripgrep's letters into names. The wider of the contexts asked for is shown on both sides; numbers always."""
    args.pop("-n", None)
    if (kind := args.pop("type", None)) is not None:
        if args.get("glob") is not None:
            raise Unfit("type", "expected either type or glob, found both")
        args["glob"] = FILE_TYPES[kind]
    args["output"] = {"content": "lines", "count": "count"}.get(args.pop("output_mode", ""), "files")
    if args.pop("-i", False) is True:
        args["ignore_case"] = True
    return _limited(_wider(args, "-A", "-B", "-C"), "head_limit")


def gemini_grep(args: Fields) -> Fields:
    """Turn the switches into modes: case is ignored unless asked for, a fixed string is a plain pattern."""
    args["ignore_case"] = not args.pop("case_sensitive", False)
    args["mode"] = "plain" if args.pop("fixed_strings", False) is True else "regex"
    args["output"] = "files" if args.pop("names_only", False) is True else "lines"
    if args.pop("no_ignore", False) is True:
        args["include_ignored"] = True
    return _limited(_wider(args, "after", "before", "context"), "total_max_matches")


def line_span(args: Fields) -> Fields:
    """Turn a first and a last line, both 1-based and inclusive, into an offset and a limit."""
    first, last = args.pop("start_line", 1), args.pop("end_line", None)
    return _span(args, first, last, place="end_line")


def view_range(args: Fields) -> Fields:
    """Turn `[first, last]`, 1-based and inclusive, -1 for the end, into an offset and a limit."""
    args.pop("command", None)
    span = args.pop("view_range", None)
    if span is None:
        return args
    if len(span) != 2 or not all(isinstance(each, int) and not isinstance(each, bool) for each in span):
        raise Unfit("view_range", f"expected two line numbers, found {span!r}"[:200])
    return _span(args, span[0], None if span[1] == -1 else span[1], place="view_range")


def chosen(args: Fields) -> Fields:
    """Drop the argument that chose the tool."""
    args.pop("command", None)
    return args


def is_directory_name(args: Mapping[str, Any]) -> bool:
    """Tell whether the path is written as a directory: `.`, or with a slash at its end."""
    path = args.get("path")
    return isinstance(path, str) and (path in {"", "."} or path.endswith("/"))


def _span(args: Fields, first: Any, last: Any, *, place: str) -> Fields:
    if isinstance(first, bool) or not isinstance(first, int) or first < 1:
        raise Unfit(place if place == "view_range" else "start_line", f"lines count from 1, found {first!r}"[:200])
    args["offset"] = first
    if last is not None:
        if not isinstance(last, int) or last < first:
            raise Unfit(place, f"the last line {last!r} comes before the first, {first}"[:200])
        args["limit"] = last - first + 1
    return args


def _wider(args: Fields, *names: str) -> Fields:
    asked = [args.pop(name) for name in names if name in args]
    counts = [each for each in asked if isinstance(each, int)]
    if counts:
        args["context"] = max(counts)
    return args


def _limited(args: Fields, name: str) -> Fields:
    limit = args.pop(name, None)
    if isinstance(limit, int) and limit > 0:
        args["limit"] = limit
    return args
