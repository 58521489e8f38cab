"""Engines one behind another, and what they proposed before: the same question about an unchanged tree is not asked."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.engine import NOTHING, Engine, Job, Proposal, Truth, doubting
from toolcrib.host.finder.heads import Heads

MOST_ANSWERS = 32
"""Answers that are remembered."""
_MOST_PATHS = 5_000
"""Paths in an answer that is worth its memory; reading more files is slower than asking again."""
_MOST_CHANGED = 200


@dataclass(frozen=True, slots=True)
class _Answer:
    version: int
    files: frozenset[str]
    proposal: Proposal


class Remembered:
    """Asks `engines` in order until one proposes something, and remembers it. Implements `engine.Engine`.

    What changed since is left to our own scanner; with `heads` files known to be no text are not.
    """

    def __init__(self, engines: Sequence[Engine], truth: Truth, heads: Heads | None = None) -> None:
        self._engines = tuple(engines)
        self._truth = truth
        self._heads = heads
        self._answers: OrderedDict[tuple[str, bool, int], _Answer] = OrderedDict()

    @property
    def name(self) -> str:
        """The names of the engines, the first asked first."""
        return ", ".join(engine.name for engine in self._engines)

    async def close(self) -> None:
        """Close the engines."""
        self._answers.clear()
        for engine in self._engines:
            await engine.close()

    async def propose(self, job: Job, budget: Budget) -> Proposal:
        """Return what is remembered, or what the first engine says that says something."""
        key = (job.expression, job.multiline, job.most_file)
        known = self._known(key, job)
        if known is not None:
            return known
        version = self._truth.version
        for engine in self._engines:
            proposal = await engine.propose(job, budget)
            if proposal.rest:
                if self._heads is not None:
                    proposal = await self._heads.told(proposal, job, budget)
                self._remember(key, version, job, proposal)
                return proposal
        return NOTHING

    def _known(self, key: tuple[str, bool, int], job: Job) -> Proposal | None:
        answer = self._answers.get(key)
        if answer is None:
            return None
        changed = self._truth.changed_since(answer.version)
        if changed is None or len(changed) > _MOST_CHANGED:
            del self._answers[key]
            return None
        self._answers.move_to_end(key)
        if job.files is answer.files:
            return doubting(answer.proposal, job, changed)
        if not job.files - changed <= answer.files:
            return None
        return doubting(_narrowed(answer.proposal, job), job, changed)

    def _remember(self, key: tuple[str, bool, int], version: int, job: Job, proposal: Proposal) -> None:
        if len(proposal.counts) + len(proposal.doubtful) > _MOST_PATHS:
            return
        self._answers[key] = _Answer(version, job.files, replace(proposal, read=False))
        self._answers.move_to_end(key)
        while len(self._answers) > MOST_ANSWERS:
            self._answers.popitem(last=False)


def _narrowed(proposal: Proposal, job: Job) -> Proposal:
    """Return what a proposal says of the job's files, which are fewer."""
    return Proposal(
        counts={path: count for path, count in proposal.counts.items() if path in job.files},
        doubtful=proposal.doubtful & job.files,
        binary=proposal.binary & job.files,
        rest=proposal.rest,
    )
