"""``loopwatch scan``: which of the replies on disk are loops."""

import os
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from loopwatch.cli import options
from loopwatch.cli.terminal import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from loopwatch.offline.results import Results
    from loopwatch.offline.scan import Progress as Bytes
    from loopwatch.offline.scan import Runner
    from loopwatch.offline.verdict import Problem, Verdict

KINDS = ("jsonl", "json", "sse", "text", "parquet")
RUNNERS = ("local", "ray")
FAILED = 1
INVALID = 2
LOOPED = 3
MOST_MIB = 1 << 20
SHOWN = 60
CHARS_A_TOKEN = 4
"""The usual rule of thumb for English and code; other scripts have fewer."""


class Tally:
    """What a scan came to."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.replies = 0
        self.chars = 0
        self.saved = 0
        self.problems = 0
        self.invalid = 0  # paths of which nothing could be read
        self.rules: dict[str, int] = {}

    @property
    def loops(self) -> int:
        """How many replies tripped."""
        return sum(self.rules.values())

    def code(self, *, fail_on_loop: bool) -> int:
        """The exit code."""
        if self.invalid:
            return INVALID
        if self.problems:
            return FAILED
        return LOOPED if fail_on_loop and self.loops else 0

    def add(self, verdict: "Verdict") -> None:
        """Count one verdict in."""
        self.replies += 1
        self.chars += verdict.chars
        if verdict.rule is not None:
            self.rules[verdict.rule] = self.rules.get(verdict.rule, 0) + 1
            self.saved += verdict.saved_chars

    def __str__(self) -> str:
        """The summary, a line or two."""
        if not self.loops:
            return f"{self.replies:,} replies, {self.chars:,} characters: no loop."
        rules = ", ".join(f"{rule} {count:,}" for rule, count in sorted(self.rules.items()))
        return (
            f"{self.loops:,} of {self.replies:,} replies are loops ({rules}).\n"
            f"Cutting them would have saved {self.saved:,} of {self.chars:,} characters, "
            f"about {self.saved // CHARS_A_TOKEN:,} tokens."
        )


@click.command(
    epilog="Example: loopwatch scan logs/ --jobs 2. Records of JSON or Parquet may be OpenAI's, Anthropic's "
    "or Gemini's replies, batch output, conversations, or anything with a text at --field."
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@options.preset
@click.option("--field", metavar="A.B", help="Where the text is in each record; of Parquet, the column.")
@click.option(
    "--format", "kind", type=click.Choice(KINDS), help="What the files are; by default their names tell."
)
@options.channels
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--max-line",
    type=click.IntRange(1, MOST_MIB),
    default=64,
    show_default=True,
    help="Longest record, in MiB.",
)
@click.option(
    "--runner", type=click.Choice(RUNNERS), default="local", show_default=True, help="Whose processes."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Ray's, for --runner ray. [default: $RAY_ADDRESS, else this machine]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the verdicts to a .jsonl or .parquet file instead.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a reply.")
@click.option("--explain", is_flag=True, help="Also how near each rule came, for every reply.")
@click.option("--fail-on-loop", is_flag=True, help="Exit with 3 if any reply is a loop.")
@click.pass_context
def scan(
    ctx: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    explain: bool,
    fail_on_loop: bool,
    **how: Any,
) -> None:
    """Find the loops among replies on disk: files, folders, or - for standard input.

    Read are .jsonl, .json, .sse captures, .txt and .md, also packed as .gz or .zst, and .parquet. A record
    that cannot be read is named on standard error and the rest goes on; the exit code is 1 then, and 2 for
    a PATH.
    """
    tally = Tally()
    with _output() as output, _file(out) as file:

        def report(problem: "Problem") -> None:
            tally.problems += 1
            tally.invalid += problem.named
            output.complaint(_plain(str(problem)))

        verdicts = _verdicts(paths, **how, explain=explain, on_problem=report, on_progress=output.progress)
        with closing(verdicts):
            for verdict in verdicts:
                tally.add(verdict)
                if file is not None:
                    file.write(verdict)
                    continue
                for line in _lines(verdict, as_json=as_json, explain=explain):
                    output.result(line)
    if not as_json:
        click.echo(str(tally))
    ctx.exit(tally.code(fail_on_loop=fail_on_loop))


def _verdicts(
    paths: tuple[str, ...],
    *,
    preset: str,
    channels: str,
    max_line: int,
    runner: "Runner",
    cluster: str | None,
    **more: Any,
) -> "Generator[Verdict, None, None]":
    """The scan that the options ask for."""
    from loopwatch.offline.scan import scan as scan_paths

    return scan_paths(
        paths,
        settings=options.settings(preset, channels),
        runner=runner,
        cluster=cluster or (os.environ.get("RAY_ADDRESS") if runner == "ray" else None),
        max_line=max_line << 20,
        **more,
    )


def _lines(verdict: "Verdict", *, as_json: bool, explain: bool) -> "Iterator[str]":
    if as_json:
        import msgspec

        yield msgspec.json.encode(verdict).decode()
        return
    if verdict.tripped or explain:
        yield _line(verdict)
    if explain and verdict.near:
        for near in verdict.near:
            yield f"    {near.rule:8}{near.share:6.0%}  at {near.at_char:>7,}  {near.detail}"


def _line(verdict: "Verdict") -> str:
    """One reply in words: which, what was seen and where, what repeats."""
    head = _plain(f"{verdict.source}: {_short(verdict.id)}: ")
    if not verdict.tripped:
        return head + f"no loop in {verdict.chars:,} characters"
    since = "" if verdict.onset_char is None else f" since character {verdict.onset_char:,}"
    said = f"{verdict.rule}{since}, cut at {verdict.at_char:,} of {verdict.chars:,}"
    return head + said + (f": {_plain(_short(verdict.sample))}" if verdict.sample else "")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _plain(text: str) -> str:
    """Text of whatever origin in one line, and without what a terminal would obey."""
    return text if text.isprintable() else repr(text)[1:-1]


@contextmanager
def _file(out: Path | None) -> "Iterator[Results | None]":
    """The file for the verdicts, where one is wanted."""
    if out is None:
        yield None
        return
    from loopwatch.offline.results import results

    with results(out) as file:
        yield file


class Output(NamedTuple):
    """Where the lines of a scan go, and its progress."""

    result: "Callable[[str], None]"
    complaint: "Callable[[str], None]"
    progress: "Callable[[Bytes], None] | None" = None


@contextmanager
def _output() -> "Iterator[Output]":
    """Lines as usual; and a bar on standard error where somebody may see it, the lines above it then."""
    plain = Output(click.echo, lambda line: click.echo(line, err=True))
    if not is_terminal(sys.stderr):
        yield plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    console = Console(stderr=True)

    def above(line: str) -> None:
        console.out(line, highlight=False)

    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("scan", total=None)
        yield Output(
            result=above if is_terminal(sys.stdout) else plain.result,
            complaint=above,
            progress=lambda at: bar.update(task, completed=at.done, total=at.total),
        )
