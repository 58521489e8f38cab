"""The crib: one open workspace with its tools, line, tape and approvals. What every face and every program holds."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from toolcrib.catalog.asked import asked
from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.entry import Entry
from toolcrib.catalog.overview import overview
from toolcrib.catalog.views import View
from toolcrib.catalog.wire import Strictness, render
from toolcrib.engine.batch import run_batch
from toolcrib.engine.kit import Kit, Policy
from toolcrib.engine.line import Line
from toolcrib.policy.lint import Finding
from toolcrib.ports.artifacts import Slice
from toolcrib.ports.ask import Asker, Progress
from toolcrib.ports.files import Loaded as Whole
from toolcrib.ports.scope import Scope
from toolcrib.ports.snapshots import Plan
from toolcrib.ports.tape import Verdict
from toolcrib.terms.answers import Media, check_id, check_provider
from toolcrib.terms.call import Call, Decision, Principal
from toolcrib.terms.names import mint_id
from toolcrib.terms.outcome import Fields, Ok, Outcome
from toolcrib.terms.providers import RULES, Provider
from toolcrib.terms.records import Approval, Grant, Taped
from toolcrib.terms.refusals import Refusal
from toolcrib.terms.settings import Settings
from toolcrib.wiring.cell import Live
from toolcrib.wiring.explain import explain_call
from toolcrib.wiring.grants import Standing, findings, grant_named, imagined, revoke, standings
from toolcrib.wiring.replay import Replayed, replayed
from toolcrib.wiring.toolbox import Loads

MOST_ID = 128
"""Longest id that a caller may give a call, characters."""

MEDIA_BYTES = 16 << 20
"""Largest picture or document sent along with an answer, bytes."""

REWIND = "rewind"
"""Canonical name of the person-only tool that takes calls back."""


class Crib:
    """Made by `open_crib`. Methods that call tools return outcomes; they raise only for a programmer's mistakes."""

    def __init__(
        self,
        kit: Kit,
        live: Live,
        *,
        loads: Loads,
        asker: Asker | None,
        without: frozenset[str],
        dropped: tuple[str, ...],
    ) -> None:
        self._kit = kit
        self._live = live
        self._loads = loads
        self._line = Line(kit)
        self._asker = asker
        self._without = without
        self._thread = mint_id()
        self.dropped = dropped
        """What the project's own configuration asked for in vain, being untrusted."""

    @property
    def root(self) -> Path:
        """The workspace."""
        return Path(self._kit.root)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._kit.settings

    @property
    def policy(self) -> Policy:
        """The rules and the mode in force."""
        return self._kit.policy()

    @property
    def catalog(self) -> Catalog:
        """The catalog as it is now."""
        return self._live.catalog()

    async def call(
        self,
        tool: str,
        /,
        *,
        call_id: str | None = None,
        without: Iterable[str] = (),
        given: Decision | None = None,
        dialect: str = "toolcrib",
        **args: Any,
    ) -> Outcome:
        """Run one tool through the line: `await crib.call("grep", pattern="TODO")`.

        `call_id` is the caller's own id: repeating it returns the first outcome. `given` answers the call's own Ask.
        """
        return await self.submit(self.make(tool, args, call_id=call_id, without=without, given=given, dialect=dialect))

    async def batch(
        self, calls: Sequence[tuple[str, Mapping[str, Any]]], *, dialect: str = "toolcrib"
    ) -> list[Outcome]:
        """Run several calls in order, contiguous reads at once; one outcome a call, in call order."""
        made = [self.make(tool, args, dialect=dialect) for tool, args in calls]
        return await self.submit_batch(made)

    def make(
        self,
        tool: str,
        args: Mapping[str, Any],
        *,
        call_id: str | None = None,
        without: Iterable[str] = (),
        given: Decision | None = None,
        dialect: str = "toolcrib",
        principal: Principal | None = None,
        takes_media: bool = False,
    ) -> Call:
        """Build a call of this crib, for `submit`. The principal defaults to this Python program."""
        if call_id is not None and not (call_id.isascii() and call_id.isprintable() and 0 < len(call_id) <= MOST_ID):
            raise ValueError(f"call_id must be 1 to {MOST_ID} printable ASCII characters, found {call_id[:80]!r}")
        who = principal or Principal(id="python", face="python", thread=self._thread, attended=self._asker is not None)
        return Call(
            id=call_id or mint_id(),
            tool=tool,
            args=args,
            principal=who,
            dialect=dialect,
            without=self._without | frozenset(without),
            given=given,
            takes_media=takes_media,
            fresh=call_id is None,
        )

    async def refresh(self) -> None:
        """Look again at which tools are switched off; every call does so by itself."""
        await self._live.refresh()

    async def submit(self, call: Call, *, asker: Asker | None = None, listener: Progress | None = None) -> Outcome:
        """Run a call built by `make`; `asker` overrides the crib's own."""
        await self._live.refresh()
        return await self._line.run(call, asker=asker or self._asker, listener=listener)

    async def submit_batch(self, calls: Sequence[Call]) -> list[Outcome]:
        """Run calls built by `make` as one batch."""
        await self._live.refresh()
        catalog = self.catalog

        def is_read(call: Call) -> bool:
            found = catalog.find(call.tool, dialect=call.dialect, without=call.without, args=call.args)
            return isinstance(found, Entry) and catalog.is_read_only(found.name)

        return await run_batch(calls, run=self.submit, is_read=is_read, at_once=self.settings.call.reads_at_once)

    def render(
        self,
        provider: Provider = "mcp",
        *,
        dialect: str = "toolcrib",
        without: Iterable[str] = (),
        strict: Strictness = False,
        thread: str | None = None,
    ) -> list[Fields]:
        """Return what the `tools` field of that provider's request takes, for the tools visible now.

        `strict` asks the provider to hold the model to the schemas: of all tools, or of those named. Of deferred tools
        it holds those that `thread`, by default this program's, has loaded.

        Raises:
            RenderError: a tool breaks a rule of the provider; it names the tool and the rule, and nothing is rendered.
            ConfigError: there is no such provider, or no such dialect.
        """
        return render(self._view(dialect, without, thread), provider, strict=strict)

    def _view(self, dialect: str, without: Iterable[str], thread: str | None) -> View:
        return self.catalog.view(
            dialect=dialect,
            without=self._without | frozenset(without),
            loaded=self._loads.of(thread or self._thread),
        )

    def generation(self, *, thread: str | None = None) -> tuple[int, int]:
        """Return a mark of the list of tools as `thread` sees it: another one, when `render` may say something else."""
        return self._live.generation, len(self._loads.of(thread or self._thread))

    async def replies(
        self,
        provider: Provider,
        calls: Iterable[object] | None,
        *,
        dialect: str = "toolcrib",
        without: Iterable[str] = (),
    ) -> list[Fields]:
        """Run the tool calls of a model's answer as one batch; return that provider's tool-result messages, in order.

        `calls` are `message.tool_calls` (openai), `response.output` (openai-responses), `response.content`
        (anthropic) or `content.parts` (gemini), as the SDK gives them or as JSON; what is no call is passed over. None,
        as an SDK has it where the model made no call, is no calls.

        Raises:
            RenderError: a call's id is none of the provider's; nothing was run.
            ConfigError: there is no such provider; nothing was run.
        """
        check_provider(provider)
        shows = RULES[provider].media != frozenset()
        wanted = asked(provider, calls or ())
        for each in wanted:
            check_id(each.call_id or "", provider, tool=each.name)
        made = [self.make(each.name, each.args, dialect=dialect, without=without, takes_media=shows) for each in wanted]
        outcomes = await self.submit_batch(made)
        return [
            outcome.render(provider, call_id=each.call_id, media=await self.media(outcome))
            for each, outcome in zip(wanted, outcomes, strict=True)
        ]

    async def media(self, outcome: Outcome) -> tuple[Media, ...]:
        """Return the pictures and documents that go with an outcome; none when they are gone, or above 16 MiB."""
        named = outcome.payload.get("media") if isinstance(outcome, Ok) else None
        told = cast("Fields", named) if isinstance(named, dict) else {}
        artifact, kind = told.get("artifact"), told.get("media_type")
        if not isinstance(artifact, str) or not isinstance(kind, str):
            return ()
        try:
            held = await self.artifact(artifact, limit=MEDIA_BYTES)
        except Refusal:
            return ()
        whole = len(held.data) == held.artifact.size
        return (Media(kind, held.data, f"toolcrib:artifact/{artifact}"),) if whole else ()

    def overview(self, *, dialect: str = "toolcrib", thread: str | None = None) -> str:
        """Return the prompt's overview of the visible tools; it says which of them are deferred."""
        return overview(self._view(dialect, (), thread))

    async def rewind_plan(self, to: str | None = None, *, only: bool = False) -> tuple[Plan, str]:
        """Return what rewinding to before the call `to` would do, and its diff.

        None is the last call that changed something and was not taken back.

        Raises:
            Refusal: `snapshot.missing`, `snapshot.conflict`.
        """
        plan = await self._kit.snapshots.plan(to, only=only)
        if not plan.steps:
            message = f"everything is as it was before the call {plan.to}: there is nothing to take back"
            raise Refusal("snapshot.missing", message)
        return plan, await self._kit.snapshots.diff(plan)

    async def rewind(
        self, plan: Plan, *, principal: Principal | None = None, given: Decision | None = "once", only: bool = False
    ) -> Outcome:
        """Carry out a plan that the person has seen, as a call of its own that can be rewound too."""
        args = {"call": plan.to, "paths": [step.held.path for step in plan.steps], "only": only}
        return await self.submit(self.make(REWIND, args, principal=principal, given=given))

    async def explain(self, tool: str, args: Mapping[str, Any] | None = None) -> tuple[Fields, str]:
        """Return why a call would be ruled as it would, as an object and as text, without making it.

        Raises:
            Refusal: there is no such tool, or its arguments are refused before any judging.
        """
        found = await explain_call(self._kit, tool, args)
        return found.to_json(), found.text()

    async def load(self, path: str, *, most: int = 1 << 20) -> Whole | None:
        """Return a whole file of the workspace for the person at a face, or None where there is none.

        Raises:
            Refusal: the membrane's; `file.too_large` above `most` bytes.
        """
        files = self._kit.files(Scope())
        place = await files.place(path)
        return await files.load(path, most=most) if place.exists else None

    async def find_call(self, text: str) -> str:
        """Return the id of the one call whose id is, starts with or ends with `text`.

        Raises:
            Refusal: `snapshot.missing`: there is no such call that changed something, or more than one.
        """
        if await self._kit.jobs.find(text) is not None:
            return text
        found = {job.call_id for job in await self._kit.jobs.matching(text)} if text else set[str]()
        if text:
            found |= {job.call_id for job in await self._kit.jobs.changed() if job.call_id.endswith(text)}
        if len(found) == 1:
            return found.pop()
        if not found:
            raise Refusal(
                "snapshot.missing",
                f"expected the id of a call, or its start or end; none that changed something is {text!r}",
                hint="toolcrib tape lists the calls",
            )
        raise Refusal(
            "snapshot.missing",
            f"{text!r} is part of {len(found)} call ids: {', '.join(sorted(found)[:10])}",
            hint="give more of the id",
        )

    async def tape(self, *, since: int = 0, limit: int = 100, call_id: str | None = None) -> Sequence[Taped]:
        """Return tape entries above `since`, in order."""
        return await self._kit.tape.page(since=since, limit=limit, call_id=call_id)

    async def latest(self, *, limit: int = 100) -> Sequence[Taped]:
        """Return the last tape entries, in order."""
        return await self._kit.tape.latest(limit=limit)

    async def verify(self) -> Verdict:
        """Recompute the tape's hash chain."""
        return await self._kit.tape.verify()

    async def pending(self) -> Sequence[Approval]:
        """Return the approvals that wait for a person."""
        return await self._kit.approvals.pending()

    async def approval(self, approval_id: str) -> Approval | None:
        """Return one approval by its id or the unique end or start of it."""
        if (found := await self._kit.approvals.find(approval_id)) is not None or not approval_id:
            return found
        ending = [each for each in await self._kit.approvals.pending() if each.id.endswith(approval_id)]
        return ending[0] if len(ending) == 1 else None

    async def answer(self, approval_id: str, *, decision: Decision, words: str = "", by: str) -> Approval:
        """Answer an approval; the first valid answer stands.

        Raises:
            Refusal: `approval.expired`, `approval.stale`.
        """
        return await self._kit.approvals.answer(approval_id, decision=decision, words=words, by=by)

    async def grants(self) -> Sequence[Grant]:
        """Return the standing yeses of this workspace that have not ended, oldest first."""
        return await self._kit.grants.active(self._kit.root)

    async def standings(self) -> Sequence[Standing]:
        """Return every stored grant of this workspace with how it stands: those that have ended too."""
        return await standings(self._kit)

    async def grant(self, text: str) -> Grant:
        """Return the one grant whose id is, starts with or ends with `text`.

        Raises:
            Refusal: `approval.stale`: there is none, or more than one.
        """
        return await grant_named(self._kit, text)

    async def revoke(self, *grants: str, by: str = "python") -> Sequence[Grant]:
        """Take back the grants whose id, or the start or end of it, is given; the next call that needs one asks again.

        Raises:
            Refusal: `approval.stale`: one is not there, or names several. Nothing is taken back then.
        """
        return await revoke(self._kit, grants, by=by)

    async def lint_grants(self) -> Sequence[Finding]:
        """Return what is worth a look in the grants: ended, without their tool, outweighed by a rule, or very broad."""
        return await findings(self._kit)

    async def replay(self, grant: str = "", *, tool: str = "", pattern: str = "") -> Replayed:
        """Return the past calls that a grant would have let run without asking, had it stood all along.

        `grant` is the id of one that there is, or its start or end; `tool` and `pattern` are of one that is not made.

        Raises:
            Refusal: `approval.stale`, `tool.unknown`, or `args.invalid` for a pattern that is none.
        """
        wanted = imagined(self._kit, tool, pattern) if tool else await grant_named(self._kit, grant)
        return await replayed(self._kit, wanted)

    async def watch(self, holder: str, *, seconds: float) -> None:
        """Hold the approver lease for `seconds`, so that an Ask waits; 0 ends it."""
        await self._kit.approvals.lease(holder, seconds=seconds)

    async def artifact(self, artifact_id: str, *, offset: int = 0, limit: int = 1 << 20) -> Slice:
        """Return a slice of a stored output.

        Raises:
            Refusal: `artifact.missing`.
        """
        return await self._kit.artifacts.read(artifact_id, offset=offset, limit=limit)

    def roster(self, *, dialect: str = "toolcrib") -> tuple[Fields, ...]:
        """Return every tool with its state and why, in catalog order, as `toolcrib tools --all --json` prints it."""
        return self.catalog.roster(dialect=dialect, without=self._without)
