"""Locks on the write footprint: two calls of one process never change the same path at once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from toolcrib.terms.footprint import Footprint


class Locks:
    """One lock a canonical path, taken in order so that two calls cannot wait for each other."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[asyncio.Lock, int]] = {}

    @property
    def idle(self) -> bool:
        """Whether no path is held or waited for."""
        return not self._held

    @asynccontextmanager
    async def hold(self, footprint: Footprint) -> AsyncGenerator[None]:
        """Hold the locks of every path that `footprint` writes."""
        async with AsyncExitStack() as stack:
            for path in sorted(set(footprint.writes)):
                await stack.enter_async_context(self._one(path))
            yield

    @asynccontextmanager
    async def _one(self, path: str) -> AsyncGenerator[None]:
        lock, users = self._held.get(path, (asyncio.Lock(), 0))
        self._held[path] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._held[path]
            if users == 1:
                del self._held[path]
            else:
                self._held[path] = (lock, users - 1)
