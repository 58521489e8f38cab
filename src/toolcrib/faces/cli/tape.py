"""`toolcrib tape`: what happened, in order; and whether the record is whole."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import click

from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.look import Style, aligned, paint
from toolcrib.faces.cli.out import stderr, stdout
from toolcrib.faces.cli.session import drive, opened
from toolcrib.terms.records import Taped
from toolcrib.terms.visible import one_line
from toolcrib.wiring.crib import Crib

LATEST = 50
"""Entries shown in a terminal that did not say from where."""

PAGE = 500
VALUE = 80
"""Longest argument value shown whole, characters."""

POLL = 0.2
"""Seconds between two looks with --follow."""

WIDTHS = (5, 19, 8, 8, 0)
"""Columns of a row: sequence number, local time, end of the call's id, stage, and what happened."""


@click.command("tape")
@click.option("--follow", is_flag=True, help="Stay, and show entries as they come, until Ctrl-C.")
@click.option("--verify", is_flag=True, help="Recompute the hash chain. Exit 1 if an entry was altered or is missing.")
@click.option("--since", metavar="N", type=click.IntRange(min=0), help="Only entries after number N.")
@flags("directory", "wide", "json")
def command(*, follow: bool, verify: bool, since: int | None, directory: str, wide: bool, as_json: bool) -> int:
    """Show the tape of this workspace, one entry a line; --json prints one object a line.

    A terminal that does not say --since gets the last entries only.
    """
    if verify and (follow or since is not None):
        raise click.UsageError("--verify looks at the whole tape; it takes neither --follow nor --since")

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            if verify:
                return await _verify(crib, as_json=as_json)
            last = await _show(crib, since, as_json=as_json)
            if not last and not as_json:
                err = stderr()
                err.line(paint("nothing has happened here yet", "dim", err))
            while follow and not stdout().gone:
                await asyncio.sleep(POLL)
                last = await _pages(crib, last, as_json=as_json)
        return 0

    return drive(work, as_json=as_json, endless=follow)


async def _show(crib: Crib, since: int | None, *, as_json: bool) -> int:
    if since is not None or as_json or not stdout().terminal:
        return await _pages(crib, since or 0, as_json=as_json)
    entries = await crib.latest(limit=LATEST)
    if entries and entries[0].seq > 1:
        err = stderr()
        err.line(paint(f"{entries[0].seq - 1} earlier entries: toolcrib tape --since 0", "dim", err))
    for entry in entries:
        _print(entry, as_json=False)
    return entries[-1].seq if entries else 0


async def _pages(crib: Crib, since: int, *, as_json: bool) -> int:
    while not stdout().gone:
        entries = await crib.tape(since=since, limit=PAGE)
        for entry in entries:
            _print(entry, as_json=as_json)
        if not entries:
            break
        since = entries[-1].seq
    return since


def _print(entry: Taped, *, as_json: bool) -> None:
    out = stdout()
    if as_json:
        out.json(
            {
                "seq": entry.seq,
                "at": entry.at,
                "stage": entry.stage,
                "call_id": entry.call_id,
                "data": dict(entry.data),
                "previous": entry.previous,
                "hash": entry.hash,
            }
        )
        return
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
    cells = (str(entry.seq).rjust(WIDTHS[0]), when, entry.call_id[-8:], entry.stage, one_line(summary(entry), most=300))
    out.line(paint(aligned(cells, WIDTHS), _style(entry), out))


def _style(entry: Taped) -> Style:
    if entry.stage == "closed":
        return "red" if entry.data.get("outcome", {}).get("kind") == "refused" else "green"
    return "yellow" if entry.stage in {"asked", "answered"} else "plain"


def summary(entry: Taped) -> str:
    """Return what one entry says, in a few words on one line."""
    data = entry.data
    match entry.stage:
        case "received":
            tool = data.get("canonical") or data.get("tool")
            return f"{tool} by {data.get('principal')} {_pairs(data.get('args', {}))}"
        case "judged":
            return f"{data.get('ruling')} {_subject(data.get('footprint', {}))}".rstrip() + f": {data.get('reason')}"
        case "asked":
            return " ".join(_present(data.get("headline"), _tail("approval", data.get("approval"))))
        case "answered" if data.get("consumed"):
            return " ".join(_present("answer used", _tail("approval", data.get("approval"))))
        case "answered":
            by = f"by {data['by']}" if data.get("by") else ""
            return " ".join(
                _present(data.get("decision"), by, data.get("words"), _tail("approval", data.get("approval")))
            )
        case "started":
            return _held(data.get("checkpoint") or {})
        case "closed":
            return _ending(data.get("outcome", {}))
        case "config" if "grant" in data:
            return _grant(data)
        case _:
            return _pairs(data)


def _ending(outcome: dict[str, Any]) -> str:
    evidence = outcome.get("evidence", {})
    changed = ", ".join(change["path"] for change in evidence.get("changed", ()))
    words = ["ok"] if outcome.get("kind") == "ok" else [f"refused {outcome.get('name')}: {outcome.get('message')}"]
    if changed:
        words.append(f"changed {changed}")
    if bounds := outcome.get("bounds"):
        words.append(f"bounds {', '.join(bounds)}")
    return "; ".join(words)


def _grant(data: Mapping[str, Any]) -> str:
    about = f"{data['tool']} on {data.get('pattern') or 'anything'}" if data.get("tool") else str(data["grant"])[-8:]
    words = [f"grant {data.get('change')}: {about}", *_present(data.get("by") and f"by {data['by']}")]
    if data.get("uses") is not None:
        words.append(f"{data['uses']} use{'s' if data['uses'] != 1 else ''} left")
    return ", ".join(words)


def _held(checkpoint: dict[str, Any]) -> str:
    paths = [str(each["path"]) for each in checkpoint.get("held", ())]
    return f"checkpoint of {', '.join(paths)}" if paths else ""


def _subject(footprint: dict[str, Any]) -> str:
    return " ".join(dict.fromkeys(str(each) for part in footprint.values() for each in part))


def _tail(label: str, held: Any) -> str:
    return f"{label} {str(held)[-8:]}" if held else ""


def _pairs(values: Any) -> str:
    return " ".join(f"{key}={_value(value)}" for key, value in dict(values).items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE else text[: VALUE - 1] + "…"


def _present(*words: Any) -> list[str]:
    return [str(word) for word in words if word]


async def _verify(crib: Crib, *, as_json: bool) -> int:
    verdict = await crib.verify()
    out, whole = stdout(), verdict.broken is None
    if as_json:
        out.json(
            {
                "ok": whole,
                "entries": verdict.entries,
                "head": verdict.head,
                "broken": verdict.broken,
                "why": verdict.why,
            }
        )
    elif whole:
        out.line(f"{paint('ok', 'green', out)}  {verdict.entries} entries, head {verdict.head}")
    else:
        out.line(f"{paint('broken', 'red', out)} at entry {verdict.broken}: {one_line(verdict.why)}")
        stderr().line(
            "  next: everything before that entry stands; keep a copy of the state directory before anything else"
        )
    return 0 if whole else 1
