"""The accelerator goes wrong in every way there is: the answers stay, only the speed goes."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread

from proposing import NOTHING, SECONDS, Changes, budget, engine, job, library, scanned, wrong
from searching import plain
from toolcrib.host.finder.fff import Fff
from toolcrib.host.finder.fff_library import FILE, PACKAGE, find_fff
from toolcrib.host.process.launcher import Launcher
from toolcrib.ports.run import Held, Program

pytestmark = pytest.mark.anyio

NEEDLE = plain("needle")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(50):
        (tmp_path / f"{number}.txt").write_text("needle\n" if number % 10 == 0 else "hay\n")
    return tmp_path


class Noted:
    """A launcher that remembers what it holds."""

    def __init__(self) -> None:
        self.held: list[Held] = []

    def hold(self, program: Program) -> Held:
        self.held.append(Launcher().hold(program))
        return self.held[-1]


class Liar:
    """A program that answers what a test has it answer: a frame for each question."""

    def __init__(self, answers: Callable[[dict[str, object]], bytes | None]) -> None:
        self._answers = answers
        self._said = bytearray()
        self._gone = False
        self.ended = False

    def hold(self, program: Program) -> Held:
        self.__init__(self._answers)
        return self

    def write(self, data: bytes, *, seconds: float) -> None:
        if self._gone:
            raise BrokenPipeError
        said = self._answers(json.loads(data[4:]))
        self._gone = said is None
        self._said += said or b""

    def read(self, most: int, *, seconds: float) -> bytes:
        if not self._said and not self._gone:
            raise TimeoutError
        data = bytes(self._said[:most])
        del self._said[:most]
        return data

    def end(self) -> None:
        self.ended = True


def frame(said: object) -> bytes:
    data = json.dumps(said).encode()
    return len(data).to_bytes(4) + data


FILES = [f"{number}.txt" for number in range(50)]


def lying(how: Callable[[dict[str, object]], bytes | None]) -> Callable[[dict[str, object]], bytes | None]:
    """Answer truly until a search for the needle."""

    def answers(asked: dict[str, object]) -> bytes | None:
        if asked["do"] == "scan":
            return frame({"id": asked["id"], "files": FILES, "total": 50, "whole": True})
        if asked["text"] == "needle":
            return how(asked)
        return frame({"id": asked["id"], "files": [], "total": 50, "whole": True})

    return answers


LIES: dict[str, Callable[[dict[str, object]], bytes | None]] = {
    "it is gone": lambda asked: None,
    "it says nothing": lambda asked: b"",
    "it says a part": lambda asked: frame({"id": asked["id"], "files": FILES, "total": 50, "whole": True})[:-3],
    "no JSON": lambda asked: b"\0\0\0\4abcd",
    "a huge frame": lambda asked: b"\xff\xff\xff\xff",
    "deep JSON": lambda asked: (100_000).to_bytes(4) + b"[" * 100_000,
    "a list": lambda asked: frame([]),
    "another question's answer": lambda asked: frame({"id": 0, "files": [], "total": 50, "whole": True}),
    "files it does not have": lambda asked: frame({"id": asked["id"], "files": ["x"], "total": 50, "whole": True}),
    "no files": lambda asked: frame({"id": asked["id"], "files": [1], "total": 50, "whole": True}),
    "another index": lambda asked: frame({"id": asked["id"], "files": [], "total": 49, "whole": True}),
    "a part of the files": lambda asked: frame({"id": asked["id"], "files": [], "total": 50, "whole": False}),
    "an error": lambda asked: frame({"id": asked["id"], "error": "no"}),
}


@pytest.mark.parametrize("lie", LIES)
async def test_an_accelerator_that_talks_nonsense_is_not_believed(
    root: Path, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    truthful = Liar(lying(lambda asked: frame({"id": asked["id"], "files": ["0.txt"], "total": 50, "whole": True})))
    one = job(root, NEEDLE)
    async with engine(root, "fff", Changes(), hold=truthful) as made:
        assert (await made.propose(one, budget())).doubtful == {"0.txt"}, "nobody lies, so it is believed"
    monkeypatch.setattr("toolcrib.host.finder.fff.LEAST_MILLISECONDS", 1)
    liar = Liar(lying(LIES[lie]))
    async with engine(root, "fff", Changes(), hold=liar) as made:
        assert await made.propose(one, budget()) == NOTHING
        assert await made.propose(one, budget()) == NOTHING


@pytest.mark.promise("P-search-engine")
async def test_an_accelerator_that_is_killed_in_the_middle_is_replaced_a_few_times(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.host.finder.fff.PAUSE", 0.0)
    one = job(root, NEEDLE)
    found = await scanned(root, NEEDLE, one.files)
    noted = Noted()
    async with engine(root, "fff", Changes(), hold=noted) as made:
        assert isinstance(made, Fff)
        for _ in range(10):
            proposal = await made.propose(one, budget())
            assert wrong(proposal, found) == []
            for each in noted.held:
                await to_thread.run_sync(each.end)
            assert wrong(await made.propose(one, budget()), found) == []
            await made.settle(SECONDS)
        assert made.state == "failed"
        assert await made.propose(one, budget()) == NOTHING
        assert len(noted.held) == 3


async def test_files_cut_short_in_place_do_not_kill_the_accelerator(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.txt").write_text("hay and straw\n" * 9000 + "äneedle\n")
    truth = Changes()
    noted = Noted()
    async with engine(tmp_path, "fff", truth, hold=noted) as made:
        assert isinstance(made, Fff)
        for number in range(25):
            os.truncate(tmp_path / f"{number}.txt", 10)
            truth.changed(f"{number}.txt")
            query = plain("äneedle")
            one = job(tmp_path, query)
            proposal = await made.propose(one, budget())
            assert proposal.rest, "it lives, and answers"
            assert wrong(proposal, await scanned(tmp_path, query, one.files)) == []
        assert len(noted.held) == 1


@pytest.mark.parametrize("milliseconds", [8, 30, 200, 5000])
async def test_a_search_that_does_not_fit_the_time_is_whole_or_nothing(
    tmp_path: Path, milliseconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3000):
        text = "äneedle\n" if number % 100 == 7 else "hay und Strähnen\n"
        (tmp_path / f"{number}.txt").write_text(text + "straw\n" * (number % 50))
    query = plain("äneedle")
    one = job(tmp_path, query)
    found = await scanned(tmp_path, query, one.files)
    async with engine(tmp_path, "fff", Changes()) as made:
        monkeypatch.setattr("toolcrib.host.finder.fff.LEAST_MILLISECONDS", milliseconds)
        answers = [await made.propose(one, budget()) for _ in range(5)]
        assert [wrong(each, found) for each in answers] == [[]] * 5
        assert any(each.rest for each in answers) or milliseconds < 5000


@pytest.mark.parametrize("what", ["nothing there", "no library", "half a library"])
async def test_a_library_that_is_broken_or_removed_is_done_without(
    root: Path, what: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.host.finder.fff.PAUSE", 0.0)
    monkeypatch.setattr("toolcrib.host.finder.fff.LEAST_FILES", 0)
    path = tmp_path_factory.mktemp("library") / FILE
    whole = Path(await to_thread.run_sync(library)).read_bytes()
    if what != "nothing there":
        path.write_bytes(b"no library\n" if what == "no library" else whole[: len(whole) // 2])
    handle = os.open(root, os.O_RDONLY)
    made = Fff(Launcher(), str(path), handle, Changes())
    one = job(root, NEEDLE)
    try:
        for _ in range(5):
            assert await made.propose(one, budget()) == NOTHING
            await made.settle(SECONDS)
        assert made.state == "failed"
    finally:
        await made.close()
        os.close(handle)


@pytest.mark.promise("P-search-engine")
async def test_the_library_torn_away_under_a_running_index_changes_no_answer(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.host.finder.fff.LEAST_FILES", 0)
    path = tmp_path_factory.mktemp("library") / FILE
    shutil.copy(await to_thread.run_sync(library), path)
    handle = os.open(root, os.O_RDONLY)
    made = Fff(Launcher(), str(path), handle, Changes())
    one = job(root, NEEDLE)
    found = await scanned(root, NEEDLE, one.files)
    try:
        await made.propose(one, budget())
        await made.settle(SECONDS)
        assert (await made.propose(one, budget())).rest
        os.truncate(path, 0)
        for pattern in ("needle", "hay", "absent"):
            query = plain(pattern)
            proposal = await made.propose(job(root, query), budget())
            assert wrong(proposal, await scanned(root, query, one.files)) == []
        assert wrong(await made.propose(one, budget()), found) == []
    finally:
        await made.close()
        os.close(handle)


@pytest.mark.parametrize(
    "asked", [b"", b'{"id": 1, "do": "scan", "text": "", "regex": false, "most": 0, "milliseconds": 1000}']
)
def test_the_program_of_the_accelerator_ends_with_its_input(root: Path, asked: bytes) -> None:
    worker = Path(sys.modules[Fff.__module__].__file__ or "").with_name("fff_worker.py")
    directory = os.open(root, os.O_RDONLY)
    argv = [sys.executable, "-I", "-S", str(worker), library()]
    child = Launcher().hold(Program(argv=argv, directory=directory))
    try:
        if asked:
            child.write(len(asked).to_bytes(4) + asked, seconds=SECONDS)
            assert child.read(4, seconds=SECONDS)
        child.write((1 << 31).to_bytes(4), seconds=SECONDS)
        while child.read(1 << 16, seconds=SECONDS):
            pass
    finally:
        child.end()
        os.close(directory)


def test_a_library_is_loaded_only_from_where_the_person_put_it(tmp_path: Path) -> None:
    def put(prefix: Path) -> Path:
        path = prefix / PACKAGE / FILE
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        return path

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    good = put(tmp_path / "global" / "lib" / "node_modules")
    find = partial(find_fff, workspace=str(workspace))
    assert find(None, ["/nonexistent", str(tmp_path / "global")]) == str(good), "an honest one is found"
    own = put(workspace / "node_modules")
    assert find(None, [str(workspace)]) is None
    assert find(str(own), []) is None
    linked = tmp_path / "linked"
    linked.symlink_to(workspace)
    assert find(None, [str(linked)]) is None
    assert find("node_modules", []) is None
    assert find(str(tmp_path / "missing"), [str(tmp_path / "global")]) is None
    good.chmod(0o666)
    assert find(str(good), []) is None
    good.chmod(0o644)
    good.parent.chmod(0o777)
    assert find(str(good), []) is None
