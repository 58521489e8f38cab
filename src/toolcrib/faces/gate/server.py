"""The MCP server over stdio: requests to calls, outcomes to results. Decides nothing; the line does."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolcrib._version import __version__
from toolcrib.faces.gate.answers import failed, result_of, tools_of
from toolcrib.faces.gate.asking import Asking
from toolcrib.faces.gate.reading import Call, Shelves
from toolcrib.faces.gate.sdk import (
    MODERN_PROTOCOL_VERSIONS,
    SERVER_INFO_META_KEY,
    CallNext,
    CallToolRequestParams,
    CallToolResult,
    HandlerResult,
    InMemorySubscriptionBus,
    ListenHandler,
    ListToolsResult,
    MCPError,
    NotificationOptions,
    PaginatedRequestParams,
    Server,
    ServerRequestContext,
    ServerSession,
    ToolsListChanged,
)
from toolcrib.faces.gate.stdio import wire
from toolcrib.ports.ask import Progress
from toolcrib.terms.call import Principal
from toolcrib.terms.digest import of_json
from toolcrib.terms.errors import ToolcribError
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Fields, Outcome
from toolcrib.wiring.crib import Crib

NAME = "toolcrib"
"""What the server calls itself."""

CLIENT_CHARS = 64
"""Characters of a client's own name that are kept."""

LOOK = 1.0
"""Seconds between two looks at whether the list of tools has changed."""

LISTENERS = 16
"""Most streams on which a client hears of that at once."""

NOT_AN_OBJECT = "arguments (expected an object)"
"""Stands as the name of a parameter for arguments that are no object: the line refuses it, as it does any unknown."""

Request = ServerRequestContext[dict[str, Any], Any]
"""One request as the SDK hands it over."""


async def serve_stdio(crib: Crib, *, dialect: str = "toolcrib") -> None:
    """Serve the tools of `crib` to one MCP client over standard input and output, until it closes them.

    Speaks the revisions 2026-07-28 and 2025-11-25 (and the older ones of the latter's handshake). Calls still under
    way when the client leaves are cancelled and closed.
    """
    gate = Gate(crib, dialect)
    server = gate.server()
    said = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with wire(depth=crib.settings.call.args_depth) as (inbox, outbox):
        watch = asyncio.create_task(gate.watch())
        try:
            await server.run(inbox, outbox, said)
        finally:
            watch.cancel()
            await asyncio.wait((watch,))


class Gate:
    """One session: a crib, a dialect, and a thread of its own."""

    def __init__(self, crib: Crib, dialect: str) -> None:
        self._crib = crib
        self._dialect = dialect
        self._thread = mint_id()
        self._asking = Asking(crib)
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        self._mark, self._told = (0, 0), ""
        shelves = Shelves(crib, dialect=dialect, thread=self._thread, call=self._caller)
        self._server: Server[dict[str, Any]] = Server(
            NAME,
            version=__version__,
            title="Toolcrib",
            instructions=crib.overview(dialect=dialect),
            on_list_tools=self._list,
            on_call_tool=self._called,
            on_list_resources=shelves.resources,
            on_list_resource_templates=shelves.templates,
            on_read_resource=shelves.read,
            on_list_prompts=shelves.prompts,
            on_get_prompt=shelves.prompt,
            on_subscriptions_listen=ListenHandler(self._bus, max_subscriptions=LISTENERS),
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
        self._session = ctx.session
        opened = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.client_params is not None
        if ctx.method != "tools/call" or ctx.request_id is None or not opened:
            return await call_next(ctx)
        return await self._call(ctx, ctx.params or {})

    async def _list(self, _request: Request, _params: PaginatedRequestParams | None) -> ListToolsResult:
        await self._crib.refresh()
        tools = tools_of(self._crib.render("mcp", dialect=self._dialect, thread=self._thread))
        return ListToolsResult.model_validate({"tools": tools})

    async def _called(self, request: Request, params: CallToolRequestParams) -> CallToolResult:
        """Answer a call that came the SDK's way all the same."""
        plain = {"name": params.name, "arguments": params.arguments}
        return CallToolResult.model_validate(await self._call(request, plain))

    async def _call(self, request: Request, params: Mapping[str, Any]) -> Fields:
        name, principal = params.get("name"), self._principal(request)
        modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        asks = self._asking.may(request)
        asker = self._asking.asker(request, by=principal.id) if asks and not modern else None
        call = self._crib.make(
            name if isinstance(name, str) else "",
            arguments(params.get("arguments")),
            dialect=self._dialect,
            principal=principal,
            takes_media=True,
        )
        try:
            if asks and modern:
                await self._asking.take(params, by=principal.id)
            outcome = await self._crib.submit(call, asker=asker, listener=_listener(request))
            await self._tell_of_changes()
            result = await self._asking.question(outcome, by=principal.id) if asks and modern else None
            if result is None:
                result = await result_of(outcome, self._crib)
                if modern:
                    result["resultType"] = "complete"
        except ToolcribError as error:
            result = failed(error)
            if modern:
                result["resultType"] = "complete"
        if modern:
            result["_meta"] = {SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return result

    def _caller(self, request: Request) -> Call:
        """Return what makes a further call for a request of this session."""

        async def call(tool: str, args: Fields) -> Outcome:
            return await self._crib.submit(self._crib.make(tool, args, principal=self._principal(request)))

        return call

    async def watch(self) -> None:
        """Tell the client when its list of tools has become another, until cancelled."""
        self._mark, self._told = self._seen(), self._shown()
        while True:
            await asyncio.sleep(LOOK)
            with suppress(ToolcribError):
                await self._crib.refresh()
            await self._tell_of_changes()

    async def _tell_of_changes(self) -> None:
        if (mark := self._seen()) == self._mark:
            return
        self._mark = mark
        if (now := self._shown()) == self._told:
            return
        self._told = now
        await self._bus.publish(ToolsListChanged())
        if self._session is not None and self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            with suppress(MCPError, OSError):
                await self._session.send_tool_list_changed()

    def _seen(self) -> tuple[int, int]:
        return self._crib.generation(thread=self._thread)

    def _shown(self) -> str:
        try:
            return of_json(self._crib.render("mcp", dialect=self._dialect, thread=self._thread))
        except ToolcribError:
            return ""  # `tools/list` says what is wrong

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
