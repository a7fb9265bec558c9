"""What a request asks in its address: numbers and dates within bounds, or one line that says so."""

from datetime import datetime

from starlette.requests import Request

from loopwatch.errors import InputError
from loopwatch.records.moments import read_moment

MOST_LISTED = 1_000
MOST_OFFSET = 10_000_000


def number(request: Request, name: str, default: int, most: int, least: int = 0) -> int:
    """A whole number. Raises InputError."""
    text = request.query_params.get(name)
    if text is None:
        return default
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        raise InputError(f"{name} must be a whole number from {least} to {most}")
    return int(text)


def moment(request: Request, name: str) -> datetime | None:
    """A date, where one was given. Raises InputError."""
    text = request.query_params.get(name)
    if text is None:
        return None
    read = read_moment(text)
    if read is None:
        raise InputError(f"{name} must be a date such as 2026-11-30T02:15:00Z")
    return read
