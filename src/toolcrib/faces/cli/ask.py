"""Asks the person at this terminal about one of this terminal's own calls: yes once, always, or no with words."""

import os
import pwd
import time

from toolcrib.faces.cli.keys import ask_line
from toolcrib.faces.cli.out import Stream
from toolcrib.faces.cli.view import covers, request
from toolcrib.ports.ask import Answered, Asker
from toolcrib.terms.records import Approval
from toolcrib.terms.visible import visible

UNKNOWN = "answer y, a or n"
"""Said to an answer that is none."""


def answerer() -> str:
    """Return how the tape names the person at this terminal."""
    try:
        return f"terminal:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        return f"terminal:{os.getuid()}"


def asker(stream: Stream) -> Asker:
    """Return what asks on `stream`. Ctrl-D leaves the approval waiting."""

    async def ask(approval: Approval) -> Answered | None:
        stream.write(request(approval, stream, now=time.time()))
        while True:
            answer = await ask_line("Allow? y = once, a = always, n = no  ", stream)
            if answer is None:
                return None
            word = answer.lower()
            if word in {"y", "yes", "once"}:
                return Answered("once", by=answerer())
            if word in {"n", "no", "deny"}:
                words = await ask_line("What should the caller be told? (Enter for nothing)  ", stream)
                return Answered("deny", words=words or "", by=answerer())
            if word in {"a", "always"}:
                stream.line(f"Always covers {visible(covers(approval), lines=False)}.")
                sure = await ask_line("Allow all of that? [y/N] ", stream)
                if sure is not None and sure.lower() in {"y", "yes"}:
                    return Answered("always", by=answerer())
            else:
                stream.line(UNKNOWN)

    return ask
