"""Descriptors, footprints and grants for tests of the rule engine."""

from typing import Any

from toolcrib.policy.decide import judge
from toolcrib.policy.rules import Rule, Ruling
from toolcrib.terms.descriptor import Descriptor
from toolcrib.terms.effects import ApprovalPolicy, EffectClass, Kind
from toolcrib.terms.footprint import Footprint
from toolcrib.terms.names import BUILTIN, Origin
from toolcrib.terms.records import Grant

NOW = 1_000_000.0
"""Wall seconds at which tests judge."""


def descriptor(
    raw_name: str = "x",
    *,
    kind: Kind = "read",
    effect: EffectClass = "read",
    approval: ApprovalPolicy = "required",
    origin: Origin = BUILTIN,
    family: str = "files",
    **options: Any,
) -> Descriptor:
    """Return a descriptor."""
    return Descriptor(
        origin=origin,
        raw_name=raw_name,
        family=family,
        title="X",
        summary="s",
        description=str(options.pop("description", "d")),
        schema={"type": "object"},
        kind=kind,
        effect=effect,
        approval=approval,
        **options,
    )


READ = descriptor("read_file")
WRITE = descriptor("write_file", kind="write", effect="irreversible")
EDIT = descriptor("edit_file", kind="write", effect="reversible")
BASH = descriptor("bash", kind="effect", effect="irreversible", family="shell")
FETCH = descriptor("web_fetch", kind="effect", effect="read", family="web")
TODO = descriptor("todo_write", kind="meta", effect="idempotent-write", approval="never")
SERVED = descriptor("search", kind="effect", effect="read", origin=Origin("mcp", "files"))


def rules(*said: dict[str, Any]) -> tuple[Rule, ...]:
    """Return rules, numbered as in one file."""
    return tuple(Rule(index=index, **each) for index, each in enumerate(said, 1))


def ruled(
    what: Descriptor = READ,
    *given: Rule,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    argv: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
    **options: Any,
) -> Ruling:
    """Return the ruling on a call of `what` in mode `ask`, or as `options` say."""
    options.setdefault("mode", "ask")
    options.setdefault("name", what.raw_name)
    options.setdefault("now", NOW)
    footprint = Footprint(reads=reads, writes=writes, argv=argv, hosts=hosts)
    return judge(what, footprint, rules=given, **options)


def grant(what: Descriptor, pattern: str, **options: Any) -> Grant:
    """Return a grant for `what` that is alive."""
    made: dict[str, Any] = {
        "id": "g1",
        "tool": what.raw_name,
        "tool_digest": what.digest,
        "text_digest": what.text_digest,
        "pattern": pattern,
        "root": "/w",
        "by": "person",
        "approval": "a1",
        "created": NOW - 10,
    }
    return Grant(**{**made, **options})
