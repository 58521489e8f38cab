"""What every test shares: the event loop, a workspace with an outside, clean state, and the guard against blocking."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

import soak

MARKERS = (
    "case(id, part): shows a hard case of the ledger, or one part of it",
    "attack(id, part): shows an attack of the ledger, or one part of it; it carries a positive control",
    "invariant(id): holds an invariant of the ledger",
    "promise(id): holds a promise of the ledger, through the public interface only",
    "seed(id, part): shows a row of one of the three seed systems",
    "soak(part): repeats something; the long form runs by `script/soak PART`",
)

settings.register_profile("toolcrib", deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("soak", parent=settings.get_profile("toolcrib"), max_examples=20_000)
settings.load_profile("soak" if soak.running() else "toolcrib")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options by which `script/soak` picks a part and resumes it."""
    group = parser.getgroup("soak")
    group.addoption("--soak", metavar="PART", help="run only the tests of this part")
    group.addoption("--soak-table", metavar="FILE", help="write part and name of every test of the soak to FILE")
    group.addoption("--soak-log", metavar="FILE", help="leave out the tests named in FILE; add those that pass to it")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers of the ledger."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the wanted soak part that have not passed yet."""
    part, table = config.getoption("--soak"), config.getoption("--soak-table")
    if table:
        named = [f"{mark.args[0]}\t{item.nodeid}\n" for item in items for mark in item.iter_markers("soak")]
        Path(table).write_text("".join(named), encoding="utf-8")
    if part is None:
        return
    log = config.getoption("--soak-log")
    passed = set(Path(log).read_text(encoding="utf-8").splitlines()) if log and Path(log).exists() else set[str]()
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        wanted = any(part in mark.args for mark in item.iter_markers("soak")) and item.nodeid not in passed
        (kept if wanted else dropped).append(item)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


class _Log:
    """Appends the name of each test that passed, at once, so that an interrupted soak resumes behind it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            with self.path.open("a", encoding="utf-8") as log:
                log.write(report.nodeid + "\n")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the soak log where one is wanted."""
    log = session.config.getoption("--soak-log")
    if log:
        session.config.pluginmanager.register(_Log(Path(log)))


@pytest.fixture
def anyio_backend() -> str:
    """Run every async test on asyncio, the loop the program runs on."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def nothing_blocks() -> Iterator[None]:
    """Fail any test in which code of toolcrib blocks the event loop."""
    guard = BlockBuster(scanned_modules=["toolcrib"])
    guard.activate()
    yield
    guard.deactivate()


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace `<base>/work`, and `<base>/out` beside it on the same filesystem."""

    base: Path
    ws: Path
    out: Path

    def write(self, path: str, data: bytes | str = b"") -> Path:
        """Create a file of the workspace with its directories; text is written as UTF-8, as it stands."""
        target = self.ws / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    def read(self, path: str) -> bytes:
        """Return the bytes of a file of the workspace."""
        return (self.ws / path).read_bytes()

    def tree(self, root: Path | None = None) -> dict[str, bytes | str | None]:
        """Return all below `root` (default: the outside): bytes of files, targets of links, None for the rest."""
        top = root or self.out
        found: dict[str, bytes | str | None] = {}
        for path in sorted(top.rglob("*")):
            name = os.fspath(path.relative_to(top))
            found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        return found


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return an empty workspace and an outside that holds `canary` with random bytes."""
    base = tmp_path / "base"
    ws, out = base / "work", base / "out"
    ws.mkdir(parents=True)
    out.mkdir()
    (out / "canary").write_bytes(b"canary " + os.urandom(16).hex().encode())
    return Workspace(base=base, ws=ws, out=out)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test, and what it starts, a home and XDG directories of its own; return their parent."""
    top = tmp_path / "state-of-the-test"
    for variable, name in (
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_RUNTIME_DIR", "run"),
    ):
        (top / name).mkdir(parents=True, mode=0o700)
        monkeypatch.setenv(variable, str(top / name))
    for variable in [name for name in os.environ if name.startswith("TOOLCRIB_") and name != soak.VARIABLE]:
        monkeypatch.delenv(variable)
    return top
