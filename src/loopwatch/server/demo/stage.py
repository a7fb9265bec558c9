"""Where the demo plays: a database in a temporary folder, made when somebody looks, gone when nobody does.

Made-up history is written under a clock that runs through it, so that alerts arise by the same rules as
anybody's. Their messages are noted as sent and go nowhere.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain

from loopwatch.alerts.rules import crossing
from loopwatch.clock import Clock, ManualClock
from loopwatch.config.project import ProjectSettings
from loopwatch.errors import StoreUnavailable
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft
from loopwatch.server.demo import company, loop
from loopwatch.server.demo.calendar import late_in_a_month
from loopwatch.server.demo.configurations import configurations
from loopwatch.server.live import Live
from loopwatch.server.services import Services
from loopwatch.store.opening import Store, open_store

IDLE = 600.0
"""Seconds without a visit after which it is taken down."""
OLD = 6 * 3_600.0
"""Seconds after which it is made anew all the same: its history grows old."""
PATIENCE = 30.0
"""Seconds that a first visitor waits for it at most."""
_LEA = "lea@acme.example"
LEA = "lea@acme.example"
GONE = timedelta(days=3)
_REFUSED = "HTTP 550 No such user here"

_log = logging.getLogger(__name__)


class Stage:
    """The demo of a server: nothing until the first visit."""

    def __init__(self, server: Services) -> None:
        self._server = server
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._playing: Services | None = None
        self._seen = 0.0

    async def services(self) -> Services:
        """The demo's own. Raises StoreUnavailable where it cannot be set up now."""
        self._seen = self._server.clock.monotonic()
        self._wanted.set()
        if self._playing is None:
            self._ready.clear()
            timer = self._server.clock.call_later(PATIENCE, self._ready.set)
            try:
                await self._ready.wait()
            finally:
                timer.cancel()
        if self._playing is None:
            raise StoreUnavailable("the demo cannot be set up just now: the server's log has the reason")
        return self._playing

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Play whenever somebody looks, for the block."""
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self._run())
            try:
                yield
            finally:
                running.cancel()

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            try:
                async with self._set_up() as playing:
                    self._playing = playing
                    self._ready.set()
                    await self._play(playing)
            except Exception:  # noqa: BLE001  the demo must not end the server
                _log.warning("the demo ended: it is set up anew at the next visit", exc_info=True)
            finally:
                self._playing = None
                self._wanted.clear()
                self._ready.set()

    @asynccontextmanager
    async def _set_up(self) -> AsyncIterator[Services]:
        real, clock = self._server, late_in_a_month(self._server.clock)

        def compose(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
            return real.telling.compose(alert, settings)

        with tempfile.TemporaryDirectory(prefix="loopwatch-demo-", ignore_cleanup_errors=True) as folder:
            url = f"sqlite:///{folder}/demo.db"
            then = ManualClock(clock.now() - timedelta(days=company.DAYS + 1))
            opening = partial(open_store, url, price=real.prices.cost, rules=crossing, compose=compose)
            async with opening(then) as store:
                await _write_history(store, then, clock)
            async with opening(clock) as store:
                live = Live(store.alerts, clock)
                store.writer.on_alerts = lambda _: live.wake()
                yield replace(real, store=store, live=live, clock=clock)

    async def _play(self, playing: Services) -> None:
        """Let the agent loop while somebody looks."""
        project = (await playing.store.projects.list())[0].id
        began = playing.clock.monotonic()
        watching = asyncio.ensure_future(playing.live.watch())
        try:
            while True:
                now = playing.clock.monotonic()
                if now - self._seen > IDLE or now - began > OLD:
                    return
                await playing.store.writer.log(project, [loop.call(playing.clock.now())])
                await _pretend_to_send(playing.store, playing.clock)
                await playing.clock.sleep(loop.SECONDS)
        finally:
            playing.live.close()
            await watching


async def _write_history(store: Store, then: ManualClock, clock: Clock) -> None:
    """Live through the last month in a few seconds."""
    project = await store.projects.create(company.NAME, company.SETTINGS)
    await store.keys.create(project.id, "production")
    await store.keys.create(project.id, "console", admin=True)
    now = clock.now()
    for batch in chain(company.history(now - loop.BEFORE), loop.until(now)):
        then.advance(max(0.0, (batch[-1].at - then.now()).total_seconds()))
        await store.writer.log(project.id, batch)
    for threshold in (80_000, 50_000):
        await store.projects.change(project.id, {"tokenThreshold": threshold}, LEA)
    for name, document in configurations():
        await store.configurations.create(project.id, name, document, LEA)
    await store.users.block(project.id, company.users()[31].id, f"blocked by {_LEA}")
    await _pretend_to_send(store, then)


async def _pretend_to_send(store: Store, clock: Clock) -> None:
    """Note messages as delivered; e-mail's mailbox has been gone for a while."""
    claimed = await store.outbox.claim(clock.now(), timedelta(minutes=1), limit=100, busy=())
    while claimed:
        for one in claimed:
            if one.place.channel == "email" and clock.now() - one.written < GONE:
                await store.outbox.dead(one, clock.now(), _REFUSED)
            else:
                await store.outbox.delivered(one, clock.now())
        claimed = await store.outbox.claim(clock.now(), timedelta(minutes=1), limit=100, busy=())
