"""Toolcrib: one governed toolset for AI agents.

Every call goes through one line (admit, judge, approve, checkpoint, execute, finish), is recorded on a tape, and can be
taken back. The names below are loaded on first use, so that starting a command line costs only what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolcrib._version import __version__

if TYPE_CHECKING:
    from toolcrib.ports.ask import Answered
    from toolcrib.terms.call import Call, Principal
    from toolcrib.terms.errors import ConfigError, RenderError, StoreError, ToolcribError, WorkspaceError
    from toolcrib.terms.outcome import Bounds, Evidence, Ok, Outcome, Refused
    from toolcrib.terms.payload import Answer, Arguments, Payload
    from toolcrib.terms.records import Approval, Grant
    from toolcrib.terms.refusals import Refusal
    from toolcrib.terms.tool import tool
    from toolcrib.wiring.build import open_crib
    from toolcrib.wiring.crib import Crib

_HOMES = {
    "Answer": "toolcrib.terms.payload",
    "Answered": "toolcrib.ports.ask",
    "Approval": "toolcrib.terms.records",
    "Arguments": "toolcrib.terms.payload",
    "Bounds": "toolcrib.terms.outcome",
    "Call": "toolcrib.terms.call",
    "ConfigError": "toolcrib.terms.errors",
    "Crib": "toolcrib.wiring.crib",
    "Evidence": "toolcrib.terms.outcome",
    "Grant": "toolcrib.terms.records",
    "Ok": "toolcrib.terms.outcome",
    "Outcome": "toolcrib.terms.outcome",
    "Payload": "toolcrib.terms.payload",
    "Principal": "toolcrib.terms.call",
    "Refusal": "toolcrib.terms.refusals",
    "Refused": "toolcrib.terms.outcome",
    "RenderError": "toolcrib.terms.errors",
    "StoreError": "toolcrib.terms.errors",
    "ToolcribError": "toolcrib.terms.errors",
    "WorkspaceError": "toolcrib.terms.errors",
    "open_crib": "toolcrib.wiring.build",
    "tool": "toolcrib.terms.tool",
}

__all__ = [
    "Answer",
    "Answered",
    "Approval",
    "Arguments",
    "Bounds",
    "Call",
    "ConfigError",
    "Crib",
    "Evidence",
    "Grant",
    "Ok",
    "Outcome",
    "Payload",
    "Principal",
    "Refusal",
    "Refused",
    "RenderError",
    "StoreError",
    "ToolcribError",
    "WorkspaceError",
    "__version__",
    "open_crib",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'toolcrib' has no attribute {name!r}")
