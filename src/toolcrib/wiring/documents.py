"""Small JSON documents of the person: which tools are off, which projects are trusted. Replaced whole, never half."""

import json
from pathlib import Path
from typing import Any

from toolcrib.terms.errors import ConfigError
from toolcrib.wiring import personal


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
    """Put `value` at `path` durably: a new file, renamed over the old one; mode 0600 when there was none.

    Raises:
        ConfigError: the disk is full or the directory cannot be written.
    """
    data = json.dumps(value, indent=2, sort_keys=True).encode("ascii") + b"\n"
    personal.replace(path, data, expect=personal.read(path))
