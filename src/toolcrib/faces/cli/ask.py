"""Asks the person at this terminal about one of this terminal's own calls: yes once, always, or no with words."""

import asyncio
import os
import pwd
import time

from toolcrib.faces.cli.keys import ask_line, confirm
from toolcrib.faces.cli.out import Stream
from toolcrib.faces.cli.view import always, request
from toolcrib.ports.ask import Answered, Asker
from toolcrib.terms.records import Approval
from toolcrib.terms.visible import one_line


def choices(approval: Approval) -> str:
    """Return the answers that there are to an approval."""
    return "y = once, a = always, n = no" if approval.grantable else "y = once, n = no"


def unknown(approval: Approval) -> str:
    """Return what is said to an answer that is none."""
    return "answer y, a or n" if approval.grantable else "answer y or n"


def answerer() -> str:
    """Return how the tape names the person at this terminal."""
    try:
        return f"terminal:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"terminal:{os.getuid()}"


def asker(stream: Stream) -> Asker:
    """Return what asks on `stream`. Ctrl-D leaves the approval waiting; an answer from elsewhere ends the question."""

    async def ask(approval: Approval) -> Answered | None:
        try:
            return await _answer(approval, stream)
        except asyncio.CancelledError as ended:
            if ended.args:
                stream.line(f"\n{one_line(str(ended.args[0]))}")
            raise

    return ask


async def _answer(approval: Approval, stream: Stream) -> Answered | None:
    stream.write(request(approval, stream, now=time.time()))
    stream.write(always(approval, stream))
    while True:
        answer = await ask_line(f"Allow? {choices(approval)}  ", stream)
        if answer is None:
            return None
        word = answer.lower()
        if word in {"y", "yes", "once"}:
            return Answered("once", by=answerer())
        if word in {"n", "no", "deny"}:
            words = await ask_line("What should the caller be told? (Enter for nothing)  ", stream)
            return Answered("deny", words=words or "", by=answerer())
        if word in {"a", "always"} and approval.grantable:
            if await confirm("Allow all that always would cover?", stream):
                return Answered("always", by=answerer())
        else:
            stream.line(unknown(approval))
