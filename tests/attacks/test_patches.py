"""Attacks by patches: out of the workspace, into protected places, through links and modes. Each is refused whole."""

import os
import shutil
import subprocess

import pytest

from calling import ok, opened
from conftest import Workspace
from toolcrib import Refused

pytestmark = pytest.mark.anyio

FINE = "--- a/fine.txt\n+++ b/fine.txt\n@@ -1 +1 @@\n-one\n+two\n"


def new(path: str, text: str = "pwned") -> str:
    """Return a section that makes a file."""
    return f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+{text}\n"


def envelope(section: str) -> str:
    """Return an envelope with a good section before the given one."""
    return f"*** Begin Patch\n*** Update File: fine.txt\n@@\n-one\n+two\n{section}\n*** End Patch\n"


def moved(path: str) -> str:
    """Return a rename of a good file."""
    return f"diff --git a/b.txt b/x\nrename from b.txt\nrename to {path}\n"


ATTACKS = {
    "dots": FINE + new("b/../out/pwned"),
    "deep dots": FINE + new("b/d/../../out/pwned"),
    "absolute": FINE + new("{out}/pwned"),
    "dots in an envelope": envelope("*** Add File: ../out/pwned\n+pwned"),
    "absolute in an envelope": envelope("*** Add File: {out}/pwned\n+pwned"),
    "update outside": FINE + "--- a/../out/canary\n+++ b/../out/canary\n@@ -1 +1 @@\n-{canary}\n+pwned\n",
    "delete outside": envelope("*** Delete File: ../out/canary"),
    "rename to outside": FINE + moved("../out/pwned"),
    "rename from outside": FINE + "diff --git a/x b/y\nrename from ../out/canary\nrename to here\n",
    "move to outside": envelope("*** Update File: b.txt\n*** Move to: {out}/pwned\n@@\n-b\n+c"),
    "through a link": FINE + new("b/away/pwned"),
    "through a link's dots": FINE + new("b/away/../out/pwned"),
    "onto a link": FINE + "--- a/leaf\n+++ b/leaf\n@@ -1 +1 @@\n-{canary}\n+pwned\n",
    "rename through a link": FINE + moved("away/pwned"),
    "a link made in the patch": FINE
    + "diff --git a/k b/k\nnew file mode 120000\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+../out\n"
    + new("b/k/pwned"),
    "a submodule": FINE + "diff --git a/k b/k\nnew file mode 160000\n",
    "setuid": FINE + "diff --git a/k b/k\nnew file mode 104755\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+x\n",
    "a hook": FINE + new("b/.git/hooks/post-checkout", "#!/bin/sh"),
    "a hook by case": FINE + new("b/.GIT/hooks/post-checkout", "#!/bin/sh"),
    "a hook in an envelope": envelope("*** Add File: .git/hooks/post-checkout\n+#!/bin/sh"),
    "rename into .git": FINE + moved(".git/config"),
    "delete in .git": envelope("*** Delete File: .git/config"),
    "a NUL": FINE + new("b/k\0"),
}


@pytest.mark.attack("A161")
@pytest.mark.parametrize("name", ATTACKS)
async def test_a_patch_that_leaves_the_workspace_is_refused_whole(workspace: Workspace, name: str) -> None:
    workspace.write("fine.txt", "one\n")
    workspace.write("b.txt", "b\n")
    workspace.write(".git/config", "[core]\n")
    (workspace.ws / "d").mkdir()
    os.symlink("../out", workspace.ws / "away")
    os.symlink("../out/canary", workspace.ws / "leaf")
    canary = (workspace.out / "canary").read_text()
    patch = ATTACKS[name].replace("{out}", str(workspace.out)).replace("{canary}", canary)
    before, outside = workspace.tree(workspace.ws), workspace.tree()
    async with opened(workspace.ws) as crib:
        outcome = await crib.call("apply_patch", patch=patch)
        assert isinstance(outcome, Refused), str(outcome)
        assert outcome.name in {"file.outside", "file.protected", "file.not_regular", "patch.invalid", "args.invalid"}
        assert outcome.happened == "no"
        assert "canary " not in outcome.text
        assert (workspace.tree(workspace.ws), workspace.tree()) == (before, outside)
        await ok(crib, "apply_patch", patch=FINE)  # the control: the good part of each is one that applies


@pytest.mark.attack("A161")
def test_the_same_patches_get_out_by_a_program_that_joins_names(workspace: Workspace) -> None:
    """The control: what is refused above does harm where nobody looks."""
    os.symlink("../out", workspace.ws / "away")
    for name in ("../out/one", f"{workspace.out}/two", "away/three"):
        with open(os.path.join(workspace.ws, name), "w", encoding="utf-8") as file:
            file.write("pwned\n")
    assert {"one", "two", "three"} <= set(os.listdir(workspace.out))
    git = shutil.which("git")
    assert git is not None
    subprocess.run([git, "init", "-q", workspace.ws], check=True)
    link = "diff --git a/k b/k\nnew file mode 120000\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+../out\n"
    link += "\\ No newline at end of file\n"
    subprocess.run([git, "apply", "-"], input=link.encode(), cwd=workspace.ws, check=True)
    assert os.path.islink(workspace.ws / "k")


async def test_a_host_run_file_in_a_patch_asks_in_every_mode(workspace: Workspace) -> None:
    workspace.write("fine.txt", "one\n")
    async with opened(workspace.ws) as crib:
        outcome = await crib.call("apply_patch", patch=FINE + new("b/.github/workflows/ci.yml"))
        assert isinstance(outcome, Refused)
        assert outcome.name == "approval.unattended"
    assert workspace.tree(workspace.ws) == {"fine.txt": b"one\n"}
