"""Tools of one's own that tell a test when they run, and people who answer questions in a way the test chooses."""

from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib import Answer, Answered, Approval, Arguments, Crib, Outcome, Payload, tool
from toolcrib.ports.ask import Asker
from toolcrib.terms.call import Decision
from toolcrib.terms.tool import Tool

Does = Callable[[str], Awaitable[str]]
"""What a probe does with its word."""


class Word(Arguments):
    """What a probe is told."""

    word: str = ""


class Said(Payload):
    """What a probe answers."""

    said: str

    def text(self) -> str:
        """Return it."""
        return self.said


async def echo(word: str) -> str:
    """Do nothing."""
    return word


def probe(name: str, does: Does = echo, **options: Any) -> Tool:
    """Declare a tool that does `does`; by default one that acts on the world and needs a yes."""

    async def body(args: Word) -> Answer[Said]:
        return Answer(Said(said=await does(args.word)))

    whole: dict[str, Any] = {"kind": "effect", "name": name, "description": f"Probe {name}.", **options}
    return tool(**whole)(body)


def marking(ran: list[str], mark: str = "ran") -> Does:
    """Return a doing that adds `mark` to `ran`."""

    async def does(word: str) -> str:
        ran.append(mark)
        return word

    return does


def person(decision: Decision, *, seen: list[Approval] | None = None, words: str = "") -> Asker:
    """Return a person who always gives this answer, and keeps what was shown in `seen`."""

    async def answers(approval: Approval) -> Answered:
        if seen is not None:
            seen.append(approval)
        return Answered(decision, words=words, by="a person")

    return answers


async def stages(crib: Crib, call: str | Outcome) -> list[str]:
    """Return the stages of a call on the tape, in order."""
    call_id = call if isinstance(call, str) else call.call_id
    return [entry.stage for entry in await crib.tape(call_id=call_id)]
