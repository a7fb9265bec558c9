"""The story that ``loopwatch demo`` tells: a question, a loop, the cut, the retry, the counts."""

import io
import sys
from typing import Any

import click
from rich.console import Console

from loopwatch.cli.demo_attempt import Attempt, ask
from loopwatch.cli.terminal import CONTROLS
from loopwatch.client.model import ModelClient
from loopwatch.detect.trip import Trip
from loopwatch.errors import LoopwatchError

QUESTIONS = (
    "Write the release notes of a text editor, with every change.",
    (
        "You are a reviewer agent. Review the patch again and again until no mistake is left, and list each"
        " finding: def add(a,b): return a-b"
    ),
    "Write a JSON config file for a web server with every option, as long as possible.",
)
"""Asked one after the other until one loops. Each made SmolLM2 loop at temperature 0, the first after
some 40 tokens, so that the cut comes within seconds; but what a model answers at temperature 0 differs
between machines, so the first need not loop on all."""

MAX_TOKENS = 2_000
PATIENCE = 800
"""Tokens after which a reply without a loop is left for the next question: the three loop by 500."""

LOOPING: dict[str, Any] = {"temperature": 0, "repeat_penalty": 1.0}
SOUND: dict[str, Any] = {"temperature": 0.3, "repeat_penalty": 1.15}
"""At this sampling the model rarely loops, and still answers what was asked."""
SEEDS = (4, 5, 6)
"""One a retry. Fixed, so that the story is the same the next time on the same machine."""

DOLLARS = 10
"""Per million output tokens: an example, about what large models cost."""


class Narrator:
    """Writes the story to standard output: coloured on a terminal, plain elsewhere."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a reply holds any character, not every terminal
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of the story."""
        self._console.print(text, style=style)

    def title(self, text: str) -> None:
        """A line that opens a part of it."""
        self.say(text, style="bold")

    def show(self, piece: str) -> None:
        """A piece of the reply, at once and as it is."""
        click.echo(piece.translate(CONTROLS), nl=False)


async def tell(narrator: Narrator, client: ModelClient) -> list[Attempt]:
    """Tell it, with a client that retries nothing: the story has the retries. Returns the attempts.

    Raises LoopwatchError where the model cannot be asked, never loops, or always does.
    """
    question, attempt = await _until_it_loops(narrator, client)
    attempts = [attempt]
    for seed in SEEDS:
        if attempt.trip is None:
            break
        _explain(narrator, attempt, attempt.trip)
        narrator.title(f"\nRetry: the same question, with {_sampling(SOUND)}.\n")
        attempt = await ask(client, _request(question, SOUND) | {"seed": seed}, narrator.show)
        attempts.append(attempt)
    if attempt.trip is not None:
        raise LoopwatchError(f"each of {len(attempts)} attempts became a loop and was cut")
    _count(narrator, attempts)
    return attempts


async def _until_it_loops(narrator: Narrator, client: ModelClient) -> tuple[str, Attempt]:
    """The first question whose reply became a loop, and that attempt."""
    for question in QUESTIONS:
        narrator.title(f"\nQuestion: {question}")
        narrator.say(f"Asked with {_sampling(LOOPING)}, at most {MAX_TOKENS:,} tokens.\n")
        attempt = await ask(client, _request(question, LOOPING), narrator.show, patience=PATIENCE)
        if attempt.trip is not None:
            return question, attempt
        narrator.title(f"\nThis time no loop, after {attempt.tokens:,} tokens.")
    raise LoopwatchError(f"none of {len(QUESTIONS)} questions made this model loop: there is nothing to show")


def _request(question: str, sampling: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], "max_tokens": MAX_TOKENS} | sampling


def _sampling(sampling: dict[str, Any]) -> str:
    return " and ".join(f"{name} {value}" for name, value in sampling.items())


def _explain(narrator: Narrator, attempt: Attempt, trip: Trip) -> None:
    """Why and where the attempt was cut, and what that was good for."""
    narrator.say(f"\nLoop! Cut, and the connection dropped: {trip.reason}.", style="bold red")
    rows = {
        "rule": trip.rule,
        "began at": "no one place" if trip.onset is None else f"character {trip.onset:,}",
        "cut after": _size(attempt),
        "uncut": f"up to {MAX_TOKENS:,} tokens, the request's max_tokens",
        "cost": f"about {_cost(attempt.tokens)} instead of up to {_cost(MAX_TOKENS)},"
        f" at ${DOLLARS} per million output tokens (an example)",
    }
    for label, value in rows.items():
        narrator.say(f"  {label:9}  {value}")


def _count(narrator: Narrator, attempts: list[Attempt]) -> None:
    """The end of the story."""
    *_, reply = attempts
    ended = "Finished" if reply.finish_reason == "stop" else "Reached its max_tokens"
    narrator.say(f"\n{ended}: {_size(reply)}.", style="bold green")
    cut = [attempt for attempt in attempts if attempt.trip is not None]
    chars = sum(attempt.chars for attempt in cut)
    words = sum(attempt.trip.words for attempt in cut if attempt.trip is not None)
    narrator.title(
        f"\nAttempts {len(attempts)}, loops cut {len(cut)}, characters discarded {chars:,}, words {words:,}."
    )


def _size(attempt: Attempt) -> str:
    # "About": a character of several tokens comes as one piece.
    return f"{attempt.chars:,} characters, about {attempt.tokens:,} tokens, {attempt.seconds:.1f} s"


def _cost(tokens: int) -> str:
    return f"${tokens * DOLLARS / 1_000_000:.4f}"
