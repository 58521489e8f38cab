"""Where the clients are, and a workspace with a state of its own for each test."""

import os
from pathlib import Path

import pytest
from place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return an empty workspace with a home, state and configuration of its own."""
    for name in ("ws", "home", "state", "config/toolcrib"):
        (tmp_path / name).mkdir(mode=0o700, parents=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    return Place(tmp_path / "ws", tmp_path / "config" / "toolcrib", environment)


@pytest.fixture(scope="session")
def clients() -> Path:
    """Return the directory in which `script/clients` put what the tests drive."""
    home = os.environ.get("TOOLCRIB_CLIENTS")
    assert home, "run these by script/clients, which installs the clients"
    return Path(home)
