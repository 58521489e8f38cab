"""A Jupyter notebook as lines a reader can follow: cells with their source and the text of their outputs.

Format: nbformat 4 (cells with `source`, `outputs` of kind stream, execute_result, display_data and error).
"""

import json
from collections.abc import Iterator
from typing import Any

from toolcrib.terms.text import split_lines

MOST = 4 << 20
"""Bytes of the largest notebook that is rendered; a larger one is read as its JSON text."""

OUTPUT_LINES = 40
"""Lines shown of one output."""


def render(data: bytes) -> list[str] | None:
    """Return the lines of the notebook, or None when `data` is not one."""
    try:
        book: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = book.get("cells") if isinstance(book, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(cells, list):
        return None
    lines: list[str] = []
    for number, cell in enumerate(cells, 1):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        lines.extend(_cell(number, _fields(cell)))
    return lines


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    count = cell.get("execution_count")
    ran = f" [{count}]" if isinstance(count, int) else ""
    yield f"# %% cell {number}: {cell.get('cell_type', 'unknown')}{ran}"
    yield from split_lines(_text(cell.get("source")))
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:  # pyright: ignore[reportUnknownVariableType]
        yield from _output(_fields(output))


def _output(output: dict[str, Any]) -> Iterator[str]:
    if output.get("output_type") == "error":
        yield f"# -> error: {output.get('ename', '')}: {output.get('evalue', '')}"
        return
    data = _fields(output.get("data"))
    text = output.get("text") if output.get("output_type") == "stream" else data.get("text/plain")
    lines = split_lines(_text(text))
    yield from (f"# -> {line}" for line in lines[:OUTPUT_LINES])
    if len(lines) > OUTPUT_LINES:
        yield f"# -> [... {len(lines) - OUTPUT_LINES:,} more lines of this output]"
    for media in sorted(set(data) - {"text/plain"}):
        yield f"# -> [{media}, {len(_text(data[media])):,} characters]"


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
