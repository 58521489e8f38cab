"""`toolcrib init`: the exact change is shown, written only after a yes, and nothing else is touched."""

import json
import os
from pathlib import Path

import pytest

from commandline import terminal, toolcrib
from conftest import Workspace

pytestmark = pytest.mark.promise("P-cli-init")

OTHER = '{\n\t"mcpServers": {\n\t\t"other": {"command": "x",  "args": []}\n\t}\n}\n'


def test_nothing_is_written_without_a_yes_and_the_change_is_shown(workspace: Workspace) -> None:
    workspace.write(".mcp.json", OTHER)
    done = toolcrib("init", "--client", "claude-code", at=workspace.ws, code=1)
    assert '+\t\t"toolcrib": {\n' in done.out
    assert "say --yes" in done.err
    assert workspace.read(".mcp.json") == OTHER.encode()


def test_yes_writes_it_once_and_undo_takes_it_back(workspace: Workspace) -> None:
    workspace.write(".mcp.json", OTHER)
    told = toolcrib("init", "--client", "claude-code", "--yes", at=workspace.ws)
    written = workspace.read(".mcp.json").decode()
    assert '"other": {"command": "x",  "args": []},' in written
    entry = json.loads(written)["mcpServers"]["toolcrib"]
    assert entry["args"] == ["mcp", "-C", "."]
    assert os.path.basename(entry["command"]) == "toolcrib"
    assert "toolcrib approve --watch" in told.out.splitlines()[-2]
    assert "refused at once" in told.out.splitlines()[-1]
    again = toolcrib("init", "--client", "claude-code", "--yes", at=workspace.ws)
    assert "already connected" in again.out
    assert workspace.read(".mcp.json").decode() == written
    toolcrib("undo", "--yes", at=workspace.ws)
    assert workspace.read(".mcp.json") == OTHER.encode()


def test_a_person_at_a_terminal_is_asked_for_each_client(workspace: Workspace) -> None:
    with terminal("init", "--client", "cursor", "--client", "vscode", at=workspace.ws) as shown:
        shown.expect("Write .cursor/mcp.json? [y/N]")
        shown.type("y")
        shown.expect("Write .vscode/mcp.json? [y/N]")
        shown.type("")
        shown.expect("left as it was")
        assert shown.ended() == 1
    assert json.loads(workspace.read(".cursor/mcp.json"))["mcpServers"]["toolcrib"]["args"][0] == "mcp"
    assert not (workspace.ws / ".vscode").exists()


def test_the_clients_that_are_found_here_are_connected_each_in_its_own_form(workspace: Workspace, state: Path) -> None:
    (workspace.ws / ".vscode").mkdir()
    settings = state / "config" / "zed" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('// mine\n{\n  "theme": "One", // dark\n}\n', encoding="utf-8")
    settings.chmod(0o640)
    (state / "home" / ".zed").mkdir()
    told = toolcrib("init", "--yes", "--json", at=workspace.ws).json
    assert [(each["client"], each["state"]) for each in told["clients"]] == [
        ("vscode", "connected"),
        ("zed", "connected"),
    ]
    code = json.loads(workspace.read(".vscode/mcp.json"))["servers"]["toolcrib"]
    assert code["type"] == "stdio"
    assert code["args"] == ["mcp", "-C", "${workspaceFolder}"]
    text = settings.read_text(encoding="utf-8")
    assert text.startswith('// mine\n{\n  "theme": "One", // dark\n')
    assert f'"{workspace.ws}"' in text
    assert settings.stat().st_mode & 0o777 == 0o640
    assert os.listdir(settings.parent) == ["settings.json"]


def test_a_broken_file_is_refused_with_its_place_and_the_lines_to_paste(workspace: Workspace) -> None:
    broken = '{\n  "mcpServers": {\n    "x": {}\n    "y": {}\n  }\n}\n'
    workspace.write(".mcp.json", broken)
    done = toolcrib("init", "--client", "claude-code", "--yes", at=workspace.ws, code=1)
    assert ".mcp.json does not parse: line 4, column 5" in done.err
    assert '"toolcrib": {' in done.err
    assert workspace.read(".mcp.json") == broken.encode()


@pytest.mark.parametrize("link", ["directory", "file"])
def test_a_link_that_leads_out_of_the_project_is_refused(workspace: Workspace, link: str) -> None:
    target = workspace.out / "mcp.json"
    target.write_bytes(b"{}")
    if link == "directory":
        (workspace.ws / ".cursor").symlink_to("../out")
    else:
        workspace.write(".cursor/keep")
        (workspace.ws / ".cursor" / "mcp.json").symlink_to("../../out/mcp.json")
    # The control: by its name the file outside would be reached and written.
    assert (workspace.ws / ".cursor" / "mcp.json").read_bytes() == b"{}"
    before = workspace.tree()
    done = toolcrib("init", "--client", "cursor", "--yes", at=workspace.ws, code=1)
    assert done.err.startswith("refused ")
    assert workspace.tree() == before


def test_where_no_client_is_found_it_says_so_with_lines_to_paste(workspace: Workspace) -> None:
    done = toolcrib("init", at=workspace.ws, env={"PATH": "/usr/bin:/bin"}, code=1)
    assert "no MCP client was found here" in done.err
    assert "--client claude-code" in done.err
    assert "claude mcp add toolcrib" in done.err


def test_a_rule_that_denies_the_write_holds_over_yes(workspace: Workspace, state: Path) -> None:
    (state / "config" / "toolcrib").mkdir()
    rule = '[[policy.rules]]\nrule = "deny"\ntool = "write_file"\npath = ".mcp.json"\n'
    (state / "config" / "toolcrib" / "config.toml").write_text(rule, encoding="utf-8")
    done = toolcrib("init", "--client", "claude-code", "--yes", at=workspace.ws, code=1)
    assert "refused policy.denied: " in done.err
    assert not (workspace.ws / ".mcp.json").exists()
