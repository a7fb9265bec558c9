"""``loopwatch compare``: two arms of runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopwatch.errors import InputError

if TYPE_CHECKING:
    from loopwatch.agent.arms import Arm

_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@click.command(
    epilog="Example: loopwatch compare runs/off runs/on, after `loopwatch run … --runs runs/off` and the same"
    " with the detector armed into runs/on."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object an arm.")
@click.argument("first", type=_FOLDER)
@click.argument("second", type=_FOLDER)
def compare(*, first: Path, second: Path, as_json: bool) -> None:
    """Compare the runs in FIRST with those in SECOND: loops, errors, turns, cost.

    A run that has no summary, because it was killed or still runs, counts as far as its journal goes.
    """
    import json

    from loopwatch.agent.arms import read_arm

    arms = [read_arm(first), read_arm(second)]
    for path, arm in zip((first, second), arms, strict=True):
        if not arm.runs:
            named = click.format_filename(path)
            raise InputError(f"{named}: no run is in it (loopwatch run --runs DIR)")
    if as_json:
        for arm in arms:
            click.echo(json.dumps(arm.as_dict()))
        return
    _print(arms)


def _print(arms: "list[Arm]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for arm in arms:
        table.add_column(arm.name, justify="right", overflow="fold")
    first, second = (arm.as_dict() for arm in arms)
    for key, title in _ROWS.items():
        table.add_row(title, _shown(first[key], key), _shown(second[key], key))
    Console(highlight=False, markup=False).print(table)
    for arm in arms:
        for line in arm.remarks():
            click.echo(f"{arm.name}: {line}")


_ROWS = {
    "runs": "runs",
    "armed": "  detector armed",
    "completed": "  completed",
    "stopped": "  stopped at a ceiling",
    "otherwise": "  ended otherwise",
    "turns": "turns",
    "turns_per_run": "  a run",
    "errors": "error turns",
    "error_share": "  of all turns",
    "loop_aborts": "replies cut as loops",
    "loop_abort_words": "  words thrown away",
    "loop_abort_chars": "  characters thrown away",
    "loop_abort_unpriced": "  of unknown price",
    "step_loops": "steps seen going round",
    "cost_usd": "cost",
    "work_cost_usd": "  of it work",
    "cost_per_run_usd": "  a run",
    "seconds_per_run": "seconds a run",
}


def _shown(value: Any, key: str) -> str:
    if value is None:
        return "unknown" if key.endswith("_usd") else "-"
    if key.endswith("_usd"):
        return f"${value:,.4f}"
    if key.endswith("_share"):
        return f"{value:.1%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
