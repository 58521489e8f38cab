"""The port `Files` in memory: the same answers and refusals as the membrane gives, without a disk."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from toolcrib.ports.files import Alteration, Loaded, Moved, Window, Written
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import cites, of_bytes, of_link
from toolcrib.terms.facts import PathKind, Place
from toolcrib.terms.names import TEMP_PREFIX, nearest
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings
from toolcrib.terms.text import decode, looks_binary, split_lines
from toolcrib.testing.told import MAGIC, cut, kind, not_regular, placed, refuse_read_only, stale
from toolcrib.testing.tree import Directory, File, Link, Node, Special, Spot, Tree, beneath


class MemoryFiles:
    """The port `Files` over a tree in memory, bound to `scope` (None: every path may be read and written).

    Build the tree with `put`, `link`, `alias`, `special` and `directory`; `bound` gives the same tree another scope.
    `before_write` runs at each write before anything is compared, as another program might.
    """

    def __init__(
        self,
        *,
        root: str = "/workspace",
        scope: Scope | None = None,
        settings: FileSettings | None = None,
        protected: Sequence[str] = (),
        umask: int = 0o022,
    ) -> None:
        self.tree = Tree(root)
        self.scope = scope
        self.settings = settings or FileSettings()
        self.protected = tuple(protected)
        self.umask = umask
        self.before_write: Callable[[str], None] | None = None

    def bound(self, scope: Scope | None) -> "MemoryFiles":
        """Return the same files under another scope."""
        other = MemoryFiles(
            root=self.tree.root, scope=scope, settings=self.settings, protected=self.protected, umask=self.umask
        )
        other.tree, other.before_write = self.tree, self.before_write
        return other

    def put(self, path: str, data: bytes | str, *, mode: int = 0o644) -> None:
        """Make or replace the file at `path` with its directories, as another program would."""
        self._hang(path, File(data.encode() if isinstance(data, str) else data, mode))

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link with the text `target`."""
        self._hang(path, Link(target))

    def alias(self, path: str, existing: str) -> None:
        """Make a hard link to the existing file."""
        node = self.tree.resolve(existing).node
        if not isinstance(node, File):
            raise ValueError(f"{existing} is not a file")
        node.links += 1
        self._hang(path, node)

    def special(self, path: str, kind: PathKind) -> None:
        """Make a FIFO, socket or device."""
        self._hang(path, Special(kind))

    def directory(self, path: str) -> None:
        """Make an empty directory."""
        self._hang(path, Directory())

    def data(self, path: str) -> bytes | None:
        """Return the bytes of the file at `path`, None for anything else."""
        node = self.tree.resolve(path).node
        return node.data if isinstance(node, File) else None

    def mode(self, path: str) -> int | None:
        """Return the mode of the file at `path`."""
        node = self.tree.resolve(path).node
        return node.mode if isinstance(node, File) else None

    def _hang(self, path: str, node: Node) -> None:
        here = self.tree.top
        *above, leaf = path.split("/")
        for name in above:
            below = here.children.setdefault(name, Directory())
            if not isinstance(below, Directory):
                raise ValueError(f"{name} is not a directory")
            here = below
        here.children[leaf] = node

    async def place(self, path: str, *, digest: bool = False, follow: bool = True) -> Place:
        """Resolve `path` to its canonical place."""
        spot = self.tree.resolve(path, follow=follow)
        if self.scope is not None and spot.path not in self.scope.writes:
            self._permit_read(spot)
        node = spot.node
        hashed = digest and isinstance(node, File) and len(node.data) <= self.settings.edit_bytes
        return placed(spot, of_bytes(node.data) if hashed and isinstance(node, File) else None)

    async def load(self, path: str, *, most: int) -> Loaded:
        """Read a whole regular file."""
        spot, node = self._readable(path)
        if len(node.data) > most:
            raise Refusal(
                "file.too_large",
                f"expected at most {most:,} bytes at {path!r}, found {len(node.data):,}",
                hint="Read it in windows of lines, or search it.",
            )
        digest = of_bytes(node.data)
        return Loaded(place=placed(spot, digest), data=node.data, digest=digest)

    async def window(self, path: str, *, offset: int, limit: int, most_bytes: int, line_chars: int) -> Window:
        """Read some lines of a text file; above the whole-file cap neither digest nor total is told."""
        if offset == 0 or min(limit, most_bytes, line_chars) < 1:
            raise Refusal("args.invalid", f"offset: lines count from 1 or -1; limits from 1, found {offset}, {limit}")
        spot, node = self._readable(path)
        if looks_binary(node.data):
            kind = next((name for start, name in MAGIC if node.data.startswith(start)), "unknown kind")
            raise Refusal(
                "file.binary", f"expected text at {path!r}, found binary content: {kind}, {len(node.data):,} bytes"
            )
        whole = len(node.data) <= self.settings.edit_bytes
        text = decode(node.data)
        lines = split_lines(text.text)
        start = offset if offset > 0 else max(1, len(lines) + offset + 1)
        shown, clipped = cut(lines[start - 1 : start - 1 + limit], start, most_bytes, line_chars)
        digest = of_bytes(node.data) if whole else None
        return Window(
            place=placed(spot, digest),
            lines=tuple(shown),
            first=start if whole or offset > 0 or len(lines) + offset < 0 else offset,
            total_lines=len(lines) if whole else None,
            digest=digest,
            encoding=text.encoding,
            ending=text.ending,
            clipped=tuple(clipped),
            more=start - 1 + len(shown) < len(lines),
        )

    async def write(self, path: str, data: bytes, *, expect: str | None, mode: int | None = None) -> Written:
        """Put `data` at `path` if what stands there is `expect`."""
        if self.before_write is not None:
            self.before_write(path)
        spot = self._writable(path)
        old = spot.node
        if isinstance(old, File):
            before = self._replaceable(path, old, expect)
            parents: tuple[str, ...] = ()
            kept = old.mode & 0o3777
            spot.directory.children[spot.leaf] = File(bytes(data), kept if mode is None else mode & 0o3777)
        else:
            if path.endswith(("/", "/.")):
                raise Refusal("file.not_directory", f"expected a file name, found {path!r}, which asks for a directory")
            if expect is not None:
                raise stale(path, "it was removed since it was read")
            before, parents = None, self._make(spot)
            self._hang(spot.path, File(bytes(data), 0o666 & ~self.umask if mode is None else mode & 0o3777))
        after = of_bytes(data)
        place = placed(self.tree.resolve(path), after)
        return Written(place=place, before=before, after=after, created_parents=parents)

    async def remove(self, path: str, *, expect: str | None, prune: tuple[str, ...] = ()) -> None:
        """Remove the file or link at `path` if its digest is `expect`, then each directory of `prune` that is empty."""
        spot = self._writable(path, follow=False)
        node = spot.node
        if not isinstance(node, File | Link):
            raise self._missing(spot)
        if expect is None:
            raise stale(path, "nothing should stand there")
        if isinstance(node, File):
            refuse_read_only(path, node)
        if not cites(expect, of_link(node.target) if isinstance(node, Link) else of_bytes(node.data)):
            raise stale(path, "its content changed since it was read")
        if isinstance(node, File):
            node.links -= 1
        del spot.directory.children[spot.leaf]
        for each in sorted(prune, key=len, reverse=True):
            if spot.path.startswith(f"{each}/"):
                self._prune(each)

    async def entries(self, path: str, *, most: int) -> tuple[Place, ...]:
        """Return everything beneath the directory at `path`."""
        spot = self.tree.resolve(path)
        if spot.node is None:
            raise Refusal("file.missing", f"{path!r} does not exist")
        if not isinstance(spot.node, Directory):
            raise Refusal("file.not_directory", f"expected a directory at {path!r}")
        self._permit_read(spot)
        found = list(beneath(spot.path, spot.node))
        if len(found) > most:
            raise Refusal("call.limit", f"{path!r} holds more than {most:,} files and directories")
        return tuple(sorted((placed(each, None) for each in found), key=lambda place: place.path))

    async def move(self, old: str, new: str, *, over: str | None = None) -> Moved:
        """Give what stands at `old` the name `new`."""
        source = self._movable(old)
        node = source.node
        target = self.tree.resolve(new, follow=False)
        if target.path == source.path:
            raise Refusal("file.unchanged", f"{old!r} and {new!r} are the same name")
        if target.path.startswith(f"{source.path}/"):
            raise Refusal("args.invalid", f"{new!r} lies within {old!r}")
        self._permit_tree(source, source.path)
        self._permit(target)
        self._free(source, target, over)
        self._permit_tree(source, target.path)
        parents = self._make(target) if target.node is None else ()
        del source.directory.children[source.leaf]
        if node is not None:
            self._hang(target.path, node)
        found = placed(self.tree.resolve(target.path, follow=False), None)
        displaced = of_bytes(target.node.data) if isinstance(target.node, File) else None
        return Moved(
            old=source.path,
            place=replace(found, asked=new, digest=None),
            displaced=displaced,
            created_parents=parents,
        )

    async def alter(self, changes: Sequence[Alteration]) -> tuple[str, ...]:
        """Make all of the changes or none."""
        for change in changes:
            if self.before_write is not None:
                self.before_write(change.path)
        spots = [self._alterable(change) for change in changes]
        if len({spot.path for spot in spots}) < len(spots):
            raise Refusal("args.invalid", "one path is named twice, maybe by two spellings")
        if any(other.path.startswith(f"{spot.path}/") for spot in spots for other in spots):
            raise Refusal("file.exists", "one of the paths lies beneath another")
        made: list[str] = []
        modes = [self._mode_of(change, spot) for change, spot in zip(changes, spots, strict=True)]
        for change, spot, mode in zip(changes, spots, modes, strict=True):
            if change.data is None:
                del spot.directory.children[spot.leaf]
            else:
                now = self.tree.resolve(spot.path, follow=False)
                made += self._make(now) if now.node is None else ()
                self._hang(spot.path, File(bytes(change.data), mode))
        return tuple(made)

    def _alterable(self, change: Alteration) -> Spot:
        path, node = change.path, self.tree.resolve(change.path, follow=False).node
        if isinstance(node, Link) and change.data is not None:
            raise not_regular(path, "symlink")
        spot = self._writable(path, follow=False)
        if node is None:
            if change.data is None:
                raise self._missing(spot)
            if path.endswith(("/", "/.")):
                raise Refusal("file.not_directory", f"expected a file name, found {path!r}, which asks for a directory")
            if change.expect is not None:
                raise stale(path, "it was removed since it was read")
        elif change.expect is None:
            raise Refusal("file.exists", f"expected nothing at {path!r}")
        elif isinstance(node, File):
            if change.data is not None:
                self._replaceable(path, node, change.expect)
            refuse_read_only(path, node)
            if not cites(change.expect, of_bytes(node.data)):
                raise stale(path, "its content changed since it was read")
        elif isinstance(node, Link) and not cites(change.expect, of_link(node.target)):
            raise stale(path, "it is another link")
        return spot

    def _mode_of(self, change: Alteration, spot: Spot) -> int:
        old = spot.node
        if old is None and change.like is not None:
            old = self.tree.resolve(change.like, follow=False).node
        kept = old.mode & 0o3777 if isinstance(old, File) else 0o666 & ~self.umask
        return kept if change.mode is None else change.mode & 0o3777

    def _movable(self, path: str) -> Spot:
        spot = self.tree.resolve(path, follow=False)
        if spot.path == ".":
            raise Refusal("file.protected", "the workspace root itself is never moved")
        if isinstance(spot.node, Special):
            raise not_regular(path, spot.node.kind)
        self._permit(spot)
        if spot.node is None:
            raise self._missing(spot)
        return spot

    def _permit_tree(self, source: Spot, to: str) -> None:
        """Refuse unless everything beneath a directory may be written, as it would be called beneath `to`."""
        if not isinstance(source.node, Directory):
            return
        for each in beneath(to, source.node):
            if isinstance(each.node, Special):
                raise not_regular(each.path, each.node.kind)
            if self.protects(each.path):
                raise Refusal("file.protected", f"{each.path!r} is protected and is never written")
            if self.scope is not None and each.path not in self.scope.writes:
                raise stale(source.asked, "something came into it")

    def _free(self, source: Spot, target: Spot, over: str | None) -> None:
        """Refuse what stands in the way of a move."""
        node, asked = target.node, target.asked
        if node is None:
            if over is not None:
                raise stale(asked, "it was removed since it was read")
            if asked.endswith(("/", "/.")) and not isinstance(source.node, Directory):
                raise Refusal("file.not_directory", f"expected the new name, found {asked!r}")
            return
        if over is None or not isinstance(node, File) or isinstance(source.node, Directory):
            raise Refusal("file.exists", f"expected nothing at {asked!r}")
        if node is source.node or node.links > 1:
            raise Refusal("file.linked", f"{asked!r} has {node.links} hard links")
        refuse_read_only(asked, node)
        if not cites(over, of_bytes(node.data)):
            raise stale(asked, "its content changed since it was read")

    def _prune(self, path: str) -> None:
        spot = self.tree.resolve(path)
        if isinstance(spot.node, Directory) and not spot.node.children:
            parent = self.tree.resolve(path.rpartition("/")[0] or ".").node
            if isinstance(parent, Directory):
                parent.children.pop(spot.leaf, None)

    def _readable(self, path: str) -> tuple[Spot, File]:
        spot = self.tree.resolve(path)
        self._permit_read(spot)
        if spot.node is None:
            raise self._missing(spot)
        if not isinstance(spot.node, File):
            raise not_regular(path, kind(spot))
        return spot, spot.node

    def _permit_read(self, spot: Spot) -> None:
        if self.scope is not None and not self.scope.shows(spot.path):
            raise Refusal("file.denied", f"a rule does not allow reading {spot.asked!r}")

    def _writable(self, path: str, *, follow: bool = True) -> Spot:
        spot = self.tree.resolve(path, follow=follow)
        if spot.node is not None and not isinstance(spot.node, File) and (follow or not isinstance(spot.node, Link)):
            raise not_regular(path, kind(spot))
        self._permit(spot)
        return spot

    def _permit(self, spot: Spot) -> None:
        if spot.path == ".":
            raise Refusal("file.protected", "the workspace root itself is never moved")
        if self.protects(spot.path):
            raise Refusal("file.protected", f"{spot.asked!r} is protected and is never written")
        if self.scope is not None and spot.path not in self.scope.writes:
            raise Refusal("file.denied", f"{spot.asked!r} is not among the paths that this call may write")

    def protects(self, path: str) -> bool:
        """Tell whether the canonical `path` is never written."""
        names = path.split("/")
        if any(name.casefold() in {".git", ".toolcrib"} or name.startswith(TEMP_PREFIX) for name in names):
            return True
        return any(f"{path}/".startswith(f"{each.strip('/')}/") for each in self.protected)

    def _replaceable(self, path: str, old: File, expect: str | None) -> str:
        if expect is None:
            raise Refusal("file.exists", f"expected nothing at {path!r}, found a file of {len(old.data):,} bytes")
        if old.links > 1:
            raise Refusal("file.linked", f"{path!r} has {old.links} hard links")
        refuse_read_only(path, old)
        digest = of_bytes(old.data)
        if not cites(expect, digest):
            raise stale(path, "its content changed since it was read")
        return digest

    def _make(self, spot: Spot) -> tuple[str, ...]:
        """Return the canonical paths of the parents that will have to be made."""
        parts = spot.path.split("/")
        count = len(spot.missing) - 1
        return tuple("/".join(parts[: len(parts) - 1 - count + step]) for step in range(1, count + 1))

    def _missing(self, spot: Spot) -> Refusal:
        if spot.dangling:
            return Refusal("file.missing", f"{spot.asked!r} is a symbolic link to something that does not exist")
        names = [name for name in spot.directory.children if not name.startswith(TEMP_PREFIX)]
        prefix = spot.path[: len(spot.path) - len("/".join(spot.missing))]
        near = [f"{prefix}{each}" for each in nearest(spot.missing[0], names)]
        hint = f"Nearest names: {', '.join(map(repr, near))}." if near else "List the directory or search for the name."
        return Refusal("file.missing", f"{spot.asked!r} does not exist", hint=hint)
