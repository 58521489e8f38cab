"""In-memory clock, blobs, artifacts and files: they pass the suites of the real adapters, and need no disk."""

from collections.abc import Sequence

from toolcrib.ports.artifacts import Artifact, Hit, Slice
from toolcrib.store.artifacts import cut
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.memory import MemoryFiles

__all__ = ["ManualClock", "MemoryArtifacts", "MemoryBlobs", "MemoryFiles"]


class ManualClock:
    """Both clocks, moved by hand; `advance` moves them alike."""

    def __init__(self, now: float = 1_700_000_000.0, monotonic: float = 1000.0) -> None:
        self.wall = now
        self.ticks = monotonic

    def now(self) -> float:
        """Return wall time."""
        return self.wall

    def monotonic(self) -> float:
        """Return monotonic time."""
        return self.ticks

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self.wall += seconds
        self.ticks += seconds


class MemoryBlobs:
    """The port `Blobs` over a dictionary."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    async def put(self, data: bytes, *, digest: str | None = None) -> str:
        """Store `data` and return its digest."""
        digest = of_bytes(data)
        self.held[digest] = bytes(data)
        return digest

    async def get(self, digest: str) -> bytes:
        """Return the bytes, checked against the digest."""
        if digest not in self.held:
            raise Refusal("snapshot.missing", f"the store holds no bytes under {digest[:64]!r}")
        data = self.held[digest]
        if of_bytes(data) != digest:
            raise Refusal("snapshot.damaged", f"the stored bytes {digest[:12]} no longer match their digest")
        return data


class MemoryArtifacts:
    """The port `Artifacts` over a dictionary: an id is `a` and 24 hex digits of the content's digest."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[Artifact, bytes]] = {}

    async def put(self, data: bytes, *, media: str) -> Artifact:
        """Store `data`; what is stored already keeps its first media type."""
        name = "a" + of_bytes(data)[:24]
        return self.held.setdefault(name, (Artifact(id=name, size=len(data), media=media), bytes(data)))[0]

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> Slice:
        """Return up to `limit` bytes; of text, whole characters and at least one of them."""
        artifact, data = self._find(artifact_id)
        start = min(max(0, offset), len(data))
        end = min(len(data), start + max(0, limit))
        if start < end and _is_text(artifact.media):
            start, end = cut(data, start, end - start)
        return Slice(artifact=artifact, offset=start, data=data[start:end])

    async def search(self, artifact_id: str, pattern: str, *, limit: int) -> tuple[Sequence[Hit], int]:
        """Return the first lines that hold `pattern`, and how many do."""
        _, data = self._find(artifact_id)
        needle = pattern.encode("utf-8", "surrogatepass")
        hits: list[Hit] = []
        total = at = 0
        for number, line in enumerate(data.split(b"\n"), 1):
            if needle in line:
                total += 1
                shown = line[:2000].decode("utf-8", "replace").rstrip("\r")[:500]
                hits.append(Hit(line=number, offset=at, text=shown))
            at += len(line) + 1
        return hits[:limit], total

    def _find(self, artifact_id: str) -> tuple[Artifact, bytes]:
        if artifact_id not in self.held:
            raise Refusal("artifact.missing", f"there is no artifact {artifact_id[:80]!r}")
        return self.held[artifact_id]


def _is_text(media: str) -> bool:
    kind = media.partition(";")[0].strip().lower()
    more = {"application/javascript", "application/toml"}
    return kind.startswith("text/") or kind.endswith(("json", "xml")) or kind in more
