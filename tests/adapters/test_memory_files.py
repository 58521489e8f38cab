"""The files in memory answer as the membrane does: the same operations on the same tree, answer by answer."""

import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import soak
from beneath import membrane, scope
from toolcrib.ports.files import Alteration, Files
from toolcrib.ports.scope import Scope
from toolcrib.terms.digest import of_bytes, of_link
from toolcrib.terms.facts import Place
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import FileSettings
from toolcrib.testing.fakes import MemoryFiles

Operation = Callable[[Files], Awaitable[Any]]

CONTENT = {
    "plain": b"one\ntwo\nthree\n",
    "dir/crlf": b"one\r\ntwo\r\n",
    "dir/deep/mixed": b"a\r\nb\nc\rd",
    "empty": b"",
    "bom": b"\xef\xbb\xbfmarked\n",
    "wide": "\ufeffone\r\nneedle\r\n".encode("utf-16-le"),
    "damaged": b"caf\xe9 \0\n" * 2000 + b"tail",
    "binary": b"\x7fELF\x02\x01\x01\0" + bytes(300),
    "long": "\u00e9".encode() * 5000 + b"\nend\n",
    "many": b"".join(b"%d\n" % number for number in range(3000)),
    ".git/config": b"[core]\n",
    "sub/.toolcrib/x": b"x",
    "secret/key": b"k",
}
LINKS = {
    "link": "plain",
    "chain": "link",
    "up": "dir/../plain",
    "dirlink": "dir",
    "dangling": "new/target",
    "escape": "../out",
    "absolute": "/etc/passwd",
    "self": "self",
    "dir/back": "../plain",
    "dir/far": "../../out",
    "nowhere": "missing/../plain",
}
PATHS = [
    *CONTENT,
    *LINKS,
    *("dirlink/crlf", "dirlink/back", "dirlink/new", "dangling/x", "self/x", "link/", "dir", "dir/", "dir/.", "."),
    *("..", "../x", "dir/../../x", "dir/../plain", "./plain", "dir//crlf", "plain/x", "plain/", "plain/..", "new"),
    *("new/", "a/b/c", "a/../plain", "missing/..", "", "nul\0", "\ud800", "n" * 300, "pipe", "sock", "alias", "locked"),
    *(".GIT/config", ".toolcrib", ".toolcrib-tmp-x", "kept/inner", "Plain", "plan", "dir/crfl", "caf\udce9"),
]
NUMBERS = st.sampled_from([-99_999, -3, -1, 0, 1, 2, 3, 100, 2999, 3001, 10**12])


def lay(root: Path, memory: MemoryFiles) -> None:
    """Make the same tree twice."""
    for path, data in CONTENT.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        memory.put(path, data)
    for path, text in LINKS.items():
        os.symlink(text, root / path)
        memory.link(path, text)
    os.mkfifo(root / "pipe")
    memory.special("pipe", "fifo")
    with socket.socket(socket.AF_UNIX) as held:
        here = os.open(".", os.O_RDONLY)
        os.chdir(root)
        held.bind("sock")
        os.fchdir(here)
        os.close(here)
    memory.special("sock", "socket")
    os.link(root / "empty", root / "alias")
    memory.alias("alias", "empty")
    (root / "locked").write_bytes(b"locked\n")
    (root / "locked").chmod(0o444)
    memory.put("locked", b"locked\n", mode=0o444)
    (root / "kept").mkdir()
    memory.directory("kept")


async def outcome(files: Files, operation: Operation) -> object:
    """Return the answer, or the name of the refusal with whether it happened."""
    try:
        found = await operation(files)
    except Refusal as refusal:
        return refusal.name, refusal.happened
    if isinstance(found, tuple) and all(isinstance(each, str) for each in cast("tuple[object, ...]", found)):
        return cast("tuple[str, ...]", found)
    if isinstance(found, tuple):
        return [clean(asdict(cast("Place", each))) for each in cast("tuple[object, ...]", found)]
    return clean(asdict(found)) if found is not None else None


def clean(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only a disk has: the size, mode and links of what is no file."""
    place = found.get("place", found)
    if place["kind"] != "file":
        place.update(size=0, mode=0, links=1)
    return found


digests = st.sampled_from([None, "0" * 64, *(of_bytes(data) for data in CONTENT.values())])
paths = st.sampled_from(PATHS)


@st.composite
def alterations(draw: st.DrawFn) -> Alteration:
    """Draw one of several changes."""
    path = draw(paths)
    right = CONTENT.get(path)
    expect = draw(st.sampled_from([None, of_bytes(right)]) if right is not None else digests)
    data = draw(st.sampled_from([None, b"put\n"]))
    like = draw(st.sampled_from([None, "plain"]))
    return Alteration(path=path, data=data, expect=expect, mode=draw(st.sampled_from([None, 0o751])), like=like)


def apart(changes: list[Alteration]) -> bool:
    """Tell whether no path lies beneath another: which of the two is in the other's way is the order's business."""
    names = [each.path.rstrip("/.") for each in changes]
    return not any(other.startswith(f"{name}/") for name in names for other in names)


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, Operation]:
    """Draw one call of the port, with words for it."""
    path = draw(paths)
    kinds = ["place", "load", "window", "write", "write", "remove", "name", "move", "move", "alter", "alter"]
    match draw(st.sampled_from(kinds)):
        case "alter":
            changes = draw(st.lists(alterations(), min_size=1, max_size=3).filter(apart))
            return f"alter {changes}", lambda files: files.alter(changes)
        case "name":
            most = draw(st.sampled_from([0, 2, 100]))
            if draw(st.booleans()):
                return f"entries {path!r} {most}", lambda files: files.entries(path, most=most)
            return f"place {path!r} itself", lambda files: files.place(path, follow=False)
        case "move":
            new = draw(paths)
            right = CONTENT.get(new)
            over = draw(st.sampled_from([None, of_bytes(right)]) if right is not None else digests)
            return f"move {path!r} {new!r} over {over}", lambda files: files.move(path, new, over=over)
        case "place":
            digest = draw(st.booleans())
            return f"place {path!r}", lambda files: files.place(path, digest=digest)
        case "load":
            most = draw(st.sampled_from([0, 5, 1 << 20]))
            return f"load {path!r} {most}", lambda files: files.load(path, most=most)
        case "window":
            sizes = {"offset": draw(NUMBERS), "limit": draw(NUMBERS)}
            sizes |= {
                "most_bytes": draw(st.sampled_from([1, 10, 50_000])),
                "line_chars": draw(st.sampled_from([1, 2000])),
            }
            return f"window {path!r} {sizes}", lambda files: files.window(path, **sizes)
        case "write":
            data = draw(st.sampled_from([b"", b"new\n", *CONTENT.values()]))
            right = CONTENT.get(LINKS.get(path, path))
            expect = draw(st.sampled_from([None, of_bytes(right)]) if right is not None else digests)
            mode = draw(st.sampled_from([None, 0o600, 0o751]))
            words = f"write {path!r} {data[:9]!r} over {expect}"
            return words, lambda files: files.write(path, data, expect=expect, mode=mode)
        case _:
            expect = of_bytes(CONTENT[path]) if path in CONTENT else draw(digests)
            expect = of_link(LINKS[path]) if path in LINKS and draw(st.booleans()) else expect
            prune = draw(st.sampled_from([(), ("dir", "dir/deep"), ("kept",)]))
            return f"remove {path!r}", lambda files: files.remove(path, expect=expect, prune=prune)


def contents(root: Path) -> dict[str, bytes]:
    """Return every file below `root` by path."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


async def compare(root: Path, steps: list[tuple[str, Operation]], limits: Scope) -> None:
    memory = MemoryFiles(root=str(root), scope=limits, settings=FileSettings(edit_bytes=1 << 20), protected=("kept",))
    await anyio.to_thread.run_sync(lay, root, memory)
    real = membrane(root, protected=("kept",), edit_bytes=1 << 20)
    opened = await anyio.to_thread.run_sync(real.__enter__)
    try:
        for words, operation in steps:
            expected = await outcome(opened.within(limits), operation)
            assert await outcome(memory, operation) == expected, words
        for path, data in (await anyio.to_thread.run_sync(contents, root)).items():
            if ".toolcrib-tmp-" not in path:
                assert memory.data(path) == data, path
    finally:
        await anyio.to_thread.run_sync(real.__exit__, None, None, None)


WRITES = frozenset(
    [
        *CONTENT,
        *LINKS,
        *("dir", "kept", "dir/deep", "new/dir"),
        "new",
        "new/target",
        "a/b/c",
        "dir/new",
        "locked",
        "kept/inner",
        ".toolcrib",
        "plan",
        "Plain",
        "caf\udce9",
    ]
)


@pytest.mark.soak("fuzz")
@settings(max_examples=soak.count(8000))
@given(st.lists(operations(), min_size=1, max_size=8), st.booleans())
def test_every_answer_is_the_membranes(steps: list[tuple[str, Operation]], hidden: bool) -> None:
    limits = Scope(
        may_read=(lambda path: not path.startswith("secret")) if hidden else None,
        writes=WRITES,
        call_id=scope().call_id,
    )
    with TemporaryDirectory() as home:
        anyio.run(compare, Path(home).resolve(), steps, limits)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_leads_to_the_same_place(path: str) -> None:
    def step(files: Files) -> Awaitable[Any]:
        return files.place(path, digest=True)

    def load(files: Files) -> Awaitable[Any]:
        return files.load(path, most=1 << 20)

    def write(files: Files) -> Awaitable[Any]:
        return files.write(path, b"put", expect=None)

    with TemporaryDirectory() as home:
        steps: list[tuple[str, Operation]] = [("place", step), ("load", load), ("write", write), ("place", step)]
        anyio.run(compare, Path(home).resolve(), steps, Scope(writes=WRITES, call_id=scope().call_id))
