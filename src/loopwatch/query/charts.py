"""Which picture an answer makes: told by the shape of its query, one for each of its figures.

One group makes a tile, time makes a line, a field makes bars; a second key makes a series each, stacked only
where a stack means something, for counts and sums. A distribution makes boxes. What a picture cannot show,
a group without a key or a figure, is counted and said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from loopwatch.query.aggregates import Dist
from loopwatch.query.answer import Answer, Bucket
from loopwatch.query.plan import Grouped
from loopwatch.query.values import Value, order, rendered

Kind = Literal["tile", "line", "bars", "boxes"]
STACKING = ("count", "sum")
"""Functions whose figures of parts add up to the figure of the whole."""

MOST_SERIES = 12
"""Series of a picture; those with the smallest figures are left out, counted, and in the table."""


class Series(NamedTuple):
    """A line or the bars of one colour: its name, and a figure for each place (None: there is none)."""

    name: str
    figures: tuple[float | Dist | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture. ``places`` are moments of a line (milliseconds since 1970), labels of bars.

    ``contributing`` says of a tile how many documents its figure is of, ``of`` of how many there were;
    ``dropped`` counts the rows that are not in the picture.
    """

    kind: Kind
    title: str
    places: tuple[Value, ...]
    series: tuple[Series, ...]
    stacked: bool = False
    contributing: int = 0
    of: int = 0
    dropped: int = 0


def charts(answer: Answer) -> list[Chart]:
    """The pictures of an answer; none of documents, which are a table."""
    grouped = answer.grouped
    if grouped is None:
        return []
    draw = _drawn if grouped.keys else _tile
    return [draw(answer, grouped, place) for place in range(len(grouped.columns))]


def _tile(answer: Answer, grouped: Grouped, place: int) -> Chart:
    """The one figure of all documents; nothing where even that was not kept."""
    name = grouped.columns[place].name
    if not answer.buckets:
        return Chart("tile", name, (), (), dropped=answer.rows)
    bucket = answer.buckets[0]
    fold = bucket.folds[place]
    kind: Kind = "boxes" if isinstance(fold.value, Dist) else "tile"
    series = (Series(name, (_figure(bucket, place),)),)
    return Chart(kind, name, (name,), series, contributing=fold.contributing, of=bucket.n)


def _drawn(answer: Answer, grouped: Grouped, place: int) -> Chart:
    """The figures of the groups, along their first key."""
    column, timed = grouped.columns[place], bool(grouped.keys[0].step)
    shown = [
        (bucket.key[0], bucket)
        for bucket in answer.buckets
        if bucket.key[0] is not None and _figure(bucket, place) is not None
    ]
    places = list(dict.fromkeys(first for first, _ in shown))
    if timed:
        places.sort(key=order)
    series, left_out = _series(shown, place, places)
    kind: Kind = "boxes" if column.function == "dist" else "line" if timed else "bars"
    return Chart(
        kind,
        column.name,
        tuple(places),
        series,
        stacked=len(grouped.keys) > 1 and column.function in STACKING,
        dropped=len(answer.buckets) - len(shown) + left_out,
    )


def _series(
    shown: Sequence[tuple[Value, Bucket]], place: int, places: list[Value]
) -> tuple[tuple[Series, ...], int]:
    """The figures by what follows the first key, the largest series first, and how many rows are left out."""
    named: dict[str, dict[Value, float | Dist | None]] = {}
    for first, bucket in shown:
        name = " · ".join("none" if part is None else rendered(part) for part in bucket.key[1:])
        named.setdefault(name, {})[first] = _figure(bucket, place)
    ranked = sorted(named.items(), key=lambda item: (-_size(item[1].values()), item[0]))
    kept = tuple(
        Series(name, tuple(figures.get(each) for each in places)) for name, figures in ranked[:MOST_SERIES]
    )
    return kept, sum(len(figures) for _, figures in ranked[MOST_SERIES:])


def _figure(bucket: Bucket, place: int) -> float | Dist | None:
    value = bucket.folds[place].value
    return value if isinstance(value, float | Dist) else None


def _size(figures: Iterable[float | Dist | None]) -> float:
    return sum(abs(each.max if isinstance(each, Dist) else each) for each in figures if each is not None)
