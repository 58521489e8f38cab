"""The live catalog: one cell with the current Catalog and its generation, rebuilt when the disabled set changes."""

import os
from collections.abc import Callable
from pathlib import Path

from anyio import to_thread

from toolcrib.catalog.catalog import Catalog
from toolcrib.terms.errors import ConfigError
from toolcrib.wiring.trust import read_disabled


class Live:
    """Readers take the cell once a call. A change of the disabled set is seen at the next look, whoever made it."""

    def __init__(self, config: Path, build: Callable[[frozenset[str]], Catalog]) -> None:
        self._build = build
        self._config = config
        try:
            config.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._directory: int | None = os.open(config, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise ConfigError(
                f"{config}: the configuration directory cannot be made ({error.strerror})",
                hint="make its parent writable, or set XDG_CONFIG_HOME",
            ) from error
        self._stamp = self._seen()
        self._catalog = build(read_disabled(config))
        self.generation = 1
        """Counts the catalogs this cell has held."""

    def catalog(self) -> Catalog:
        """Return the current catalog."""
        return self._catalog

    async def refresh(self) -> None:
        """Rebuild the catalog if the disabled set was replaced since the last look.

        A replaced file changes its directory's time, and reading that of an open handle never waits for a disk. A
        closed cell keeps its catalog: the line refuses the call, and says why.
        """
        if self._directory is None:
            return
        stamp = self._seen()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._catalog = self._build(await to_thread.run_sync(read_disabled, self._config))
        self.generation += 1

    def _seen(self) -> int:
        assert self._directory is not None
        return os.fstat(self._directory).st_mtime_ns

    def close(self) -> None:
        """Give the handle back."""
        if self._directory is not None:
            os.close(self._directory)
        self._directory = None
