"""Execute: binds only the declared powers, under the deadline, and turns every ending into an answer or a refusal."""

import asyncio
import logging

from toolcrib.engine.kit import Binding, Kit
from toolcrib.engine.powers import Circumstances, bind
from toolcrib.engine.stages import Guarded
from toolcrib.ports.ask import Progress
from toolcrib.terms.payload import Answer, Payload
from toolcrib.terms.refusals import Refusal

log = logging.getLogger("toolcrib.engine")


async def execute(guarded: Guarded, kit: Kit, listener: Progress | None) -> Answer[Payload] | Refusal:
    """Run the tool's body once. A fault of the body is `call.fault`, a deadline `call.timeout`."""
    admitted = guarded.cleared.judged.admitted
    call, tool = admitted.flight.call, admitted.tool
    seconds = kit.settings.call.seconds
    deadline = kit.clock.monotonic() + seconds
    context = Circumstances(call.id, call.principal, guarded.facts, call.takes_media, kit.clock, deadline, listener)
    powers = bind(tool, Binding(guarded.cleared.judged.scope, context, call.dialect, call.without), kit.powers)
    happened = "no" if tool.descriptor.kind == "read" else "maybe"
    try:
        async with asyncio.timeout(seconds):
            answer = await tool.body(admitted.args, **powers)
        if isinstance(answer, Answer):  # pyright: ignore[reportUnnecessaryIsInstance] - a tool of one's own may err
            return answer
        fault = f"{call.tool} returned {type(answer).__name__} where a tool returns an Answer"
        return Refusal("call.fault", f"{fault}; this is a defect of the tool, not of the call", happened=happened)
    except Refusal as refusal:
        return refusal
    except TimeoutError:
        return Refusal("call.timeout", f"{call.tool} did not finish within {seconds:g} s", happened=happened)
    except Exception as fault:
        log.exception("tool %s failed", admitted.flight.canonical)
        return Refusal(
            "call.fault",
            f"{call.tool} failed inside ({type(fault).__name__}); this is a defect of the tool, not of the call",
            hint="the log has the details; try another way",
            happened=happened,
        )
