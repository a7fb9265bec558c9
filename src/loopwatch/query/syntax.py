"""The tree that a query's text is read into. Spans point into the text; nothing is settled yet."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from loopwatch.query.diagnostics import Diagnostic, Span

Operator = Literal[":", "!=", ">", ">=", "<", "<="]
Source = Literal["runs", "calls"]
OPERATORS: tuple[Operator, ...] = (":", "!=", ">=", "<=", ">", "<")


class Word(NamedTuple):
    """A literal as written. A quoted one is a string whatever it looks like."""

    text: str
    quoted: bool
    span: Span


class Field(NamedTuple):
    """A field's name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Exists:
    """``f:*``: the document carries the field."""

    field: Field


@dataclass(frozen=True, slots=True)
class Compares:
    """``f:x``, ``f != x``, ``f > x``, ``f >= x``, ``f < x``, ``f <= x``: the value compares so."""

    field: Field
    operator: Operator
    literal: Word


@dataclass(frozen=True, slots=True)
class OneOf:
    """``f:(a or b)``: the value is one of these."""

    field: Field
    literals: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """``f:[a to b]``: from a to b, both included; ``*`` leaves an end open."""

    field: Field
    low: Word | None
    high: Word | None


@dataclass(frozen=True, slots=True)
class Says:
    """``text``: any string of the document holds it, whatever the case."""

    literal: Word


@dataclass(frozen=True, slots=True)
class Not:
    """``not x``, ``-x``: what does not pass."""

    part: "Filter"


@dataclass(frozen=True, slots=True)
class All:
    """``x and y``, ``x y``: what passes all; ``*`` alone is everything."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Any:
    """``x or y``: what passes one."""

    parts: tuple["Filter", ...]


Filter = Exists | Compares | OneOf | Within | Says | Not | All | Any


class Key(NamedTuple):
    """What ``stats`` groups by: a field, or a field's time in steps of ``interval``."""

    field: Field
    interval: str
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregation:
    """``p90(cost) if (state:completed) as slow``. ``alias`` is empty where none was given."""

    function: str
    field: Field | None
    condition: Filter | None
    alias: str
    span: Span

    @property
    def column(self) -> str:
        """The name of its column."""
        return self.alias or f"{self.function}({self.field.name if self.field else ''})"


@dataclass(frozen=True, slots=True)
class Stats:
    """``stats agg, … by key, …``; ``timechart`` is one that fills gaps, ``uniq`` one without functions."""

    aggregations: tuple[Aggregation, ...]
    keys: tuple[Key, ...]
    span: Span
    filled: bool = False


class Ordering(NamedTuple):
    """One field or column to sort by."""

    field: Field
    descending: bool


@dataclass(frozen=True, slots=True)
class Sort:
    """``sort f desc, g``."""

    orderings: tuple[Ordering, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Limit:
    """``limit 10``."""

    rows: int
    span: Span


@dataclass(frozen=True, slots=True)
class Where:
    """``where``: more filter; after ``stats``, over its columns."""

    filter: Filter
    span: Span


@dataclass(frozen=True, slots=True)
class Fields:
    """``fields a, b``: the columns to show."""

    fields: tuple[Field, ...]
    span: Span


Stage = Stats | Sort | Limit | Where | Fields


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole query as written. ``source`` is None where the text does not open with ``from``."""

    source: Source | None
    filter: Filter
    stages: tuple[Stage, ...]
    diagnostics: tuple[Diagnostic, ...]
