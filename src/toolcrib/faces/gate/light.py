"""A light start of the MCP SDK: over stdio a client must not wait for the SDK's HTTP half.

Not a change of the SDK: what is put off here happens as it always did, at first use.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.util import find_spec
from types import ModuleType
from typing import Any

ROOTS = ("mcp", "mcp.server")
"""Packages whose own `__init__` imports clients, HTTP and the high-level server, none of which stdio needs."""

_WAITING: dict[str, Loader] = {}
"""What runs the code of a package root that has not run yet."""


@contextmanager
def light() -> Generator[None]:
    """Import the SDK inside this: its package roots stay unrun until a name of theirs is wanted.

    The garbage collector rests meanwhile and never looks at what was imported: that lives as long as the process.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        for name in ROOTS:
            _put_off(name)
        yield
    finally:
        if collecting:
            gc.freeze()
            gc.enable()


class _Root(ModuleType):
    """A package whose submodules can be imported before its own code has run; a name it lacks runs that code."""

    def __getattr__(self, name: str) -> Any:
        loader = None if name.startswith("__") else _WAITING.pop(self.__name__, None)
        if loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        loader.exec_module(self)
        return getattr(self, name)


def _put_off(name: str) -> None:
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return
    root = _Root(name)
    _WAITING[name] = spec.loader
    root.__spec__, root.__loader__, root.__package__ = spec, spec.loader, name
    root.__path__, root.__file__ = spec.submodule_search_locations, spec.origin
    sys.modules[name] = root
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, root)
