"""The MCP server over stdio: requests to calls, outcomes to results. Decides nothing; the line does."""

from collections.abc import Mapping
from typing import Any

from toolcrib._version import __version__
from toolcrib.faces.gate.answers import failed, result_of, tools_of
from toolcrib.faces.gate.sdk import (
    MODERN_PROTOCOL_VERSIONS,
    SERVER_INFO_META_KEY,
    CallNext,
    CallToolRequestParams,
    CallToolResult,
    HandlerResult,
    ListToolsResult,
    PaginatedRequestParams,
    Server,
    ServerRequestContext,
)
from toolcrib.faces.gate.stdio import wire
from toolcrib.ports.ask import Progress
from toolcrib.terms.call import Principal
from toolcrib.terms.errors import ToolcribError
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Fields
from toolcrib.wiring.crib import Crib

NAME = "toolcrib"
"""What the server calls itself."""

CLIENT_CHARS = 64
"""Characters of a client's own name that are kept."""

NOT_AN_OBJECT = "arguments (expected an object)"
"""Stands as the name of a parameter for arguments that are no object: the line refuses it, as it does any unknown."""

Request = ServerRequestContext[dict[str, Any], Any]
"""One request as the SDK hands it over."""


async def serve_stdio(crib: Crib, *, dialect: str = "toolcrib") -> None:
    """Serve the tools of `crib` to one MCP client over standard input and output, until it closes them.

    Speaks the revisions 2026-07-28 and 2025-11-25 (and the older ones of the latter's handshake). Calls still under
    way when the client leaves are cancelled and closed.
    """
    server = Gate(crib, dialect).server()
    async with wire(depth=crib.settings.call.args_depth) as (inbox, outbox):
        await server.run(inbox, outbox, server.create_initialization_options())


class Gate:
    """One session: a crib, a dialect, and a thread of its own."""

    def __init__(self, crib: Crib, dialect: str) -> None:
        self._crib = crib
        self._dialect = dialect
        self._thread = mint_id()
        self._server: Server[dict[str, Any]] = Server(
            NAME,
            version=__version__,
            title="Toolcrib",
            instructions=crib.overview(dialect=dialect),
            on_list_tools=self._list,
            on_call_tool=self._called,
        )
        # In place of the default, which traces every message although nothing here exports traces.
        self._server.middleware[:] = [self._first]

    def server(self) -> Server[dict[str, Any]]:
        """Return the SDK's server of this session."""
        return self._server

    async def _first(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Take `tools/call` before the SDK checks its shape, so that a bad call is a tool's answer like any other.

        All else, and a call before the handshake, goes the SDK's way.
        """
        opened = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.client_params is not None
        if ctx.method != "tools/call" or ctx.request_id is None or not opened:
            return await call_next(ctx)
        params = ctx.params or {}
        return await self._call(ctx, name=params.get("name"), args=params.get("arguments"))

    async def _list(self, _request: Request, _params: PaginatedRequestParams | None) -> ListToolsResult:
        await self._crib.refresh()
        tools = tools_of(self._crib.render("mcp", dialect=self._dialect, thread=self._thread))
        return ListToolsResult.model_validate({"tools": tools})

    async def _called(self, request: Request, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call that came the SDK's way all the same."""
        return CallToolResult.model_validate(await self._call(request, name=params.name, args=params.arguments))

    async def _call(self, request: Request, *, name: object, args: object) -> Fields:
        call = self._crib.make(
            name if isinstance(name, str) else "",
            arguments(args),
            dialect=self._dialect,
            principal=self._principal(request),
            takes_media=True,
        )
        try:
            result = await result_of(await self._crib.submit(call, listener=_listener(request)), self._crib)
        except ToolcribError as error:
            result = failed(error)
        if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            result["_meta"] = {SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return result

    def _principal(self, request: Request) -> Principal:
        params = request.session.client_params
        return Principal(
            id=f"mcp:{client_name(params.client_info.name if params else '')}", face="mcp", thread=self._thread
        )


def arguments(given: object) -> Mapping[str, Any]:
    """Return the arguments of a call as the line takes them, whatever the client sent in their place."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return {NOT_AN_OBJECT: given}


def client_name(claimed: str) -> str:
    """Return a client's name as part of a caller's id: one short printable word, `unknown` for none."""
    word = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in claimed[:CLIENT_CHARS])
    return word.strip("-") or "unknown"


def _listener(request: Request) -> Progress:
    """Return what tells the client how far its call got; the SDK drops it where the client gave no token."""
    last = 0.0

    async def tell(message: str, done: float | None, total: float | None) -> None:
        nonlocal last
        # The protocol wants a number that grows with every notification, also where the tool has only words.
        last = done if done is not None and done > last else last + 1e-6 if done is not None else last + 1.0
        await request.session.report_progress(last, total, message)

    return tell
