"""Small JSON documents of the person: which tools are off, which projects are trusted. Replaced whole, never half."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

from toolcrib.terms.errors import ConfigError


def read(path: Path, default: Any) -> Any:
    """Return the document at `path`, or `default` where there is none.

    Raises:
        ConfigError: it does not parse. It is never taken for an empty one.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return default
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})", hint="repair or remove the file") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}:{error.lineno}:{error.colno}: {error.msg}", hint="repair or remove the file"
        ) from error


def replace(path: Path, value: Any) -> None:
    """Put `value` at `path` durably: a new file, mode 0600, renamed over the old one.

    Raises:
        ConfigError: the disk is full or the directory cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
