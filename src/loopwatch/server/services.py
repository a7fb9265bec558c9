"""What a request may use: the store and its friends, made once for a server."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from loopwatch.alerts.alert import alert_message
from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.channels.registry import Kit, channel, channels
from loopwatch.alerts.courier import Courier
from loopwatch.alerts.links import BlockLinks
from loopwatch.alerts.message import Message
from loopwatch.alerts.outbox import drafts
from loopwatch.alerts.storm import storm_message
from loopwatch.clock import Clock
from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import Reach
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft, Place
from loopwatch.records.row import Arrival
from loopwatch.server.buckets import Buckets
from loopwatch.server.live import Live
from loopwatch.server.prices import Prices
from loopwatch.server.signin.passwords import Passwords
from loopwatch.server.signin.visitors import Door
from loopwatch.store.opening import Store


@dataclass(frozen=True, slots=True)
class Telling:
    """How projects are told: their channels, made with what this server has to send with.

    ``links`` makes the link that blocks a user; None where the server has no secret to sign it with.
    """

    kit: Kit
    public_url: str
    links: BlockLinks | None = None

    def compose(self, alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
        """An alert for each channel that the settings name. No I/O: it runs inside a transaction."""
        if not settings.channels:
            return ()
        block_url = None
        if self.links is not None:
            block_url = self.links.link(alert.project_id, alert.user_id, alert.id, alert.at)
        return self.drafts(alert_message(alert, self.public_url, block_url), settings)

    def summarise(self, alerts: Sequence[Alert], settings: ProjectSettings) -> Sequence[Draft]:
        """Alerts that are told together, the worst first, for each channel that the settings name."""
        return self.drafts(storm_message(alerts, self.kit.clock.now(), self.public_url), settings)

    def drafts(self, message: Message, settings: ProjectSettings) -> list[Draft]:
        """A message for each channel that the settings name."""
        return list(drafts(message, channels(settings, self.kit)))

    def channel(self, settings: ProjectSettings, key: str) -> Channel | None:
        """The channel of that name, if there is one and it is on."""
        found = settings.destination(key)
        return None if found is None else channel(found, self.kit)


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
