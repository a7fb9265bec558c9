"""``loopwatch demo``: an agent whose model loops while you watch, and the console that shows it."""

import contextlib
import sys
import time
import webbrowser
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from loopwatch.cli.database import missing
from loopwatch.cli.serve import PORT
from loopwatch.cli.terminal import is_terminal
from loopwatch.errors import LoopwatchError

if TYPE_CHECKING:
    from loopwatch.cli.demo_server import Running
    from loopwatch.cli.demo_story import Narrator
    from loopwatch.testing.smallmodel import SmallModel

REAL = "A real small language model answers: SmolLM2, 135 million parameters, on this machine."
BUILT_IN = "No model: a built-in generator answers, which loops on purpose at temperature 0."

KEY_ENV = "LOOPWATCH_DEMO_API_KEY"
"""Not the key of a provider that costs something: the models here need none."""
SILENT = 30
"""Seconds after which a model that says nothing is given up."""


@click.command(epilog="Example: loopwatch demo --builtin")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True, help="0: any.")
@click.option("--no-browser", is_flag=True, help="Do not open the console in a browser.")
@click.option(
    "--builtin", is_flag=True, help="Use the built-in generator, also where the model is installed."
)
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    default=120,
    show_default=True,
    metavar="N",
    help="Give the story up after so many.",
)
@click.option("--probe", is_flag=True, help="Ask the console's pages once the story is told, and end.")
@click.option("--base-url", metavar="URL", hidden=True, help="Ask what already answers there.")
@click.option(
    "--delay", type=float, default=0.02, hidden=True, help="Seconds a token of the built-in generator."
)
@click.pass_context
def demo(
    context: click.Context,
    *,
    port: int,
    no_browser: bool,
    builtin: bool,
    seconds: int,
    probe: bool,
    base_url: str | None,
    delay: float,
) -> None:
    """Watch an agent's model loop, be cut and answer on the second attempt; then look at it in the console.

    All of it runs on this machine: no key, no cost, nothing kept. Where the small model is not installed,
    a built-in generator of loops takes its place. Stays up until Ctrl-C or SIGTERM.
    """
    import asyncio

    try:
        import loopwatch.server.serving  # noqa: F401  now rather than in the middle of the story
    except ModuleNotFoundError as error:
        raise missing(error) from None
    from loopwatch.cli.demo_story import Narrator
    from loopwatch.testing.smallmodel import SmallModel

    deadline = time.monotonic() + seconds
    narrator = Narrator()
    chosen = context.get_parameter_source("port") is not ParameterSource.DEFAULT
    opens = not no_browser and not probe and is_terminal(sys.stdout)

    with ExitStack() as stack:
        if base_url is not None:
            narrator.title(f"A model answers at {base_url}.")
            model: SmallModel | None = SmallModel(base_url, "model")
        else:
            model = _start(stack, narrator, seconds, builtin=builtin)
        try:
            shown = Shown(port, else_any=not chosen, opens=opens, probes=probe)
            was_told = asyncio.run(_play(narrator, shown, model, deadline, delay))
        except TimeoutError:
            raise LoopwatchError(
                f"the demo was not done within {seconds} seconds: allow it more with --seconds"
            ) from None
    if not was_told:
        raise KeyboardInterrupt


class Shown(NamedTuple):
    """How the console is shown: on which port, and what is done once the story is told."""

    port: int
    else_any: bool
    opens: bool
    probes: bool


async def _play(
    narrator: "Narrator", shown: Shown, model: "SmallModel | None", deadline: float, delay: float
) -> bool:
    """Run the server and tell the story beside it; whether that was told to its end."""
    import asyncio

    from loopwatch.cli.demo_server import running

    async with running(shown.port, else_any=shown.else_any) as server:
        story = asyncio.ensure_future(_tell(narrator, server, model, deadline, delay))
        await asyncio.wait({story, server.ended}, return_when=asyncio.FIRST_COMPLETED)
        if not story.done():
            story.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await story
            return False
        await story
        if shown.probes:
            await server.probe(narrator)
        else:
            await server.show(narrator, opens=shown.opens, open_page=webbrowser.open)
            await server.ended
        return True


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


async def _tell(
    narrator: "Narrator",
    server: "Running",
    model: "SmallModel | None",
    deadline: float,
    delay: float,
) -> None:
    """Tell the story before the deadline. Raises TimeoutError where it takes longer."""
    import asyncio

    from loopwatch.testing.looping import looping_server

    async with asyncio.timeout(deadline - time.monotonic()):
        if model is not None:
            await _tell_of(narrator, server, model.base_url, model.name)
            return
        async with looping_server(delay=delay) as generator:
            await _tell_of(narrator, server, generator.base_url, generator.name)


async def _tell_of(narrator: "Narrator", server: "Running", base_url: str, name: str) -> None:
    from loopwatch.cli.demo_burst import burst, logged
    from loopwatch.cli.demo_story import tell
    from loopwatch.client.model import ModelClient

    async with ModelClient(
        name, base_url=base_url, api_key_env=KEY_ENV, loop_detection="balanced", retries=0, idle_secs=SILENT
    ) as client:
        attempts = await tell(narrator, client)
    await logged(narrator, server, name, attempts)
    await burst(narrator, server, name)
