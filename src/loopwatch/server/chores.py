"""What a server does beside answering: delivering, sending digests, pruning. It ends with the server."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from loopwatch.alerts.digest import WEEK as A_WEEK
from loopwatch.alerts.digest import (
    Spender,
    Week,
    digest_id,
    digest_message,
    next_digest_at,
    week_before,
)
from loopwatch.errors import StoreUnavailable
from loopwatch.server.reports import ANONYMOUS
from loopwatch.server.services import Services
from loopwatch.store.reports import Spending

HOUR = 3_600.0
OFTEN = 5.0
"""Seconds between two looks for alerts that are to be told together."""
LATE = timedelta(days=2)
"""How long after its time a digest is still sent, by a server that was down."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def chores(server: Services) -> AsyncIterator[None]:
    """Do all of them for the block. After it, what is being delivered is brought to its end."""

    def tell(_: object) -> None:
        server.courier.wake()
        server.live.wake()

    server.store.writer.on_alerts = tell
    async with asyncio.TaskGroup() as group:
        group.create_task(server.courier.deliver_forever())
        group.create_task(server.live.watch())
        others = [group.create_task(_hourly(server, work)) for work in (prune, digests)]
        others.append(group.create_task(_summaries(server)))
        try:
            yield
        finally:
            server.store.writer.on_alerts = None
            server.courier.stop()
            server.live.close()
            for other in others:
                other.cancel()


async def _hourly(server: Services, work: Callable[[Services], Awaitable[None]]) -> None:
    """Do it now and every hour, and when a digest falls due in between; a failure waits for the next time."""
    while True:
        try:
            await work(server)
        except Exception:  # noqa: BLE001  a database that is away must not end the server
            _log.warning("%s failed: it is tried again within the hour", work.__name__, exc_info=True)
        now = server.clock.now()
        await server.clock.sleep(min(HOUR, (next_digest_at(now) - now).total_seconds()))


async def _summaries(server: Services) -> None:
    """Write the messages about many alerts at once, as they fall due; what fails is done the next time."""
    while True:
        await server.clock.sleep(OFTEN)
        try:
            if await server.store.storms.summarise(server.telling.summarise):
                server.courier.wake()
        except StoreUnavailable as error:
            _log.info("alerts that are told together wait: %s", error)
        except Exception:  # noqa: BLE001  one project's must not end all others'
            _log.warning("alerts could not be told together: it is tried again", exc_info=True)


async def prune(server: Services) -> None:
    """Delete what is older than projects keep it."""
    gone = await server.store.upkeep.prune()
    if gone:
        _log.info("%d rows were older than they are kept", gone)


async def digests(server: Services) -> None:
    """Write last Monday's digests that are due and that no server has written yet."""
    now = server.clock.now()
    due = next_digest_at(now) - A_WEEK
    if now - due > LATE:
        return
    for project in await server.store.projects.list():
        settings = (await server.store.projects.settings(project.id)).settings
        _, until = week_before(due)
        claim = digest_id(project.id, until)
        if settings.weekly_digest and not await server.store.outbox.claimed(claim):
            message = digest_message(await _week(server, project.id, due), now, server.telling.public_url)
            if await server.store.outbox.write_once(claim, server.telling.drafts(message, settings)):
                server.courier.wake()


async def _week(server: Services, project_id: str, due: datetime) -> Week:
    since, until = week_before(due)
    reports = server.store.reports
    totals = await reports.totals(project_id, since, until)
    before = await reports.totals(project_id, since - A_WEEK, since)
    spent = await reports.spenders(project_id, since, until)
    earlier = {one.user_id: one for one in await reports.spenders(project_id, since - A_WEEK, since)}
    alerts = await server.store.alerts.counts(project_id, since, until)
    return Week(
        project=project_id,
        until=until,
        calls=totals.calls,
        users=len(spent),
        tokens=totals.input_tokens + totals.output_tokens,
        cost=None if totals.calls and totals.calls == totals.unpriced else totals.cost_nano,
        cost_before=before.cost_nano,
        unpriced_calls=totals.unpriced,
        alerts=sum(alerts.values()),
        spenders=tuple(_spender(one, earlier, alerts) for one in spent),
    )


def _spender(one: Spending, earlier: dict[str, Spending], alerts: dict[str, int]) -> Spender:
    before = earlier.get(one.user_id)
    return Spender(
        one.user_id or ANONYMOUS,
        one.cost_nano,
        one.tokens,
        cost_before=before.cost_nano if before is not None else 0,
        alerts=alerts.get(one.user_id, 0),
    )
