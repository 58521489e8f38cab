"""Attacks on moving and deleting by name. Each first succeeds on a program without a membrane."""

import os
import shutil
from collections.abc import Iterator

import pytest

from beneath import WAYS, Way, files, membrane, refusing
from calling import ok, opened, refused
from conftest import Workspace
from toolcrib.host.workspace.workspace import Workspace as Membrane
from toolcrib.terms.digest import of_link

pytestmark = pytest.mark.anyio


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
def crib(workspace: Workspace, way: Way) -> Iterator[Membrane]:
    with membrane(workspace.ws, way) as found:
        yield found


@pytest.mark.attack("A004", "moves")
async def test_a_leaf_link_to_outside_is_moved_and_deleted_itself(workspace: Workspace, crib: Membrane) -> None:
    canary = workspace.out / "canary"
    control = workspace.out / "control"
    control.write_text("c")
    os.symlink(control, workspace.ws / "k")
    os.unlink(os.path.realpath(workspace.ws / "k"))  # the control: who resolves first deletes outside
    assert not control.exists()
    before, times = canary.read_bytes(), canary.stat().st_mtime_ns
    for target in (str(canary), "../out/canary"):
        os.symlink(target, workspace.ws / "l")
        bound = files(crib, "l", "m")
        await bound.move("l", "m")
        assert os.readlink(workspace.ws / "m") == target
        await bound.remove("m", expect=of_link(target))
    assert workspace.tree(workspace.ws) == {"k": str(control)}
    assert (canary.read_bytes(), canary.stat().st_mtime_ns) == (before, times)


@pytest.mark.attack("A020")
async def test_a_moved_tree_keeps_its_outside_links_and_a_link_as_destination_leads_nowhere(
    workspace: Workspace,
) -> None:
    workspace.write("d/f", "x")
    os.symlink("../../out", workspace.ws / "d" / "up")
    os.symlink(workspace.out / "canary", workspace.ws / "d" / "abs")
    os.symlink(workspace.out, workspace.ws / "away")
    shutil.copytree(workspace.ws / "d", workspace.base / "copied")  # the control: a copy by names reads what is outside
    assert (workspace.base / "copied" / "up" / "canary").exists()
    shutil.rmtree(workspace.base / "copied")
    before = workspace.tree()
    async with opened(workspace.ws) as crib:
        await refused(crib, "move_file", "file.exists", old_path="d", new_path="away")
        for new in ("away/d", "away/", "d/up/x"):
            await refused(crib, "move_file", "file.outside", old_path="d/f", new_path=new)
        await ok(crib, "move_file", old_path="d", new_path="e")
    assert workspace.tree() == before
    found = workspace.tree(workspace.ws)
    assert (found["e/up"], found["e/abs"]) == ("../../out", str(workspace.out / "canary"))


@pytest.mark.attack("A023", "moves")
@pytest.mark.parametrize("root", [".", "", "a/..", "./", "a/../.", "//"])
async def test_the_root_is_never_deleted_or_moved(workspace: Workspace, crib: Membrane, root: str) -> None:
    workspace.write("a/f", "x")
    assert os.path.realpath(workspace.ws / "a" / "..") == str(workspace.ws)  # the control: a name for the root
    before = workspace.tree(workspace.ws)
    bound = files(crib, ".", "x", "a", "a/f", "x/a", "x/a/f")
    with refusing("file.protected", "args.invalid", "file.outside"):
        await bound.move(root, "x")
    with refusing("file.not_regular", "args.invalid", "file.outside"):
        await bound.remove(root, expect="0" * 64)
    assert workspace.tree(workspace.ws) == before


@pytest.mark.attack("A022")
async def test_the_mode_of_a_link_is_never_set_through_it(workspace: Workspace) -> None:
    canary = workspace.out / "canary"
    os.symlink("../out/canary", workspace.ws / "l")
    os.chmod(workspace.ws / "l", 0o640)  # the control: by name it is the file outside that changes
    assert canary.stat().st_mode & 0o777 == 0o640
    async with opened(workspace.ws) as crib:
        await ok(crib, "move_file", old_path="l", new_path="m")
        plan, _ = await crib.rewind_plan()
        await crib.rewind(plan)
    assert os.readlink(workspace.ws / "l") == "../out/canary"
    assert canary.stat().st_mode & 0o777 == 0o640
