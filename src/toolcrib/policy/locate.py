"""Where in a TOML text a key stands, so that a fault found after parsing still names its line and column."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.terms.errors import ConfigError

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z_\"'][^\]\[]*?)\s*\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_OPENERS = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line that begins a table or sets a key: its table, the count of that table so far, and the key's place."""

    number: int
    column: int
    table: str
    count: int
    key: str


@dataclass(slots=True)
class Locator:
    """Finds keys in one text. `file` is how messages call it."""

    text: str
    file: str
    _lines: list[_Line] | None = field(default=None, repr=False)

    @property
    def end(self) -> tuple[int, int]:
        """The line and column just past the text, 1-based."""
        lines = self.text.split("\n")
        return len(lines), len(lines[-1]) + 1

    def find(self, at: Sequence[str | int]) -> tuple[int, int]:
        """Return the 1-based line and column of the place `at`, such as `("policy", "rules", 2, "path")`.

        Where the key itself is written in a way that is not looked for, the nearest place above it is returned.
        """
        lines = self._lines if self._lines is not None else list(_scan(self.text))
        self._lines = lines
        for length in range(len(at), 0, -1):
            found = self._exact(at[:length], lines)
            if found is not None:
                return found.number, found.column
        return 1, 1

    def fault(self, message: str, *, at: Sequence[str | int], hint: str = "") -> ConfigError:
        """Return the error for what is wrong at a key."""
        line, column = self.find(at)
        return self.at(line, column, message, hint=hint)

    def at(self, line: int, column: int, message: str, *, hint: str = "") -> ConfigError:
        """Return the error for what is wrong at a line and column."""
        return ConfigError(
            f"{self.file}:{line}:{column}: {message}", hint=hint or f"Correct line {line} of {self.file}."
        )

    def _exact(self, at: Sequence[str | int], lines: Sequence[_Line]) -> _Line | None:
        count = next((part for part in at if isinstance(part, int)), 0)
        after = [str(part) for part in at[at.index(count) + 1 :]] if count else []
        table = [str(part) for part in (at[: at.index(count)] if count else at)]
        if count:
            dotted, key = ".".join(table), ".".join(after)
            return next((line for line in lines if (line.table, line.count, line.key) == (dotted, count, key)), None)
        whole = ".".join(table)
        return next((line for line in lines if whole == ".".join(filter(None, (line.table, line.key)))), None)


def _scan(text: str) -> Iterator[_Line]:
    table, counts, count = "", dict[str, int](), 0
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):
        if closing:
            closing = "" if closing in line else closing
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None and key is None:
            table = _plain(header[2])
            counts[table] = counts.get(table, 0) + 1
            count = counts[table] if header[1] == "[[" else 0
            yield _Line(number, header.start(1) + 1, table, count, "")
        elif key is not None:
            yield _Line(number, key.start(1) + 1, table, count, _plain(key[1]))
            value = line[key.end() :]
            closing = next((mark for mark in _OPENERS if value.count(mark) % 2), "")


def _plain(dotted: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in dotted.split("."))
