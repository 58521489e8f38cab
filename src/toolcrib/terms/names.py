"""Names that the host gives: origins, call ids, temp files. A name is never supplied by a model or a server."""

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

OriginKind = Literal["builtin", "custom", "mcp", "pack"]
"""The kinds of declarer."""

TEMP_PREFIX = ".toolcrib-tmp-"
"""Start of every temporary name that the product makes in a workspace; no tool lists such a name."""

JOURNAL = "journal"
"""How the temporary name of a call's journal of several changes ends."""

TEMP_NAME = re.compile(rf"\.toolcrib-tmp-[0-9a-z]{{26}}-(?:[0-9a-f]{{16}}|{JOURNAL})\Z")
"""The whole form: prefix, call id, 32 random bits, and 32 bits tied to the inode so that recovery knows its own."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(one + two for one in _ALPHABET for two in _ALPHABET)


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Who declared a tool: `builtin`, `custom:<file>`, `mcp:<server>` or `pack:<name>`."""

    kind: OriginKind
    label: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.label}" if self.label else self.kind


BUILTIN = Origin("builtin")
"""The origin of every tool this package ships."""


def mint_id() -> str:
    """Return a fresh id: 26 characters, 48 bits of milliseconds then 80 random bits, so ids sort by time."""
    number = (int(time.time() * 1000) & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def nearest(name: str, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """Return the known names most like `name`, best first."""
    return tuple(get_close_matches(name[:200], list(known), n=most, cutoff=0.5))
