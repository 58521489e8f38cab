"""Installs packages of npm whose hashes are pinned: fetched by npm, checked here, unpacked without running anything.

usage: npm.py PINS DIRECTORY        they come to lie in DIRECTORY/node_modules
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def main(pins: Path, place: Path) -> int:
    """Install what the file names; return the exit code."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is needed and was not found; on Debian or Ubuntu run: apt-get install npm", file=sys.stderr)
        return 1
    for line in pins.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            install(npm, *line.split(), place=place)
    return 0


def install(npm: str, name: str, version: str, pinned: str, *, place: Path) -> None:
    """Fetch one package, compare its hash and unpack it."""
    with tempfile.TemporaryDirectory() as fetched:
        words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", fetched, f"{name}@{version}"]
        subprocess.run([npm, *words], stdout=subprocess.DEVNULL, check=True, cwd=fetched)  # noqa: S603 - words of ours
        (archive,) = Path(fetched).glob("*.tgz")
        found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != pinned:
            raise SystemExit(f"{name} {version}: expected {pinned}, found {found}")
        unpack(archive, place / "node_modules" / name)


def unpack(archive: Path, target: Path) -> None:
    """Write the regular files of a package."""
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(archive) as packed:
        for member in packed:
            parts = Path(member.name).parts[1:]  # below the one directory that each package has
            data = packed.extractfile(member) if member.isfile() and ".." not in parts else None
            if data is not None:
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data.read())


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
