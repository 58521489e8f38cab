"""What the measurements share: a place on the real disk, timing, the peer from npm, and how figures are told."""

import argparse
import asyncio
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".toolcrib-dev" / "bench"
PEER = ("@modelcontextprotocol/server-filesystem", "2026.8.31")
"""The server that is measured beside ours: its npm package and version."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; with a demand it is met or not. `most` says that the demand is an upper limit."""

    name: str
    value: float
    unit: str
    demand: float | None = None
    most: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the demand is met; None without one."""
        if self.demand is None:
            return None
        return self.value <= self.demand if self.most else self.value >= self.demand

    def cells(self) -> tuple[str, str, str, str]:
        """Return name, value, demand and verdict as text."""
        sign = "<=" if self.most else ">="
        demand = "" if self.demand is None else f"{sign} {number(self.demand)} {self.unit}".strip()
        verdict = {None: "", True: "met", False: "NOT MET"}[self.met]
        return self.name, f"{number(self.value)} {self.unit}".strip(), demand, verdict


def number(value: float) -> str:
    """Return a number with as many digits as mean something."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure: `brief` is a tenth, without the peer."""

    brief: bool = False

    def times(self, full: int) -> int:
        """Return how often to repeat."""
        return max(5, full // 10) if self.brief else full


Measure = Callable[[Plan], Coroutine[None, None, Sequence[Figure]]]


def main(title: str, measure: Measure) -> None:
    """Run one measurement and tell its figures; with `--check` an unmet demand is exit code 1."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--markdown", action="store_true", help="tell the figures as a table for docs/benchmarks.md")
    parser.add_argument("--json", action="store_true", help="tell the figures as one JSON object")
    parser.add_argument("--brief", action="store_true", help="repeat a tenth as often, and leave out the npm server")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a demand is not met")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    figures = asyncio.run(measure(Plan(brief=options.brief)))
    where = f"{machine()}, load before {before:.1f}"
    if options.json:
        told = [{**asdict(figure), "met": figure.met} for figure in figures]
        print(json.dumps({"title": title, "figures": told, "machine": where}))
    else:
        print((_markdown if options.markdown else _plain)(title, figures, where))
    if options.check and any(figure.met is False for figure in figures):
        sys.exit(1)


def machine() -> str:
    """Return one line on what this was measured on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0))
    return f"{model} x {cores}, Linux {platform.release()}, Python {platform.python_version()}, {filesystem(CACHE)}"


def filesystem(place: Path) -> str:
    """Return the kind of filesystem that holds `place`."""
    kinds: dict[str, str] = {}
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        kinds[mount] = kind
    place.mkdir(parents=True, exist_ok=True)
    return next((kinds[str(each)] for each in (place, *place.parents) if str(each) in kinds), "unknown filesystem")


@contextmanager
def workspace() -> Generator[Path]:
    """Give an empty workspace on the disk of this tree, with configuration and state of its own, removed afterwards."""
    CACHE.mkdir(parents=True, exist_ok=True)
    base = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    kept = dict(os.environ)
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        (base / variable).mkdir(mode=0o700)
        os.environ[variable] = str(base / variable)
    try:
        (base / "work").mkdir()
        yield base / "work"
    finally:
        os.environ.clear()
        os.environ.update(kept)
        shutil.rmtree(base, ignore_errors=True)


async def timed(call: Callable[[], Awaitable[object]], *, times: int) -> list[float]:
    """Return how long each call took, in milliseconds."""
    took: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1000)
    return took


def p50(samples: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(samples)


def p95(samples: Sequence[float]) -> float:
    """Return the value that 95 of 100 samples do not exceed."""
    return sorted(samples)[int(len(samples) * 0.95)]


def ours(directory: Path) -> list[str]:
    """Return the command that serves `directory` over MCP, as a client's configuration has it."""
    script = Path(sys.executable).with_name("toolcrib")
    front = [str(script)] if script.exists() else [sys.executable, "-m", "toolcrib"]
    return [*front, "mcp", "-C", str(directory), "--mode", "work"]


def peer(directory: Path) -> list[str] | None:
    """Return the command of the npm server over `directory`; None without npm."""
    package = from_npm(*PEER)
    return None if package is None else ["node", str(package / "dist" / "index.js"), str(directory)]


def from_npm(name: str, version: str) -> Path | None:
    """Return the folder of an npm package, installed once into a cache; None where that cannot be done."""
    home = CACHE / "npm"
    package = home / "node_modules" / name
    manifest = package / "package.json"
    if manifest.exists() and json.loads(manifest.read_text())["version"] == version:
        return package
    npm = shutil.which("npm")
    if npm is None:
        print(f"not with {name}: npm is not installed", file=sys.stderr)
        return None
    home.mkdir(parents=True, exist_ok=True)
    flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--loglevel", "error"]
    done = subprocess.run(
        [npm, "install", "--prefix", str(home), *flags, f"{name}@{version}"], stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        print(f"not with {name}: npm could not install it", file=sys.stderr)
        return None
    return package


def _plain(title: str, figures: Sequence[Figure], where: str) -> str:
    rows = [figure.cells() for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([title, *(f"  {line}" for line in lines), f"  ({where})"])


def _markdown(title: str, figures: Sequence[Figure], where: str) -> str:
    rows = ["| " + " | ".join(figure.cells()) + " |" for figure in figures]
    return "\n".join(
        [f"### {title}", "", "| figure | measured | demand | |", "|---|---|---|---|", *rows, "", where + "."]
    )
