"""Kills a process anywhere between a question and the effect it is about, and says which promise of a yes is broken.

A program of its own, as `killing.py` is: `python consenting.py BASE POINTS SEED calls|clock [naive]` prints one JSON
object a child. `naive` replaces the product by a program that marks a yes as used after the effect: the harness has to
find fault with that.
"""

import gc
import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from killing import TRIES, Fuse, forked

from toolcrib import Answer, Approval, Arguments, Crib, Ok, Payload, Refused, open_crib, tool
from toolcrib.terms.call import Decision
from toolcrib.terms.tool import paths

WORDS = ("alpha", "beta", "gamma")
"""What is paid for, one after the other."""

ACTS = ("ask", "answer", "repeat", "again")
"""What is done about each word, in order."""


class Bill(Arguments):
    """What is to be paid. The word is a path, so that an always covers one word."""

    word: str


class Paid(Payload):
    """What was paid."""

    word: str

    def text(self) -> str:
        """Return it."""
        return self.word


class Program(Protocol):
    """What is killed: it asks, takes an answer, and pays when the call is repeated."""

    async def ask(self, word: str) -> str:
        """Ask to pay; return the question's id."""
        ...

    async def answer(self, question: str, decision: Decision) -> None:
        """Answer a question."""
        ...

    async def repeat(self, word: str) -> str:
        """Make the call again, and return `ok` or why not."""
        ...

    async def yeses(self) -> Counter[str]:
        """Return how often each word was said yes to."""
        ...

    async def faults(self) -> list[str]:
        """Return what else does not hold in what is left."""
        ...


def pay(ledger: Path) -> Any:
    """Return a tool whose effect is one line in a file outside the workspace."""

    async def body(args: Bill) -> Answer[Paid]:
        enter(ledger, args.word)
        return Answer(Paid(word=args.word))

    return tool(kind="effect", name="pay", description="Pays a bill.", reads=paths("word"))(body)


def enter(ledger: Path, word: str) -> None:
    """Add the line that is the effect."""
    with ledger.open("ab", 0) as file:
        file.write(word.encode() + b"\n")


class Governed:
    """The product."""

    def __init__(self, crib: Crib) -> None:
        self.crib = crib

    async def ask(self, word: str) -> str:
        """Ask by making the call unattended."""
        outcome = await self.crib.call("pay", word=word)
        assert isinstance(outcome, Refused), str(outcome)
        assert outcome.name == "approval.unattended", str(outcome)
        return next(each.id for each in await self.crib.pending() if each.args["word"] == word)

    async def answer(self, question: str, decision: Decision) -> None:
        """Answer as a person does."""
        await self.crib.answer(question, decision=decision, by="a person")

    async def repeat(self, word: str) -> str:
        """Make the call."""
        outcome = await self.crib.call("pay", word=word)
        return "ok" if isinstance(outcome, Ok) else outcome.name

    async def yeses(self) -> Counter[str]:
        """Count the answers on the tape, by the words of their questions."""
        said: Counter[str] = Counter()
        for entry in await self.crib.tape(limit=100_000):
            if entry.stage == "answered" and entry.data.get("decision") in {"once", "always"} and "by" in entry.data:
                said[(await self._asked(str(entry.data["approval"]))).args["word"]] += 1
        return said

    async def faults(self) -> list[str]:
        """Look at the tape: whole, every call closed once, no yes used twice."""
        entries = await self.crib.tape(limit=100_000)
        used = Counter(
            str(each.data["approval"]) for each in entries if each.data.get("consumed") and "decision" not in each.data
        )
        found = [f"the yes {each} was used {count} times" for each, count in used.items() if count > 1]
        calls = {each.call_id for each in entries if each.stage == "received"}
        closed = Counter(each.call_id for each in entries if each.stage == "closed")
        found += [f"{call} was closed {closed[call]} times" for call in calls if closed[call] != 1]
        verdict = await self.crib.verify()
        return found if verdict.broken is None else [*found, f"tape: {verdict.why}"]

    async def _asked(self, question: str) -> Approval:
        found = await self.crib.approval(question)
        assert found is not None, f"{question} was answered and is not there"
        return found


BUSY = 400
"""Calls that the naive program makes between an effect and its mark."""


def _tick(number: int) -> int:
    return number


class Naive:
    """A program that keeps its yeses in a file, and marks one as used after the effect."""

    def __init__(self, base: Path) -> None:
        self.ledger = base / "ledger"
        self.file = base / "state" / "yeses.json"
        self.held: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}

    async def ask(self, word: str) -> str:
        """Note the question."""
        self.held.setdefault(word, {"state": "pending", "yeses": 0})
        self._keep()
        return word

    async def answer(self, question: str, decision: Decision) -> None:
        """Note the answer."""
        yes = decision != "deny"
        self.held[question] = {
            "state": "granted" if yes else "denied",
            "yeses": int(yes),
            "always": decision == "always",
        }
        self._keep()

    async def repeat(self, word: str) -> str:
        """Pay first, then note that the yes was used."""
        mine = self.held.get(word, {"state": "pending"})
        if mine["state"] != "granted":
            return "approval.denied" if mine["state"] == "denied" else "approval.unattended"
        enter(self.ledger, word)
        for number in range(BUSY):
            _tick(number)
        if not mine["always"]:
            mine["state"] = "consumed"
        self._keep()
        return "ok"

    async def yeses(self) -> Counter[str]:
        """Return what is noted."""
        return Counter({word: each["yeses"] for word, each in self.held.items()})

    async def faults(self) -> list[str]:
        """Find nothing else."""
        return []

    def _keep(self) -> None:
        beside = self.file.with_suffix(".new")
        beside.write_text(json.dumps(self.held))
        beside.replace(self.file)


@dataclass
class Said:
    """What a child said of itself before it ended: what it began, and what was acknowledged to it."""

    begun: tuple[str, str] = ("", "")
    done: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    events: int = 0
    seconds: float = 0.0
    ended: bool = False

    @staticmethod
    def of(text: str) -> "Said":
        """Read the lines of a child; a last one that is cut short was not said."""
        said = Said()
        for line in text.split("\n")[:-1]:
            found = json.loads(line)
            if "begun" in found:
                said.begun = tuple(found["begun"])
            if "done" in found:
                word, act = found["done"]
                said.done.setdefault(word, []).append(act)
                said.begun = ("", "")
            said.events = found.get("events", said.events)
            said.seconds = found.get("seconds", said.seconds)
            said.ended = said.ended or "ended" in found
        return said


def decisions_of(dice: random.Random) -> dict[str, Decision]:
    """Return what a person says to each word."""
    some: Sequence[Decision] = ("once", "once", "once", "deny", "always")
    return {word: dice.choice(some) for word in WORDS}


async def work(program: Program, decisions: dict[str, Decision], say: Callable[..., None]) -> None:
    """Ask, answer, repeat and repeat again for each word, saying what is begun and what is acknowledged."""
    for word in WORDS:
        question = ""
        for act in ACTS:
            say(begun=[word, act])
            if act == "ask":
                question = await program.ask(word)
            elif act == "answer":
                await program.answer(question, decisions[word])
            else:
                told = await program.repeat(word)
                assert told == wanted(decisions[word], again=act == "again"), (word, act, told)
            say(done=[word, act])


def wanted(decision: Decision, *, again: bool) -> str:
    """Return how a repeat ends that was killed nowhere."""
    if decision == "deny":
        return "approval.denied"
    return "approval.unattended" if again and decision == "once" else "ok"


async def check(program: Program, ledger: Path, decisions: dict[str, Decision], said: Said) -> list[str]:
    """Return what does not hold in what is left, and in what a further repeat of every call makes of it."""
    found = await _held(program, ledger, decisions, said)
    for word in WORDS:
        before = paid(ledger)[word]
        told = await program.repeat(word)
        acts, decision = said.done.get(word, []), decisions[word]
        if "answer" in acts and decision == "deny" and told != "approval.denied":
            found.append(f"{word}: a no that was acknowledged is lost: {told}")
        if "answer" in acts and decision == "always" and told != "ok":
            found.append(f"{word}: an always that was acknowledged is lost: {told}")
        if acts and acts[-1] == "answer" and decision == "once" and told != "ok" and said.begun != (word, "repeat"):
            found.append(f"{word}: a yes that was acknowledged is lost: {told}")
        if (told == "ok") != (paid(ledger)[word] > before):
            found.append(f"{word}: {told}, and paid {paid(ledger)[word] - before} times")
        await program.repeat(word)
    return found + await _held(program, ledger, decisions, said) + await program.faults()


async def _held(program: Program, ledger: Path, decisions: dict[str, Decision], said: Said) -> list[str]:
    yeses, effects = await program.yeses(), paid(ledger)
    found: list[str] = []
    for word in WORDS:
        if effects[word] and not yeses[word]:
            found.append(f"{word}: paid {effects[word]} times without a yes")
        if decisions[word] != "always" and effects[word] > yeses[word]:
            found.append(f"{word}: paid {effects[word]} times by {yeses[word]} yeses")
        if "repeat" in said.done.get(word, []) and decisions[word] != "deny" and not effects[word]:
            found.append(f"{word}: acknowledged as paid, and was not")
    return found


def paid(ledger: Path) -> Counter[str]:
    """Return how often each word was paid for."""
    return Counter(ledger.read_text().split()) if ledger.exists() else Counter()


class Killer:
    """Runs children of one kind of program over one base directory."""

    def __init__(self, base: Path, way: str, *, naive: bool) -> None:
        self.base, self.way, self.naive = base, way, naive
        self.ledger = base / "ledger"
        os.environ["XDG_STATE_HOME"] = str(base / "state")

    def clear(self) -> None:
        """Take away what the last child left."""
        for name in ("ws", "state"):
            shutil.rmtree(self.base / name, ignore_errors=True)
            shutil.copytree(self.base / f"prepared-{name}", self.base / name)
        self.ledger.unlink(missing_ok=True)

    async def with_program(self, does: Callable[[Program], Any]) -> None:
        """Open the program on what there is, and do something with it."""
        if self.naive:
            await does(Naive(self.base))
            return
        async with open_crib(self.base / "ws", mode="ask", tools=[pay(self.ledger)]) as crib:
            await does(Governed(crib))

    def prepare(self) -> Said:
        """Lay out what every child starts from, and measure how much there is to kill."""
        for name in ("ws", "state"):
            (self.base / name).mkdir()

        async def opened(_say: Callable[..., None]) -> None:
            async def nothing(_program: Program) -> None:
                pass

            await self.with_program(nothing)

        forked(opened)
        for name in ("ws", "state"):
            shutil.copytree(self.base / name, self.base / f"prepared-{name}")
        return self.child(decisions_of(random.Random(0)), Fuse(None), None)

    def child(self, decisions: dict[str, Decision], fuse: Fuse, after: float | None) -> Said:
        """Run the work in a child, killed by its fuse or after a time, and return what it said."""

        async def body(say: Callable[..., None]) -> None:
            if self.way == "calls":
                fuse.lay()

            async def does(program: Program) -> None:
                say(ready=True)
                began = time.monotonic()
                fuse.burn()
                await work(program, decisions, say)
                sys.setprofile(None)
                say(ended=True, events=next(fuse.seen), seconds=time.monotonic() - began)

            await self.with_program(does)

        return Said.of(forked(body, after=after))

    def point(self, seed: str, size: Said) -> dict[str, Any]:
        """Kill one child and check what it left."""
        self.clear()
        dice = random.Random(seed)
        fuse = Fuse(dice.randrange(1, max(2, size.events)) if self.way == "calls" else None)
        after = dice.uniform(0, size.seconds) if self.way == "clock" else None
        decisions = decisions_of(dice)
        said = self.child(decisions, fuse, after)

        async def checked(say: Callable[..., None]) -> None:
            async def does(program: Program) -> None:
                say(faults=await check(program, self.ledger, decisions, said))

            await self.with_program(does)

        found = json.loads(forked(checked))["faults"]
        return {"killed": not said.ended, "killed_in": said.begun[1], "faults": found, "decisions": decisions}


def main() -> None:
    """Run the points and print what was found at each."""
    base, points, seed, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    gc.freeze()
    killer = Killer(base, way, naive="naive" in sys.argv[5:])
    size, killed = killer.prepare(), 0
    for number in range(points * TRIES):
        found = killer.point(f"{seed} {number}", size)
        killed += bool(found["killed"])
        print(json.dumps({"point": number, **found}), flush=True)
        if killed == points:
            return


if __name__ == "__main__":
    main()
