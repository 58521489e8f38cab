"""The membrane: every operation touches only inodes reached beneath the root handle at that moment.

Paths are as the caller gave them: relative to the root, or absolute beneath it. Links inside are followed when their
text is relative. Above: tools and the engine's checkpoint. Below: `host/workspace`, or the fake in `testing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.terms.facts import Place
from toolcrib.terms.text import Encoding, Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A whole regular file, read once: its bytes, and the digest of exactly these bytes."""

    place: Place
    data: bytes
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some lines of a text file. Above the whole-file cap `digest` and `total_lines` are None."""

    place: Place
    lines: tuple[str, ...]
    first: int
    """1-based number of the first line in `lines`; past the end when there is none."""
    total_lines: int | None
    digest: str | None
    encoding: Encoding
    ending: Ending
    clipped: tuple[tuple[int, int], ...] = ()
    """(line number, true length in characters) of each line that was cut."""
    more: bool = False
    """Lines follow that were not returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One file replaced or created, proven: `before` is the digest of the displaced bytes, None if created."""

    place: Place
    before: str | None
    after: str
    created_parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One name given to what had another: where it was, where it is, and the digest of what it displaced, if any."""

    old: str
    place: Place
    displaced: str | None = None
    created_parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """One of several changes that are made together: `data` is put at `path`, or with None what stands there goes."""

    path: str
    data: bytes | None
    expect: str | None
    """The digest of what stands there now, None for nothing."""
    mode: int | None = None
    """The permission bits; by default those of the replaced file, of `like`, or 0666 less the umask."""
    like: str | None = None
    """For a new file: the file whose owner, mode and extended attributes it takes over."""


class Files(Protocol):
    """Reads and atomic writes beneath the workspace root.

    Raises:
        Refusal: `file.outside`, `file.missing` (with the nearest names), `file.not_regular`, `file.not_directory`,
            `file.denied`, `file.too_large`, `workspace.gone`, and those named on a method.
    """

    async def place(self, path: str, *, digest: bool = False, follow: bool = True) -> Place:
        """Resolve `path` (which may be missing) to its canonical place; with `digest`, hash a regular file.

        Without `follow` a link at the end of the path is the place itself, with the digest of its text.
        """
        ...

    async def entries(self, path: str, *, most: int) -> tuple[Place, ...]:
        """Return everything beneath the directory at `path`, sorted by path, no link followed, nothing hashed.

        Raises:
            Refusal: also `call.limit` when there are more than `most`.
        """
        ...

    async def load(self, path: str, *, most: int) -> Loaded:
        """Read a whole regular file of at most `most` bytes."""
        ...

    async def window(self, path: str, *, offset: int, limit: int, most_bytes: int, line_chars: int) -> Window:
        """Read `limit` lines from line `offset` (1-based; negative counts from the end), at most `most_bytes` of text.

        Raises:
            Refusal: also `file.binary`, with the size and the kind of content.
        """
        ...

    async def write(self, path: str, data: bytes, *, expect: str | None, mode: int | None = None) -> Written:
        """Put `data` at `path` atomically and durably, keeping owner, mode and extended attributes of what it replaces.

        `expect` is the digest of what stands there now, or None for nothing. Parents are created. `mode` sets the
        permission bits; by default those of the replaced file, or 0666 less the umask.

        Raises:
            Refusal: `file.stale` when something else stands there (it is put back), `file.exists`, `file.linked`,
                `file.read_only`, `file.protected`, `disk.full`.
        """
        ...

    async def remove(self, path: str, *, expect: str | None, prune: tuple[str, ...] = ()) -> None:
        """Remove the file or the link at `path` if its digest is `expect`, then each empty directory of `prune`.

        A link is removed itself, whatever it leads to.
        """
        ...

    async def alter(self, changes: Sequence[Alteration]) -> tuple[str, ...]:
        """Make all of the changes or none, durably, and return the directories that were created.

        No two changes may be about one file. No link at the end of a path is followed. Before the first name changes
        all new content is on the disk, and a journal says what is about to be; a process that dies midway leaves what
        its recovery puts back. Not interrupted by a cancellation: it is over when this returns or raises.

        Raises:
            Refusal: as `write` and `remove`; nothing is changed then, unless `happened` says that something could not
                be put back.
        """
        ...

    async def move(self, old: str, new: str, *, over: str | None = None) -> Moved:
        """Give what stands at `old` the name `new`, durably: a file, a directory with all beneath it, or a link.

        No link is followed at the end of either path. Parents of `new` are created. `over` is the digest of the regular
        file at `new` that may be displaced; None: nothing stands there. Across file systems files and links are copied,
        made durable and then removed. Every path beneath a moved directory, at both ends, must be one of the scope's.

        Raises:
            Refusal: `file.exists`, `file.unchanged` for one name twice, `file.stale`, `file.linked`, `file.read_only`,
                `file.protected`, `args.invalid` for a directory into itself or across file systems, `call.limit`,
                `disk.full`.
        """
        ...
