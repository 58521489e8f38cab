"""Tables for a terminal. The only module that imports the terminal library, and loaded only when a table is drawn."""

from collections.abc import Sequence
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def grid(rows: Sequence[Sequence[str]], *, heads: Sequence[str], colour: bool) -> str:
    """Return `rows`, whose cells are harmless already, drawn as wide as the terminal."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        last = place == len(heads) - 1
        table.add_column(head, no_wrap=not last, overflow="fold" if last else "ellipsis")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    drawn = StringIO()
    console = Console(file=drawn, force_terminal=True, no_color=not colour, highlight=False)
    console.print(table)
    return drawn.getvalue()
