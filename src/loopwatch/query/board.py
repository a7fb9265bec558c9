"""Dashboards: panels of ordinary queries under one range of time, asked in one batch."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from loopwatch.query.diagnostics import Span
from loopwatch.query.plan import TIMES
from loopwatch.query.syntax import All, Compares, Field, Key, Source, Stage, Stats, Tree, Word

NOWHERE = Span(0, 0)
WIDE = 12
"""Columns of a board; a panel takes some of them."""


class Range(NamedTuple):
    """How far back a board looks, None for all, and the steps in which it draws time."""

    back: str | None
    interval: str


RANGES = {
    "24h": Range("24h", "1h"),
    "7d": Range("7d", "6h"),
    "30d": Range("30d", "1d"),
    "90d": Range("90d", "1d"),
    "1y": Range("365d", "1w"),
    "all": Range(None, "1w"),
}
"""The ranges that are offered."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One query of a board, and how many of its twelve columns it takes."""

    title: str
    query: str
    width: int = 6


OVERVIEW = (
    Panel("Runs over time", "| stats count() as runs by bucket(started, 1d), state", WIDE),
    Panel("Runs by state", "| stats count() as runs by state", 4),
    Panel("Ceilings reached", "limit:* limit != none | stats count() as runs by limit", 4),
    Panel("Runs by model", "| stats count() as runs by model", 4),
    Panel(
        "Characters thrown away as loops",
        "has.summary:true | stats sum(summary.errors.loopAbortChars) as thrown by model",
    ),
    Panel(
        "Loops cut, by whether the detector was armed",
        "has.summary:true | stats sum(summary.errors.loopAborts) as loops, count() as runs by armed",
    ),
    Panel("Spend by model", "| stats sum(cost) as spent by model"),
    Panel(
        "Seconds of a run, by model",
        "has.summary:true | stats median(summary.durationSecs) as seconds by model",
    ),
    Panel("Runs by preset", "preset:* | stats count() as runs by preset", 4),
    Panel(
        "Error turns by model", "has.summary:true | stats sum(summary.errors.errors) as errors by model", 4
    ),
    Panel("Cost of a run", "| stats dist(cost) as cost by model", 4),
)
"""The board that is there from the beginning, made of ordinary queries."""


def ranged(tree: Tree, chosen: Range, source: Source = "runs") -> Tree:
    """A panel's query under the board's range: what began before is left out, and time is drawn in its steps.

    Only a first key that is steps of when a record began or ended is drawn anew.
    """
    started = TIMES[tree.source or source][1]
    filter_ = tree.filter
    if chosen.back is not None:
        since = Compares(
            Field(started, NOWHERE), ">=", Word(f"now-{chosen.back}", quoted=False, span=NOWHERE)
        )
        filter_ = since if filter_ == All(()) else All((since, filter_))
    stages = tuple(_redrawn(stage, chosen.interval, TIMES[tree.source or source]) for stage in tree.stages)
    return replace(tree, filter=filter_, stages=stages)


def _redrawn(stage: Stage, interval: str, times: tuple[str, str]) -> Stage:
    if not isinstance(stage, Stats) or not stage.keys:
        return stage
    first = stage.keys[0]
    if not first.interval or first.field.name not in ("", *times):
        return stage
    return replace(stage, keys=(Key(first.field, interval, first.span), *stage.keys[1:]))
