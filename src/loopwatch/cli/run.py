"""``loopwatch run``: an agent run, its events on standard output, its record in a folder."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopwatch.cli.terminal import say
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopwatch.agent.run import Result, Run


@click.command(
    epilog='Example: loopwatch run loopwatch.json --task "Make the tests pass" --work . Begin a configuration'
    " with loopwatch config init. To end a run early, press Ctrl-C or create the file cancel in its folder."
)
@click.option(
    "--task", required=True, metavar="TEXT", help="What the root agent is to do; - reads it from stdin."
)
@click.option(
    "--runs",
    default="runs",
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where records of runs are kept.",
)
@click.option(
    "--work",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The folder that tools work in. [default: a new one beside the record]",
)
@click.option("--pretty", is_flag=True, help="Lines for people on standard output instead of JSON.")
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def run(ctx: click.Context, *, config: Path, task: str, runs: Path, work: Path | None, pretty: bool) -> None:
    """Run the agents of CONFIG on a task.

    Each event is one JSON object a line as it happens; the journal and the summary stay in the run's
    folder. Exit code 0 where the run ended by itself or was canceled, 1 where it failed, 2 where the
    configuration is refused, 3 where a ceiling stopped it or one of its agents.
    """
    import asyncio

    from loopwatch.agent.run import Run
    from loopwatch.cli.events import Narrator, Writer

    if sys.stdout is None:
        raise InputError("standard output is closed: there is nowhere to put the events")
    shown: Callable[[dict[str, Any]], None] = Narrator(click.echo) if pretty else Writer(sys.stdout.buffer)
    progress = None if pretty else Narrator(say, brief=True)

    def tell(event: dict[str, Any]) -> None:
        shown(event)
        if progress is not None:
            progress(event)

    begun = Run(config, _task(task), runs=runs, work=work, on_event=tell)
    result, interrupted = asyncio.run(_follow(begun))
    say(f"loopwatch: {_ended(result)}")
    ctx.exit(130 if interrupted else result.exit_code)


def _task(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin is None:
        raise InputError("standard input is closed: echo ... | loopwatch run CONFIG --task -")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def _follow(begun: "Run") -> "tuple[Result, bool]":
    """Run to the end; the first Ctrl-C, or SIGTERM, cancels, and the record is written all the same."""
    import asyncio
    import signal

    loop, interrupted = asyncio.get_running_loop(), False

    def cancel(*, by_hand: bool) -> None:
        nonlocal interrupted
        interrupted = by_hand
        begun.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # a second one ends the program
        say("loopwatch: canceling; once more ends it at once")

    loop.add_signal_handler(signal.SIGINT, lambda: cancel(by_hand=True))
    loop.add_signal_handler(signal.SIGTERM, lambda: cancel(by_hand=False))
    return await begun.astart(), interrupted


def _ended(result: "Result") -> str:
    """One line for people."""
    from loopwatch.cli.events import cut
    from loopwatch.cli.losses import dollars
    from loopwatch.records.money import nano_usd

    figures = result.summary.summary
    cost = "cost unknown" if figures.cost is None else dollars(nano_usd(figures.cost))
    loops = f", {cut(figures.errors.loop_aborts)}" if figures.errors.loop_aborts else ""
    turns = "1 turn" if figures.errors.turns == 1 else f"{figures.errors.turns} turns"
    return f"{result.status} after {turns}, {cost}{loops}; the record is in {result.folder.path}"
