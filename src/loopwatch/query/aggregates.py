"""What ``stats`` can work out of a group of documents: one class a function, from which its page is made too.

Each is fed the numbers of the documents that carry the field (a boolean is 1 or 0, a string is none) and
knows how many there were. Of nothing there is nothing: a sum, too, has no value then. The quantiles
interpolate linearly at (n - 1) q, which is type 7 of Hyndman and Fan (1996), as spreadsheets and NumPy do.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import floor, fsum, inf, isfinite
from typing import ClassVar, NamedTuple

from loopwatch.query.values import Value, number, order

NANO = 10**9
"""Parts of a dollar that money is summed in, as whole numbers: whatever the order, the sum is the same."""

MOST_DOLLARS = 1e18
"""More than this is no money, and is summed as any other number."""


class Dist(NamedTuple):
    """Five numbers, their count and their mean: what a box plot shows."""

    n: int
    min: float
    q1: float
    median: float
    q3: float
    max: float
    mean: float


class Fold(NamedTuple):
    """What came out, and of how many documents. ``value`` is None of none."""

    value: Value | Dist | None
    contributing: int


def money(field: str) -> bool:
    """Whether a field holds dollars: the last part of its name says so."""
    last = field.rsplit(".", 1)[-1].lower()
    return last.endswith(("cost", "margin", "price", "revenue", "usd"))


def exact_sum(numbers: Sequence[float], *, dollars: bool) -> float:
    """The sum: of dollars in whole parts, of others correctly rounded; infinite beyond all doubles."""
    if dollars and max(map(abs, numbers)) < MOST_DOLLARS:
        return sum(floor(each * NANO + 0.5) for each in numbers) / NANO
    try:
        return fsum(numbers)
    except OverflowError:
        return inf


def finite(figure: float | Dist) -> float | Dist | None:
    """A figure, unless it is beyond all doubles: then there is none."""
    return figure if isinstance(figure, Dist) or isfinite(figure) else None


def quantile(ascending: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the numbers lie."""
    place = (len(ascending) - 1) * share
    below = floor(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (ascending[above] - ascending[below]) * (place - below)


class Aggregate(ABC):
    """One function of ``stats``. The docstring of each is its line in the reference."""

    name: ClassVar[str]
    takes_field: ClassVar[bool] = True
    example: ClassVar[str]

    @abstractmethod
    def fold(self, values: Sequence[Value], field: str) -> Fold:
        """The figure of the values that a group's documents hold under ``field``."""


class Count(Aggregate):
    """How many documents the group has."""

    name = "count"
    takes_field = False
    example = "count()"

    def fold(self, values: Sequence[Value], field: str) -> Fold:
        """``values`` holds one for each document."""
        del field
        return Fold(float(len(values)), len(values))


class Distinct(Aggregate):
    """How many different values the field has, of any kind."""

    name = "distinct"
    example = "distinct(model)"

    def fold(self, values: Sequence[Value], field: str) -> Fold:
        """True, 1 and "1" are three."""
        del field
        return Fold(float(len({order(value) for value in values})), len(values))


class _Numeric(Aggregate):
    def fold(self, values: Sequence[Value], field: str) -> Fold:
        """Of the numbers among the values."""
        numbers = [each for each in map(number, values) if each is not None]
        return Fold(finite(self.figure(numbers, field)) if numbers else None, len(numbers))

    @abstractmethod
    def figure(self, numbers: list[float], field: str) -> float | Dist:
        """Of at least one number."""


class Average(_Numeric):
    """The arithmetic mean."""

    name = "avg"
    example = "avg(summary.turns)"

    def figure(self, numbers: list[float], field: str) -> float:
        """The sum over the count."""
        return exact_sum(numbers, dollars=money(field)) / len(numbers)


class Sum(_Numeric):
    """The sum. Money is summed in whole billionths of a dollar."""

    name = "sum"
    example = "sum(summary.errors.loopAbortChars) as thrown"

    def figure(self, numbers: list[float], field: str) -> float:
        """The exact sum."""
        return exact_sum(numbers, dollars=money(field))


class Minimum(_Numeric):
    """The least."""

    name = "min"
    example = "min(cost)"

    def figure(self, numbers: list[float], field: str) -> float:
        """The least."""
        del field
        return min(numbers)


class Maximum(_Numeric):
    """The greatest."""

    name = "max"
    example = "max(cost)"

    def figure(self, numbers: list[float], field: str) -> float:
        """The greatest."""
        del field
        return max(numbers)


class _Quantile(_Numeric):
    share: ClassVar[float]

    def figure(self, numbers: list[float], field: str) -> float:
        """Interpolated."""
        del field
        return quantile(sorted(numbers), self.share)


class Median(_Quantile):
    """The middle one."""

    name = "median"
    share = 0.5
    example = "median(cost)"


class P90(_Quantile):
    """What nine in ten do not exceed."""

    name = "p90"
    share = 0.9
    example = "p90(latencyMs)"


class P95(_Quantile):
    """What nineteen in twenty do not exceed."""

    name = "p95"
    share = 0.95
    example = "p95(latencyMs)"


class Distribution(_Numeric):
    """Count, least, quartiles, greatest and mean in one: a box plot."""

    name = "dist"
    example = "dist(cost) by model"

    def figure(self, numbers: list[float], field: str) -> Dist:
        """All seven."""
        ascending = sorted(numbers)
        low, mid, high = (quantile(ascending, share) for share in (0.25, 0.5, 0.75))
        mean = exact_sum(ascending, dollars=money(field)) / len(ascending)
        return Dist(len(ascending), ascending[0], low, mid, high, ascending[-1], mean)


AGGREGATES: dict[str, Aggregate] = {
    each.name: each
    for each in (
        Count(),
        Distinct(),
        Average(),
        Sum(),
        Minimum(),
        Maximum(),
        Median(),
        P90(),
        P95(),
        Distribution(),
    )
}
"""By name, in the order in which they are offered."""
