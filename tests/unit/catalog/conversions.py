"""What arguments become in each dialect: two lines a case, the call as made, and the canonical one with its marks."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Conversion:
    """One call in a dialect, and the canonical call that it means."""

    spoken: str
    name: str
    args: dict[str, Any]
    tool: str
    canonical: dict[str, Any]
    marks: frozenset[str]

    def __str__(self) -> str:
        return f"{self.spoken}-{self.name}-{'-'.join(self.args) or 'nothing'}"


_TEXT = """
toolcrib read_file {"path": "a", "limit": 3}
  = read_file {"path": "a", "limit": 3}
toolcrib edit_file {"path": "a", "digest": "0123456789ab", "edits": [{"old": "a", "new": "b", "replace_all": false}]}
  = edit_file {"path": "a", "digest": "0123456789ab", "edits": [{"old": "a", "new": "b", "replace_all": false}]}
staage file_read {"path": "a"}
  = read_file {"path": "a"}
staage file_edit {"path": "a", "digest": "0123456789ab", "edits": [{"old": "a", "new": "b"}]}
  = edit_file {"path": "a", "digest": "0123456789ab", "edits": [{"old": "a", "new": "b"}]} no_rebase
staage file_write {"path": "a", "content": "x", "overwrite_existing": true}
  = write_file {"path": "a", "content": "x", "overwrite_existing": true}
staage file_find {"pattern": "*.py", "cwd": "src"}
  = glob {"pattern": "*.py", "cwd": "src"}
staage file_search {"pattern": "x", "mode": "regex"}
  = grep {"pattern": "x", "mode": "regex"}
kram read_file {"path": "a"}
  = read_file {"path": "a"}
kram edit_file {"path": "a", "old_string": "a", "new_string": "b"}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": false}]}
kram edit_file {"path": "a", "old_string": "a", "new_string": "b", "replace_all": true}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": true}]}
kram write_file {"path": "a", "content": "x"}
  = write_file {"path": "a", "content": "x", "overwrite_existing": true} always_ask
kram glob {"pattern": "*", "path": "src"}
  = glob {"pattern": "*", "cwd": "src"}
kram grep {"pattern": "a|b"}
  = grep {"pattern": "a|b", "mode": "regex"}
kram list_dir {}
  = list_dir {}
kram move_file {"old_path": "a", "new_path": "b"}
  = move_file {"old_path": "a", "new_path": "b", "overwrite_existing": true} always_ask
kram delete_file {"path": "a"}
  = delete_file {"path": "a"}
codex apply_patch {"input": "*** Begin Patch"}
  = apply_patch {"patch": "*** Begin Patch"}
toolcrib apply_patch {"patch": "x"}
  = apply_patch {"patch": "x"}
toolcrib move_file {"old_path": "a", "new_path": "b", "overwrite_existing": true}
  = move_file {"old_path": "a", "new_path": "b", "overwrite_existing": true}
standard move_file {"oldPath": "a", "newPath": "b", "overwriteExisting": true}
  = move_file {"old_path": "a", "new_path": "b", "overwrite_existing": true}
kram artifact_read {"id": "x", "offset": 5}
  = artifact_read {"id": "x", "offset": 5}
standard write_file {"path": "a", "content": "x", "overwriteExisting": true}
  = write_file {"path": "a", "content": "x", "overwrite_existing": true}
standard edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replaceAll": true}]}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": true}]}
standard grep {"pattern": "x", "ignoreCase": true, "includeIgnored": true}
  = grep {"pattern": "x", "ignore_case": true, "include_ignored": true}
claude Read {"file_path": "a", "offset": 2}
  = read_file {"path": "a", "offset": 2}
claude Edit {"file_path": "a", "old_string": "a", "new_string": "b"}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": false}]}
claude Write {"file_path": "a", "content": "x"}
  = write_file {"path": "a", "content": "x", "overwrite_existing": true} always_ask
claude Glob {"pattern": "**/*", "path": "src"}
  = glob {"pattern": "**/*", "cwd": "src"}
claude Grep {"pattern": "x"}
  = grep {"pattern": "x", "mode": "regex", "output": "files"}
claude Grep {"pattern": "x", "output_mode": "content", "-i": true, "-n": true, "head_limit": 7.0}
  = grep {"pattern": "x", "mode": "regex", "output": "lines", "ignore_case": true, "limit": 7}
claude Grep {"pattern": "x", "-A": 1, "-B": "3", "-C": 2, "glob": "*.py", "multiline": true}
  = grep {"pattern": "x", "mode": "regex", "output": "files", "context": 3, "glob": "*.py", "multiline": true}
claude Grep {"pattern": "x", "type": "py"}
  = grep {"pattern": "x", "mode": "regex", "output": "files", "glob": "*.{py,pyi}"}
claude Grep {"pattern": "x", "output_mode": "count", "head_limit": 0}
  = grep {"pattern": "x", "mode": "regex", "output": "count"}
codex view_image {"path": "a.png"}
  = read_file {"path": "a.png"}
gemini read_file {"file_path": "a", "start_line": 3, "end_line": 5}
  = read_file {"path": "a", "offset": 3, "limit": 3}
gemini read_file {"file_path": "a"}
  = read_file {"path": "a", "offset": 1}
gemini replace {"file_path": "a", "instruction": "why", "old_string": "a", "new_string": "b", "allow_multiple": true}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": true}]}
gemini list_directory {"dir_path": "src"}
  = list_dir {"path": "src"}
gemini glob {"pattern": "*", "dir_path": "src"}
  = glob {"pattern": "*", "cwd": "src"}
gemini grep_search {"pattern": "x", "include_pattern": "*.py", "case_sensitive": true, "names_only": true}
  = grep {"pattern": "x", "mode": "regex", "glob": "*.py", "ignore_case": false, "output": "files"}
gemini grep_search {"pattern": "x", "no_ignore": true, "total_max_matches": 9}
  = grep {"pattern": "x", "mode": "regex", "ignore_case": true, "output": "lines", "include_ignored": true, "limit": 9}
gemini grep_search {"pattern": "x", "fixed_strings": true, "context": 2}
  = grep {"pattern": "x", "mode": "plain", "ignore_case": true, "output": "lines", "context": 2}
gemini write_file {"file_path": "a", "content": "x"}
  = write_file {"path": "a", "content": "x", "overwrite_existing": true} always_ask
openhands str_replace_editor {"command": "view", "path": "a", "view_range": [2, 4]}
  = read_file {"path": "a", "offset": 2, "limit": 3}
openhands str_replace_editor {"command": "view", "path": "a", "view_range": [2, -1]}
  = read_file {"path": "a", "offset": 2}
openhands str_replace_editor {"command": "view", "path": "src/"}
  = list_dir {"path": "src/"}
openhands str_replace_editor {"command": "view", "path": "."}
  = list_dir {"path": "."}
openhands str_replace_editor {"command": "create", "path": "a", "file_text": "x"}
  = write_file {"path": "a", "content": "x"}
openhands str_replace_editor {"command": "str_replace", "path": "a", "old_str": "a", "new_str": "b"}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "b", "replace_all": false}]}
openhands str_replace_editor {"command": "str_replace", "path": "a", "old_str": "a"}
  = edit_file {"path": "a", "edits": [{"old": "a", "new": "", "replace_all": false}]}
"""


def _read() -> Iterator[Conversion]:
    lines = _TEXT.strip().splitlines()
    for call, meant in zip(lines[::2], lines[1::2], strict=True):
        spoken, name, args = call.split(" ", 2)
        tool, rest = meant.removeprefix("  = ").split(" ", 1)
        canonical, end = json.JSONDecoder().raw_decode(rest)
        yield Conversion(spoken, name, json.loads(args), tool, canonical, frozenset(rest[end:].split()))


CONVERSIONS = tuple(_read())
