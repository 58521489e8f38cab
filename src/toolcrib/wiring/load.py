"""Reads the environment and the configuration files. The only module that looks at `os.environ`."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from toolcrib.policy.locate import Locator
from toolcrib.policy.modes import TIGHTER
from toolcrib.policy.parse import Parsed, parse_rules
from toolcrib.policy.rules import Rule
from toolcrib.terms.digest import of_bytes
from toolcrib.terms.errors import ConfigError, WorkspaceError
from toolcrib.terms.settings import MODES, CallSettings, CatalogSettings, FileSettings, Mode, SearchSettings, Settings
from toolcrib.wiring import personal

PROJECT_CONFIG = ".toolcrib/config.toml"
"""Where a project keeps its own configuration, relative to the root."""

SECRET_NAMES = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "APIKEY", "CREDENTIAL", "PRIVATE_KEY")
"""Environment variables whose name holds one of these are secrets: their values never leave in an outcome."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where this person's state and configuration live: the XDG directories."""

    config: Path
    state: Path
    git_excludes: Path
    search_path: str
    secrets: tuple[str, ...]

    @property
    def user_config(self) -> Path:
        """The person's configuration file."""
        return self.config / "config.toml"

    def make_state(self) -> None:
        """Make the state directory where it is missing, closed to other users, whatever the umask.

        Raises:
            ConfigError: it cannot be made, or what stands there, or the configuration, is not this person's alone.
        """
        try:
            self.state.parent.mkdir(parents=True, exist_ok=True)
            self.state.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{self.state}: the state directory cannot be made ({error.strerror})",
                hint="make its parent writable, or set XDG_STATE_HOME",
            ) from error
        for directory in (self.state, self.state / "workspaces", self.config):
            demand_own(directory)

    def store_of(self, root: str) -> Path:
        """Return the state directory of the workspace `root`: one a workspace, named by its path's digest."""
        label = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in Path(root).name)[:40]
        return self.state / "workspaces" / f"{label or 'root'}-{of_bytes(os.fsencode(root))[:16]}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration as read: settings, rules, what an untrusted project asked for in vain, and its digest."""

    settings: Settings
    rules: tuple[Rule, ...]
    dropped: tuple[str, ...]
    project_digest: str | None
    trusted: bool


def places() -> Places:
    """Return the XDG places of this person.

    Raises:
        ConfigError: there is no home directory to put state in.
    """
    home = os.environ.get("HOME", "")
    return Places(
        config=_xdg("XDG_CONFIG_HOME", home, ".config") / "toolcrib",
        state=_xdg("XDG_STATE_HOME", home, ".local/state") / "toolcrib",
        git_excludes=_xdg("XDG_CONFIG_HOME", home, ".config") / "git" / "ignore",
        search_path=os.environ.get("PATH", os.defpath),
        secrets=tuple(value for name, value in os.environ.items() if len(value) >= 8 and _is_secret(name)),
    )


def demand_own(directory: Path) -> None:
    """Refuse a directory that another user owns or may write: what lies in it would not be this person's word."""
    try:
        status = directory.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{directory}: cannot be looked at ({error.strerror})") from error
    if status.st_uid != os.geteuid():
        raise ConfigError(
            f"{directory}: belongs to user {status.st_uid}, not to you ({os.geteuid()})",
            hint="use a directory of your own: set XDG_STATE_HOME or XDG_CONFIG_HOME",
        )
    if status.st_mode & 0o022:
        raise ConfigError(
            f"{directory}: other users may write it (mode {status.st_mode & 0o7777:04o})",
            hint=f"look at what is in it, then: chmod go-w {directory}",
        )


def _xdg(variable: str, home: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    if value.startswith("/"):
        return Path(value)
    if not home.startswith("/"):
        raise ConfigError(f"{variable} and HOME are not set to absolute paths", hint=f"set HOME or {variable}")
    return Path(home) / default


def _is_secret(name: str) -> bool:
    upper = name.upper()
    return any(part in upper for part in SECRET_NAMES)


def workspace_root(directory: str, *, confirmed: bool = False) -> str:
    """Return the real path of a workspace.

    Raises:
        WorkspaceError: it does not exist, is no directory, or is `/` or the home directory and not `confirmed`.
    """
    try:
        root = os.path.realpath(directory, strict=True)
    except (OSError, ValueError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be opened"
        raise WorkspaceError(
            f"the workspace {directory!r} {reason}", hint="name an existing directory with -C DIR"
        ) from error
    if not Path(root).is_dir():
        raise WorkspaceError(f"the workspace {directory!r} is not a directory", hint="name a directory with -C DIR")
    home = os.environ.get("HOME", "")
    if not confirmed and root in {"/", os.path.realpath(home) if home else "/"}:
        raise WorkspaceError(
            f"the workspace {root!r} is too wide: everything in it would be open to the agent",
            hint="name a project directory with -C DIR, or pass --wide if you mean it",
        )
    return root


def load(where: Places, root: str, *, trusted_digest: str | None, mode: Mode | None) -> Loaded:
    """Read the person's configuration, then the project's, which can only tighten until it is trusted.

    Raises:
        ConfigError: a file does not parse, holds an unknown key, or a rule's examples fail; `mode` is none.
    """
    settings, rules = Settings(), list[Rule]()
    if (text := _read(where.user_config)) is not None:
        parsed = parse_rules(text, source="user", file=str(where.user_config), trusted=True)
        settings, rules = _settings(text, str(where.user_config), settings), list(parsed.rules)
        settings = replace(settings, mode=parsed.mode or settings.mode, protected=parsed.protected)
    project = _read(Path(root) / PROJECT_CONFIG)
    digest = of_bytes(project.encode()) if project is not None else None
    trusted = digest is not None and digest == trusted_digest
    dropped: tuple[str, ...] = ()
    if project is not None:
        parsed = parse_rules(project, source="project", file=PROJECT_CONFIG, trusted=trusted)
        rules.extend(parsed.rules)
        settings, dropped = _tightened(project, settings, parsed, trusted=trusted)
    if mode is not None:
        if mode not in MODES:
            raise ConfigError(f"no mode {str(mode)[:80]!r}", hint=f"Known modes: {', '.join(MODES)}.")
        settings = replace(settings, mode=mode)
    return Loaded(settings, tuple(rules), dropped, digest, trusted)


def _read(path: Path) -> str | None:
    data = personal.read(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error


Limits = FileSettings | SearchSettings | CallSettings | CatalogSettings
"""A table of limits."""

_TABLES: dict[str, type[Limits]] = {
    "files": FileSettings,
    "search": SearchSettings,
    "call": CallSettings,
    "catalog": CatalogSettings,
}


def _settings(text: str, file: str, base: Settings) -> Settings:
    tables, locator = tomllib.loads(text), Locator(text, file)
    known = {"policy", *_TABLES, "approvers", "tools"}
    if unknown := sorted(set(tables) - known):
        raise locator.fault(f"unknown table {unknown[0]!r}; known: {', '.join(sorted(known))}", at=(unknown[0],))
    changed: dict[str, Any] = {}
    for name, kind in _TABLES.items():
        if name in tables:
            changed[name] = _table(tables[name], kind, (name,), getattr(base, name), locator)
    tools = _keyed(tables.get("tools", {}), ("tools",), locator)
    if unknown := sorted(set(tools) - {"order"}):
        raise locator.fault(f"[tools]: unknown key {unknown[0]!r}; known: order", at=("tools", unknown[0]))
    if "order" in tools:
        line, column = locator.find(("tools", "order"))
        changed["order"] = _strings(tools["order"], ("tools", "order"), locator)
        changed["order_place"] = f"{file}:{line}:{column}: tools.order"
    if "approvers" in tables:
        changed["approvers"] = _approvers(tables["approvers"], locator)
    return replace(base, **changed)


def _table(values: object, kind: type[Limits], at: tuple[str, ...], base: Limits, locator: Locator) -> Limits:
    known: dict[str, type[object]] = {
        each.name: cast("object", getattr(base, each.name)).__class__ for each in fields(kind)
    }
    given: dict[str, bool | int | float] = {}
    for name, value in _keyed(values, at, locator).items():
        if name not in known:
            message = f"[{at[0]}]: unknown key {name!r}; known: {', '.join(known)}"
            raise locator.fault(message, at=(*at, name))
        given[name] = _limit(value, known[name], (*at, name), locator)
    return replace(base, **given)


def _limit(value: object, wanted: type[object], at: tuple[str, ...], locator: Locator) -> bool | int | float:
    if isinstance(value, bool) and wanted is bool:
        return value
    number = isinstance(value, int) or (isinstance(value, float) and wanted is float)
    if isinstance(value, int | float) and number and not isinstance(value, bool) and wanted is not bool and value > 0:
        return value
    kind = "true or false" if wanted is bool else "a positive whole number" if wanted is int else "a positive number"
    raise locator.fault(f"{'.'.join(at)} must be {kind}, found {value!r}", at=at)


def _keyed(value: object, at: tuple[str, ...], locator: Locator) -> Mapping[str, object]:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    raise locator.fault(f"[{'.'.join(at)}]: expected a table, found {value!r}", at=at)


def _strings(value: object, at: tuple[str, ...], locator: Locator) -> tuple[str, ...]:
    found = cast("list[object]", value) if isinstance(value, list) else [None]
    if all(isinstance(each, str) for each in found):
        return tuple(str(each) for each in found)
    raise locator.fault(f"{'.'.join(at)}: expected a list of strings, found {value!r}", at=at)


def _approvers(value: object, locator: Locator) -> dict[str, bool]:
    found = _keyed(value, ("approvers",), locator)
    for name, each in found.items():
        if not isinstance(each, bool):
            message = f'[approvers]: expected `"client name" = true`, found {each!r}'
            raise locator.fault(message, at=("approvers", name))
    return {name: bool(each) for name, each in found.items()}


def _tightened(text: str, base: Settings, parsed: Parsed, *, trusted: bool) -> tuple[Settings, tuple[str, ...]]:
    """Apply a project's settings: all of them when trusted, else protected paths and a tighter mode only."""
    protected = (*base.protected, *parsed.protected)
    wanted = _settings(text, PROJECT_CONFIG, base)
    if trusted:
        mode = parsed.mode or base.mode
        return replace(wanted, mode=mode, protected=protected, approvers=base.approvers), parsed.dropped
    dropped = list(parsed.dropped)
    if wanted != base:
        dropped.append("settings other than [policy]")
    mode = base.mode
    if parsed.mode is not None and parsed.mode != base.mode:
        if parsed.mode in TIGHTER[base.mode]:
            mode = parsed.mode
        else:
            dropped.append(f"mode = {parsed.mode!r}")
    return replace(base, protected=protected, mode=mode), tuple(dropped)


def wants_colour() -> bool:
    """Tell whether the terminal wants colour: `NO_COLOR` is not set (no-color.org), and it is not a dumb one."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in {"", "dumb"}


def wants_traces() -> bool:
    """Tell whether a defect is to show where it happened: `TOOLCRIB_DEBUG` is set."""
    return bool(os.environ.get("TOOLCRIB_DEBUG"))


def home_directory() -> Path:
    """Return the person's home directory, or `/` where none is known."""
    home = os.environ.get("HOME", "")
    return Path(home if home.startswith("/") else "/")


def check_file(path: Path) -> tuple[Settings, Parsed]:
    """Read one configuration file as if it were the person's own: settings, and rules whose examples were run.

    Raises:
        ConfigError: there is no such file, or it is not a configuration; says the place where it is known.
    """
    text = _read(path)
    if text is None:
        raise ConfigError(f"{path}: there is no such file")
    parsed = parse_rules(text, source="user", file=str(path), trusted=True)
    return _settings(text, str(path), Settings()), parsed
