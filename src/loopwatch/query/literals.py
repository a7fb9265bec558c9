"""What a literal stands for: settled when the query is compiled, at one moment for all of it.

Quoted, a string. Else, in this order: a truth value, a number, a moment relative to now, a calendar day in
UTC, a string.
"""

import re
from datetime import UTC, date, datetime
from typing import NamedTuple

from loopwatch.query.diagnostics import Diagnostic
from loopwatch.query.syntax import Word
from loopwatch.query.values import Value, parsed

UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
"""Milliseconds of a relative date's unit."""

DAY = UNITS["d"]
SIZES = {"K": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
"""What ``50K`` is in an order, where a string makes no sense."""

_RELATIVE = re.compile(r"now(?:([+-])([0-9]{1,9})([A-Za-z]))?")
_CALENDAR = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SIZED = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)([KMG]i?)")


class CalendarDay(NamedTuple):
    """A day of UTC in milliseconds since 1970: its first and its last."""

    first: float
    last: float


def literal(word: Word, now: float, told: list[Diagnostic]) -> Value | CalendarDay:
    """What ``word`` stands for; ``now`` in milliseconds since 1970."""
    text = word.text
    if word.quoted:
        return text
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    number = parsed(text)
    if number is not None:
        return number
    relative = _RELATIVE.fullmatch(text)
    if relative:
        return _relative(relative, word, now, told)
    return (_day(text) if _CALENDAR.fullmatch(text) else None) or text


def edge(word: Word, now: float, told: list[Diagnostic], *, upper: bool) -> Value:
    """What ``word`` stands for as a bound; of a day its last moment where it bounds from above."""
    value = literal(word, now, told)
    if isinstance(value, CalendarDay):
        return value.last if upper else value.first
    sized = None if word.quoted or not isinstance(value, str) else _SIZED.fullmatch(value)
    return float(sized[1]) * SIZES[sized[2]] if sized else value


def _relative(match: re.Match[str], word: Word, now: float, told: list[Diagnostic]) -> Value:
    sign, amount, unit = match.groups()
    if sign is None:
        return now
    if unit not in UNITS:
        told.append(Diagnostic(f"{unit} is no unit of time", word.span, tuple(UNITS), severity="warning"))
        return word.text
    return now + int(sign + amount) * UNITS[unit]


def _day(text: str) -> CalendarDay | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    first = (midnight - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * UNITS["s"]
    return CalendarDay(first, first + DAY - 1)
