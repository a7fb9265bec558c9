"""The store as a program that takes calls in opens it: they are priced, judged and told of as they come."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from loopwatch.alerts.channels.email.mailer import mailer_from
from loopwatch.alerts.channels.registry import Kit
from loopwatch.alerts.links import BlockLinks
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.rules import crossing
from loopwatch.clock import Clock
from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import Reach
from loopwatch.hosting.prices import Prices
from loopwatch.hosting.telling import Telling
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft
from loopwatch.store.opening import Store, open_store


@dataclass(frozen=True, slots=True)
class Storing:
    """Which database, what links in alerts begin with, and what signs them (empty: the database has it)."""

    database: str
    public_url: str
    windows: str | None = None
    reach: Reach = field(default_factory=Reach)
    secret: bytes = field(default=b"", repr=False)


class Stored(NamedTuple):
    """The store, what tells of alerts, what prices calls, and the secret that signs links and cookies."""

    store: Store
    telling: Telling
    prices: Prices
    secret: bytes


@asynccontextmanager
async def storing(
    options: Storing, *, clock: Clock, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Stored]:
    """The store for the block, with its helpers. Raises as ``open_store``."""
    if options.secret:
        BlockLinks(options.secret, options.public_url)  # one that is too short is refused before all else
    async with Poster(options.reach, clock=clock) as poster:
        mailer = mailer_from(os.environ if environment is None else environment, poster, clock)
        kit, prices = Kit(poster, mailer, clock), Prices()
        telling = Telling(kit, options.public_url)

        def compose(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
            return telling.compose(alert, settings)  # as it is below: no alert comes before

        async with open_store(
            options.database,
            clock,
            price=prices.cost,
            rules=crossing,
            compose=compose,
            windows=options.windows,
        ) as store:
            secret = options.secret or await store.secrets.signing()
            telling = Telling(kit, options.public_url, BlockLinks(secret, options.public_url))
            yield Stored(store, telling, prices, secret)
