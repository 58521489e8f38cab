"""The source tree as somebody meets it: setting it up, `script/crib`, and the wheel that is made of it.

Not among the promises, which also run where there is only the wheel.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conftest import Workspace

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 110


def ran(words: Sequence[str | Path], *, at: Path, code: int | None = 0, env: Mapping[str, str] | None = None) -> str:
    """Run a program to its end and return all that it said."""
    done = subprocess.run(
        list(map(str, words)),
        check=False,
        cwd=at,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        encoding="utf-8",
    )
    assert code is None or done.returncode == code, done.stdout
    return done.stdout


def program(path: Path, text: str) -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.timeout(120)
@pytest.mark.promise("P-cli-crib")
def test_script_crib_says_what_a_directory_offers_and_how_to_connect_a_client(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    shown = ran([ROOT / "script" / "crib"], at=workspace.ws)
    assert f"workspace  {workspace.ws}" in shown
    assert re.search(r"tools +11 offered", shown)
    command = re.search(r"claude mcp add toolcrib -- (\S+) mcp -C (\S+)", shown)
    assert command is not None
    assert command[2] == str(workspace.ws)
    for client in ("Claude Code", "Cursor", "VS Code", "Zed"):
        assert client in shown
    assert "one" in ran([command[1], "call", "read_file", "path=a.txt"], at=workspace.ws)
    assert ran([ROOT / "script" / "crib", "call", "read_file", "path=none"], at=workspace.ws, code=1).startswith(
        "refused"
    )


def pins() -> dict[str, list[str]]:
    """Return each requirement of each list with the hashes that follow it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                name, _, rest = line.partition(" ")
                found[f"{path.name}: {name}"] = re.findall(r"--hash=(\S+)", rest)
    return found


@pytest.mark.promise("P-house-setup")
def test_every_requirement_is_one_version_with_its_hashes() -> None:
    found = pins()
    assert len(found) > 20
    for name, hashes in found.items():
        assert re.fullmatch(r"\S+: [A-Za-z0-9._-]+==[A-Za-z0-9.]+", name), name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), name


RECORDER = """#!/bin/sh
# Stands for a Python: checks and versions are the true one's, an environment is a copy of this, pip only writes down.
case "$1 ${2:-}" in
    "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0 ;;
    "-c import sys; print(sys.executable)") echo "$0"; exit 0 ;;
    "-m pip") shift 2; echo "pip $*" >>"$PIP_LOG"; exit 0 ;;
esac
exec TRUE_PYTHON "$@"
"""


def tree(tmp_path: Path) -> Path:
    """Return a copy of what setting up uses, in a directory whose name has a blank."""
    root = tmp_path / "a tree"
    shutil.copytree(ROOT / "script", root / "script")
    shutil.copytree(ROOT / "requirements", root / "requirements")
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


@pytest.mark.timeout(60)
@pytest.mark.promise("P-house-setup")
def test_setup_is_one_command_in_two_steps_which_runs_again_only_for_what_changed(tmp_path: Path) -> None:
    root, log = tree(tmp_path), tmp_path / "log"
    tools = tmp_path / "bin"
    python = program(tools / "python3", RECORDER.replace("TRUE_PYTHON", sys.executable))
    for name in ("sh", "cat", "cksum", "dirname", "git", "flock", "mkdir", "rm", "cp", "env"):
        if (found := shutil.which(name)) is not None:
            (tools / name).symlink_to(found)
    environment = {"PATH": str(tools), "PIP_LOG": str(log), "TOOLCRIB_PYTHON": ""}

    def steps(*options: str) -> list[str]:
        log.write_text("", encoding="utf-8")
        ran(["/bin/sh", root / "script" / "setup", *options], at=tmp_path, env=environment)
        return log.read_text(encoding="utf-8").splitlines()

    pinned, project = "--require-hashes --only-binary :all: ", "--no-deps --no-index --no-build-isolation -e "
    first = steps("--core")
    assert len(first) == 2
    assert pinned + "-r build.txt -r core.txt" in first[0]
    assert project + str(root) in first[1]
    assert steps("--core") == []
    everything = steps()
    assert all(pinned in line or "--require-hashes" in line for line in everything[:-1])
    assert sum("-e " in line for line in everything) == 1
    assert (steps(), steps("--core")) == ([], [])
    with (root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    (again,) = steps()
    assert project + str(root) in again
    with (root / "requirements" / "core.txt").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert steps() == everything
    (tools / "git").unlink()
    shutil.rmtree(root / ".venv")
    assert "git is needed" in ran(["/bin/sh", root / "script" / "setup"], at=tmp_path, env=environment, code=1)
    python.unlink()
    (tools / "git").symlink_to(shutil.which("git") or "git")
    said = ran(["/bin/sh", root / "script" / "setup"], at=tmp_path, env=environment, code=1)
    assert "Python 3.11 or newer is needed" in said


WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


def wheel(place: Path, name: str) -> str:
    """Make a tiny wheel and return its hash as a list has it."""
    path = place / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", METADATA.format(name=name))
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    said = ran([sys.executable, "-m", "pip", "hash", path], at=place)
    found = re.search(r"--hash=(sha256:[0-9a-f]{64})", said)
    assert found is not None
    return found[1]


@pytest.mark.timeout(60)
@pytest.mark.promise("P-house-setup")
def test_a_package_whose_bytes_are_not_the_pinned_ones_is_not_installed(tmp_path: Path) -> None:
    root, index, target = tree(tmp_path), tmp_path / "index", tmp_path / "target"
    index.mkdir()
    hashes = {name: wheel(index, name) for name in ("crib_one", "crib_two")}
    program(root / "environment" / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    script = '. "$root/script/lib/environment.sh"; install_pins "$root/environment" core'
    environment = {
        "root": str(root),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
        "PIP_TARGET": str(target),
        "PIP_CONFIG_FILE": os.devnull,
    }

    def install(code: int | None, **lists: str) -> str:
        for name, text in lists.items():
            (root / "requirements" / f"{name}.txt").write_text(text, encoding="utf-8")
        return ran(["/bin/sh", "-eu", "-c", script], at=tmp_path, env=environment, code=code)

    one = f"crib_one==1.0 --hash={hashes['crib_one']}\n"
    wrong = f"crib_two==1.0 --hash=sha256:{'0' * 64}\n"
    assert "HASH" in install(1, build=one, core=wrong).upper()
    assert "hash" in install(1, build=one, core="crib_two==1.0\n").lower()
    assert not (target / "crib_two.py").exists()
    install(0, build=one, core=wrong.replace("0" * 64, hashes["crib_two"].removeprefix("sha256:")))
    assert (target / "crib_one.py").exists()
    assert (target / "crib_two.py").exists()


@pytest.mark.timeout(120)
@pytest.mark.promise("P-house-wheel")
def test_the_wheel_holds_the_whole_package_and_keeps_promises_without_the_tree(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    ran(build, at=tmp_path)
    (made,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(made) as file:
        file.extractall(installed)
    shipped = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    sources = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT / "src").as_posix() for path in sources} == {
        name for name in shipped if not name.partition("/")[0].endswith(".dist-info")
    }
    (entry,) = [name for name in shipped if name.endswith("entry_points.txt")]
    assert "toolcrib = toolcrib.__main__:main" in (installed / entry).read_text(encoding="utf-8")
    apart = tmp_path / "apart"
    shutil.copytree(ROOT / "tests", apart / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", apart)
    alone = {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    where = ran([sys.executable, "-c", "import toolcrib; print(toolcrib.__file__)"], at=apart, env=alone)
    assert Path(where.strip()).is_relative_to(installed)
    few = ["tests/promises/test_rewind.py", "tests/promises/test_python.py"]
    ran([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *few, "-k", "not dies"], at=apart, env=alone)


def test_the_scripts_are_programs() -> None:
    for path in [*(ROOT / "script").iterdir(), *(ROOT / ".ci").iterdir()]:
        if path.is_file():
            assert path.stat().st_mode & stat.S_IXUSR, path.name
            assert path.read_text(encoding="utf-8").startswith("#!/bin/"), path.name
