"""The MCP clients that can be connected: where each keeps its servers, and what an entry looks like there.

A file of the project is shared with others, so its entry names no path of this computer: the bare command, and the
client's own word for the project. A file of the person names both in full.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Name = Literal["claude-code", "cursor", "vscode", "zed"]

SERVER = "toolcrib"
"""The name of our entry among a client's servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client. `file` is relative to the project, or to the person's configuration directory (`personal`)."""

    name: Name
    title: str
    file: str
    key: str
    here: str
    """How an entry names the project's directory."""
    kind: str | None = None
    personal: bool = False
    comments: bool = False
    """Whether the client reads comments and commas before the end in its file."""
    commands: tuple[str, ...] = ()
    """Programs whose presence says that the client is installed."""
    traces: tuple[str, ...] = ()
    """Paths beneath the project or the home directory that say the same."""


CLIENTS: tuple[Client, ...] = (
    Client(
        name="claude-code",
        title="Claude Code",
        file=".mcp.json",
        key="mcpServers",
        here=".",
        commands=("claude",),
        traces=(".claude", ".claude.json", ".mcp.json"),
    ),
    Client(
        name="cursor",
        title="Cursor",
        file=".cursor/mcp.json",
        key="mcpServers",
        here="${workspaceFolder}",
        commands=("cursor",),
        traces=(".cursor",),
    ),
    Client(
        name="vscode",
        title="VS Code",
        file=".vscode/mcp.json",
        key="servers",
        here="${workspaceFolder}",
        kind="stdio",
        comments=True,
        commands=("code", "code-insiders", "codium"),
        traces=(".vscode", ".config/Code"),
    ),
    Client(
        name="zed",
        title="Zed",
        file="zed/settings.json",
        key="context_servers",
        here="",
        personal=True,
        comments=True,
        commands=("zed", "zeditor"),
        traces=(".config/zed", ".zed"),
    ),
)
"""Every client, in the order in which they are shown."""


def installed(client: Client, root: Path, *, home: Path, search_path: str) -> bool:
    """Tell whether the client is used in this project or installed for this person."""
    if any((top / trace).exists() for top in (root, home) for trace in client.traces):
        return True
    return any(shutil.which(command, path=search_path) for command in client.commands)


def executable(*, bare: bool, search_path: str) -> str:
    """Return how an entry starts toolcrib: by name where `bare` and the name is found, else by the full path."""
    found = shutil.which("toolcrib", path=search_path)
    if found and bare:
        return "toolcrib"
    beside = Path(sys.executable).with_name("toolcrib")
    return str(beside) if beside.exists() else found or "toolcrib"


def entry(client: Client, root: Path, *, search_path: str) -> dict[str, Any]:
    """Return the entry that connects `client` to the project at `root`."""
    made: dict[str, Any] = {"type": client.kind} if client.kind else {}
    made["command"] = executable(bare=not client.personal, search_path=search_path)
    made["args"] = ["mcp", "-C", str(root) if client.personal else client.here]
    return made


def snippet(client: Client, made: Mapping[str, Any]) -> str:
    """Return the entry with what surrounds it, as the whole of a new file would be."""
    return json.dumps({client.key: {SERVER: dict(made)}}, indent=2)


def pastes(root: Path, *, search_path: str) -> tuple[tuple[str, str], ...]:
    """Return, for each client, what to paste where to connect it to the project at `root`, on this computer."""
    command = executable(bare=True, search_path=search_path)
    made = {"command": command, "args": ["mcp", "-C", str(root)]}
    words = shlex.join([command, "mcp", "-C", str(root)])
    code = json.dumps({"name": SERVER, "type": "stdio", **made})
    return (
        ("Claude Code, in a shell", f"claude mcp add {SERVER} -- {words}"),
        ("Cursor, in .cursor/mcp.json", json.dumps({"mcpServers": {SERVER: made}})),
        ("VS Code, in a shell", f"code --add-mcp {shlex.quote(code)}"),
        ("Zed, in its settings", f'"context_servers": {json.dumps({SERVER: made})}'),
    )
