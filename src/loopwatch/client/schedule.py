"""When to ask again.

Attempts are numbered from 1. After a failed one the wait is 1 second, then twice as long each time, up
to a minute: 303 seconds for the ten retries of a call. There is no jitter, so that two runs compare.
"""

FIRST = 1
LONGEST = 60
TOO_MANY_REQUESTS = 429
SERVICE_UNAVAILABLE = 503
DIGITS = 100
"""Digits of a Retry-After beyond which it is no number that anybody meant."""


def delay_after(attempt: int) -> int:
    """Seconds to wait after a failed attempt."""
    doublings = min(attempt - 1, LONGEST.bit_length())  # enough to be past the longest
    return min(LONGEST, FIRST << doublings)


def retry_after(status: int, header: str | None) -> int | None:
    """Seconds that a 429 or a 503 asks for; None where it asks for nothing that is a number of seconds."""
    if status not in (TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE) or header is None:
        return None
    asked = header.strip()
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= DIGITS else None


def wait_after(attempt: int, asked: int | None) -> int:
    """Seconds to wait: the schedule's, or what the provider asked for where that is longer."""
    return max(delay_after(attempt), asked or 0)
