"""A workspace for one test, and the environment in which a client starts our server."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace, and the environment that keeps state and configuration beside it."""

    ws: Path
    config: Path
    environment: dict[str, str]
