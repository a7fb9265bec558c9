"""What a compiled query asks of one stored value, and of a document: the meaning of every filter.

A comparison bends to the stored value. A stored number or boolean is compared as a number with whatever
reads as one (``armed:1``, ``cost:"1.40"``); everything else by how both are written, equality whatever
the case and with ``*`` for anything, order by code point. A stored string is never a number. What is
absent passes no comparison, ``!=`` included; only ``not`` lets it through.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

from loopwatch.query.syntax import Operator
from loopwatch.query.values import Document, Value, glob, number, parsed, rendered

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One value against one literal."""

    operator: Operator
    literal: Value

    @property
    def number(self) -> float | None:
        """The literal as a number, where it reads as one: what stored numbers are compared with."""
        return parsed(self.literal) if isinstance(self.literal, str) else float(self.literal)

    def holds(self, value: Value) -> bool:
        """Whether a stored value passes."""
        stored, literal = number(value), self.number
        if stored is not None and literal is not None:
            if self.operator in _ORDERS:
                return _ORDERS[self.operator](stored, literal)
            return (stored == literal) is (self.operator == ":")
        left, right = rendered(value), rendered(self.literal)
        if self.operator in _ORDERS:
            return _ORDERS[self.operator](left, right)
        return glob(right, left) is (self.operator == ":")


@dataclass(frozen=True, slots=True)
class Day:
    """``:`` or ``!=`` with a calendar day: any moment of it, or the day as written."""

    operator: Operator
    first: float
    last: float
    text: str

    def holds(self, value: Value) -> bool:
        """Whether a stored value passes."""
        stored = number(value)
        inside = glob(self.text, rendered(value)) if stored is None else self.first <= stored <= self.last
        return inside is (self.operator == ":")


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several conditions."""

    conditions: tuple["Condition", ...]

    def holds(self, value: Value) -> bool:
        """Whether a stored value passes."""
        return any(each.holds(value) for each in self.conditions)


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of several conditions. Of none: that there is a value."""

    conditions: tuple["Condition", ...]

    def holds(self, value: Value) -> bool:
        """Whether a stored value passes."""
        return all(each.holds(value) for each in self.conditions)


Condition = Comparison | Day | AnyOf | AllOf


@dataclass(frozen=True, slots=True)
class Holds:
    """The document carries the field, and its value passes."""

    field: str
    condition: Condition

    def matches(self, document: Document) -> bool:
        """Whether a document passes."""
        value = document.get(self.field)
        return value is not None and self.condition.holds(value)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Any string of the document holds the text, whatever the case."""

    text: str

    def found(self, value: Value) -> bool:
        """Whether one value does."""
        return isinstance(value, str) and self.text.lower() in value.lower()

    def matches(self, document: Document) -> bool:
        """Whether a document passes."""
        return any(map(self.found, document.values()))


@dataclass(frozen=True, slots=True)
class Negation:
    """The part does not pass."""

    part: "Predicate"

    def matches(self, document: Document) -> bool:
        """Whether a document passes."""
        return not self.part.matches(document)


@dataclass(frozen=True, slots=True)
class Every:
    """All parts pass. Of none: anything does."""

    parts: tuple["Predicate", ...]

    def matches(self, document: Document) -> bool:
        """Whether a document passes."""
        return all(part.matches(document) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    """One part passes."""

    parts: tuple["Predicate", ...]

    def matches(self, document: Document) -> bool:
        """Whether a document passes."""
        return any(part.matches(document) for part in self.parts)


Predicate = Holds | Mentions | Negation | Every | Either
