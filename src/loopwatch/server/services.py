"""What a request may use: the store and its friends, made once for a server."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from starlette.requests import Request

from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.courier import Courier
from loopwatch.clock import Clock
from loopwatch.config.reach import Reach
from loopwatch.hosting.prices import Prices
from loopwatch.hosting.telling import Telling
from loopwatch.records.delivery import Place
from loopwatch.records.row import Arrival
from loopwatch.server.buckets import Buckets
from loopwatch.server.live import Live
from loopwatch.server.signin.passwords import Passwords
from loopwatch.server.signin.visitors import Door
from loopwatch.store.opening import Store


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that routes and chores use. ``answers`` counts statuses for the metrics.

    ``trials`` has one reply tried at a time: a trial is up to two seconds' work beside taking calls in.
    """

    store: Store
    courier: Courier
    telling: Telling
    prices: Prices
    buckets: Buckets
    clock: Clock
    reach: Reach
    door: Door
    live: Live
    passwords: Passwords = field(default_factory=Passwords)
    trials: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    answers: Counter[int] = field(default_factory=Counter)

    async def arrival(self, project_id: str) -> Arrival:
        """What the server knows of a row that is arriving now."""
        known = self.store.projects.known(project_id) or await self.store.projects.settings(project_id)
        return Arrival(self.clock.now(), known.settings.window, known.pseudonym)


def services(request: Request) -> Services:
    """The server's, for a route."""
    found: Services = request.app.state.services
    return found


def courier(store: Store, telling: Telling, clock: Clock) -> Courier:
    """What delivers from the store's outbox, to channels as they are set at that moment."""

    async def find(place: Place) -> Channel | None:
        settings = (await store.projects.settings(place.project)).settings
        return telling.channel(settings, place.channel)

    return Courier(store.outbox, find, clock)
