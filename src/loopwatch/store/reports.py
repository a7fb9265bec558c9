"""What a project's calls amount to: totals, days, features, models. From the hourly sums alone.

A page over a million calls reads some thousand rows. Only ``recent`` looks at single calls, by index.
"""

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import Table, func, select

from loopwatch.records.moments import micros, moment
from loopwatch.store.engines import Database
from loopwatch.store.sums import HOUR, month_of
from loopwatch.store.tables import SUMMED, calls, hourly, user_months

DAY = 24 * HOUR
By = Literal["feature", "model", "provider"]
MOST_LISTED = 1_000


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """What some calls amount to. Money in nano-USD; ``unpriced`` calls are not in the cost."""

    calls: int = 0
    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0
    cost_nano: int = 0
    unpriced: int = 0
    latency_ms: int = 0
    loop_aborts: int = 0
    loop_abort_words: int = 0
    loop_abort_chars: int = 0


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one feature, model or provider; ``key`` "" where a call named none."""

    key: str
    sums: Sums


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one day, in UTC."""

    date: datetime
    sums: Sums


class LoggedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call as it is stored; ``cost_nano`` None: unknown."""

    event_id: str
    at: datetime
    received_at: datetime
    user_id: str | None
    feature: str | None
    plan: str | None
    provider: str
    request_model: str
    response_model: str | None
    input_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int
    usage_source: str
    latency_ms: int | None
    cost_nano: int | None
    loop_aborts: int
    loop_abort_words: int
    loop_abort_chars: int
    loop_rule: str | None


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """A month's money over all users, in nano-USD. Each plan price counts once a user."""

    cost_nano: int
    revenue_nano: int
    users: int
    unprofitable_users: int
    loss_nano: int
    """What the unprofitable users cost above their plans, summed."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What one user spent in a span of time; user "" is everybody anonymous. Money in nano-USD."""

    user_id: str
    cost_nano: int
    tokens: int


class Reports:
    """Reports about any project. ``since`` is rounded down to the hour; ``until`` itself is left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def totals(self, project_id: str, since: datetime, until: datetime | None = None) -> Sums:
        """Everything in a span of time."""
        wanted = select(*_summed(hourly)).where(*self._between(project_id, since, until))
        async with self._database.reading() as connection:
            return _sums((await connection.execute(wanted)).one())

    async def by(
        self, group: By, project_id: str, since: datetime, until: datetime | None = None
    ) -> list[Group]:
        """The same for each feature, model or provider, the dearest first."""
        key = hourly.c[group]
        wanted = (
            select(key.label("key"), *_summed(hourly))
            .where(*self._between(project_id, since, until))
            .group_by(key)
            .order_by(func.sum(hourly.c.cost_nano).desc(), key)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [Group(key=row.key, sums=_sums(row)) for row in rows]

    async def features_by_model(
        self, project_id: str, since: datetime, until: datetime | None = None
    ) -> "list[tuple[str, str, str, Sums]]":
        """Feature, provider, model and their sums: what a cheaper model would be proposed from."""
        of = (hourly.c.feature, hourly.c.provider, hourly.c.model)
        wanted = select(*of, *_summed(hourly)).where(*self._between(project_id, since, until)).group_by(*of)
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted.order_by(*of))
            return [(row.feature, row.provider, row.model, _sums(row)) for row in rows]

    async def days(self, project_id: str, since: datetime, until: datetime | None = None) -> list[Day]:
        """The same for each day that had calls, oldest first."""
        day = (hourly.c.hour_us - hourly.c.hour_us % DAY).label("day")
        wanted = (
            select(day, *_summed(hourly))
            .where(*self._between(project_id, since, until))
            .group_by(day)
            .order_by(day)
        )
        async with self._database.reading() as connection:
            return [Day(date=moment(row.day), sums=_sums(row)) for row in await connection.execute(wanted)]

    async def user_features(self, project_id: str, user_id: str, month: int | None = None) -> list[Group]:
        """One user's month (202611; None: this one) by feature, the dearest first."""
        of = user_months.c
        wanted = (
            select(of.feature.label("key"), *_summed(user_months))
            .where(of.project_id == project_id, of.user_id == user_id)
            .where(of.month == (month or month_of(self._database.clock.now())))
            .group_by(of.feature)
            .order_by(func.sum(of.cost_nano).desc(), of.feature)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [Group(key=row.key, sums=_sums(row)) for row in rows]

    async def money(self, project_id: str, month: int | None = None) -> Money:
        """A month's cost against what the plans bring, anonymous calls included in the cost."""
        of = user_months.c
        users = (
            select(
                func.sum(of.cost_nano).label("cost"),
                func.max(of.plan_revenue_nano).label("revenue"),
            )
            .where(of.project_id == project_id)
            .where(of.month == (month or month_of(self._database.clock.now())))
            .group_by(of.user_id)
            .subquery()
        )
        loss = users.c.cost - users.c.revenue
        wanted = select(
            func.sum(users.c.cost),
            func.sum(users.c.revenue),
            func.count(),
            func.count().filter(loss > 0),
            func.sum(loss).filter(loss > 0),
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one()
        cost, revenue, number, unprofitable, lost = (int(value or 0) for value in row)
        return Money(
            cost_nano=cost,
            revenue_nano=revenue,
            users=number,
            unprofitable_users=unprofitable,
            loss_nano=lost,
        )

    async def spenders(self, project_id: str, since: datetime, until: datetime) -> list[Spending]:
        """Each user with calls in a span of time, as far as calls are kept; the dearest first."""
        of = calls.c
        cost = func.coalesce(func.sum(of.cost_nano), 0)
        wanted = (
            select(
                of.user_id, cost.label("cost"), func.sum(of.input_tokens + of.output_tokens).label("tokens")
            )
            .where(of.project_id == project_id, of.at_us >= micros(since), of.at_us < micros(until))
            .group_by(of.user_id)
            .order_by(cost.desc(), of.user_id)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [
                Spending(user_id=row.user_id, cost_nano=int(row.cost), tokens=int(row.tokens)) for row in rows
            ]

    async def recent(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        before: datetime | None = None,
        limit: int = 100,
    ) -> "list[LoggedCall]":
        """Single calls, newest first, a project's or one user's; those ``before`` a moment to page on."""
        wanted = select(calls).where(calls.c.project_id == project_id)
        if user_id is not None:
            wanted = wanted.where(calls.c.user_id == user_id)
        if before is not None:
            wanted = wanted.where(calls.c.at_us < micros(before))
        newest = wanted.order_by(calls.c.at_us.desc(), calls.c.id.desc()).limit(min(limit, MOST_LISTED))
        async with self._database.reading() as connection:
            return [_logged(row) for row in await connection.execute(newest)]

    def month_start(self) -> datetime:
        """When the current calendar month began."""
        now = self._database.clock.now()
        return datetime(now.year, now.month, 1, tzinfo=UTC)

    @staticmethod
    def _between(project_id: str, since: datetime, until: datetime | None) -> list[Any]:
        begin = micros(since)
        bounds = [hourly.c.project_id == project_id, hourly.c.hour_us >= begin - begin % HOUR]
        return bounds if until is None else [*bounds, hourly.c.hour_us < micros(until)]


def _summed(table: Table) -> list[Any]:
    return [func.coalesce(func.sum(table.c[name]), 0).label(name) for name in SUMMED]


def _sums(row: Any) -> Sums:
    return Sums(**{name: int(getattr(row, name)) for name in SUMMED})


def _logged(row: Any) -> LoggedCall:
    same = {name: getattr(row, name) for name in LoggedCall.__struct_fields__ if hasattr(row, name)}
    same["user_id"] = row.user_id or None
    same["feature"] = row.feature or None
    return LoggedCall(**same, at=moment(row.at_us), received_at=moment(row.received_us))
