"""Minting of tool names from (origin, raw name): collision-free, origin-bound, never supplied by a model or server."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from toolcrib.terms.digest import of_json
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import Origin

LIMIT = 64
"""Longest name that every provider takes, characters."""

_SUFFIX = 8
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]+\Z")

Declared = tuple[Origin, str]
"""One declaration: who declares it, and its raw name."""


class ClashError(ConfigError):
    """Two declarations that would carry one name. `origins` are the two declarers, in sorted order."""

    def __init__(self, message: str, *, origins: tuple[Origin, Origin], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.origins = origins


def mint(declared: Sequence[Declared]) -> Mapping[Declared, str]:
    """Return the name of each declaration; the result does not depend on their order.

    A built-in keeps its name; an MCP tool is `mcp__<server>__<tool>`; any other carries its raw name until two origins
    declare the same one, then all of them but a built-in are `<origin>__<raw name>`.

    Raises:
        ClashError: two names are the same to a provider (`normal`), or one origin declares a name twice.
        ConfigError: a raw name is empty.
    """
    owners: dict[str, set[Origin]] = defaultdict(set)
    for origin, raw in declared:
        if not raw:
            raise ConfigError(f"{origin} declares a tool without a name", hint="Give every tool a name.")
        if origin.kind != "mcp":
            owners[raw].add(origin)
    names: dict[Declared, str] = {}
    holders: dict[str, Declared] = {}
    for each in sorted(declared):
        name = _fit(_full(each, owners), each)
        other = holders.setdefault(normal(name), each)
        if each in names or other != each:
            raise _clash(other, each)
        names[each] = name
    return names


def normal(name: str) -> str:
    """Return what a provider may make of `name`: lower case, `-` and `.` as `_`."""
    return name.lower().replace("-", "_").replace(".", "_")


def apart(origin: Origin, raw: str) -> str:
    """Return the name of a tool of another origin where its own is taken: `<origin>__<raw name>`."""
    label = _EXTENSION.sub("", origin.label) or origin.kind
    return _fit(f"{label}__{raw}", (origin, raw))


def _full(each: Declared, owners: Mapping[str, set[Origin]]) -> str:
    origin, raw = each
    if origin.kind == "builtin":
        return raw
    if origin.kind == "mcp":
        return f"mcp__{origin.label}__{raw}"
    if len(owners[raw]) == 1:
        return raw
    return apart(origin, raw)


def _fit(name: str, each: Declared) -> str:
    """Return `name` in the characters and the length that every provider takes."""
    plain = _FOREIGN.sub("_", name)
    if not (plain[0].isalpha() or plain[0] == "_"):
        plain = f"_{plain}"
    if len(plain) <= LIMIT:
        return plain
    suffix = of_json([str(each[0]), each[1]])[:_SUFFIX]
    return f"{plain[: LIMIT - _SUFFIX - 1]}_{suffix}"


def _clash(one: Declared, other: Declared) -> ClashError:
    return ClashError(
        f"tools {one[1]!r} of {one[0]} and {other[1]!r} of {other[0]} would carry one name",
        origins=(one[0], other[0]),
        hint="Rename one of them, or leave one of the two origins out.",
    )
