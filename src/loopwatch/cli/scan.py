"""``loopwatch scan``: which of the replies on disk are loops."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from loopwatch.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loopwatch.offline.scan import Progress as Bytes
    from loopwatch.offline.sources import Kind
    from loopwatch.offline.verdict import Problem, Verdict

KINDS = ("jsonl", "json", "sse", "text")
FAILED = 1
LOOPED = 3
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
        self.rules: dict[str, int] = {}

    @property
    def loops(self) -> int:
        """How many replies tripped."""
        return sum(self.rules.values())

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
    epilog="Example: loopwatch scan logs/ --jobs 2. JSON records may be OpenAI's, Anthropic's or Gemini's "
    "replies, batch output, conversations, or anything with a text at --field."
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@options.preset
@click.option("--field", metavar="A.B", help="Where the text is in each JSON record.")
@click.option(
    "--format", "kind", type=click.Choice(KINDS), help="What the files are; by default their names tell."
)
@options.channels
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--max-line", type=click.IntRange(1), default=64, show_default=True, help="Longest record, in MiB."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a reply.")
@click.option("--explain", is_flag=True, help="Also how near each rule came, for every reply.")
@click.option("--fail-on-loop", is_flag=True, help="Exit with 3 if any reply is a loop.")
@click.pass_context
def scan(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    preset: str,
    field: str | None,
    kind: str | None,
    channels: str,
    jobs: int,
    max_line: int,
    as_json: bool,
    explain: bool,
    fail_on_loop: bool,
) -> None:
    """Find the loops among replies on disk: files, folders, or - for standard input.

    Read are .jsonl, .json, .sse captures, .txt and .md, also packed as .gz or .zst. A record that cannot
    be read is named on standard error and the rest goes on; the exit code is 1 then.
    """
    from dataclasses import replace

    from loopwatch.detect.settings import LoopDetection
    from loopwatch.offline.scan import scan as scan_paths

    settings = replace(LoopDetection.preset(preset), channels=options.split_channels(channels))
    tally = Tally()

    def report(problem: "Problem") -> None:
        tally.problems += 1
        click.echo(f"{problem}".replace("\n", " "), err=True)

    with _progress() as show:
        verdicts = scan_paths(
            paths,
            settings=settings,
            field=field,
            kind=cast("Kind | None", kind),
            jobs=jobs,
            max_line=max_line << 20,
            explain=explain,
            on_problem=report,
            on_progress=show,
        )
        for verdict in verdicts:
            tally.add(verdict)
            _print(verdict, as_json=as_json, explain=explain)
    if not as_json:
        click.echo(str(tally))
    if tally.problems:
        ctx.exit(FAILED)
    if fail_on_loop and tally.loops:
        ctx.exit(LOOPED)


def _print(verdict: "Verdict", *, as_json: bool, explain: bool) -> None:
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(verdict).decode())
        return
    if verdict.tripped or explain:
        click.echo(_line(verdict))
    if explain and verdict.near:
        for near in verdict.near:
            click.echo(f"    {near.rule:8}{near.share:6.0%}  at {near.at_char:>7,}  {near.detail}")


def _line(verdict: "Verdict") -> str:
    """One reply in words: which, what was seen and where, what repeats."""
    head = f"{verdict.source}: {verdict.id}: "
    if not verdict.tripped:
        return head + f"no loop in {verdict.chars:,} characters"
    since = "" if verdict.onset_char is None else f" since character {verdict.onset_char:,}"
    said = f"{verdict.rule}{since}, cut at {verdict.at_char:,} of {verdict.chars:,}"
    sample = repr(verdict.sample[:SHOWN])[1:-1] + ("..." if len(verdict.sample) > SHOWN else "")
    return head + said + (f": {sample}" if sample else "")


@contextmanager
def _progress() -> "Iterator[Callable[[Bytes], None] | None]":
    """A bar on standard error, where somebody may see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("scan", total=None)
        yield lambda at: progress.update(task, completed=at.done, total=at.total)
