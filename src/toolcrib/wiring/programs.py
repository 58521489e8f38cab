"""Where the programs are that the product itself starts."""

import os
import shutil
import sys
import sysconfig

from toolcrib.host.finder.fff_library import find_fff


def find_ripgrep(search_path: str) -> str | None:
    """Return the absolute path of `rg`: the one installed beside this package, else the first on `search_path`.

    None means that content search runs on the pure engine, with the same answers.
    """
    beside = os.path.join(sysconfig.get_path("scripts"), "rg")  # noqa: PTH118 - one join is not worth pathlib's import
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("rg", path=search_path) if search_path else None
    return found if found is not None and os.path.isabs(found) else None  # noqa: PTH117 - as above


def find_accelerator(search_path: str, *, workspace: str) -> str | None:
    """Return the path of the accelerator's library where npm put it; None where it is not, or may not be loaded.

    Looked for beside this Python, beside the `npm` on `search_path`, and where npm installs for all of a machine.
    """
    npm = shutil.which("npm", path=search_path) if search_path else None
    beside = [os.path.dirname(os.path.dirname(npm))] if npm is not None and os.path.isabs(npm) else []  # noqa: PTH117, PTH120 - as above
    return find_fff(None, [sys.prefix, *beside, "/usr/local", "/usr"], workspace=workspace)
