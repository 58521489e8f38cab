"""What the person decided about tools and projects: the disabled set, and which project configuration is trusted."""

from collections.abc import Iterable
from pathlib import Path

from toolcrib.terms.errors import ConfigError
from toolcrib.wiring import documents


def disabled_file(config: Path) -> Path:
    """Return where the disabled set is kept."""
    return config / "disabled.json"


def read_disabled(config: Path) -> frozenset[str]:
    """Return the names of the tools and skills that the person switched off.

    Raises:
        ConfigError: the file does not hold a list of names; never taken for an empty one.
    """
    path = disabled_file(config)
    names = documents.read(path, [])
    if isinstance(names, list) and all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnknownVariableType]
        return frozenset(str(name) for name in names if name)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    raise ConfigError(f"{path}: expected a list of names, found {names!r}", hint="repair or remove the file")


def replace_disabled(config: Path, names: Iterable[str]) -> None:
    """Replace the disabled set, durably."""
    documents.replace(disabled_file(config), sorted({name for name in names if name}))


def trusted_digest(state: Path, root: str) -> str | None:
    """Return the digest of the project configuration that the person trusted for `root`, or None."""
    trusted = documents.read(state / "trusted.json", {})
    if not isinstance(trusted, dict):
        raise ConfigError(f"{state / 'trusted.json'}: expected a table, found {trusted!r}")
    value = trusted.get(root)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return value if isinstance(value, str) else None


def trust(state: Path, root: str, digest: str | None) -> None:
    """Trust the project configuration of `root` at `digest`; None takes the trust back."""
    path = state / "trusted.json"
    trusted = {str(key): value for key, value in documents.read(path, {}).items() if key != root}
    if digest is not None:
        trusted[root] = digest
    documents.replace(path, trusted)
