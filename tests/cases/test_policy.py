"""POLICY: rules on paths, tools and words of commands. How a shell reads a command is shown where there is one."""

import itertools
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from calling import ok, opened, refused
from conftest import Workspace
from toolcrib.faces.cli.out import Stream
from toolcrib.faces.cli.view import request
from toolcrib.policy.decide import judge
from toolcrib.policy.grants import pattern_for
from toolcrib.policy.parse import check_tools, parse_rules
from toolcrib.policy.places import protected
from toolcrib.policy.rules import Allow, Ask, Deny, Rule, Ruling, Verdict
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.records import Approval, Grant
from toolcrib.terms.settings import Mode

pytestmark = pytest.mark.anyio

RULES = """
[[policy.rules]]
rule = "deny"
path = "protected/**"
access = "write"
reason = "kept as it is"

[[policy.rules]]
rule = "deny"
path = ".env"
access = "read"
"""


def configure(state: Path, text: str) -> None:
    """Write the person's configuration."""
    (state / "config" / "toolcrib").mkdir(exist_ok=True)
    (state / "config" / "toolcrib" / "config.toml").write_text(text, encoding="utf-8")


@pytest.mark.case("B141", "files")
async def test_a_path_rule_holds_for_every_spelling_and_through_links(workspace: Workspace, state: Path) -> None:
    configure(state, RULES)
    workspace.write("protected/f", "old\n")
    workspace.write("work/g", "mine\n")
    workspace.write(".env", "KEY=1\n")
    os.symlink("../protected", workspace.ws / "work" / "link")
    os.symlink(".env", workspace.ws / "x")
    absolute = str(workspace.ws / "protected" / "f")
    async with opened(workspace.ws) as crib:
        for path in ("work/../protected/f", "./protected/f", "work/link/f", "protected//f", absolute, "work/link/new"):
            answer = await refused(crib, "write_file", "policy.denied", path=path, content="x", overwrite_existing=True)
            assert "kept as it is" in answer.message
            assert "user rule 1 (your configuration:2)" in answer.message
            assert str(state) not in str(answer)
        for path in ("x", ".env", "./.env", "work/../.env"):
            await refused(crib, "read_file", "policy.denied", path=path)
        change = [{"old": "KEY=1", "new": "KEY=2"}]
        await refused(crib, "edit_file", "policy.denied", path="x", digest="0" * 64, edits=change)
        shown = await ok(crib, "grep", pattern="KEY", include_ignored=True)
        assert "KEY=1" not in str(shown)
        await ok(crib, "read_file", path="protected/f")
        await ok(crib, "write_file", path="work/new", content="x")
    assert workspace.read("protected/f") == b"old\n"
    assert workspace.read(".env") == b"KEY=1\n"
    assert not (workspace.ws / "protected" / "new").exists()


@pytest.mark.case("B143")
async def test_protected_names_match_in_any_case_and_look_alikes_stay_free(workspace: Workspace, state: Path) -> None:
    def denied(path: str) -> bool:
        said = (
            Rule(effect="deny", path="**/.env"),
            Rule(effect="deny", path="**/id_rsa"),
            Rule(effect="deny", path=".ssh/"),
            Rule(effect="allow", path="**"),
        )
        return isinstance(_ruled("write_file", path, said, mode="ask"), Deny)

    spellings = (".ENV", "sub/.Env", ".Git/config", ".GIT", "ID_RSA", ".SSH/config", ".ssh")
    assert [path for path in spellings if not denied(path)] == []
    look_alikes = (".GITIGNORE", ".gitattributes", ".env.example", ".environment", "id_rsa.pub", "ssh/config", "git")
    assert [path for path in look_alikes if denied(path)] == []
    assert protected(".GITIGNORE") is None

    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "**/.env"\n')
    async with opened(workspace.ws) as crib:
        await refused(crib, "write_file", "policy.denied", path="sub/.ENV", content="x")
        await refused(crib, "write_file", "file.protected", path=".Git/config", content="x")
        for path in (".GITIGNORE", ".env.example"):
            await ok(crib, "write_file", path=path, content="x\n")


@pytest.mark.case("B144", "rules")
@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ('rule = "allow"\ntool = "read_file("\npath = "[a"', 4),
        ('rule = "permit"\ntool = "read_file"', 2),
        ('rule = "deny"\ntool = "read_file"\ncommand = "x"', 4),
        (f'rule = "deny"\npath = "{"x/" * 50_000}y"', 3),
        ('rule = "deny"\npath = "a"\nmatch = ["b"]', 4),
    ],
)
async def test_a_broken_rule_stops_the_start_with_its_line_named(
    workspace: Workspace, state: Path, rule: str, line: int
) -> None:
    configure(state, f"[[policy.rules]]\n{rule}\n")
    with pytest.raises(ConfigError) as caught:
        async with opened(workspace.ws):
            pass
    assert f"config.toml:{line}:" in caught.value.message


@pytest.mark.case("B144", "rules")
def test_a_rule_on_an_unknown_tool_is_no_rule() -> None:
    text = '[[policy.rules]]\nrule = "deny"\ntool = "read_fil"\n'
    rules = parse_rules(text, source="user", file="config.toml").rules
    with pytest.raises(ConfigError) as caught:
        check_tools(rules, ["read_file", "write_file"])
    assert "config.toml:1: user rule 1: no tool is called 'read_fil'; did you mean 'read_file'?" in caught.value.message
    check_tools(rules, ["read_fil"])


@pytest.mark.case("B144", "rules")
async def test_an_address_of_a_file_is_judged_as_the_path_it_is(workspace: Workspace, state: Path) -> None:
    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "file:/**"\n')
    workspace.write("secrets/a", "s\n")
    async with opened(workspace.ws) as crib:
        await refused(crib, "read_file", "policy.denied", path="file:///secrets/a")
        await refused(crib, "read_file", "file.missing", path="secrets%2Fa")
        await ok(crib, "read_file", path="secrets/a")


@pytest.mark.case("B145", "order")
async def test_deny_ask_and_allow_come_out_the_same_in_every_order_and_file(workspace: Workspace, state: Path) -> None:
    said: list[tuple[Verdict, str | None]] = [("allow", None), ("deny", "docs/**"), ("ask", "src/push")]
    for order in itertools.permutations(said):
        for sources in itertools.product(("user", "project"), repeat=3):
            rules = [
                Rule(effect=effect, tool="write_*" if path is None else "*", path=path, source=source)
                for (effect, path), source in zip(order, sources, strict=True)
            ]
            ruled = [_ruled("write_file", path, rules, mode="ask").verdict for path in ("docs/a", "src/push", "src/a")]
            assert ruled == ["deny", "ask", "allow"]

    configure(state, '[[policy.rules]]\nrule = "deny"\npath = "docs/**"\n')
    workspace.write(".toolcrib/config.toml", '[[policy.rules]]\nrule = "allow"\npath = "docs/a"\n')
    async with opened(workspace.ws) as crib:
        await refused(crib, "write_file", "policy.denied", path="docs/a", content="x")
    assert not (workspace.ws / "docs").exists()


@pytest.mark.case("B131", "rules")
@pytest.mark.parametrize("said", ['"git log"', '"git  log"', '"git\\tlog"', '["git", "log"]'])
def test_a_rule_about_a_command_covers_whole_words_however_they_are_spaced(said: str) -> None:
    text = "".join(
        f'[[policy.rules]]\nrule = "allow"\nargv = {argv}\n' for argv in (said, '"npm test"', '"ls"', '["my tool"]')
    )
    rules = parse_rules(text, source="user", file="config.toml").rules
    for command in ("git logout", "npm testify --x", "lsof", "./ls", "git", "git -c x log", "my tool"):
        assert isinstance(_command(shlex.split(command), rules), Ask), command
    for command in ("git log", "git  log", "git\tlog -3", "npm test", "ls -l", "'my tool' --now"):
        assert isinstance(_command(shlex.split(command), rules), Allow), command


@pytest.mark.case("B145", "commands")
def test_deny_ask_and_allow_on_commands_come_out_the_same_in_every_order_and_file() -> None:
    said: list[tuple[Verdict, tuple[str, ...] | None]] = [
        ("allow", None),
        ("deny", ("rm",)),
        ("ask", ("git", "push")),
    ]
    for order in itertools.permutations(said):
        for sources in itertools.product(("user", "project"), repeat=3):
            rules = [
                Rule(effect=effect, tool="bash", argv=argv, source=source)
                for (effect, argv), source in zip(order, sources, strict=True)
            ]
            ruled = [_command(command.split(), rules).verdict for command in ("rm d", "git push origin", "ls")]
            assert ruled == ["deny", "ask", "allow"]
    weaker = '[[policy.rules]]\nrule = "allow"\nargv = "rm d"\n'
    project = parse_rules(weaker, source="project", file=".toolcrib/config.toml", trusted=True).rules
    denied = (Rule(effect="deny", tool="bash", argv=("rm",)), *project)
    assert isinstance(_command(["rm", "d"], denied), Deny)
    assert parse_rules(weaker, source="project", file=".toolcrib/config.toml", trusted=False).rules == ()


@pytest.mark.case("B146", "rules")
@pytest.mark.parametrize(
    ("approved", "later"),
    [
        ("sudo chown u f", ["sudo rm f", "sudo", "sudo chown u", "sudo chown u f g"]),
        ("python3 -c 'print(1)'", ["python3 -c 'import os'", "python3 -c", "python3"]),
        ("bash x.sh", ["bash y.sh", "bash", "bash x.sh y"]),
        ("npx tool", ["npx other", "npx"]),
        ("npm test", ["npm testify", "npm test -- --x", "npm"]),
        ("rm 'a*'", ["rm ab", "rm a", "rm a b"]),
    ],
)
def test_a_standing_yes_to_a_command_covers_that_command_alone(approved: str, later: list[str]) -> None:
    argv = shlex.split(approved)
    granted = Grant(
        id="g1",
        tool="bash",
        tool_digest=BASH.digest,
        text_digest=BASH.text_digest,
        pattern=pattern_for(Footprint(argv=tuple(argv))),
        root="/w",
        by="a person",
        approval="a1",
        created=0.0,
    )
    assert isinstance(_command(argv, [], granted), Allow)
    for command in later:
        assert isinstance(_command(shlex.split(command), [], granted), Ask), command


@pytest.mark.case("B150", "view")
@pytest.mark.parametrize(
    "hidden", [" " * 500, "\t" * 500, "\r", "\x1b[2K", "\u200b", "\U000e0041", "\n\n", "x" * 30_000]
)
def test_a_command_is_shown_whole_with_what_hides_in_it_written_out(
    hidden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    command = f"ls{hidden}; touch p"
    asked = _asked(command)
    shown = request(asked, _Screen(), now=0.0)
    assert "; touch p" in shown
    assert not set("\r\x1b\u200b\U000e0041\t") & set(shown)
    written = {" " * 500: "<500 blanks>", "\r": "\\r", "\x1b[2K": "\\x1b[2K", "\u200b": "<U+200B>"}.get(hidden, "")
    assert written in shown
    assert len(command) < 30_000 or hidden in shown
    assert asked.args["command"] == command, "the data holds the exact command"


class _Screen(Stream):
    """A terminal without colour."""

    def __init__(self) -> None:
        super().__init__(None)
        self.terminal = True


def _asked(command: str) -> Approval:
    return Approval(
        id="a1",
        call_id="c1",
        tool="bash",
        tool_digest=BASH.digest,
        text_digest=BASH.text_digest,
        effect="e",
        principal="mcp:x",
        root="/w",
        subject=command,
        headline=f"bash {command}",
        diff="",
        args={"command": command},
        reason="mode ask",
        created=0.0,
        expires=60.0,
    )


BASH = Descriptor(
    raw_name="bash",
    family="shell",
    title="Run",
    summary="s",
    description="d",
    schema={"type": "object"},
    kind="effect",
    effect="irreversible",
)


def _command(argv: Sequence[str], rules: Sequence[Rule], *grants: Grant) -> Ruling:
    footprint = Footprint(argv=tuple(argv))
    return judge(BASH, footprint, name="bash", mode="ask", rules=rules, grants=grants, now=1.0, root="/w")


def _ruled(name: str, path: str, rules: "list[Rule] | tuple[Rule, ...]", *, mode: Mode) -> Ruling:
    what = Descriptor(
        raw_name=name,
        family="files",
        title="Write",
        summary="s",
        description="d",
        schema={"type": "object"},
        kind="write",
        effect="irreversible",
    )
    return judge(what, Footprint(writes=(path,)), name=name, mode=mode, rules=rules, now=0.0)
