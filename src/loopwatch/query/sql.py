"""A plan as SQL over an index's columns, for ``duckdb``. Pure: a column's values are asked of the caller.

A field has up to three columns, one for each kind of value it was seen with, since a document's values keep
their kind. What a condition means for strings, and for numbers that are compared as text, is not said in
SQL at all: the field's different values are put to the condition itself, and SQL is given those that pass.
So the case of letters, globs and the order of code points are Python's here too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from loopwatch.query.aggregates import NANO, Dist, Fold, finite, money
from loopwatch.query.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Day,
    Either,
    Every,
    Holds,
    Mentions,
    Negation,
    Predicate,
)
from loopwatch.query.plan import Column, Grouping, Plan
from loopwatch.query.values import Value

SHARES = {"median": (0.5,), "p90": (0.9,), "p95": (0.95,), "dist": (0.25, 0.5, 0.75)}
"""The quantiles that a function needs."""

KINDS: dict[str, type] = {"b": bool, "n": float, "s": str}
"""The kinds of value, in the total order, by the letter that their columns begin with."""

EXACT = 2.0**53
"""Up to here doubles hold every whole number."""

_SIGNS = {":": "=", "!=": "<>"}


@dataclass(frozen=True, slots=True)
class Indexed:
    """A field's columns: which kinds of value there are, and whether all its numbers are whole and exact."""

    ordinal: int
    booleans: bool = False
    numbers: bool = False
    strings: bool = False
    whole: bool = True

    def with_value(self, value: Value) -> "Indexed":
        """As it is once a document holds that value under the field."""
        return Indexed(
            self.ordinal,
            self.booleans or isinstance(value, bool),
            self.numbers or isinstance(value, float),
            self.strings or isinstance(value, str),
            self.whole and (not isinstance(value, float) or (value.is_integer() and abs(value) < EXACT)),
        )

    @property
    def columns(self) -> list[str]:
        """The columns that there are: booleans, numbers, strings, as the total order has it."""
        kinds = zip(KINDS, (self.booleans, self.numbers, self.strings), strict=True)
        return [f"{kind}{self.ordinal}" for kind, held in kinds if held]

    @property
    def number(self) -> str:
        """The field in arithmetic: a boolean is 1 or 0."""
        boolean = f"CAST(b{self.ordinal} AS DOUBLE)"
        if self.booleans and self.numbers:
            return f"coalesce(n{self.ordinal}, {boolean})"
        return f"n{self.ordinal}" if self.numbers else boolean if self.booleans else "CAST(NULL AS DOUBLE)"


@dataclass
class Statement:
    """One statement in the making; its text names the ``parameters``. ``values`` asks for a column's."""

    fields: dict[str, Indexed]
    values: Callable[[str], list[Any]]
    parameters: dict[str, Any] = field(default_factory=dict)

    def indexed(self, name: str) -> Indexed:
        """The columns of a field; none of one that no document carries."""
        return self.fields.get(name, Indexed(-1))

    def predicate(self, predicate: Predicate) -> str:
        """A predicate as an expression that is true or false, never null."""
        match predicate:
            case Every(parts):
                return _joined(" AND ", map(self.predicate, parts), "TRUE")
            case Either(parts):
                return _joined(" OR ", map(self.predicate, parts), "FALSE")
            case Negation(part):
                return f"(NOT {self.predicate(part)})"
            case Mentions():
                texts = [f"s{each.ordinal}" for each in self.fields.values() if each.strings]
                return _joined(" OR ", [self._passing(each, predicate.found) for each in texts], "FALSE")
            case Holds(name, condition):
                columns = self.indexed(name).columns
                return _joined(" OR ", [self._condition(each, condition) for each in columns], "FALSE")
            case _:
                assert_never(predicate)

    def order(self, plan: Plan) -> str:
        """What documents are sorted by: as asked, then newest first, then by id; what is absent last."""
        terms: list[str] = []
        for name, descending in plan.sort:
            way = "DESC NULLS LAST" if descending else "ASC NULLS LAST"
            columns = self.indexed(name).columns
            ranks = " ".join(f"WHEN {column} IS NOT NULL THEN {rank}" for rank, column in enumerate(columns))
            terms += [f"CASE {ranks} END {way}"] if columns else []
            terms += [f"{column} {way}" for column in columns]
        return ", ".join([*terms, f"{self.indexed(plan.order_field).number} DESC NULLS LAST", "id"])

    def key(self, grouping: Grouping) -> list[str]:
        """The expressions that make one key of a group; of them one at most is not null."""
        indexed = self.indexed(grouping.field)
        if not grouping.step:
            return indexed.columns or ["NULL"]
        steps = f"floor(({indexed.number} - {grouping.origin}.0) / {grouping.step}.0)"
        return [f"{steps} * {grouping.step}.0 + {grouping.origin}.0"]

    def fold(self, column: Column) -> list[str]:
        """The figures that ``folded`` makes one column's value of: first how many documents contributed."""
        only = f" FILTER (WHERE {self.predicate(column.condition)})" if column.condition is not None else ""
        indexed = self.indexed(column.field)
        if column.function == "count":
            return [f"count(*){only}"]
        if column.function == "distinct":
            counts = [
                " + ".join(f"count({kind}{each}){only}" for each in indexed.columns)
                for kind in ("", "DISTINCT ")
            ]
            return [count or "0" for count in counts]
        number = indexed.number
        figures = {"min": [f"min({number})"], "max": [f"max({number})"]}
        sums = [_sum(column.field, indexed)]
        figures |= {"sum": sums, "avg": sums, "dist": [*sums, *figures["min"], *figures["max"]]}
        if column.function in SHARES:
            shares = ", ".join(map(str, SHARES[column.function]))
            figures.setdefault(column.function, []).append(f"quantile_cont({number}, [{shares}])")
        return [f"{figure}{only}" for figure in (f"count({number})", *figures[column.function])]

    def _condition(self, column: str, condition: Condition) -> str:
        """A condition on one column."""
        if condition == AllOf(()):
            return f"({column} IS NOT NULL)"
        if column.startswith("n") and _is_numeric(condition):
            return f"coalesce({self._numeric(column, condition)}, FALSE)"
        return self._passing(column, condition.holds)

    def _numeric(self, column: str, condition: Condition) -> str:
        """A condition on numbers whose literals all are numbers."""
        match condition:
            case Comparison(operator):
                return f"({column} {_SIGNS.get(operator, operator)} {self._mark(condition.number)})"
            case Day(operator, first, last):
                inside = f"({column} BETWEEN {self._mark(first)} AND {self._mark(last)})"
                return inside if operator == ":" else f"(NOT {inside})"
            case AnyOf(conditions):
                return _joined(" OR ", [self._numeric(column, part) for part in conditions], "FALSE")
            case AllOf(conditions):
                return _joined(" AND ", [self._numeric(column, part) for part in conditions], "TRUE")
            case _:
                assert_never(condition)

    def _passing(self, column: str, passes: Callable[[Value], bool]) -> str:
        """That a column's value is one of those that pass."""
        values = self.values(column)
        passing = [value for value in values if passes(value)]
        if len(passing) == len(values):
            return f"({column} IS NOT NULL)"
        if not passing:
            return "FALSE"
        return f"coalesce({column} IN (SELECT unnest({self._mark(passing)})), FALSE)"

    def _mark(self, value: Any) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"


def _is_numeric(condition: Condition) -> bool:
    """Whether stored numbers are compared as numbers all through a condition."""
    if isinstance(condition, AnyOf | AllOf):
        return all(map(_is_numeric, condition.conditions))
    return isinstance(condition, Day) or condition.number is not None


def folded(column: Column, raw: list[Any]) -> Fold:
    """The value that the figures of ``Statement.fold`` make, and of how many documents it is."""
    contributing, *figures = raw
    if column.function in ("count", "distinct"):
        return Fold(float(figures[0] if figures else contributing), contributing)
    if not contributing:
        return Fold(None, 0)
    if column.function in ("sum", "avg", "dist"):
        total = figures[0] / NANO if money(column.field) else float(figures[0])
        if column.function == "sum":
            return Fold(finite(total), contributing)
        if column.function == "avg":
            return Fold(finite(total / contributing), contributing)
        _, low, high, (first, middle, third) = figures
        return Fold(Dist(contributing, low, first, middle, third, high, total / contributing), contributing)
    value = figures[0]
    return Fold(value[0] if column.function in SHARES else value, contributing)


def _sum(name: str, indexed: Indexed) -> str:
    """Money in whole parts of a dollar, whole numbers as such, others with a running correction."""
    number = indexed.number
    if money(name):
        return f"sum(CAST(floor({number} * {NANO}.0 + 0.5) AS HUGEINT))"
    return f"sum(CAST({number} AS BIGINT))" if indexed.whole else f"fsum({number})"


def _joined(joint: str, parts: Iterable[str], empty: str) -> str:
    text = joint.join(parts)
    return f"({text})" if text else empty
