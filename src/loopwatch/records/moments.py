"""Moments: read from whatever a client sends, bounded by our own clock, counted in microseconds.

A client's clock may be wrong by hours, and the window belongs to the server. So a call counts when the
client says it happened where that lies within the window; else when it arrived (ADR 5), and never more
than ``AHEAD`` after that.
"""

import math
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
AHEAD = timedelta(seconds=5)
"""How far ahead of ours a client's clock may run: what NTP leaves and a network adds."""

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0, 1))
"""A number at or above the first is a date in so many parts of a second: the ranges do not meet in
this century, since 1e11 seconds is the year 5138 and 1e11 milliseconds the year 1973."""


def micros(moment: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The date of so many microseconds since 1970, in UTC."""
    return EPOCH + timedelta(microseconds=micros)


def span_micros(seconds: float) -> int:
    """A length of time in whole microseconds."""
    return round(seconds * 1_000_000)


def read_moment(value: object) -> datetime | None:
    """A date as clients write it: ISO 8601 (UTC where it names no zone) or a number since 1970.

    The number may be of seconds, milliseconds, microseconds or nanoseconds. None for what is no date:
    a call with a broken clock was still paid for.
    """
    try:
        if isinstance(value, str):
            written = datetime.fromisoformat(value.strip())
            return (written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        parts = next(parts for least, parts in _UNITS if abs(value) >= least)
        return EPOCH + timedelta(seconds=value / parts)
    except (ValueError, OverflowError):
        return None


def clamped(at: datetime | None, received: datetime, window: timedelta) -> datetime:
    """When a call counts: its own time within (received - window, received + AHEAD]; its arrival if none.

    A time at or before the window's begin is no better than none: it would never count.
    """
    if at is None or at <= received - window:
        return received
    return min(at, received + AHEAD)
