"""The order of every projection: alphabetical, or a configured one with a marker for the rest; never a silent other."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from toolcrib.terms.errors import ConfigError
from toolcrib.terms.names import nearest

REST = "<unlisted-tools>"
"""Where in a configured order every tool that it does not list stands, alphabetically."""


def check(
    order: Sequence[str], *, known: Collection[str], servers: Collection[str] = (), place: str = "tool order"
) -> None:
    """Refuse an order that is not one: every name known and listed once, the marker exactly once.

    `known` holds every declared tool, visible or not; tools of the configured MCP `servers` are known as a whole, so
    that a server which is down breaks no start. `place` is what a fault begins with: where the order stands.

    Raises:
        ConfigError: a duplicate, a missing marker or an unknown name; all of them are named.
    """
    counts = Counter(order)
    faults = [f"{name!r} stands {count} times" for name, count in counts.items() if count > 1]
    if REST not in counts:
        faults.append(f"the marker {REST!r} is missing")
    prefixes = tuple(f"mcp__{server}__" for server in servers)
    for name in counts:
        if name == REST or name in known or (prefixes and name.startswith(prefixes)):
            continue
        near = nearest(name, known, most=1)
        faults.append(f"{name!r} is no tool" + (f" (nearest: {near[0]!r})" if near else ""))
    if faults:
        raise ConfigError(
            f"{place}: {'; '.join(faults)}",
            hint=f"List each tool once, and {REST!r} exactly once where all others belong.",
        )


def arrange(names: Iterable[str], order: Sequence[str] | None) -> tuple[str, ...]:
    """Return `names` in `order`; without one, alphabetically. A listed name that is not in `names` does not appear."""
    alphabetical = sorted(names)
    if order is None:
        return tuple(alphabetical)
    listed = set(order)
    rest = [name for name in alphabetical if name not in listed]
    present = set(alphabetical)
    arranged: list[str] = []
    for name in order:
        if name == REST:
            arranged.extend(rest)
        elif name in present:
            arranged.append(name)
    return tuple(arranged)
