"""`toolcrib tools enable|disable NAME`: the disabled set, kept first and then seen by every running program."""

import click
from anyio import to_thread

from toolcrib.faces.cli.flags import flags
from toolcrib.faces.cli.out import stdout
from toolcrib.faces.cli.session import REFUSED, drive, opened, refused
from toolcrib.terms.names import nearest
from toolcrib.wiring.load import places
from toolcrib.wiring.trust import read_disabled, replace_disabled


@click.command("enable")
@click.argument("name")
@flags("directory", "wide", "json")
def enable(*, name: str, directory: str, wide: bool, as_json: bool) -> int:
    """Switch the tool NAME on again, in every workspace."""
    return _switch(name, off=False, directory=directory, wide=wide, as_json=as_json)


@click.command("disable")
@click.argument("name")
@flags("directory", "wide", "json")
def disable(*, name: str, directory: str, wide: bool, as_json: bool) -> int:
    """Switch the tool NAME off in every workspace until it is enabled again; running programs see it at once."""
    return _switch(name, off=True, directory=directory, wide=wide, as_json=as_json)


def _switch(name: str, *, off: bool, directory: str, wide: bool, as_json: bool) -> int:
    config = places().config

    async def work() -> int:
        async with opened(directory, wide=wide) as crib:
            known = set(crib.catalog.named)
            before = await to_thread.run_sync(read_disabled, config)
            if name not in known | before:
                near = ", ".join(nearest(name, known))
                hint = f"did you mean {near}?" if near else "toolcrib tools --all lists every tool"
                refused("tool.unknown", f"no tool is called {name!r}", hint=hint, as_json=as_json)
                return REFUSED
            after = before | {name} if off else before - {name}
            if after != before:
                await to_thread.run_sync(replace_disabled, config, after)
        _tell(name, changed=after != before, off=off, as_json=as_json)
        return 0

    return drive(work, as_json=as_json)


def _tell(name: str, *, changed: bool, off: bool, as_json: bool) -> None:
    state = "disabled" if off else "enabled"
    if as_json:
        stdout().json({"name": name, "state": state, "changed": changed})
    else:
        stdout().line(f"{name} is {state}" if changed else f"{name} was {state} already")
