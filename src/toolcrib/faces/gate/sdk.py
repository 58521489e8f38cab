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
    from mcp.server.lowlevel.server import NotificationOptions, Server
    from mcp.server.session import ServerSession
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
    from mcp.shared.exceptions import MCPError
    from mcp.shared.message import SessionMessage
    from mcp_types import (
        INTERNAL_ERROR,
        INVALID_PARAMS,
        INVALID_REQUEST,
        PARSE_ERROR,
        SERVER_INFO_META_KEY,
        CallToolRequestParams,
        CallToolResult,
        ErrorData,
        GetPromptRequestParams,
        GetPromptResult,
        JSONRPCError,
        JSONRPCMessage,
        JSONRPCNotification,
        JSONRPCRequest,
        JSONRPCResponse,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ListToolsResult,
        PaginatedRequestParams,
        ReadResourceRequestParams,
        ReadResourceResult,
        RequestId,
    )
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "MODERN_PROTOCOL_VERSIONS",
    "PARSE_ERROR",
    "SERVER_INFO_META_KEY",
    "CallNext",
    "CallToolRequestParams",
    "CallToolResult",
    "ErrorData",
    "GetPromptRequestParams",
    "GetPromptResult",
    "HandlerResult",
    "InMemorySubscriptionBus",
    "JSONRPCError",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListToolsResult",
    "ListenHandler",
    "MCPError",
    "NotificationOptions",
    "PaginatedRequestParams",
    "ReadResourceRequestParams",
    "ReadResourceResult",
    "RequestId",
    "Server",
    "ServerRequestContext",
    "ServerSession",
    "SessionMessage",
    "ToolsListChanged",
]
