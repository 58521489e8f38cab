"""Which files are no text, remembered while they do not change: an engine names them again for every question."""

from dataclasses import replace
from functools import partial

from toolcrib.host.finder.budget import Budget, hop
from toolcrib.host.finder.engine import Job, Proposal, Truth
from toolcrib.host.finder.reading import binaries

_MOST = 20_000
"""Files that are remembered; with more, all are forgotten."""

_AT_ONCE = 4_000


class Heads:
    """What is known of the beginnings of files beneath the handle `root`, which stays the caller's."""

    def __init__(self, root: int, truth: Truth) -> None:
        self._root = root
        self._truth = truth
        self._version = 0
        self._met: set[str] = set()
        """Files that were left to our own scanner before. Only what comes up again is worth a look of its own."""
        self._binary: dict[str, bool] = {}

    async def told(self, proposal: Proposal, job: Job, budget: Budget) -> Proposal:
        """Return the proposal with the files that are no text taken from those to be searched."""
        if not proposal.rest or not proposal.doubtful or not self._forget():
            return proposal
        again, version = self._met & proposal.doubtful, self._truth.version
        unknown = [path for path in again if path not in self._binary]
        if 0 < len(unknown) <= _AT_ONCE:
            found = await hop(budget, partial(binaries, self._root, unknown, job.most_file))
            # Meanwhile another search may have taken note of a change, and forgotten what was not here yet.
            changed = self._truth.changed_since(version)
            if changed is None or not self._forget():
                return proposal
            self._binary.update((path, path in found) for path in unknown if path not in changed)
        self._met |= proposal.doubtful
        if len(self._met) > _MOST:
            self._met.clear()
            self._binary.clear()
            return proposal
        binary = frozenset(path for path in again if self._binary.get(path))
        return replace(proposal, doubtful=proposal.doubtful - binary, binary=proposal.binary | binary)

    def _forget(self) -> bool:
        """Forget files that changed; False when nobody knows which did."""
        version = self._truth.version
        changed = self._truth.changed_since(self._version)
        self._version = version
        if changed is None:
            self._met.clear()
            self._binary.clear()
            return False
        for path in changed:
            self._binary.pop(path, None)
        return True
