"""Passwords: argon2id in a thread, two at once at most, since each takes 64 MiB and a fifth of a second."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from loopwatch.errors import InputError

T = TypeVar("T")

LEAST = 12
MOST = 200
AT_ONCE = 2
MOST_WAITING = 16
"""Sign-ins that may wait for their turn; more are told to come again."""

_hasher = PasswordHasher()


class Passwords:
    """Hashes and verifies. ``busy`` says that too many wait already."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._asked = 0
        self._dummy: str | None = None

    @property
    def busy(self) -> bool:
        """Whether one more would have to wait too long."""
        return self._asked >= AT_ONCE + MOST_WAITING

    async def hashed(self, password: str) -> str:
        """The hash to keep."""
        return await self._in_turn(lambda: _hasher.hash(password))

    async def matches(self, password: str, kept: str | None) -> bool:
        """Whether it is the password of a hash. Without one it takes as long, and is not."""
        if self._dummy is None:
            self._dummy = await self.hashed("nobody's")
        against = kept or self._dummy
        return await self._in_turn(lambda: _matches(against, password)) and kept is not None

    async def _in_turn(self, work: Callable[[], T]) -> T:
        self._asked += 1
        try:
            async with self._turns:
                return await asyncio.to_thread(work)
        finally:
            self._asked -= 1


def judged(password: str, name: str = "") -> str:
    """The password, where it will do. Raises InputError."""
    if not LEAST <= len(password) <= MOST:
        raise InputError(f"a password has {LEAST} to {MOST} characters: a few words will do")
    if len(set(password)) < LEAST // 3 or (name and password.strip().casefold() == name):
        raise InputError("this password is guessed at once: take a few words that do not belong together")
    return password


def _matches(kept: str, password: str) -> bool:
    try:
        return _hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False
