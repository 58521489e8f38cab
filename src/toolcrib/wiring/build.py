"""Opens a crib: loads the configuration, opens store and workspace, binds every power, and closes all of it again."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from anyio import to_thread

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.deferral import Budget
from toolcrib.engine.kit import Binding, Factory, Kit, Policy
from toolcrib.engine.powers import unwired
from toolcrib.engine.recover import recover
from toolcrib.host.finder.finder import Finder
from toolcrib.host.process.launcher import Launcher
from toolcrib.host.snapshots.snapshots import WorkspaceSnapshots
from toolcrib.host.workspace.workspace import Workspace
from toolcrib.policy.decide import fully_denied
from toolcrib.policy.parse import check_tools
from toolcrib.policy.rules import version
from toolcrib.ports.artifacts import Artifacts
from toolcrib.ports.ask import Asker
from toolcrib.ports.files import Files
from toolcrib.ports.find import Find
from toolcrib.ports.snapshots import Snapshots
from toolcrib.ports.toolbox import Toolbox
from toolcrib.store.store import Store
from toolcrib.terms.errors import StoreError
from toolcrib.terms.records import Checkpoint
from toolcrib.terms.redaction import Redactor
from toolcrib.terms.settings import Mode
from toolcrib.terms.tool import Tool
from toolcrib.tools import tools as builtin_tools
from toolcrib.wiring.cell import Live
from toolcrib.wiring.clock import SystemClock
from toolcrib.wiring.crib import Crib
from toolcrib.wiring.load import Loaded, Places, demand_own, load, places, workspace_root
from toolcrib.wiring.programs import find_accelerator, find_ripgrep
from toolcrib.wiring.toolbox import LiveToolbox, Loads
from toolcrib.wiring.trust import trusted_digest


@asynccontextmanager
async def open_crib(
    directory: str | Path = ".",
    *,
    mode: Mode | None = None,
    tools: Sequence[Tool] = (),
    approver: Asker | None = None,
    without: Iterable[str] = (),
    wide: bool = False,
) -> AsyncGenerator[Crib]:
    """Open the workspace `directory`: `async with toolcrib.open_crib(".", mode="work") as crib`.

    `tools` are one's own, beside the built-in ones. `approver` is asked when a call needs a yes; without one the
    crib is unattended, and such a call ends `approval.unattended`. `without` names tools to leave out; `wide` allows
    `/` and the home directory.

    Raises:
        ToolcribError: the workspace, the configuration or the store cannot be used; the message says which and why.
        TypeError: one of `tools` is not what `toolcrib.tool` makes.
    """
    where = await to_thread.run_sync(places)
    async with open_at(where, directory, mode=mode, tools=tools, approver=approver, without=without, wide=wide) as crib:
        yield crib


@asynccontextmanager
async def open_at(
    where: Places,
    directory: str | Path,
    *,
    mode: Mode | None = None,
    tools: Sequence[Tool] = (),
    approver: Asker | None = None,
    without: Iterable[str] = (),
    wide: bool = False,
) -> AsyncGenerator[Crib]:
    """Open a workspace with state and configuration in `where`; see `open_crib`."""
    for each in tools:
        if not isinstance(each, Tool):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may not be checked
            raise TypeError(f"tools: {each!r} is no tool; put @toolcrib.tool(...) above an async function to make one")
    async with AsyncExitStack() as stack:
        opened = await to_thread.run_sync(lambda: _open(where, str(directory), mode, wide))
        stack.push_async_callback(to_thread.run_sync, opened.close)
        stack.push_async_callback(opened.finder.close)
        kit = _kit(opened)
        catalog_of = _catalog(opened, kit, (*builtin_tools(), *tools))
        live = await to_thread.run_sync(lambda: Live(opened.places.config, catalog_of))
        stack.callback(live.close)
        opened.catalog = live.catalog
        await _recover(opened, kit)
        yield Crib(
            kit.attached(live.catalog),
            live,
            loads=opened.loads,
            asker=approver,
            without=frozenset(without),
            dropped=opened.loaded.dropped,
        )


class _Opened:
    """Everything that holds a handle, closed in reverse."""

    def __init__(self, where: Places, loaded: Loaded, root: str, store: Store, workspace: Workspace) -> None:
        self.places = where
        self.loaded = loaded
        self.root = root
        self.store = store
        self.workspace = workspace
        self.loads = Loads()
        self.catalog: Callable[[], Catalog] = _no_catalog
        self.launcher = Launcher()
        self.finder = Finder(
            workspace,
            settings=loaded.settings.search,
            run=self.launcher,
            ripgrep=find_ripgrep(where.search_path),
            excludes=str(where.git_excludes),
            accelerator=find_accelerator(where.search_path, workspace=root),
            tape=store.tape,
        )
        self.snapshots = WorkspaceSnapshots(workspace, blobs=store.blobs, jobs=store.jobs, tape=store.tape)

    def close(self) -> None:
        """Close the store and the workspace."""
        with ExitStack() as stack:
            stack.callback(self.workspace.close)
            stack.callback(self.store.close)


def _open(where: Places, directory: str, mode: Mode | None, wide: bool) -> _Opened:
    root = workspace_root(directory, confirmed=wide)
    loaded = load(where, root, trusted_digest=trusted_digest(where.state, root), mode=mode)
    where.make_state()
    store = _store(where.store_of(root))
    try:
        workspace = Workspace.open(root, settings=loaded.settings.files, protected=loaded.settings.protected)
    except BaseException:
        store.close()
        raise
    return _Opened(where, loaded, root, store, workspace)


def _store(directory: Path) -> Store:
    demand_own(directory)
    try:
        return Store.open(str(directory), clock=SystemClock())
    except StoreError as error:
        raise StoreError(f"{directory}: {error.message}", hint=error.hint) from error


def _kit(opened: _Opened) -> Kit:
    settings = opened.loaded.settings
    policy = Policy(
        rules=opened.loaded.rules, mode=settings.mode, version=version(opened.loaded.rules, mode=settings.mode)
    )
    powers: Mapping[type, Factory] = {
        Files: lambda binding: opened.workspace.within(binding.scope),
        Find: lambda binding: opened.finder.within(binding.scope),
        Artifacts: lambda _binding: opened.store.artifacts,
        Snapshots: _snapshots(opened),
        Toolbox: lambda binding: LiveToolbox(binding, catalog=opened.catalog, loads=opened.loads),
    }
    return Kit(
        root=opened.root,
        owner=opened.store.owner,
        settings=settings,
        catalog=_no_catalog,
        policy=lambda: policy,
        clock=SystemClock(),
        tape=opened.store.tape,
        jobs=opened.store.jobs,
        approvals=opened.store.approvals,
        grants=opened.store.grants,
        artifacts=opened.store.artifacts,
        snapshots=opened.snapshots,
        files=opened.workspace.within,
        powers=powers,
        redact=Redactor(opened.places.secrets),
    )


def _snapshots(opened: _Opened) -> Factory:
    def bound(binding: Binding) -> Snapshots:
        return opened.snapshots.within(binding.scope)

    return bound


def _no_catalog() -> Catalog:
    raise RuntimeError("the catalog is not built yet")


def _catalog(opened: _Opened, kit: Kit, tools: Sequence[Tool]) -> Callable[[frozenset[str]], Catalog]:
    policy, told = kit.policy(), opened.loaded.settings.catalog
    budget = Budget(tokens=told.budget_tokens, deferred=told.deferred_tokens)
    unavailable = {tool.descriptor.raw_name: why for tool in tools if (why := unwired(tool, kit.powers)) is not None}

    def build(disabled: frozenset[str]) -> Catalog:
        catalog = Catalog.build(
            tools,
            order=opened.loaded.settings.order,
            order_place=opened.loaded.settings.order_place,
            disabled=disabled,
            budget=budget,
            unavailable=unavailable,
            fully_denied=lambda name, descriptor: fully_denied(
                descriptor, name=name, rules=policy.rules, mode=policy.mode
            ),
        )
        check_tools(policy.rules, catalog.named)
        return catalog

    return build


async def _recover(opened: _Opened, kit: Kit) -> None:
    """Close what dead processes left open, and forget them."""
    dead = await to_thread.run_sync(opened.store.dead_owners)

    async def sweep(call_id: str, paths: Mapping[str, str | None]) -> Sequence[str]:
        return await to_thread.run_sync(partial(opened.workspace.sweep, call_id, list(paths), paths))

    async def undo(checkpoint: Checkpoint) -> Sequence[str] | None:
        made = await to_thread.run_sync(opened.workspace.journal, checkpoint.id)
        if made is None:
            return None
        others = await opened.snapshots.undo(checkpoint, made)
        await to_thread.run_sync(opened.workspace.end_journal, checkpoint.id)
        return others

    await recover(dead, jobs=kit.jobs, tape=kit.tape, snapshots=kit.snapshots, sweep=sweep, undo=undo)
    for owner in dead:
        await to_thread.run_sync(opened.store.forget_owner, owner)
