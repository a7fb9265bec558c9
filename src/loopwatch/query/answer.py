"""What comes out of a query, and the part of the work that follows the folding, whoever folded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from loopwatch.query.aggregates import Dist, Fold
from loopwatch.query.diagnostics import Diagnostic
from loopwatch.query.plan import MOST_ROWS, Grouped, Plan
from loopwatch.query.values import Document, Value, arranged, order


class Bucket(NamedTuple):
    """One group: its keys (None where its documents lack the field), its documents, its figures."""

    key: tuple[Value | None, ...]
    n: int
    folds: tuple[Fold, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query: ``documents``, or ``buckets`` where there was a ``stats``.

    ``columns`` names what a row holds, keys first. ``matched`` counts the documents that the filter let
    through, whatever was shown of them; ``rows`` what there was before the limit. ``chosen``: whether
    the query names its columns.
    """

    columns: tuple[str, ...]
    documents: tuple[Document, ...]
    buckets: tuple[Bucket, ...]
    matched: int
    rows: int
    grouped: Grouped | None
    chosen: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def truncated(self) -> bool:
        """Whether there are more rows than these."""
        return self.rows > len(self.documents) + len(self.buckets)

    def table(self) -> list[list[Value | Dist | None]]:
        """The rows as the columns name them."""
        if self.grouped is None:
            return [[each.get(name) for name in self.columns] for each in self.documents]
        names = _names(self.grouped)
        places = [names.index(name) for name in self.columns]
        rows: list[tuple[Value | Dist | None, ...]] = [
            (*bucket.key, *(fold.value for fold in bucket.folds)) for bucket in self.buckets
        ]
        return [[row[place] for place in places] for row in rows]


def document_answer(plan: Plan, documents: Sequence[Document], matched: int) -> Answer:
    """Of the first documents in their order, already limited."""
    carried = dict.fromkeys(name for document in documents for name in document)
    first = [name for name in ("id", plan.order_field) if name in carried]
    columns = plan.fields or tuple(dict.fromkeys([*first, *sorted(carried)]))
    return Answer(columns, tuple(documents), (), matched, matched, None, bool(plan.fields), plan.diagnostics)


def bucket_answer(plan: Plan, grouped: Grouped, buckets: Iterable[Bucket], matched: int) -> Answer:
    """Of all groups: gaps filled, rows chosen, sorted, limited."""
    names = _names(grouped)
    rows = sorted(buckets, key=lambda bucket: tuple(map(order, bucket.key)))
    if grouped.filled:
        rows = _without_gaps(grouped, rows)
    if not (grouped.keys and grouped.keys[0].step):
        rows.sort(key=lambda bucket: -bucket.n)
    if plan.having is not None:
        rows = [bucket for bucket in rows if plan.having.matches(_as_document(names, bucket))]
    rows = _sorted(plan, grouped, rows)
    columns = tuple(name for name in plan.fields if name in names) or names
    kept = tuple(rows[: plan.limit])
    return Answer(columns, (), kept, matched, len(rows), grouped, bool(plan.fields), plan.diagnostics)


def _names(grouped: Grouped) -> tuple[str, ...]:
    return (*(key.field for key in grouped.keys), *(column.name for column in grouped.columns))


def _value(bucket: Bucket, place: int) -> Value | None:
    """A key or a figure by its place; a distribution is no one value."""
    if place < len(bucket.key):
        return bucket.key[place]
    value = bucket.folds[place - len(bucket.key)].value
    return None if isinstance(value, Dist) else value


def _as_document(names: tuple[str, ...], bucket: Bucket) -> Document:
    held = {name: _value(bucket, place) for place, name in reversed(list(enumerate(names)))}
    return {name: value for name, value in held.items() if value is not None}


def _sorted(plan: Plan, grouped: Grouped, rows: list[Bucket]) -> list[Bucket]:
    names = _names(grouped)
    orderings = [(names.index(name), descending) for name, descending in plan.sort if name in names]
    if orderings:
        rows = sorted(rows, key=lambda bucket: tuple(map(order, bucket.key)))
    for place, descending in reversed(orderings):
        rows = arranged(rows, partial(_value, place=place), descending=descending)
    return rows


def _without_gaps(grouped: Grouped, rows: list[Bucket]) -> list[Bucket]:
    """With an empty group for every step between first and last, for each series of the other keys."""
    step = grouped.keys[0].step
    times = [bucket.key[0] for bucket in rows if isinstance(bucket.key[0], float)]
    series = dict.fromkeys(bucket.key[1:] for bucket in rows)
    if not times or (max(times) - min(times)) / step * len(series) > MOST_ROWS:
        return rows
    held = {bucket.key for bucket in rows}
    empty = tuple(Fold(0.0 if column.function == "count" else None, 0) for column in grouped.columns)
    at, gaps = min(times), []
    while at <= max(times):
        gaps += [Bucket((at, *rest), 0, empty) for rest in series if (at, *rest) not in held]
        at += step
    return sorted([*rows, *gaps], key=lambda bucket: tuple(map(order, bucket.key)))
