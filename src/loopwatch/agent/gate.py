"""How many agents work at the same time: ``maxParallel``.

An agent that waits for its sub-agents does not work, and gives its place to one of them; else a run with
one place would wait for ever.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Place:
    """One agent's place at work; it may be left while others work for it."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        """Take the places that there are."""
        self._places = places
        self._away = 0
        self._has = False
        self._moving = asyncio.Lock()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Work in here, once there is a place."""
        await self._take()
        try:
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Wait in here for others; several waits at once are one."""
        async with self._moving:
            self._away += 1
            self._leave()
        try:
            yield
        finally:
            async with self._moving:
                self._away -= 1
                if not self._away:
                    await self._take()

    async def _take(self) -> None:
        await self._places.acquire()
        self._has = True

    def _leave(self) -> None:
        if self._has:
            self._has = False
            self._places.release()
