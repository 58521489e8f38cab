"""A crib on a bench: a temporary workspace with its own state, gone when the test ends."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import to_thread

from toolcrib.ports.ask import Asker
from toolcrib.terms.settings import Mode
from toolcrib.terms.tool import Tool
from toolcrib.wiring.build import open_at
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.load import Places


@asynccontextmanager
async def bench(
    files: Mapping[str, str | bytes] | None = None,
    *,
    tools: Sequence[Tool] = (),
    mode: Mode = "work",
    approver: Asker | None = None,
    without: Iterable[str] = (),
) -> AsyncGenerator[Crib]:
    """Open a crib on a temporary workspace that holds `files`, by path: text (as UTF-8) or bytes.

    The store, the tape, the membrane and the rules are the real ones; nothing of the person's own state is touched.
    """
    home = await to_thread.run_sync(lambda: TemporaryDirectory(prefix="toolcrib-bench-"))
    try:
        top = Path(home.name)
        await to_thread.run_sync(_lay, top / "work", files or {})
        where = Places(
            config=top / "config", state=top / "state", git_excludes=top / "ignore", search_path="", secrets=()
        )
        async with open_at(where, top / "work", mode=mode, tools=tools, approver=approver, without=without) as crib:
            yield crib
    finally:
        await to_thread.run_sync(home.cleanup)


def _lay(root: Path, files: Mapping[str, str | bytes]) -> None:
    root.mkdir()
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
