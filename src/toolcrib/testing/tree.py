"""A directory tree in memory, resolved as the kernel resolves paths beneath a root. What the file fake stands on."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from toolcrib.terms.facts import PathKind
from toolcrib.terms.refusals import Refusal

MAX_LINKS = 40
"""Links followed for one path: path_resolution(7)."""

MAX_PATH = 4095
"""Longest path in bytes: limits.h."""

MAX_NAME = 255
"""Longest name in bytes."""


@dataclass(eq=False)
class File:
    """A regular file; the same object under two names is a hard link."""

    data: bytes
    mode: int = 0o644
    links: int = 1


@dataclass(eq=False)
class Link:
    """A symbolic link, by its text."""

    target: str


@dataclass(eq=False)
class Special:
    """A FIFO, socket or device."""

    kind: PathKind


@dataclass(eq=False)
class Directory:
    """Names and what they lead to."""

    mode: int = 0o755
    children: dict[str, "Node"] = field(default_factory=dict[str, "Node"])


Node = File | Link | Special | Directory
"""Whatever a name can lead to."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What a path leads to: the node, or None, with the names beneath `directory` that do not exist."""

    asked: str
    path: str
    directory: Directory
    node: Node | None
    missing: tuple[str, ...] = ()
    dangling: bool = False

    @property
    def leaf(self) -> str:
        """The last name."""
        return self.path.rpartition("/")[2]


class _Missing(Exception):  # noqa: N818 - the answer of one step, caught in the next
    """Nothing stands there."""


Walked = list[tuple[str, Directory]]
"""The directories from the root down, each with its name."""


class Tree:
    """A root directory that knows under which absolute path it is known."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")
        self.top = Directory()

    def resolve(self, path: str, *, follow: bool = True) -> Spot:
        """Return what `path` leads to, links followed; without `follow` not one at the end, unless a slash follows it.

        Raises:
            Refusal: `args.invalid`, `file.outside`, `file.missing`, `file.not_directory`.
        """
        raw = self._relative(path)
        return self._resolve(path, raw, follow=follow or _asks_directory(raw))

    def _resolve(self, path: str, raw: str, links: int = 0, *, follow: bool = True) -> Spot:
        if links > MAX_LINKS:
            raise _loop(path)
        parts = _parts(raw)
        try:
            walked, name, node = self._walk(path, parts, follow=follow)
        except _Missing:
            return self._absent(path, parts, links)
        if _asks_directory(raw) and not isinstance(node, Directory):
            raise not_directory(path)
        canonical = "/".join([each for each, _ in walked[1:]] + ([name] if name else [])) or "."
        return Spot(path, canonical, walked[-1][1], node)

    def _relative(self, path: str) -> str:
        if not path:
            raise Refusal("args.invalid", "path: expected a path, found ''", hint="Use '.' for the workspace root.")
        if "\0" in path:
            raise Refusal("args.invalid", f"path: a path cannot hold a NUL character, found {path!r}")
        try:
            raw = path.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise Refusal("args.invalid", f"path: {path!r} holds half a character and cannot be a name") from None
        if path.startswith("/"):
            head, parts = _parts(self.root), _parts(path)
            if parts[: len(head)] != head:
                raise outside(path)
            tail = "/".join(parts[len(head) :]) or "."
            return tail + "/" if _asks_directory(path) else tail
        if len(raw) > MAX_PATH or any(len(part) > MAX_NAME for part in raw.split(b"/")):
            raise Refusal("args.invalid", "path: longer than the system takes", hint="Use a shorter path.")
        return path

    def _walk(self, path: str, parts: list[str], *, follow: bool = True) -> tuple[Walked, str, Node]:
        walked: Walked = [("", self.top)]
        todo = deque(parts)
        links = 0
        while todo:
            name = todo.popleft()
            if name == "..":
                if len(walked) == 1:
                    raise outside(path)
                walked.pop()
                continue
            node = walked[-1][1].children.get(name)
            if isinstance(node, Link) and not todo and not follow:
                return walked, name, node
            if isinstance(node, Link):
                links += 1
                if links > MAX_LINKS:
                    raise _loop(path)
                if node.target.startswith("/"):
                    raise outside(path)
                todo.extendleft(reversed(_parts(node.target)))
            elif isinstance(node, Directory):
                walked.append((name, node))
            elif node is None:
                raise _Missing
            elif todo:
                raise not_directory(path)
            else:
                return walked, name, node
        return walked, "", walked[-1][1]

    def _absent(self, path: str, parts: list[str], links: int) -> Spot:
        """Find the deepest directory on the way that does exist."""
        depth = 0
        for part in parts:
            depth += -1 if part == ".." else 1
            if depth < 0:
                raise outside(path)
        for count in range(len(parts) - 1, -1, -1):
            try:
                walked, name, node = self._walk(path, parts[:count])
            except _Missing:
                continue
            if name or not isinstance(node, Directory):
                raise not_directory(path)
            return self._beside(path, walked, tuple(parts[count:]), links)
        raise AssertionError("the root exists")

    def _beside(self, path: str, walked: Walked, rest: tuple[str, ...], links: int) -> Spot:
        """Return the spot of names of which the first does not exist, or is a link that leads nowhere."""
        here = walked[-1][1]
        inside = [name for name, _ in walked[1:]]
        found = here.children.get(rest[0])
        if not isinstance(found, Link):
            if ".." in rest:
                raise _no_way(path)
            return Spot(path, "/".join([*inside, *rest]), here, None, rest)
        if len(rest) > 1:
            raise _no_way(path)
        if found.target.startswith("/"):
            raise outside(path)
        return replace(self._resolve(path, "/".join([*inside, found.target]), links + 1), dangling=True)


def beneath(path: str, directory: Directory) -> Iterator[Spot]:
    """Yield everything beneath a directory, as called beneath `path`; no link is followed."""
    for name, node in directory.children.items():
        inside = name if path == "." else f"{path}/{name}"
        yield Spot(inside, inside, directory, node)
        if isinstance(node, Directory):
            yield from beneath(inside, node)


def _no_way(path: str) -> Refusal:
    return Refusal("file.missing", f"{path!r} does not exist", hint="A directory on the way is missing.")


def _loop(path: str) -> Refusal:
    return Refusal("file.missing", f"the links of {path!r} never reach a file: a loop, or more than {MAX_LINKS}")


def outside(path: str) -> Refusal:
    """Return the refusal of a path that does not stay beneath the root."""
    return Refusal(
        "file.outside",
        f"{path!r} leads outside the workspace",
        hint="Name a path beneath the workspace root; links with absolute text are not followed.",
    )


def not_directory(path: str) -> Refusal:
    """Return the refusal of a path that goes on beneath a file."""
    return Refusal("file.not_directory", f"expected a directory within {path!r}, found a file in its place")


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def _asks_directory(path: str) -> bool:
    return path.endswith(("/", "/."))
