"""Where the programs are that the product itself starts."""

import os
import shutil
import sysconfig


def find_ripgrep(search_path: str) -> str | None:
    """Return the absolute path of `rg`: the one installed beside this package, else the first on `search_path`.

    None means that content search runs on the pure engine, with the same answers.
    """
    beside = os.path.join(sysconfig.get_path("scripts"), "rg")  # noqa: PTH118 - one join is not worth pathlib's import
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("rg", path=search_path) if search_path else None
    return found if found is not None and os.path.isabs(found) else None  # noqa: PTH117 - as above
