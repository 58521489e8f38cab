"""The family `artifacts`: reading what was too large to answer with."""

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.ports.artifacts import Artifacts
from toolcrib.terms.outcome import Bounds
from toolcrib.terms.payload import Answer, Arguments, Payload
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.tool import tool
from toolcrib.tools.plain import clip, counted, printable
from toolcrib.tools.prose import load

_PROSE = load("artifacts")

HITS = 100
"""Lines that a search in an artifact shows."""

LINE = 500
"""Characters shown of such a line."""


class ArtifactRead(Arguments):
    """Parameters of `artifact_read`."""

    id: str = Field(min_length=1, max_length=200, description="The artifact's id, as an earlier answer gave it.")
    offset: int = Field(default=0, ge=0, description="First byte to show, from 0.")
    limit: int = Field(default=8000, ge=1, le=50_000, description="How many bytes at most.")
    pattern: str | None = Field(
        default=None, min_length=1, description="Show the lines that hold this text instead, with their offsets."
    )


class ArtifactLine(BaseModel):
    """A line that holds the pattern: its number, the byte offset of its start, and its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: int
    offset: int
    text: str


class ArtifactSlice(Payload):
    """What `artifact_read` answers: a slice, or with a pattern the lines that hold it."""

    id: str
    media_type: str
    size: int
    offset: int = 0
    end: int = 0
    content: str = ""
    pattern: str | None = None
    lines: tuple[ArtifactLine, ...] = ()
    total_lines: int | None = None

    def text(self) -> str:
        """Return a heading, then the slice or the lines."""
        head = f"{self.id}: {self.media_type}, {self.size:,} bytes"
        if self.pattern is not None:
            total = self.total_lines or 0
            found = f"{counted(total, 'line')} with {self.pattern!r}"
            if total > len(self.lines):
                found = f"first {len(self.lines):,} of {found}; use a longer pattern, or read from an offset"
            return "\n".join([f"{head}; {found}", *(f"{each.line} @{each.offset}: {each.text}" for each in self.lines)])
        if self.offset >= self.size:
            return f"{head}; offset {self.offset:,} is past the end" if self.size else f"{head}; empty"
        rest = f"; {self.size - self.end:,} more, continue with offset={self.end}" if self.end < self.size else ""
        return f"{head}; bytes {self.offset:,} to {self.end:,}{rest}\n{self.content}"


@tool(
    kind="read",
    effect="read",
    approval="never",
    summary="Read what was too large to answer with, in slices or by a text it holds.",
    description=_PROSE["artifact_read"],
    spills=False,
    refusals=("artifact.missing", "file.binary", "store.unavailable"),
)
async def artifact_read(args: ArtifactRead, artifacts: Artifacts) -> Answer[ArtifactSlice]:
    """Read a stored output; see the family's page."""
    if args.pattern is not None:
        return await _searched(args.id, args.pattern, artifacts)
    found = await artifacts.read(args.id, offset=args.offset, limit=args.limit)
    artifact, end = found.artifact, found.offset + len(found.data)
    if not _is_text(artifact.media):
        raise Refusal(
            "file.binary",
            f"artifact {artifact.id} is {artifact.media}, {artifact.size:,} bytes, and no text",
            hint="a client that shows media takes it from the answer that named it",
        )
    payload = ArtifactSlice(
        id=artifact.id,
        media_type=artifact.media,
        size=artifact.size,
        offset=found.offset,
        end=end,
        content=printable(found.data.decode("utf-8", "surrogateescape")),
    )
    return Answer(payload, Bounds(truncated=end < artifact.size))


async def _searched(artifact_id: str, pattern: str, artifacts: Artifacts) -> Answer[ArtifactSlice]:
    hits, total = await artifacts.search(artifact_id, pattern, limit=HITS)
    artifact = (await artifacts.read(artifact_id, offset=0, limit=1)).artifact
    lines = tuple(
        ArtifactLine(line=each.line, offset=each.offset, text=clip(printable(each.text), LINE)) for each in hits
    )
    payload = ArtifactSlice(
        id=artifact.id,
        media_type=artifact.media,
        size=artifact.size,
        pattern=pattern,
        lines=lines,
        total_lines=total,
    )
    return Answer(payload, Bounds(truncated=total > len(lines)))


def _is_text(media: str) -> bool:
    kind = media.partition(";")[0].strip().lower()
    more = {"application/javascript", "application/toml"}
    return kind.startswith("text/") or kind.endswith(("json", "xml")) or kind in more
