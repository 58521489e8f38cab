"""Calling a tool as the line does, over files in memory: facts taken first, readings remembered afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from toolcrib.ports.artifacts import Artifacts
from toolcrib.ports.context import Context
from toolcrib.ports.files import Files
from toolcrib.terms.call import Principal
from toolcrib.terms.facts import Facts, Place
from toolcrib.terms.payload import Answer
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import Previewed, Tool
from toolcrib.testing.fakes import MemoryArtifacts, MemoryFiles


@dataclass(frozen=True)
class Circumstances:
    """The context of one call."""

    facts: Facts
    takes_media: bool = False
    call_id: str = "call"
    principal: Principal = field(default_factory=lambda: Principal(id="test", face="python", thread="thread"))

    def remaining(self) -> float:
        """Return some time."""
        return 60.0

    async def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        """Tell nobody."""


@dataclass
class Hand:
    """One caller, the files it works on, and what it last saw of each."""

    files: MemoryFiles = field(default_factory=MemoryFiles)
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    seen: dict[str, str] = field(default_factory=dict[str, str])
    rebase: bool = True
    takes_media: bool = False
    powers: dict[type, object] = field(default_factory=dict[type, object])

    async def facts(self, tool: Tool, args: Any) -> Facts:
        """Return what admit would know."""
        named = tool.footprint(args)
        places: dict[str, Place] = {}
        for path in (*named.writes, *named.reads):
            places[path] = await self.files.place(path, digest=bool(tool.pins), follow=tool.follows)
        return Facts(places=tuple(places.values()), cited=dict(self.seen), rebase=self.rebase)

    async def call(self, tool: Tool, /, *, facts: Facts | None = None, **args: Any) -> Answer[Any]:
        """Run the body of the tool."""
        parsed = tool.parameters.model_validate(args)
        known = facts or await self.facts(tool, parsed)
        answer: Answer[Any] = await tool.body(parsed, **self._powers(tool, known))
        if answer.evidence.digest is not None:
            self.seen[answer.payload.path] = answer.evidence.digest
        return answer

    async def preview(self, tool: Tool, /, **args: Any) -> Previewed:
        """Run the preview of the tool."""
        assert tool.preview is not None
        parsed = tool.parameters.model_validate(args)
        return await tool.preview(parsed, **self._powers(tool, await self.facts(tool, parsed)))

    async def refused(self, tool: Tool, name: str, /, *, facts: Facts | None = None, **args: Any) -> Refusal:
        """Call and demand this refusal, by a preview too where the tool has one; the tool must declare the name."""
        if tool.preview is not None and facts is None:
            with pytest.raises(Refusal) as early:
                await self.preview(tool, **args)
            assert early.value.name == name
        with pytest.raises(Refusal) as caught:
            await self.call(tool, facts=facts, **args)
        refusal = caught.value
        assert refusal.name == name, refusal
        assert refusal.name in tool.descriptor.refusals
        assert refusal.happened == "no"
        return refusal

    def _powers(self, tool: Tool, facts: Facts) -> Mapping[str, object]:
        known: dict[type, object] = {
            Files: self.files,
            Artifacts: self.artifacts,
            Context: Circumstances(facts, self.takes_media),
            **self.powers,
        }
        return {name: known[port] for name, port in tool.powers}
