"""A text file of the person outside any workspace, such as an editor's settings: read whole, replaced whole."""

import os
import secrets
import stat
from pathlib import Path

from toolcrib.terms.errors import ConfigError

MOST = 4 << 20
"""Largest file that is taken, bytes."""


def read(path: Path) -> bytes | None:
    """Return the bytes of a regular file, or None where there is none.

    Raises:
        ConfigError: it cannot be read, is not a regular file, or is too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ConfigError(f"{path}: a link that leads nowhere", hint="repair or remove the link") from None
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path}: expected a regular file", hint="move it away")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise ConfigError(f"{path}: larger than {MOST:,} bytes")
    return data


def replace(path: Path, data: bytes, *, expect: bytes | None) -> None:
    """Put `data` at `path` durably, keeping the mode; a symbolic link keeps pointing, and its target is replaced.

    Raises:
        ConfigError: the file is no longer `expect`, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if expect is not None else 0o600
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode & 0o777)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if read(target) != expect:
            raise ConfigError(f"{path}: changed while it was edited", hint="run the same command again")
        temporary.replace(target)
        directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)
