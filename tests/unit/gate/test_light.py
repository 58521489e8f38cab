"""The SDK's light start: what stdio does not need is not imported, and what is wanted later is there all the same."""

import subprocess
import sys

HEAVY = ("httpx2", "mcp.client.session", "mcp.server.mcpserver", "cryptography", "jwt", "pydantic_settings")


def run(script: str) -> str:
    """Run a script in a process of its own and return what it printed."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_gate_leaves_out_the_client_and_the_http_half() -> None:
    loaded = run("import sys, toolcrib.faces.gate.server; print(*sys.modules)").split()
    assert "mcp.server.lowlevel.server" in loaded
    assert set(loaded) & set(HEAVY) == set()
    control = run("import sys, mcp.server.lowlevel.server; print(*sys.modules)").split()
    assert {"httpx2", "mcp.client.session"} <= set(control)


def test_every_name_of_the_sdk_is_there_when_it_is_wanted() -> None:
    script = (
        "import toolcrib.faces.gate.server as gate\n"
        "from mcp import Client, StdioServerParameters\n"
        "import mcp.server\n"
        "assert mcp.server.Server is mcp.server.lowlevel.server.Server\n"
        "assert mcp.server.MCPServer and mcp.types.Tool and Client and mcp.ClientSession\n"
        "assert not hasattr(mcp, 'no_such_name')\n"
        "print('there')"
    )
    assert run(script) == "there"


def test_an_sdk_that_was_imported_before_is_left_as_it_is() -> None:
    script = (
        "import sys, mcp\nbefore = sys.modules['mcp']\n"
        "import toolcrib.faces.gate.server\nprint(sys.modules['mcp'] is before)"
    )
    assert run(script) == "True"


def test_the_garbage_collector_works_again_after_the_start() -> None:
    assert run("import gc, toolcrib.faces.gate.server; print(gc.isenabled())") == "True"
