"""When to ask again.

Attempts are numbered from 1. After a failed one the wait is 1 second, then twice as long each time, up
to a minute: 303 seconds for the ten retries of a call. There is no jitter, so that two runs compare.
"""

from http import HTTPStatus

FIRST = 1
LONGEST = 60
ASKING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""The statuses whose Retry-After is honoured."""

DIGITS = 100
"""Digits of a Retry-After beyond which it is no number that anybody meant."""


def delay_after(attempt: int, longest: float = LONGEST) -> float:
    """Seconds to wait after a failed attempt, ``longest`` at most."""
    doublings = min(attempt - 1, int(longest).bit_length())  # enough to be past the longest
    return min(longest, FIRST << doublings)


def retry_after(status: int, header: str | None) -> int | None:
    """Seconds that a 429 or a 503 asks for; None where it asks for nothing that is a number of seconds."""
    if status not in ASKING or header is None:
        return None
    asked = header.strip()
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= DIGITS else None


def wait_after(attempt: int, asked: int | None, longest: float = LONGEST) -> float:
    """Seconds to wait: the schedule's, or what the provider asked for where that is longer."""
    return max(delay_after(attempt, longest), asked or 0)
