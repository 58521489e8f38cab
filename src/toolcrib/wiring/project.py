"""A project's own configuration as a person sees it: its text, whether it is trusted, what trusting it changes."""

from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from toolcrib.terms.digest import of_bytes
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.settings import Mode
from toolcrib.wiring.load import PROJECT_CONFIG, Loaded, Places, load, places, workspace_root
from toolcrib.wiring.trust import trusted_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One workspace and its configuration. `now` is what holds, `then` what would hold if the file were trusted."""

    where: Places
    root: str
    text: str | None
    now: Loaded
    then: Loaded

    @property
    def file(self) -> Path:
        """Where the project's configuration is kept."""
        return Path(self.root) / PROJECT_CONFIG

    def gains(self) -> tuple[str, ...]:
        """Return what trusting the file would allow or change, one line each."""
        lines = [f"{rule.effect} {rule.about}" for rule in self.then.rules if rule not in self.now.rules]
        lines += _differences(self.now.settings, self.then.settings)
        return tuple(lines)


def project(directory: str, *, wide: bool = False, mode: Mode | None = None) -> Project:
    """Read the configuration of the workspace `directory` both ways: as it stands, and as if trusted.

    Raises:
        ToolcribError: the workspace or a configuration file cannot be used.
    """
    where = places()
    root = workspace_root(directory, confirmed=wide)
    now = load(where, root, trusted_digest=trusted_digest(where.state, root), mode=mode)
    then = load(where, root, trusted_digest=now.project_digest, mode=mode)
    text = (Path(root) / PROJECT_CONFIG).read_text("utf-8") if now.project_digest is not None else None
    digests = {now.project_digest, then.project_digest, of_bytes(text.encode()) if text is not None else None}
    if len(digests) > 1:
        raise ConfigError(f"{PROJECT_CONFIG} changed while it was read", hint="look again")
    return Project(where=where, root=root, text=text, now=now, then=then)


def _differences(now: Any, then: Any, name: str = "") -> list[str]:
    if is_dataclass(now):
        return [
            line
            for each in fields(now)
            for line in _differences(
                getattr(now, each.name), getattr(then, each.name), f"{name}.{each.name}".lstrip(".")
            )
        ]
    return [f"{name}: {now!r} becomes {then!r}"] if now != then else []
