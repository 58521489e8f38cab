"""Binds the powers that a tool's signature asks for, and only those."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.engine.kit import Binding, Factory
from toolcrib.ports.ask import Progress
from toolcrib.ports.clock import Clock
from toolcrib.ports.context import Context
from toolcrib.terms.call import Principal
from toolcrib.terms.facts import Facts
from toolcrib.terms.tool import Tool


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The context of one call, as the port `Context` has it. `deadline` is monotonic seconds."""

    call_id: str
    principal: Principal
    facts: Facts
    takes_media: bool
    clock: Clock
    deadline: float
    listener: Progress | None = None

    def remaining(self) -> float:
        """Return the seconds left before the deadline."""
        return max(0.0, self.deadline - self.clock.monotonic())

    async def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        """Tell the caller, waiting at most a second for a listener that is slow."""
        if self.listener is not None:
            try:
                async with asyncio.timeout(1.0):
                    await self.listener(message, done, total)
            except TimeoutError:
                return


def bind(tool: Tool, binding: Binding, powers: Mapping[type, Factory]) -> dict[str, Any]:
    """Return the keyword arguments of the tool's body: one bound power for each that it declares.

    Raises:
        KeyError: the tool asks for a power that was not wired, which building the catalog rules out.
    """
    return {name: binding.context if port is Context else powers[port](binding) for name, port in tool.powers}


def unwired(tool: Tool, powers: Mapping[type, Factory]) -> str | None:
    """Return why the tool cannot run ("needs a store"), or None."""
    missing = [port.__name__.lower() for _, port in tool.powers if port is not Context and port not in powers]
    return "needs " + ", ".join(missing) if missing else None
