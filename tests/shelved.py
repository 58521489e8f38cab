"""What the tests of the store share: a clock that is set by hand, an open store, and the entries of a small call."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from anyio import to_thread

from toolcrib.store.store import Store
from toolcrib.terms.names import mint_id
from toolcrib.terms.records import Approval, Entry, Grant

ROOT = Path(__file__).resolve().parent.parent


class Hands:
    """A clock whose two readings the test moves; it starts at the true ones."""

    def __init__(self) -> None:
        self.wall = time.time()
        self.steady = time.monotonic()

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.steady

    def pass_by(self, seconds: float) -> None:
        """Let time pass, as both clocks see it."""
        self.wall += seconds
        self.steady += seconds


class Running(Hands):
    """A clock that runs, for tests with several processes."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


@contextmanager
def opened(directory: Path | str, clock: Hands | None = None) -> Generator[Store]:
    """Open the store in `directory` and close it at the end."""
    store = Store.open(str(directory), clock=clock or Hands())
    try:
        yield store
    finally:
        store.close()


@asynccontextmanager
async def at(directory: Path | str, clock: Hands | None = None) -> AsyncGenerator[Store]:
    """Open the store in `directory` from a running event loop, which opening would block."""
    hands = clock or Hands()
    store = await to_thread.run_sync(lambda: Store.open(str(directory), clock=hands))
    try:
        yield store
    finally:
        await to_thread.run_sync(store.close)


def received(call_id: str, **more: Any) -> Entry:
    """Return the first entry of a call."""
    data: dict[str, Any] = {
        "kind": "file_mutate",
        "tool": "edit_file",
        "principal": "me",
        "thread": "t",
        "owner": "o",
        "args": {},
    }
    return Entry(stage="received", call_id=call_id, data={**data, **more})


def closed(call_id: str, *, changed: Sequence[str] = (), text: str = "done") -> Entry:
    """Return the last entry of a call."""
    changes = [{"path": path, "before": None, "after": "ab" * 32} for path in changed]
    evidence = {"changed": changes} if changed else {}
    outcome = {"kind": "ok", "tool": "edit_file", "call_id": call_id, "payload": {}, "bounds": {}, "evidence": evidence}
    return Entry(stage="closed", call_id=call_id, data={"outcome": outcome, "text": text})


def call(call_id: str, **more: Any) -> list[Entry]:
    """Return the entries of a whole call."""
    return [received(call_id), Entry(stage="judged", call_id=call_id, data={"rule": "x"}), closed(call_id, **more)]


def approval(clock: Hands, *, seconds: float = 600.0, **more: Any) -> Approval:
    """Return a pending approval that expires after `seconds`."""
    fields: dict[str, Any] = {
        "id": mint_id(),
        "call_id": mint_id(),
        "tool": "edit_file",
        "tool_digest": "d1",
        "text_digest": "d2",
        "effect": "e" * 64,
        "principal": "me",
        "root": "/root",
        "subject": "a.py",
        "headline": "edit a.py",
        "diff": "-a\n+b\n",
        "args": {"path": "a.py"},
        "reason": "mode ask",
        "created": clock.now(),
        "expires": clock.now() + seconds,
    }
    return Approval(**{**fields, **more})


def asked(approval: Approval) -> list[Entry]:
    """Return the entries that an approval is stored with."""
    data = {"approval": approval.id, "headline": approval.headline}
    return [received(approval.call_id), Entry(stage="asked", call_id=approval.call_id, data=data)]


def grant(clock: Hands, **more: Any) -> Grant:
    """Return a grant without expiry or count."""
    fields: dict[str, Any] = {
        "id": mint_id(),
        "tool": "edit_file",
        "tool_digest": "d1",
        "text_digest": "d2",
        "pattern": "*.py",
        "root": "/root",
        "by": "me",
        "approval": "a1",
        "created": clock.now(),
    }
    return Grant(**{**fields, **more})


def child(code: str, *arguments: str, quiet: bool = False) -> "subprocess.Popen[str]":
    """Start Python on `code` with the tests on its path, input and output piped; `quiet` drops its errors."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        env={**os.environ, "PYTHONPATH": path},
        encoding="utf-8",
    )


OUTSIDE = """
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
try:
    for statement in sys.argv[2:]:
        print(json.dumps(database.execute(statement).fetchall(), default=str))
except sqlite3.Error as error:
    print(json.dumps(str(error)))
if not sys.stdin.closed:
    sys.stdout.flush()
    sys.stdin.read()
"""


def outside(place: Path, *statements: str) -> "subprocess.Popen[str]":
    """Run statements on an open store from another process, which stays until its stdin is closed.

    Never from this one: closing a second connection of another SQLite would drop the locks of the first.
    """
    return child(OUTSIDE, str(place / "store.db"), *statements)


def answers(place: Path, *statements: str) -> list[Any]:
    """Return what statements answer from another process, the last one the words of an error, if there is one."""
    output, _ = outside(place, *statements).communicate()
    return [json.loads(line) for line in output.splitlines()]
