"""`toolcrib init`: connect MCP clients to this project, after showing the exact change to each one's configuration."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click
from anyio import to_thread

from toolcrib.faces.cli.clients import CLIENTS, SERVER, Client, entry, installed, pastes, snippet
from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.jsonc import JsonError, put
from toolcrib.faces.cli.keys import confirm, prompts
from toolcrib.faces.cli.look import diff, paint, shown
from toolcrib.faces.cli.out import Stream, stderr, stdout, terminal
from toolcrib.faces.cli.session import REFUSED, drive, opened, principal, refused
from toolcrib.terms.errors import ConfigError
from toolcrib.terms.outcome import Fields, Refused
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import Mode
from toolcrib.terms.text import decode, encode
from toolcrib.wiring import personal
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.load import Places, home_directory, places


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What connecting one client would change. `why` says why nothing can be written; then `lines` are to be pasted."""

    client: Client
    file: str
    lines: str
    old: bytes | None = None
    digest: str | None = None
    new: bytes | None = None
    diff: str = ""
    why: str = ""


@click.command("init")
@click.option(
    "--client",
    "chosen",
    metavar="NAME",
    multiple=True,
    type=click.Choice([client.name for client in CLIENTS]),
    help=f"Connect this one: {', '.join(client.name for client in CLIENTS)}. Default: those found here.",
)
@flags("directory", "wide", "json", "yes")
def command(*, chosen: tuple[str, ...], directory: str, wide: bool, as_json: bool, yes: bool) -> int:
    """Connect Claude Code, Cursor, VS Code or Zed to this project.

    The change to each client's configuration is shown, and written after a yes. Other servers, comments and layout stay
    as they are. A file of the project goes through the line, so `toolcrib undo` takes it back.
    """

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            where = await to_thread.run_sync(places)
            clients = await to_thread.run_sync(lambda: _wanted(chosen, crib.root, where))
            if not clients:
                return _nobody(crib.root, where, as_json)
            told = [await _connect(crib, client, where, as_json=as_json, yes=yes) for client in clients]
            mode = crib.settings.mode
        if as_json:
            good = all(each["state"] in {"connected", "already connected"} for each in told)
            stdout().json({"kind": "ok" if good else "refused", "clients": told})
        elif any(each["state"] in {"connected", "already connected"} for each in told):
            _next(mode, directory)
        return max((REFUSED for each in told if each["state"] not in {"connected", "already connected"}), default=0)

    return drive(work, as_json=as_json)


def _wanted(chosen: Sequence[str], root: Path, where: Places) -> list[Client]:
    if chosen:
        return [client for client in CLIENTS if client.name in chosen]
    home = home_directory()
    return [client for client in CLIENTS if installed(client, root, home=home, search_path=where.search_path)]


def _nobody(root: Path, where: Places, as_json: bool) -> int:
    names = ", ".join(client.name for client in CLIENTS)
    refused("tool.unavailable", "no MCP client was found here", hint=f"name one: --client {names}", as_json=as_json)
    if not as_json:
        err = stderr()
        for title, line in pastes(root, search_path=where.search_path):
            err.line(paint(f"\n  {title}:", "dim", err))
            err.line("  " + shown(line, err))
    return REFUSED


async def _connect(crib: Crib, client: Client, where: Places, *, as_json: bool, yes: bool) -> Fields:
    edit = await _edit(crib, client, where)
    out = prompts(as_json=as_json)
    state, call = await _written(crib, edit, out, as_json=as_json, yes=yes)
    return {
        "client": client.name,
        "file": edit.file,
        "state": state,
        "why": edit.why,
        "diff": edit.diff,
        "call_id": call,
    }


async def _edit(crib: Crib, client: Client, where: Places) -> Edit:
    made = entry(client, crib.root, search_path=where.search_path)
    file = str(where.config.parent / client.file) if client.personal else client.file
    lines = snippet(client, made)
    try:
        old, digest = await _read(crib, client, file)
        text = decode(old or b"")
        new = put(text.text, client.key, SERVER, made, comments=client.comments)
    except JsonError as error:
        return Edit(client=client, file=file, lines=lines, why=f"{file} does not parse: {error}")
    except (Refusal, ConfigError) as error:
        return Edit(client=client, file=file, lines=lines, why=error.message)
    change = "".join(
        unified_diff(
            text.text.splitlines(keepends=True),
            new.splitlines(keepends=True),
            f"a/{file.lstrip('/')}" if old is not None else "/dev/null",
            f"b/{file.lstrip('/')}",
        )
    )
    data = encode(new, text.encoding)
    return Edit(client=client, file=file, lines=lines, old=old, digest=digest, new=data, diff=change)


async def _read(crib: Crib, client: Client, file: str) -> tuple[bytes | None, str | None]:
    if client.personal:
        return await to_thread.run_sync(personal.read, Path(file)), None
    found = await crib.load(file)
    return (found.data, found.digest) if found is not None else (None, None)


async def _written(crib: Crib, edit: Edit, out: Stream, *, as_json: bool, yes: bool) -> tuple[str, str | None]:
    """Show the edit, ask, and carry it out; return what became of it and the call that did it."""
    if not as_json or not yes:
        out.line(paint(edit.client.title, "bold", out) + f"  {shown(edit.file, out)}")
    if edit.why:
        _by_hand(edit, as_json=as_json)
        return "refused", None
    if edit.new == edit.old:
        _say(out, "already connected", as_json)
        return "already connected", None
    if not as_json or not yes:
        out.line(diff(edit.diff.rstrip("\n"), out))
        for note in _notes(edit):
            out.line(shown(note, out))
    if not yes and not terminal():
        stderr().line("refused approval.unattended: writing this needs a yes, and nobody can be asked here")
        stderr().line("  next: run it in a terminal, or say --yes")
        return "not asked", None
    if not yes and not await confirm(f"Write {edit.file}?", out):
        _say(out, "left as it was", as_json)
        return "declined", None
    return await _write(crib, edit, out, as_json=as_json)


async def _write(crib: Crib, edit: Edit, out: Stream, *, as_json: bool) -> tuple[str, str | None]:
    assert edit.new is not None
    new = edit.new
    if edit.client.personal:
        await to_thread.run_sync(lambda: personal.replace(Path(edit.file), new, expect=edit.old))
        _say(out, "connected; the editor takes it up by itself", as_json)
        return "connected", None
    args: dict[str, Any] = {"path": edit.file, "content": decode(new).text}
    if edit.old is not None:
        args |= {"overwrite_existing": True, "digest": edit.digest}
    outcome = await crib.submit(crib.make("write_file", args, principal=principal(), given="once"))
    if isinstance(outcome, Refused):
        refused(outcome.name, outcome.message, hint=outcome.hint)
        return "refused", outcome.call_id
    _say(out, f"connected; restart the client or reload its servers (call {outcome.call_id})", as_json)
    return "connected", outcome.call_id


def _next(mode: Mode, directory: str) -> None:
    """Say what a connected agent needs a person for."""
    out = stdout()
    at = "" if directory == "." else f" -C {shlex.quote(directory)}"
    refusing = {
        "locked": "every call it makes",
        "ask": "every change it asks for",
        "work": "every call that needs a yes",
    }
    if mode not in refusing:
        return
    out.line()
    out.line(f"While the agent works, answer its requests in another terminal: toolcrib approve --watch{at}")
    own = "" if mode == "work" else ' (or start it with --mode work: add "--mode", "work" to its args)'
    out.line(f"Without it {refusing[mode]} is refused at once{own}.")


def _notes(edit: Edit) -> list[str]:
    notes: list[str] = []
    if edit.client.personal:
        notes.append(f"{edit.client.title} has one such file for all projects: this entry serves this project in each.")
    elif b'"command": "toolcrib"' not in (edit.new or b""):
        notes.append("toolcrib is not on your PATH, so the entry names this computer's path; do not share this file.")
    return notes


def _by_hand(edit: Edit, *, as_json: bool) -> None:
    err = stderr()
    err.line(paint("refused ", "red", err) + shown(edit.why, err, style="red"))
    if not as_json:
        err.line("  next: repair the file, or put these lines in it by hand:")
        for line in edit.lines.split("\n"):
            err.line("    " + shown(line, err))


def _say(out: Stream, text: str, as_json: bool) -> None:
    if not as_json:
        out.line(text)
