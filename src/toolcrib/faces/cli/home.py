"""`toolcrib` alone: what this directory offers, and how to connect a client."""

import shlex
from typing import Any

import click

from toolcrib.faces.cli.clients import pastes
from toolcrib.faces.cli.look import paint, shown
from toolcrib.faces.cli.out import Stream, stdout
from toolcrib.faces.cli.session import drive, opened
from toolcrib.terms.settings import Mode
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.project import Project, project


def show(
    *,
    directory: str,
    wide: bool,
    mode: Mode | None,
    as_json: bool,
    yes: bool,
    deny: bool,
    without: tuple[str, ...],
) -> int:
    """Say what the workspace offers; answers to questions make no sense here."""
    if yes or deny:
        raise click.UsageError(f"{'--yes' if yes else '--deny'} answers a command's question, and there is no command")

    found = project(directory, wide=wide, mode=mode)

    async def work() -> int:
        async with opened(directory, mode=mode, without=without, wide=wide) as crib:
            told = await _facts(crib, found)
        if as_json:
            stdout().json(told)
        else:
            _tell(told, found, directory)
        return 0

    return drive(work, as_json=as_json)


async def _facts(crib: Crib, found: Project) -> dict[str, Any]:
    roster = crib.catalog.roster()
    return {
        "workspace": str(crib.root),
        "mode": crib.settings.mode,
        "tools": {
            "offered": sum(row["state"] == "visible" for row in roster),
            "known": len(roster),
        },
        "project_config": "none" if found.text is None else "trusted" if found.now.trusted else "not trusted",
        "asked_in_vain": list(crib.dropped),
        "pending_approvals": len(await crib.pending()),
        "connect": dict(pastes(crib.root, search_path=found.where.search_path)),
    }


def _tell(told: dict[str, Any], found: Project, directory: str) -> None:
    out = stdout()
    at = "" if directory == "." else f" -C {shlex.quote(directory)}"
    tools, config = told["tools"], told["project_config"]
    hidden = tools["known"] - tools["offered"]
    _fact(out, "workspace", told["workspace"])
    _fact(out, "mode", f"{told['mode']} ({_MEANINGS[found.now.settings.mode]})")
    _fact(
        out,
        "tools",
        f"{tools['offered']} offered" + (f", {hidden} more known: toolcrib tools --all{at}" if hidden else ""),
    )
    if config == "not trusted":
        vain = f"not in force: {', '.join(told['asked_in_vain'])}" if told["asked_in_vain"] else "it can only tighten"
        config = f"not trusted; {vain}. Look at it, then: toolcrib trust{at}"
    _fact(out, "project", config if config != "none" else "no configuration of its own")
    waiting = told["pending_approvals"]
    _fact(out, "approvals", f"{waiting} waiting: toolcrib approve{at}" if waiting else "none waiting")
    out.line()
    out.line(f"Try a call:        toolcrib call list_dir{at}")
    out.line(f"See what happened: toolcrib tape{at}")
    out.line(f"Connect a client:  toolcrib init{at}      or paste one of these:")
    for title, line in told["connect"].items():
        out.line()
        out.line(paint(f"  {title}:", "dim", out))
        out.line("  " + shown(line, out))


_MEANINGS: dict[Mode, str] = {
    "locked": "everything asks",
    "ask": "reads run, changes ask",
    "work": "reads and checkpointed changes run, the rest asks",
    "read-only": "reads run, nothing else is offered",
}


def _fact(out: Stream, name: str, value: str) -> None:
    out.line(f"{paint(name.ljust(10), 'bold', out)} {shown(value, out)}")
