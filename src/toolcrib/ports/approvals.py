"""Approvals and grants: stored Asks, single use, bound to the digest of the exact effect."""

from collections.abc import Sequence
from typing import Protocol

from toolcrib.terms.call import Decision
from toolcrib.terms.records import Approval, Entry, Grant


class Approvals(Protocol):
    """The store of Asks. Every change is on the tape in the same transaction."""

    async def ask(self, approval: Approval, entries: Sequence[Entry]) -> None:
        """Store a pending approval together with `entries`.

        Raises:
            Refusal: `call.limit` when too many wait already.
        """
        ...

    async def find(self, approval_id: str) -> Approval | None:
        """Return the approval whose id is, or uniquely starts or ends with, `approval_id`."""
        ...

    async def pending(self) -> Sequence[Approval]:
        """Return the pending approvals that have not expired, oldest first."""
        ...

    async def answer(self, approval_id: str, *, decision: Decision, words: str, by: str) -> Approval:
        """Record the first valid answer and return the approval as it then stands.

        Raises:
            Refusal: `approval.expired`, or `approval.stale`, which says what settled it and who, when it was answered.
        """
        ...

    async def consume(self, *, effect: str, principal: str) -> Approval | None:
        """Take the granted approval of this exact effect and principal, if there is one, once.

        An `always` makes its grant in the same transaction.
        """
        ...

    async def standing(self, *, effect: str, principal: str) -> Approval | None:
        """Return the pending or denied approval of this exact effect and principal, newest first, if there is one."""
        ...

    async def wait(self, approval_id: str, *, seconds: float) -> Approval:
        """Return the approval once it is answered or expired, or as it stands after `seconds`."""
        ...

    async def lease(self, holder: str, *, seconds: float) -> None:
        """Say that `holder` watches for approvals for `seconds` from now; 0 ends it."""
        ...

    async def attended(self) -> bool:
        """Tell whether anyone holds an approver lease."""
        ...


class Grants(Protocol):
    """The store of standing yeses."""

    async def active(self, root: str) -> Sequence[Grant]:
        """Return the grants of `root` that have neither expired nor been used up, oldest first."""
        ...

    async def every(self, root: str) -> Sequence[Grant]:
        """Return the grants of `root`, those that have ended too, oldest first."""
        ...

    async def add(self, grant: Grant) -> None:
        """Store a grant."""
        ...

    async def use(self, grant_id: str) -> bool:
        """Count one use; False when none was left."""
        ...

    async def revoke(self, grant_id: str, *, by: str) -> bool:
        """Remove a grant, on the word of `by`; False when there was none."""
        ...
