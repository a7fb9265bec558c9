"""Attempts to sign in, bounded: by name and address together, by address, by name.

Counted in the database, so that several servers count together. Each bound is of a window of a quarter
of an hour; the tight one is of name and address together, so that nobody locks an owner out from afar.
"""

import hashlib
from datetime import datetime, timedelta

from loopwatch.store.sessions import Sessions

WINDOW = timedelta(minutes=15)
BOTH = 5
ADDRESS = 50
NAME = 200


async def held_back(sessions: Sessions, name: str, address: str) -> datetime | None:
    """Count an attempt; until when no further one is looked at, None while they are."""
    until = None
    for key, most in _bounds(name, address):
        count, ends = await sessions.note_attempt(key, WINDOW)
        if count > most:
            until = ends if until is None else max(until, ends)
    return until


async def forget(sessions: Sessions, name: str, address: str) -> None:
    """They have signed in: their mistakes before it count no more."""
    (both, _), *_ = _bounds(name, address)
    await sessions.forget_attempts(both)


def _bounds(name: str, address: str) -> tuple[tuple[str, int], ...]:
    who = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return (f"both {who} {address}", BOTH), (f"address {address}", ADDRESS), (f"name {who}", NAME)
