"""Which deferred tools each thread has loaded, and the power that loads them."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.deferral import SEARCH, find
from toolcrib.engine.kit import Binding
from toolcrib.ports.toolbox import Offered

THREADS = 1000
"""Threads whose loaded tools are remembered; the longest unused goes first."""


class Loads:
    """Canonical names of loaded tools by thread. They live as long as the crib and its conversation."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, thread: str) -> frozenset[str]:
        """Return what `thread` has loaded."""
        return self._names.get(thread, frozenset())

    def add(self, thread: str, names: Collection[str]) -> None:
        """Load `names` for `thread`."""
        self._names[thread] = self.of(thread) | frozenset(names)
        self._names.move_to_end(thread)
        while len(self._names) > THREADS:
            self._names.popitem(last=False)


class LiveToolbox:
    """The port `Toolbox` over the live catalog, for one call."""

    def __init__(self, binding: Binding, *, catalog: Callable[[], Catalog], loads: Loads) -> None:
        self._binding = binding
        self._catalog = catalog
        self._loads = loads

    async def search(self, query: str, *, limit: int) -> tuple[Sequence[Offered], Sequence[str]]:
        """Return the tools that `query` speaks of, best first, loading them; and the names of all that are deferred."""
        thread = self._binding.context.principal.thread
        view = self._catalog().view(
            dialect=self._binding.dialect, without=self._binding.without, loaded=self._loads.of(thread)
        )
        put_off = {item.name for item in view.deferred}
        tools = [item for item in (*view.items, *view.deferred) if item.entry.name != SEARCH]
        found = find(tools, query)[:limit]
        if names := {item.entry.name for item in found if item.name in put_off}:
            self._loads.add(thread, names)
        offered = [
            Offered(name=each.name, description=each.description, schema=each.schema, loaded=each.name in put_off)
            for each in found
        ]
        return offered, sorted(put_off)
