"""``loopwatch bench --traces``: the figures of the step rules on labelled agent runs, as they are printed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopwatch.cli.scores import print_found
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from loopwatch.offline.traces import Trace, TraceScore

EVERY = "all"


def run(path: Path, preset: str, *, as_json: bool, explain: str | None) -> None:
    """Score ``preset`` (``all``: each) on the runs of ``path``; or say what it made of one run, or of all."""
    from loopwatch.offline.traces import bench_traces, read_traces
    from loopwatch.steps.settings import STEP_PRESETS

    if preset not in {*STEP_PRESETS, EVERY}:
        raise click.UsageError(f"--traces has no preset {preset!r}: choose {', '.join(STEP_PRESETS)}, all.")
    traces = read_traces(path)
    if explain not in {None, EVERY}:
        traces = [_find(traces, explain or "")]
    for name in STEP_PRESETS if preset == EVERY else (preset,):
        score = bench_traces(traces, name)
        if explain is not None:
            _explain(score, as_json=as_json)
        elif as_json:
            click.echo(json.dumps(score.as_dict()))
        else:
            _print(score)


def _find(traces: "list[Trace]", name: str) -> "Trace":
    for trace in traces:
        if trace.id == name:
            return trace
    raise InputError(f"no run in the corpus has the id {name!r}: the first is {traces[0].id!r}")


def _explain(score: "TraceScore", *, as_json: bool) -> None:
    """One line a run: the verdict, the rule and its reason."""
    for one in score.watched:
        if as_json:
            told = {"id": one.trace.id, "preset": score.preset, "verdict": one.verdict}
            rule = {"rule": one.loop and one.loop.rule, "loop": one.loop and str(one.loop)}
            steps = {"onset_step": one.trace.onset_step, "steps": one.loop and one.loop.steps}
            click.echo(json.dumps(told | rule | steps))
        else:
            found = f"{one.loop.rule}: {one.loop}" if one.loop else "no loop"
            click.echo(f"{one.trace.id:32} {one.verdict:11} {found}")


def _print(score: "TraceScore") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)  # ids and families are the corpus's own
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column(f"{score.preset}, by family", no_wrap=True, max_width=28)
    for title in ("loops caught", "false trips", "median steps"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, family in {**score.families, "all": score}.items():
        table.add_row(
            name,
            f"{len(family.caught)} of {len(family.loops)}" if family.loops else "",
            f"{len(family.false)} of {len(family.legit)}" if family.legit else "",
            "" if family.median_steps is None else f"{family.median_steps:g}",
        )
    console.print("Delays in steps after the onset.")
    console.print(table)
    print_found(console, score.rules, score.as_dict())
