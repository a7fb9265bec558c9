"""``loopwatch bench``: the figures of a preset on a labelled corpus."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopwatch.cli.scores import print_found
from loopwatch.detect.settings import PRESETS
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from loopwatch.offline.bench import Score
    from loopwatch.offline.corpus import Case

ALL = "all"


@click.command(
    epilog="Example: loopwatch bench corpus --preset all. CORPUS is a file of labelled replies, one JSON"
    " object a line (.jsonl, .gz, .zst), or a folder with a replies.jsonl; with --traces, of labelled agent"
    " runs, or a folder with a traces.jsonl."
)
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--preset",
    type=click.Choice([*PRESETS, ALL]),
    default="balanced",
    show_default=True,
    help="What to score.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a preset instead of tables.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write a page that sets every preset's delay against its false trips.",
)
@click.option("--traces", is_flag=True, help="Score the step rules on agent runs, instead of replies.")
@click.option(
    "--explain",
    metavar="ID",
    help="How near each rule came on one reply, and nothing else; with --traces, the rule that saw one run"
    " (all: every run).",
)
def bench(
    corpus: Path, preset: str, *, as_json: bool, report: Path | None, traces: bool, explain: str | None
) -> None:
    """Score a preset on a labelled CORPUS: loops caught, false trips, delays."""
    if traces:
        from loopwatch.cli.bench_traces import run

        if report is not None:
            raise click.UsageError("--report draws replies: leave it out with --traces.")
        run(corpus, preset, as_json=as_json, explain=explain)
        return
    from loopwatch.offline.bench import bench as score
    from loopwatch.offline.corpus import read_corpus

    cases = read_corpus(corpus)
    chosen = PRESETS if preset == ALL else (preset,)
    if explain is not None:
        _explain(_find(cases, explain), chosen, as_json=as_json)
        return
    scores = [score(cases, name) for name in chosen]
    if as_json:
        for one in scores:
            click.echo(json.dumps(one.as_dict()))
    else:
        _print(scores)
    if report is not None:
        from loopwatch.offline.report import page

        done = {one.preset: one for one in scores}
        everything = [done.get(name) or score(cases, name) for name in PRESETS]
        try:
            report.write_text(page(corpus.absolute().name, everything), encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{report}: {error.strerror}") from None
        click.echo(f"Report written to {report}", err=True)


def _find(cases: "list[Case]", wanted: str) -> "Case":
    for case in cases:
        if case.id == wanted:
            return case
    raise InputError(f"no reply in the corpus has the id {wanted!r}: the first is {cases[0].id!r}")


def _explain(case: "Case", presets: tuple[str, ...], *, as_json: bool) -> None:
    from loopwatch.offline.bench import explain

    if not as_json:
        onset = f", onset {case.onset:,}" if case.label == "loop" else ""
        click.echo(f"{case.id}: {case.label}, family {case.family}, {len(case.text):,} characters{onset}")
    for preset in presets:
        trip, approaches = explain(case, preset)
        if as_json:
            rules = [approach._asdict() for approach in approaches]
            click.echo(
                json.dumps({"id": case.id, "preset": preset, "trip": trip and str(trip), "rules": rules})
            )
            continue
        click.echo(f"\n{preset}: {trip or 'no trip'}")
        for near in approaches:
            click.echo(f"  {near.rule:8}{near.share:6.0%}  at {near.at_char:>7,}  {near.detail}")


def _print(scores: "list[Score]") -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)  # ids and families are the corpus's own
    console.print("Delays in characters after the onset; <=4k: loops caught within 4,000.")
    console.print(_overview(scores))
    for score in scores:
        console.print(_families(score))
        print_found(console, score.rules, score.as_dict())


def _overview(scores: "list[Score]") -> "Table":
    from loopwatch.offline.bench import WITHIN

    table = _table(
        "preset", "caught", *(f"<={chars // 1_000}k" for chars in WITHIN), "saved", "false", "median", "p90"
    )
    for score in scores:
        table.add_row(
            score.preset,
            f"{len(score.caught)}/{len(score.loops)}",
            *(str(score.within(chars)) for chars in WITHIN),
            f"{score.saved_share:.1%}",
            f"{len(score.false)}/{len(score.legit)}",
            _chars(score.median_delay),
            _chars(score.p90_delay),
        )
    return table


def _table(first: str, *others: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(first, no_wrap=True, max_width=20)  # a longer name would squeeze out the figures
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _families(score: "Score") -> "Table":
    table = _table(f"{score.preset}, by family", "loops caught", "median delay", "false trips", "undecidable")
    for name, family in score.families.items():
        undecidable = family.undecidable
        tripped = sum(outcome.trip is not None for outcome in undecidable)
        table.add_row(
            name,
            f"{len(family.caught)} of {len(family.loops)}" if family.loops else "",
            _chars(family.median_delay),
            f"{len(family.false)} of {len(family.legit)}" if family.legit else "",
            f"{tripped} of {len(undecidable)}" if undecidable else "",
        )
    return table


def _chars(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
