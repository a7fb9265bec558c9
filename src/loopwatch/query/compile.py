"""A tree made into a plan: literals settled, stages put in their place, what makes no sense told and dropped.

The order in which stages are written does not change what they mean: ``where`` before ``stats`` asks of
documents and after it of its rows; ``sort``, ``fields`` and ``limit`` come last, whatever the text.
"""

from typing import assert_never

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
from loopwatch.query.diagnostics import Diagnostic
from loopwatch.query.literals import CalendarDay, edge, literal
from loopwatch.query.parse import parse
from loopwatch.query.plan import MONDAY, MOST_ROWS, STEPS, TIMES, Column, Grouped, Grouping, Plan
from loopwatch.query.syntax import (
    Aggregation,
    All,
    Any,
    Compares,
    Exists,
    Fields,
    Filter,
    Key,
    Limit,
    Not,
    OneOf,
    Operator,
    Says,
    Sort,
    Source,
    Stage,
    Stats,
    Tree,
    Where,
    Within,
    Word,
)


def plan(text: str, now: float, source: Source = "runs") -> Plan:
    """The plan of a query's text; its ``diagnostics`` say what was left out.

    ``now`` is in milliseconds since 1970. ``source`` is asked where the text does not say ``from``.
    """
    return compiled(parse(text), now, source)


def compiled(tree: Tree, now: float, source: Source = "runs") -> Plan:
    """As ``plan``, of a tree."""
    return _Compiler(tree, now, source).plan()


class _Compiler:
    def __init__(self, tree: Tree, now: float, source: Source) -> None:
        self._tree = tree
        self._now = now
        self._source: Source = tree.source or source
        self._told = list(tree.diagnostics)

    def plan(self) -> Plan:
        """Every stage in its place."""
        before = [self._tree.filter]
        after: list[Filter] = []
        singles: dict[type[Stage], Stage] = {}
        for stage in self._tree.stages:
            if isinstance(stage, Where):
                (after if Stats in singles else before).append(stage.filter)
                continue
            if type(stage) in singles:
                self._tell(f"a second {type(stage).__name__.lower()}: the first one holds", stage)
            singles.setdefault(type(stage), stage)
        stats, sort, fields, limit = map(singles.get, (Stats, Sort, Fields, Limit))
        return Plan(
            source=self._source,
            filter=self._every(before),
            grouped=self._grouped(stats) if isinstance(stats, Stats) else None,
            having=self._every(after) if after else None,
            sort=self._sort(sort, stats),
            fields=tuple(field.name for field in fields.fields) if isinstance(fields, Fields) else (),
            limit=self._limit(limit),
            diagnostics=tuple(sorted(self._told, key=lambda each: each.span)),
        )

    def _tell(self, message: str, stage: Stage) -> None:
        self._told.append(Diagnostic(message, stage.span, severity="warning"))

    def _limit(self, stage: Stage | None) -> int:
        if not isinstance(stage, Limit):
            return MOST_ROWS
        if stage.rows > MOST_ROWS:
            self._tell(f"an answer has at most {MOST_ROWS:,} rows", stage)
        return min(stage.rows, MOST_ROWS)

    def _sort(self, stage: Stage | None, stats: Stage | None) -> tuple[tuple[str, bool], ...]:
        if not isinstance(stage, Sort):
            return ()
        names = tuple((each.field.name, each.descending) for each in stage.orderings)
        if isinstance(stats, Stats):
            known = {self._field(key) for key in stats.keys} | {each.column for each in stats.aggregations}
            for name, _ in names:
                if name not in known:
                    self._tell(f"there is no column {name} to sort by", stage)
        return names

    def _grouped(self, stats: Stats) -> Grouped:
        keys = tuple(self._grouping(key) for key in stats.keys)
        return Grouped(keys, tuple(map(self._column, stats.aggregations)), stats.filled)

    def _field(self, key: Key) -> str:
        return key.field.name or TIMES[self._source][1]

    def _grouping(self, key: Key) -> Grouping:
        if not key.interval:
            return Grouping(self._field(key))
        unit = key.interval[-1]
        step = max(1, int(key.interval[:-1])) * STEPS[unit]
        return Grouping(self._field(key), step, MONDAY if unit == "w" else 0)

    def _column(self, aggregation: Aggregation) -> Column:
        field = aggregation.field.name if aggregation.field else ""
        condition = None if aggregation.condition is None else self._predicate(aggregation.condition)
        return Column(aggregation.column, aggregation.function, field, condition)

    def _every(self, filters: list[Filter]) -> Predicate:
        parts = tuple(map(self._predicate, filters))
        return parts[0] if len(parts) == 1 else Every(parts)

    def _predicate(self, filter_: Filter) -> Predicate:  # noqa: PLR0911  one for each kind of clause
        match filter_:
            case All(parts):
                return Every(tuple(map(self._predicate, parts)))
            case Any(parts):
                return Either(tuple(map(self._predicate, parts)))
            case Not(part):
                return Negation(self._predicate(part))
            case Says(word):
                return Mentions(word.text)
            case Exists(field):
                return Holds(field.name, AllOf(()))
            case Compares(field, operator, word):
                return Holds(field.name, self._comparison(operator, word))
            case OneOf(field, words):
                return Holds(field.name, AnyOf(tuple(self._comparison(":", word) for word in words)))
            case Within(field, low, high):
                ends = (*self._bound(">=", low), *self._bound("<=", high))
                return Holds(field.name, AllOf(ends))
            case _:
                assert_never(filter_)

    def _comparison(self, operator: Operator, word: Word) -> Condition:
        if operator not in (":", "!="):
            return Comparison(operator, edge(word, self._now, self._told, upper=operator == "<="))
        value = literal(word, self._now, self._told)
        if isinstance(value, CalendarDay):
            return Day(operator, value.first, value.last, word.text)
        return Comparison(operator, value)

    def _bound(self, operator: Operator, word: Word | None) -> tuple[Condition, ...]:
        return () if word is None else (self._comparison(operator, word),)
