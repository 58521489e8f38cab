"""What the file fake says: places of spots, windows of lines, and its refusals."""

from collections.abc import Sequence

from toolcrib.terms.digest import of_link
from toolcrib.terms.facts import PathKind, Place
from toolcrib.terms.refusals import Refusal
from toolcrib.testing.tree import Directory, File, Link, Special, Spot

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"%PDF-", "PDF document"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
)
"""How some kinds of content start."""


def placed(spot: Spot, digest: str | None) -> Place:
    """Return the place that a spot is."""
    node = spot.node
    if not isinstance(node, File):
        mark = of_link(node.target) if isinstance(node, Link) else None
        return Place(asked=spot.asked, path=spot.path, kind=kind(spot), digest=mark)
    return Place(
        asked=spot.asked,
        path=spot.path,
        kind="file",
        size=len(node.data),
        mode=node.mode,
        links=node.links,
        digest=digest,
    )


def kind(spot: Spot) -> PathKind:
    """Return the kind of what stands there."""
    match spot.node:
        case None:
            return "missing"
        case Link():
            return "symlink"
        case Directory():
            return "directory"
        case File():
            return "file"
        case Special(kind):
            return kind


def cut(lines: Sequence[str], first: int, most_bytes: int, line_chars: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the lines that fit, damage marked; the first always fits, cut to the bytes there are."""
    shown: list[str] = []
    clipped: list[tuple[int, int]] = []
    left = most_bytes
    for number, line in enumerate(lines, first):
        kept = line[:line_chars]
        if shown and len(_marked(kept).encode()) + 1 > left:
            break
        while kept and len(_marked(kept).encode()) > left:
            kept = kept[: len(kept) * 3 // 4]
        if len(kept) < len(line):
            clipped.append((number, len(line)))
        shown.append(_marked(kept))
        left -= len(shown[-1].encode()) + 1
        if left <= 0:
            break
    return shown, clipped


def _marked(text: str) -> str:
    return "".join(
        f"\\x{ord(each) & 0xFF:02x}" if each == "\0" or "\udc80" <= each <= "\udcff" else each for each in text
    )


def not_regular(path: str, kind: PathKind) -> Refusal:
    """Return the refusal of what is no regular file."""
    words = {"fifo": "a FIFO", "symlink": "a symbolic link"}
    return Refusal("file.not_regular", f"expected a regular file at {path!r}, found {words.get(kind, f'a {kind}')}")


def refuse_read_only(path: str, node: File) -> None:
    """Refuse a file that its owner may not write."""
    if not node.mode & 0o200:
        raise Refusal("file.read_only", f"{path!r} is read-only (mode {node.mode:04o})")


def stale(path: str, why: str) -> Refusal:
    """Return the refusal of a file that is not what the call expects."""
    return Refusal("file.stale", f"{path!r} is not what this call expects: {why}.", hint="Read it again.")
