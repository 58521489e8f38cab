"""A patch over several files in a process that is killed or cancelled midway: all of it stands, or nothing does."""

import asyncio
import os

import anyio
import pytest

from calling import opened
from conftest import Workspace
from shelved import child
from toolcrib import Crib, Ok, Refused
from toolcrib.terms.names import TEMP_PREFIX

FILES = {f"f{number}.txt": f"line {number}\n".encode() * 50 for number in range(6)}
PATCH = (
    "*** Begin Patch\n"
    + "".join(f"*** Update File: {name}\n@@\n+first\n+{'x' * 20}\n*** End of File\n" for name in sorted(FILES)[:4])
    + "*** Delete File: f4.txt\n*** Update File: f5.txt\n*** Move to: n/f5.txt\n@@\n+moved\n*** End of File\n"
    + "*** Add File: n/new.txt\n+new\n*** End Patch\n"
)
DIES = """
import os, sys
import anyio
from toolcrib import open_crib
from toolcrib.host.workspace.calls import Calls

left = int(sys.argv[2])

def dying(name):
    real = getattr(Calls, name)
    def call(self, *args):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return real(self, *args)
    return call

for name in ("create", "settle", "exchange", "unlink", "sync"):
    setattr(Calls, name, dying(name))

async def main():
    async with open_crib(sys.argv[1], mode="work") as crib:
        outcome = await crib.call("apply_patch", patch=sys.stdin.read(), call_id="died")
        print(outcome)

anyio.run(main)
"""


def lay(workspace: Workspace) -> dict[str, bytes | str | None]:
    for name, data in FILES.items():
        workspace.write(name, data).chmod(0o640)
    return workspace.tree(workspace.ws)


async def made(crib: Crib) -> Ok:
    outcome = await crib.call("apply_patch", patch=PATCH)
    assert isinstance(outcome, Ok), str(outcome)
    return outcome


@pytest.mark.timeout(120)
@pytest.mark.case("B034", "files")
@pytest.mark.parametrize("at", [5, 16, 24, 27, 30, 32, 36])
def test_a_killed_patch_is_put_back_as_a_whole_at_the_next_start(workspace: Workspace, at: int) -> None:
    before = lay(workspace)
    with child(DIES, str(workspace.ws), str(at)) as process:
        said, _ = process.communicate(PATCH, timeout=50)
        assert process.returncode == -9, said

    async def look() -> None:
        async with opened(workspace.ws) as crib:
            found = workspace.tree(workspace.ws)
            (closed,) = [entry for entry in await crib.tape(call_id="died") if entry.stage == "closed"]
            outcome = closed.data["outcome"]
            assert outcome["name"] == "call.interrupted"
            assert not [path for path in found if TEMP_PREFIX in path]
            if outcome["happened"] == "no":
                assert found == before
            else:
                await crib.rewind((await crib.rewind_plan("died"))[0])
                assert workspace.tree(workspace.ws) == before
                await made(crib)
                assert workspace.tree(workspace.ws) == found
            assert {os.stat(workspace.ws / name).st_mode & 0o777 for name in sorted(FILES)[:4]} == {0o640}

    anyio.run(look)


@pytest.mark.anyio
@pytest.mark.parametrize("ticks", [2, 20, 60, 100, 140, 180])
async def test_a_cancelled_patch_is_whole_and_the_tape_says_which(workspace: Workspace, ticks: int) -> None:
    before = lay(workspace)
    async with opened(workspace.ws) as crib:
        task = asyncio.ensure_future(crib.call("apply_patch", patch=PATCH, call_id="mine"))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        found = workspace.tree(workspace.ws)
        if not task.cancelled():
            assert isinstance(task.result(), Ok)
        if found != before:
            plan, _ = await crib.rewind_plan()
            await crib.rewind(plan)
            assert workspace.tree(workspace.ws) == before
            await made(crib)
            assert workspace.tree(workspace.ws) == found


@pytest.mark.anyio
async def test_two_patches_of_the_same_files_at_once_leave_one_of_them_or_both_in_turn(workspace: Workspace) -> None:
    lay(workspace)
    parts = [PATCH.replace("first", word).partition("*** Delete")[0] + "*** End Patch\n" for word in ("one", "two")]
    async with opened(workspace.ws) as crib:
        outcomes = await asyncio.gather(*(crib.call("apply_patch", patch=part) for part in parts))
    assert any(isinstance(each, Ok) for each in outcomes)
    for word, outcome in zip(("one", "two"), outcomes, strict=True):
        held = [word.encode() in workspace.read(name) for name in sorted(FILES)[:4]]
        assert all(held) if isinstance(outcome, Ok) else not any(held)
        assert isinstance(outcome, Ok | Refused)
