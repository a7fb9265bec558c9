"""``loopwatch``: finds the command, runs it, turns errors into one line and an exit code.

Exit codes: 0 done, 1 failed, 2 usage or invalid input, 3 a loop or a limit stopped it, 130
interrupted.
"""

import io
import os
import sys
from importlib import import_module
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from loopwatch.cli.interrupts import interrupts_arrive
from loopwatch.cli.terminal import say
from loopwatch.errors import ConfigError, InputError, LoopedReply, LoopTripped, LoopwatchError, SettingsError

FAILED = 1
INVALID = 2
STOPPED = 3
INTERRUPTED = 130
CODES: dict[type[LoopwatchError], int] = {
    **dict.fromkeys((ConfigError, InputError, SettingsError), INVALID),
    **dict.fromkeys((LoopTripped, LoopedReply), STOPPED),
}

COMMANDS = {
    "bench": "How well a preset does on a labelled corpus.",
    "chat": "One prompt through the guarded, retrying model client.",
    "compare": "Two arms of runs side by side: loops, errors, turns, cost.",
    "config": "Check, begin or describe a configuration document.",
    "db": "Upgrade or back up the server's database.",
    "demo": "A real loop, seen and cut while you watch.",
    "doctor": "What is installed here, and what can be reached.",
    "keys": "Make, list, replace and revoke project keys.",
    "proxy": "The guard for any program that can change its base URL.",
    "query": "Ask recorded runs and logged calls in one line.",
    "run": "Run an agent under a configuration, and record it.",
    "scan": "Which of the replies on disk are loops.",
    "serve": "The server: calls come in, users are watched, alerts go out.",
    "settings": "Show or change a project's settings.",
    "watch": "Guard a stream on standard input: curl -N ... | loopwatch watch",
}
"""Each command with its line in the overview; it lives in the module of its name."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that ``--help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in alphabetical order."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, if there is one."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"loopwatch.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, written without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="loopwatch", prog_name="loopwatch")
def cli() -> None:
    """Catch LLM loops while they happen, before they cost money."""


def _one_line(error: click.ClickException) -> str:
    """The error with the command it belongs to, and where its options are described."""
    ctx = getattr(error, "ctx", None)
    command = ctx.command_path if ctx is not None else "loopwatch"
    return f"{command}: {error.format_message()} (see {command} --help)"


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a reply may hold what a terminal cannot show
    try:
        with interrupts_arrive():
            code = cli.main(args, prog_name="loopwatch", standalone_mode=False)
            click.echo(nl=False)  # what is still buffered, while a failure can be told
    except NoArgsIsHelpError as error:
        error.show()
        code = INVALID
    except click.ClickException as error:
        say(_one_line(error))
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    except LoopwatchError as error:
        say(f"loopwatch: {error}")
        code = next((code for kind, code in CODES.items() if isinstance(error, kind)), FAILED)
    except OSError as error:
        # Whoever read our output has gone (`| head`): no message. Else, say, the disk is full.
        if not isinstance(error, BrokenPipeError):
            say(f"loopwatch: {error}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at exit
        code = FAILED
    sys.exit(code if isinstance(code, int) else 0)
