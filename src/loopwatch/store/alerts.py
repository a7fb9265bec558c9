"""The alerts that were raised, with what became of their messages."""

from collections import defaultdict
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select

from loopwatch.records.alert import Alert
from loopwatch.records.moments import micros, moment
from loopwatch.store.engines import Database
from loopwatch.store.outbox import Progress, progress
from loopwatch.store.tables import alerts

MOST_LISTED = 1_000


class Raised(NamedTuple):
    """An alert, and how its messages stand."""

    alert: Alert
    deliveries: list[Progress]


class Alerts:
    """The alerts of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        before: datetime | None = None,
        limit: int = 100,
    ) -> list[Raised]:
        """A project's alerts, or one user's, newest first; those ``before`` a moment to page on."""
        wanted = select(alerts).where(alerts.c.project_id == project_id)
        if user_id is not None:
            wanted = wanted.where(alerts.c.user_id == user_id)
        if before is not None:
            wanted = wanted.where(alerts.c.at_us < micros(before))
        newest = wanted.order_by(alerts.c.at_us.desc(), alerts.c.id).limit(min(limit, MOST_LISTED))
        async with self._database.reading() as connection:
            found = [alert_of(row) for row in await connection.execute(newest)]
            sent = await progress(connection, project_id, [alert.id for alert in found])
        of: dict[str | None, list[Progress]] = defaultdict(list)
        for delivery in sent:
            of[delivery.alert_id].append(delivery)
        return [Raised(alert, of[alert.id]) for alert in found]

    async def latest_project(self, user_id: str) -> str | None:
        """The project that alerted last about a user of that id; None where none did."""
        of = alerts.c
        wanted = select(of.project_id).where(of.user_id == user_id).order_by(of.at_us.desc()).limit(1)
        async with self._database.reading() as connection:
            return (await connection.execute(wanted)).scalar_one_or_none()

    async def counts(self, project_id: str, since: datetime, until: datetime) -> dict[str, int]:
        """How many alerts each user caused in a span of time; ``until`` itself is left out."""
        of = alerts.c
        wanted = (
            select(of.user_id, func.count())
            .where(of.project_id == project_id, of.at_us >= micros(since), of.at_us < micros(until))
            .group_by(of.user_id)
        )
        async with self._database.reading() as connection:
            return {row[0]: row[1] for row in await connection.execute(wanted)}


def alert_of(row: Any) -> Alert:
    """The alert that a row of the table is."""
    return Alert(
        id=row.id,
        project_id=row.project_id,
        user_id=row.user_id,
        rule=row.rule,
        observed=row.observed,
        threshold=row.threshold,
        tokens=row.tokens,
        window_seconds=row.window_us / 1_000_000,
        window_cost_nano=row.window_cost_nano,
        window_calls=row.window_calls,
        window_unpriced=row.window_unpriced,
        month_cost_nano=row.month_cost_nano,
        month_unpriced=row.month_unpriced,
        feature=row.feature,
        provider=row.provider,
        model=row.model,
        plan=row.plan,
        at=moment(row.at_us),
        suppressed=row.suppressed,
    )
