"""The meaning of a query, in plain Python over any documents. ``duckdb`` must agree with this."""

from collections.abc import Iterable
from operator import methodcaller

from loopwatch.query.aggregates import AGGREGATES, Fold
from loopwatch.query.answer import Answer, Bucket, bucket_answer, document_answer
from loopwatch.query.plan import Column, Grouped, Plan
from loopwatch.query.values import Document, Value, arranged, number, order


def evaluate(plan: Plan, documents: Iterable[Document]) -> Answer:
    """The answer of ``plan`` over ``documents``, in whatever order they come."""
    matched = [document for document in documents if plan.filter.matches(document)]
    if plan.grouped is None:
        return document_answer(plan, _ordered(plan, matched)[: plan.limit], len(matched))
    buckets = _grouped(plan.grouped, matched)
    return bucket_answer(plan, plan.grouped, buckets, len(matched))


def _ordered(plan: Plan, documents: list[Document]) -> list[Document]:
    """As asked, then newest first, then by id; what lacks the field comes last in either direction."""

    def moment(document: Document) -> float:
        value = document.get(plan.order_field)
        at = None if value is None else number(value)
        return float("inf") if at is None else -at

    ordered = sorted(documents, key=lambda each: (moment(each), order(each.get("id"))))
    for field, descending in reversed(plan.sort):
        ordered = arranged(ordered, methodcaller("get", field), descending=descending)
    return ordered


def _grouped(grouped: Grouped, documents: list[Document]) -> list[Bucket]:
    groups: dict[tuple[tuple[int, Value], ...], list[Document]] = {}
    for document in documents:
        key = tuple(order(key.key(document.get(key.field))) for key in grouped.keys)
        groups.setdefault(key, []).append(document)
    if not grouped.keys:
        groups.setdefault((), [])
    return [
        Bucket(
            tuple(None if rank == order(None)[0] else value for rank, value in key),
            len(members),
            tuple(_fold(column, members) for column in grouped.columns),
        )
        for key, members in groups.items()
    ]


def _fold(column: Column, members: list[Document]) -> Fold:
    if column.condition is not None:
        members = [document for document in members if column.condition.matches(document)]
    function = AGGREGATES[column.function]
    if not function.takes_field:
        return function.fold([True] * len(members), column.field)
    carried = (document.get(column.field) for document in members)
    return function.fold([value for value in carried if value is not None], column.field)
