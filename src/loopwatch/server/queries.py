"""What a request asks in its address: users, numbers and dates within bounds, or one line that says so."""

from datetime import datetime

from starlette.requests import Request

from loopwatch.errors import InputError
from loopwatch.records.moments import read_moment
from loopwatch.records.row import MOST_CHARS, name
from loopwatch.server.services import services

MOST_LISTED = 1_000
MOST_OFFSET = 10_000_000


async def user(request: Request, project_id: str, text: str) -> str:
    """A user as the project keeps them, whatever question they are the subject of: hashed where it hashes.

    Raises InputError for an id that no call can have had.
    """
    if not text.strip():
        raise InputError("a user's id must not be blank")
    arrival = await services(request).arrival(project_id)
    return str(name(storable(text, "userId"), "userId", arrival.pseudonym))


def storable(text: str, field: str) -> str:
    """The text. Raises InputError for one that no row can hold."""
    if len(text) > MOST_CHARS or any(char == "\x00" or "\ud800" <= char <= "\udfff" for char in text):
        raise InputError(
            f"{field} is longer than {MOST_CHARS} characters, or holds one that cannot be stored"
        )
    return text


def number(request: Request, key: str, default: int, most: int, least: int = 0) -> int:
    """A whole number. Raises InputError."""
    text = request.query_params.get(key)
    if text is None:
        return default
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        raise InputError(f"{key} must be a whole number from {least} to {most}")
    return int(text)


def moment(request: Request, key: str) -> datetime | None:
    """A date, where one was given. Raises InputError."""
    text = request.query_params.get(key)
    if text is None:
        return None
    read = read_moment(text)
    if read is None:
        raise InputError(f"{key} must be a date such as 2026-11-30T02:15:00Z")
    return read
