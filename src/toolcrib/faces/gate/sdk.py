"""What the gate takes from the MCP SDK: its low-level server, its messages and its codes."""

from toolcrib.faces.gate.light import light

with light():
    # The models of the two wire formats build their validators when a message needs them: most sessions need few, and
    # building all of them is a quarter of the start. A later SDK without this base class starts as it does.
    try:
        from mcp_types._wire_base import WireModel
    except ImportError:
        pass
    else:
        WireModel.model_config["defer_build"] = True

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel.server import Server
    from mcp.shared.message import SessionMessage
    from mcp_types import (
        INTERNAL_ERROR,
        INVALID_REQUEST,
        PARSE_ERROR,
        SERVER_INFO_META_KEY,
        CallToolRequestParams,
        CallToolResult,
        ErrorData,
        JSONRPCError,
        JSONRPCMessage,
        JSONRPCNotification,
        JSONRPCRequest,
        JSONRPCResponse,
        ListToolsResult,
        PaginatedRequestParams,
        RequestId,
    )
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_REQUEST",
    "MODERN_PROTOCOL_VERSIONS",
    "PARSE_ERROR",
    "SERVER_INFO_META_KEY",
    "CallNext",
    "CallToolRequestParams",
    "CallToolResult",
    "ErrorData",
    "HandlerResult",
    "JSONRPCError",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "ListToolsResult",
    "PaginatedRequestParams",
    "RequestId",
    "Server",
    "ServerRequestContext",
    "SessionMessage",
]
