"""Declaring one's own tools in Python: the same decorator, with an origin that is not ours."""

from collections.abc import Callable
from typing import Any

from toolcrib.terms.names import Origin
from toolcrib.terms.tool import Tool, ToolFunction
from toolcrib.terms.tool import tool as declare


def tool(**declared: Any) -> Callable[[ToolFunction], Tool]:
    """Declare an async function as a tool: `@toolcrib.tool(kind="read", effect="read")`.

    The first parameter is a pydantic model of the arguments, every further one a port it asks for by type. What is not
    declared is assumed to be irreversible and to need a yes. Takes the arguments of `toolcrib.terms.tool.tool`.

    Raises:
        TypeError: the function is not async, or its first parameter is not a model.
    """

    def decorate(body: ToolFunction) -> Tool:
        return declare(**{"origin": Origin("custom", body.__module__), **declared})(body)

    return decorate
