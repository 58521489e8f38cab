"""What is hidden from a caller cannot be lost through it, and what a rule hides is hidden by every route."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from toolcrib import ConfigError, Refusal
from toolcrib.store.tape import Tape
from toolcrib.terms.records import Entry, Taped
from toolcrib.terms.settings import Mode

pytestmark = pytest.mark.anyio

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.mark.promise("P-line-redaction")
async def test_writing_back_the_mark_of_a_hidden_secret_is_refused_and_the_secret_stays(workspace: Workspace) -> None:
    workspace.write("secret.env", f"AWS={KEY}\nA=1\n")
    async with opened(workspace.ws) as crib:
        read = await ok(crib, "read_file", path="secret.env")
        assert KEY not in str(read)
        shown = "\n".join(read.payload["lines"]).replace("A=1", "A=2")
        await refused(crib, "write_file", "args.invalid", path="secret.env", content=shown, overwrite_existing=True)
        mark = read.payload["lines"][0]
        for change in ({"old": "A=1", "new": mark}, {"old": "A=1", "new": f"A=1\n{mark}"}):
            await refused(
                crib, "edit_file", "args.invalid", path="secret.env", digest=read.evidence.digest, edits=[change]
            )
        done = {"old": "A=1", "new": "A=2"}
        await ok(crib, "edit_file", path="secret.env", digest=read.evidence.digest, edits=[done])
    assert workspace.read("secret.env") == f"AWS={KEY}\nA=2\n".encode()


def rules(state: Path, text: str) -> None:
    place = state / "config" / "toolcrib"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.toml").write_text(text, encoding="utf-8")


@pytest.mark.promise("P-policy-order")
@pytest.mark.parametrize("effect", ["deny", "ask"])
async def test_a_rule_that_keeps_a_file_from_reading_keeps_it_from_every_tool_that_would_show_it(
    workspace: Workspace, state: Path, effect: str
) -> None:
    workspace.write("rf/a.txt", "needle\n")
    (workspace.ws / "lk").symlink_to("rf")
    rules(state, f'[[policy.rules]]\nrule = "{effect}"\ntool = "read_file"\npath = "rf/**"\n')
    name = "policy.denied" if effect == "deny" else "approval.unattended"
    async with opened(workspace.ws) as crib:
        for path in ("rf/a.txt", "lk/a.txt"):
            await refused(crib, "read_file", name, path=path)
            await refused(crib, "grep", name, pattern="needle", path=path)
            change = [{"old": "needle", "new": "x"}]
            await refused(crib, "edit_file", name, path=path, digest="0" * 64, edits=change)
        for path in (".", "rf", "lk"):
            outcome = await crib.call("grep", pattern="needle", path=path)
            assert "needle\n" not in str(outcome).replace("'needle'", "")
            assert not (outcome.payload or {}).get("matches")


async def test_a_pattern_that_would_protect_nothing_is_refused(workspace: Workspace, state: Path) -> None:
    rules(state, '[policy]\nprotected = ["*.pem"]\n')
    with pytest.raises(ConfigError, match="pattern"):
        async with opened(workspace.ws):
            pass


async def test_a_call_id_of_another_tool_is_refused(workspace: Workspace) -> None:
    workspace.write("a.txt", "one\n")
    async with opened(workspace.ws) as crib:
        await ok(crib, "read_file", path="a.txt", call_id="mine")
        await refused(crib, "list_dir", "args.invalid", call_id="mine")


async def test_a_name_that_no_call_has_is_a_refusal_of_rewinding(workspace: Workspace) -> None:
    async with opened(workspace.ws) as crib:
        with pytest.raises(Refusal):
            await crib.rewind_plan("\udcff")


@pytest.mark.promise("P-tape-before")
@pytest.mark.parametrize(("mode", "flushed"), [("work", False), ("locked", True)])
async def test_a_reading_is_flushed_where_an_answer_is_recorded_with_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, mode: Mode, flushed: bool
) -> None:
    workspace.write("a.txt", "one\n")
    seen: list[bool] = []
    append = Tape.append

    async def watched(tape: Tape, entries: Sequence[Entry], *, durable: bool = True) -> Sequence[Taped]:
        seen.append(durable)
        return await append(tape, entries, durable=durable)

    monkeypatch.setattr(Tape, "append", watched)
    async with opened(workspace.ws, mode=mode) as crib:
        await ok(crib, "read_file", path="a.txt", given="once")
    assert seen == [flushed]
