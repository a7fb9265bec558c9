"""When a delivery that failed is tried again, and when no more. Nothing random: the times can be told.

Eleven attempts within 7 h 49 min of waiting. Where the other side names a longer wait, it is kept to; in
all a delivery lives 23 hours: Resend remembers an idempotency key for 24, and so never sends one twice.
"""

from datetime import datetime, timedelta

DELAYS = (10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400)
"""Seconds to wait after the first, second, … failed attempt; none is left after the eleventh."""
MOST_ATTEMPTS = len(DELAYS) + 1
LIFE = timedelta(hours=23)
"""How long after it was written a delivery may still be attempted."""


def next_attempt(
    attempt: int, written: datetime, now: datetime, retry_after: float | None = None
) -> datetime | None:
    """When to try again after ``attempt`` (from 1) failed at ``now``; None where it is given up.

    ``retry_after`` is the wait in seconds that the other side asked for, if it did: the longer one counts.
    """
    if attempt >= MOST_ATTEMPTS:
        return None
    wait = max(DELAYS[attempt - 1], retry_after or 0)
    if wait > LIFE.total_seconds():
        return None
    at = now + timedelta(seconds=wait)
    return at if at <= written + LIFE else None
