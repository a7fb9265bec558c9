"""Which fields the documents have: what an editor offers, and what a misspelt field is held against."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from loopwatch.query.diagnostics import Diagnostic, nearest
from loopwatch.query.syntax import (
    All,
    Any,
    Compares,
    Exists,
    Field,
    Fields,
    Filter,
    Not,
    OneOf,
    Sort,
    Stats,
    Tree,
    Where,
    Within,
)
from loopwatch.query.values import Document, Value, order

Kind = Literal["string", "number", "boolean", "date", "mixed"]

DATES = frozenset(("at", "finished", "started"))
"""Fields that hold moments: numbers, shown as dates."""

TOP = 10
"""Values of a field that are kept, the most frequent ones."""

MOST_VALUES = 10_000
"""Different values of a field that are counted; of an id in each document no more are remembered."""

_KINDS: dict[type, Kind] = {bool: "boolean", float: "number", str: "string"}


@dataclass(frozen=True, slots=True)
class Known:
    """One field: what it holds, how many documents carry it, its most frequent values with their counts."""

    name: str
    kind: Kind
    count: int
    top: tuple[tuple[Value, int], ...]


@dataclass(frozen=True, slots=True)
class Catalog:
    """All fields, those of most documents first, then by name."""

    fields: tuple[Known, ...]

    def find(self, name: str) -> Known | None:
        """The field of that name."""
        return next((field for field in self.fields if field.name == name), None)


def catalog(documents: Iterable[Document]) -> Catalog:
    """The fields of ``documents``."""
    counts: Counter[str] = Counter()
    kinds: dict[str, set[type]] = {}
    values: dict[str, Counter[tuple[int, Value]]] = {}
    for document in documents:
        for name, value in document.items():
            counts[name] += 1
            kinds.setdefault(name, set()).add(type(value))
            seen = values.setdefault(name, Counter())
            if len(seen) < MOST_VALUES or order(value) in seen:
                seen[order(value)] += 1
    fields = [Known(name, kind(name, kinds[name]), counts[name], top(values[name])) for name in counts]
    return Catalog(tuple(sorted(fields, key=lambda field: (-field.count, field.name))))


def kind(name: str, types: set[type]) -> Kind:
    """What a field of that name holds, which had values of these types."""
    if len(types) > 1:
        return "mixed"
    (held,) = types
    return "date" if name in DATES and held is float else _KINDS[held]


def top(values: Counter[tuple[int, Value]]) -> tuple[tuple[Value, int], ...]:
    """The most frequent values, ties in the total order."""
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return tuple((value, count) for (_, value), count in ranked[:TOP])


def unknown_fields(tree: Tree, known: Catalog) -> tuple[Diagnostic, ...]:
    """A warning for each field of a query that no document carries, with the nearest name that one does."""
    names = [field.name for field in known.fields]
    held = set(names)
    return tuple(
        Diagnostic(
            f"no document has a field {field.name}",
            field.span,
            suggestion=nearest(field.name, names),
            severity="warning",
        )
        for field in mentioned(tree)
        if field.name not in held
    )


def mentioned(tree: Tree) -> Iterator[Field]:
    """The fields of documents that a query speaks of; columns that it made itself are none."""
    yield from _in_filter(tree.filter)
    grouped = False
    for stage in tree.stages:
        if isinstance(stage, Stats):
            yield from _in_stats(stage)
            grouped = True
        elif grouped:
            continue
        elif isinstance(stage, Where):
            yield from _in_filter(stage.filter)
        elif isinstance(stage, Sort):
            yield from (each.field for each in stage.orderings)
        elif isinstance(stage, Fields):
            yield from stage.fields


def _in_stats(stats: Stats) -> Iterator[Field]:
    for each in stats.aggregations:
        if each.field is not None:
            yield each.field
        if each.condition is not None:
            yield from _in_filter(each.condition)
    yield from (key.field for key in stats.keys if key.field.name)


def _in_filter(filter_: Filter) -> Iterator[Field]:
    match filter_:
        case All(parts) | Any(parts):
            for part in parts:
                yield from _in_filter(part)
        case Not(part):
            yield from _in_filter(part)
        case Exists(field) | Compares(field) | OneOf(field) | Within(field):
            yield field
        case _:
            return
