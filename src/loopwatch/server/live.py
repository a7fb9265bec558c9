"""Alerts as they are raised, for pages that are open: whichever server raised them, the store has them.

One look at the store a second for each project that somebody watches, however many watch it; an alert of
our own is told at once. Listeners are few, each has a short queue, and all end with the server.
"""

import asyncio
import logging
from asyncio import Queue
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from loopwatch.clock import Clock
from loopwatch.store.alerts import Alerts, Raised

MOST = 100
"""Pages that may listen at once; others look again by themselves every half a minute."""
POLL = 1.0
_LATEST = 20
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Watched:
    """A project that somebody watches: since when, which alerts they were told of, and who they are."""

    since: datetime
    told: set[str] = field(default_factory=set)
    queues: set[Queue[Raised | None]] = field(default_factory=set)


class Live:
    """Who listens to which project."""

    def __init__(self, alerts: Alerts, clock: Clock) -> None:
        self._alerts = alerts
        self._clock = clock
        self._watched: dict[str, Watched] = {}
        self._stir = asyncio.Event()
        self.closed = False

    @property
    def count(self) -> int:
        """How many listen."""
        return sum(len(one.queues) for one in self._watched.values())

    @property
    def is_full(self) -> bool:
        """Whether nobody more may listen."""
        return self.closed or self.count >= MOST

    def wake(self) -> None:
        """An alert was raised here: look at once."""
        self._stir.set()

    def close(self) -> None:
        """End with all who listen: the server is to stop."""
        self.closed = True
        for one in self._watched.values():
            for queue in one.queues:
                _put(queue, None)
        self._stir.set()

    @contextmanager
    def listening(self, project_id: str) -> Iterator[AsyncIterator[Raised]]:
        """The alerts of a project that are raised from now on, until ``close``."""
        queue: Queue[Raised | None] = Queue(_LATEST)
        one = self._watched.setdefault(project_id, Watched(self._clock.now()))
        one.queues.add(queue)
        self._stir.set()
        try:
            yield _until_none(queue)
        finally:
            one.queues.discard(queue)
            if not one.queues:
                self._watched.pop(project_id, None)

    async def watch(self) -> None:
        """Look for alerts while anybody listens, until ``close``."""
        while not self.closed:
            self._stir.clear()
            for project_id in list(self._watched):
                try:
                    await self._look(project_id)
                except Exception:  # noqa: BLE001  a database that is away must not end the server
                    _log.warning("alerts cannot be read for open pages", exc_info=True)
            timer = self._clock.call_later(POLL, self._stir.set) if self._watched else None
            try:
                await self._stir.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    async def _look(self, project_id: str) -> None:
        found = await self._alerts.list(project_id, limit=_LATEST)
        one = self._watched.get(project_id)
        if one is None:
            return  # whoever listened has gone meanwhile
        for raised in reversed(found):
            if raised.alert.at >= one.since and raised.alert.id not in one.told:
                one.told.add(raised.alert.id)
                for queue in one.queues:
                    _put(queue, raised)


def _put(queue: Queue[Raised | None], item: Raised | None) -> None:
    """Add an item; whoever is far behind loses the oldest, and finds it on the page."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(item)


async def _until_none(queue: Queue[Raised | None]) -> AsyncIterator[Raised]:
    while (item := await queue.get()) is not None:
        yield item
