"""``loopwatch query``: ask recorded runs and logged calls in one line."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from loopwatch.cli.database import db_option, project_option
from loopwatch.cli.terminal import say
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from loopwatch.query.answer import Answer
    from loopwatch.query.catalog import Catalog
    from loopwatch.query.diagnostics import Diagnostic
    from loopwatch.query.syntax import Source, Tree


@click.command(
    epilog="Example: loopwatch query"
    " 'has.summary:true | stats sum(summary.errors.loopAbortChars) as thrown by model' --runs runs"
)
@click.option(
    "--from", "source", type=click.Choice(["runs", "calls"]), help="What to ask where TEXT has no from."
)
@click.option(
    "--runs", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder of runs."
)
@db_option
@project_option
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True,
    help="How to print the rows; json prints one object a line.",
)  # fmt: skip
@click.option("--plot", is_flag=True, help="Draw the first figure of each row as a bar, below the table.")
@click.option(
    "--fields", "as_fields", is_flag=True, help="List the fields that there are to ask of, instead."
)
@click.argument("text", default="")
def query(
    *,
    source: str | None,
    runs: Path,
    database: str | None,
    project: str | None,
    form: str,
    plot: bool,
    as_fields: bool,
    text: str,
) -> None:
    """Ask recorded runs, or logged calls, the question TEXT: a filter, then stages after `|`.

    The language is described on the page "The query language" of the documentation.
    """
    from loopwatch.cli.answers import print_answer, print_fields, print_plot
    from loopwatch.cli.asking import ask
    from loopwatch.clock import SystemClock
    from loopwatch.query.compile import compiled
    from loopwatch.query.parse import parse

    tree = parse(text)
    asked = compiled(tree, SystemClock().now().timestamp() * 1_000, cast("Source", source or "runs"))
    _refuse(text, asked.diagnostics)
    answer, catalog = ask(asked, runs, database, project)
    if as_fields:
        print_fields(catalog, form)
        return
    _warn(text, tree, asked.diagnostics, catalog)
    print_answer(answer, form)
    if plot:
        print_plot(answer)
    _conclude(answer, asked.source)


def _refuse(text: str, diagnostics: "tuple[Diagnostic, ...]") -> None:
    """A question with an error in it is not asked: its answer would be to another question."""
    from loopwatch.query.diagnostics import caret

    wrong = [each for each in diagnostics if each.severity == "error"]
    if wrong:
        for each in wrong:
            click.echo(caret(text, each), err=True)
        raise InputError(f"the query has {len(wrong)} error{'s' * (len(wrong) > 1)}: nothing was asked")


def _warn(text: str, tree: "Tree", diagnostics: "tuple[Diagnostic, ...]", catalog: "Catalog") -> None:
    from loopwatch.query.catalog import unknown_fields
    from loopwatch.query.diagnostics import caret

    for each in (*diagnostics, *unknown_fields(tree, catalog)):
        click.echo(caret(text, each), err=True)


def _conclude(answer: "Answer", source: str) -> None:
    shown = len(answer.documents) + len(answer.buckets)
    line = f"{answer.matched:,} {source.removesuffix('s') if answer.matched == 1 else source} matched"
    if answer.truncated:
        line += f"; the first {shown:,} of {answer.rows:,} rows are shown"
    say(line)
