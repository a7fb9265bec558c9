"""A query that can be run: dates settled, wrong clauses gone, each stage in its place."""

from dataclasses import dataclass
from math import floor

from loopwatch.query.conditions import Predicate
from loopwatch.query.diagnostics import Diagnostic
from loopwatch.query.syntax import Source
from loopwatch.query.values import Value, number

MOST_ROWS = 1_000
"""Rows of an answer; what was cut off is said."""

STEPS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
"""Milliseconds of an interval's unit."""

MONDAY = -259_200_000
"""Monday, 29 December 1969, in milliseconds since 1970: weeks are counted from there."""

TIMES: dict[Source, tuple[str, str]] = {"runs": ("finished", "started"), "calls": ("at", "at")}
"""For each source the field that orders its documents, newest first, and the one that timechart takes."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """One key of a group: a field, or its time in steps of ``step`` milliseconds from ``origin`` on."""

    field: str
    step: int = 0
    origin: int = 0

    def key(self, value: Value | None) -> Value | None:
        """The key of a document whose field has that value; what is no number falls into no step."""
        if value is None or not self.step:
            return value
        at = number(value)
        return None if at is None else float(floor((at - self.origin) / self.step) * self.step + self.origin)


@dataclass(frozen=True, slots=True)
class Column:
    """One function: over ``field``, of the documents of the group that pass ``condition``."""

    name: str
    function: str
    field: str
    condition: Predicate | None = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """Documents in groups by their keys (one group without keys), a figure a column. ``filled``: no gaps."""

    keys: tuple[Grouping, ...]
    columns: tuple[Column, ...]
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked: of which source, of which documents, in which groups, which rows in which order.

    ``having`` and ``sort`` speak of a group's keys and columns where there are groups. ``sort`` holds
    names and whether they descend.
    """

    source: Source
    filter: Predicate
    grouped: Grouped | None = None
    having: Predicate | None = None
    sort: tuple[tuple[str, bool], ...] = ()
    fields: tuple[str, ...] = ()
    limit: int = MOST_ROWS
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def order_field(self) -> str:
        """The field by which documents are ordered, newest first."""
        return TIMES[self.source][0]
