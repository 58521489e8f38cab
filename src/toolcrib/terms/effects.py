"""How much a tool does: kind, effect class and approval policy. Three orthogonal words, each a closed set."""

from typing import Literal

Kind = Literal["read", "write", "effect", "meta"]
"""Observes the workspace; changes its files; acts beyond them; side-channel about the conversation."""

EffectClass = Literal["read", "idempotent-write", "reversible", "irreversible"]
"""How much effect the approved call has. Undeclared means `irreversible`."""

ApprovalPolicy = Literal["required", "never"]
"""Whether the call needs a yes at all."""

Surface = Literal["symbol", "json"]
"""How the `standard` dialect shows the tool: as a Scheme symbol or as a JSON tool."""
