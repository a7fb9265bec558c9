"""``loopwatch demo``: a model loops, is cut while it streams, and is asked again."""

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from loopwatch.errors import LoopwatchError

if TYPE_CHECKING:
    from loopwatch.cli.demo_story import Narrator
    from loopwatch.testing.smallmodel import SmallModel

REAL = "A real small language model answers: SmolLM2, 135 million parameters, on this machine."
BUILT_IN = "No model: a built-in generator answers, which loops on purpose at temperature 0."

KEY_ENV = "LOOPWATCH_DEMO_API_KEY"
"""Not the key of a provider that costs something: the models here need none."""
SILENT = 30
"""Seconds after which a model that says nothing is given up."""


@click.command(epilog="Example: loopwatch demo --builtin")
@click.option(
    "--builtin", is_flag=True, help="Use the built-in generator, also where the model is installed."
)
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    default=120,
    show_default=True,
    metavar="N",
    help="Give up after so many.",
)
@click.option("--base-url", metavar="URL", hidden=True, help="Ask what already answers there.")
@click.option(
    "--delay", type=float, default=0.02, hidden=True, help="Seconds a token of the built-in generator."
)
def demo(*, builtin: bool, seconds: int, base_url: str | None, delay: float) -> None:
    """Watch a small language model loop, be cut, and answer on the second attempt.

    It runs on this machine: no key, no cost. Where the model is not installed, a built-in generator of
    loops takes its place.
    """
    import asyncio

    from loopwatch.cli.demo_story import Narrator
    from loopwatch.testing.smallmodel import SmallModel

    deadline = time.monotonic() + seconds
    narrator = Narrator()
    with ExitStack() as stack:
        if base_url is not None:
            narrator.title(f"A model answers at {base_url}.")
            model: SmallModel | None = SmallModel(base_url, "model")
        else:
            model = _start(stack, narrator, seconds, builtin=builtin)
        try:
            asyncio.run(_tell(narrator, model, deadline, delay))
        except TimeoutError:
            raise LoopwatchError(
                f"the demo was not done within {seconds} seconds: allow it more with --seconds"
            ) from None


def _start(stack: ExitStack, narrator: "Narrator", seconds: int, *, builtin: bool) -> "SmallModel | None":
    """Start the real model where it can be, and say who answers; None for the built-in generator."""
    from loopwatch.testing.smallmodel import INSTALL, small_model, weights

    if builtin:
        narrator.title(BUILT_IN)
    elif weights() is None:
        narrator.title(BUILT_IN)
        narrator.say(f"The real small model is not here: {INSTALL}.")
    else:
        narrator.title(REAL)
        try:
            return stack.enter_context(small_model(within=seconds))
        except LoopwatchError as error:
            narrator.say(f"But it does not start ({error}).")
            narrator.title(BUILT_IN)
    return None


async def _tell(narrator: "Narrator", model: "SmallModel | None", deadline: float, delay: float) -> None:
    """Tell the story before the deadline. Raises TimeoutError where it takes longer."""
    import asyncio

    from loopwatch.testing.looping import looping_server

    async with asyncio.timeout(deadline - time.monotonic()):
        if model is not None:
            await _tell_of(narrator, model.base_url, model.name)
            return
        async with looping_server(delay=delay) as generator:
            await _tell_of(narrator, generator.base_url, generator.name)


async def _tell_of(narrator: "Narrator", base_url: str, name: str) -> None:
    from loopwatch.cli.demo_story import tell
    from loopwatch.client.model import ModelClient

    async with ModelClient(
        name, base_url=base_url, api_key_env=KEY_ENV, loop_detection="balanced", retries=0, idle_secs=SILENT
    ) as client:
        await tell(narrator, client)
